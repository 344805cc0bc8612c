#include <doctest/doctest.h>

#include "compiler/graph/passes.h"

using namespace rcn;

namespace {

struct Names {
  Graph graph;

  const NameScope* scope(const std::string& base, const NameScope* parent = nullptr) {
    return graph.add_scope(parent ? parent : graph.root_scope(), base);
  }
  void add(const std::string& base, const NameScope* scope = nullptr) {
    graph.add("copy", {}, {}, scope ? scope : graph.root_scope(), base, {});
  }
  void fix(const std::string& name) {
    Layer& layer = graph.add("copy", {}, {}, graph.root_scope(), name, {});
    layer.name = name;
    layer.fixed_name = true;
  }
  std::vector<std::string> run() {
    LiveLayers layers;
    for (Layer& layer : graph.layers) layers.root().push_back(&layer);
    assign_names(layers, graph.entries);
    CHECK(verify(graph, layers, "assign_names").empty());
    std::vector<std::string> names;
    for (const Layer& layer : graph.layers) names.push_back(layer.name);
    return names;
  }
};

using List = std::vector<std::string>;

}  // namespace

TEST_CASE("names: repeats get suffixes in program order") {
  Names n;
  n.add("x");
  n.add("x");
  n.add("y");
  n.add("x");
  CHECK(n.run() == List{"x", "x_1", "y", "x_2"});
}

TEST_CASE("names: suffixes keep clear of names that others want") {
  Names n;
  n.add("x");
  n.add("x");
  n.add("x_1");
  n.add("x");
  n.add("x_1");
  CHECK(n.run() == List{"x", "x_2", "x_1", "x_3", "x_1_1"});
}

TEST_CASE("names: scopes are joined by dots and repeat as layers do") {
  Names n;
  const NameScope* encoder = n.scope("encoder");
  const NameScope* first = n.scope("layers.0", encoder);
  const NameScope* again = n.scope("layers.0", encoder);
  n.add("dot", first);
  n.add("dot", again);
  n.add("dot", again);
  n.add("dot", encoder);
  CHECK(n.run() == List{"encoder.layers.0.dot", "encoder.layers.0_1.dot", "encoder.layers.0_1.dot_1", "encoder.dot"});
}

TEST_CASE("names: a scope and a layer of one name in one scope") {
  Names n;
  n.add("ff");
  n.add("dot", n.scope("ff"));
  CHECK(n.run() == List{"ff", "ff_1.dot"});
}

TEST_CASE("names: different scopes with one path") {
  Names n;
  n.add("dot", n.scope("b", n.scope("a")));
  n.add("dot", n.scope("a.b"));
  CHECK(n.run() == List{"a.b.dot", "a.b_1.dot"});
}

TEST_CASE("names: unused scopes take no names") {
  Names n;
  n.scope("ff");
  n.add("dot", n.scope("ff"));
  CHECK(n.run() == List{"ff.dot"});
}

TEST_CASE("names: fixed ones come first") {
  Names n;
  n.add("ce");
  n.fix("ce_1");
  n.fix("ce");
  n.add("ce");
  CHECK(n.run() == List{"ce_2", "ce_1", "ce", "ce_3"});
}

TEST_CASE("names: a mark does not rename a module") {
  Names n;
  n.add("dot", n.scope("encoder"));
  n.fix("encoder");
  CHECK(n.run() == List{"encoder.dot", "encoder"});
}

TEST_CASE("names: what RETURNN would take for something else") {
  Names n;
  for (const char* base : {"data", "none", "output", "base:x", "a/b", ".order", "#c", "", "größe", "x.", "_y", "data"})
    n.add(base);
  CHECK(n.run() ==
        List{"data_1", "none_1", "output_1", "base_x", "a_b", "_order", "_c", "layer", "gr__e", "x_", "_y", "data_2"});
}

TEST_CASE("names: a line more renumbers only later layers of its name in its scope") {
  auto names = [](bool more) {
    Names n;
    const NameScope* a = n.scope("a");
    n.add("x", a);
    n.add("y", a);
    if (more) n.add("x", a);
    n.add("x", n.scope("b"));
    n.add("y", a);
    n.add("x", a);
    return n.run();
  };
  CHECK(names(false) == List{"a.x", "a.y", "b.x", "a.y_1", "a.x_1"});
  CHECK(names(true) == List{"a.x", "a.y", "a.x_1", "b.x", "a.y_1", "a.x_2"});
}

TEST_CASE("names: entries of the dict keep theirs") {
  Names n;
  n.graph.entries = {{"x", 1}, {"#copy_param_mode", "subset"}};
  n.add("x");
  CHECK(n.run() == List{"x_1"});
}
