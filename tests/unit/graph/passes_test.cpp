#include <doctest/doctest.h>

#include <algorithm>

#include "compiler/graph/passes.h"

using namespace rcn;

namespace {

using List = std::vector<Layer*>;

const Layer* copy(Graph& graph, Option from, std::string cls = "copy") {
  return &graph.add(std::move(cls), {{"from", std::move(from)}}, {}, graph.root_scope(), "x", {});
}

Layer* last_as_root(Graph& graph) {
  graph.layers.back().root = true;
  return &graph.layers.back();
}

LiveLayers chain(Graph& graph, int length) {
  const Layer* x = copy(graph, OptionList{});
  for (int i = 0; i < length; ++i) x = copy(graph, x);
  last_as_root(graph);
  LiveLayers layers = drop_dead(graph);
  assign_names(layers);
  return layers;
}

std::vector<const Layer*> anchors(const LiveLayers& layers) {
  std::vector<const Layer*> result;
  for (const Layer* layer : layers.root())
    if (layer->name.starts_with(".order")) result.push_back(layer);
  return result;
}

const OptionList& deps(const Layer& anchor) { return std::get<OptionList>(anchor.option("shape_deps")->data); }

}  // namespace

TEST_CASE("drop_dead keeps what a root needs, in program order") {
  Graph graph;
  const Layer* a = copy(graph, OptionList{});
  copy(graph, a);
  const Layer* c = copy(graph, OptionList{});
  copy(graph, OptionDict{{"map", OptionMap{{{Option("k"), OptionTuple{{OptionSet{{c}}}}}}}}});
  Layer* root = last_as_root(graph);
  const Layer* e = copy(graph, OptionList{a, root});
  last_as_root(graph);
  CHECK(drop_dead(graph).root() == List{&graph.layers[0], &graph.layers[2], &graph.layers[3], &graph.layers[4]});
  CHECK(e == &graph.layers[4]);
}

TEST_CASE("drop_dead: many roads to one layer") {
  Graph graph;
  const Layer* a = copy(graph, OptionList{});
  const Layer* b = copy(graph, a);
  for (int i = 0; i < 200; ++i) {
    const Layer* c = copy(graph, OptionList{a, b}, "combine");
    a = b;
    b = c;
  }
  last_as_root(graph);
  CHECK(drop_dead(graph).root().size() == 202);
}

TEST_CASE("order anchor: none where the chain is short") {
  Graph graph;
  LiveLayers layers = chain(graph, 110);
  add_order_anchor(graph, layers);
  CHECK(anchors(layers).empty());
}

TEST_CASE("order anchor: none for wide networks") {
  Graph graph;
  const Layer* a = copy(graph, OptionList{});
  for (int i = 0; i < 1000; ++i) {
    copy(graph, a);
    last_as_root(graph);
  }
  LiveLayers layers = drop_dead(graph);
  add_order_anchor(graph, layers);
  CHECK(anchors(layers).empty());
}

TEST_CASE("order anchor: about every fourth layer of a long chain") {
  Graph graph;
  LiveLayers layers = chain(graph, 300);
  add_order_anchor(graph, layers);
  REQUIRE(anchors(layers).size() == 1);
  const Layer& anchor = *anchors(layers)[0];
  CHECK(anchor.name == ".order");
  CHECK(anchor.cls == "constant");
  CHECK(layers.root().back() == &anchor);
  CHECK(deps(anchor).size() == 75);
  CHECK(verify(graph, layers, "order").empty());
}

TEST_CASE("order anchor: several, in the order of their names") {
  Graph graph;
  LiveLayers layers = chain(graph, 20000);
  add_order_anchor(graph, layers);
  std::vector<const Layer*> all = anchors(layers);
  REQUIRE(all.size() == 17);
  CHECK(all[0]->name == ".order.000");
  CHECK(all[16]->name == ".order.016");
  std::size_t previous = 0;
  for (const Layer* anchor : all) {
    CHECK(deps(*anchor).size() <= 300);
    for (const Option& dep : deps(*anchor)) {
      std::size_t id = std::get<LayerRef>(dep.data).layer->id;
      CHECK(id > previous);
      CHECK(id - previous <= 5);
      previous = id;
    }
  }
}

TEST_CASE("order anchor: a body of a loop counts") {
  Graph graph;
  OptionDict unit;
  for (int i = 0; i < 60; ++i) unit.emplace_back("l" + std::to_string(i), OptionDict{{"class", "copy"}});
  const Layer* x = copy(graph, OptionList{});
  for (int i = 0; i < 70; ++i) x = copy(graph, x);
  graph.add("rec", {{"from", x}, {"unit", std::move(unit)}}, {}, graph.root_scope(), "loop", {});
  last_as_root(graph);
  LiveLayers layers = drop_dead(graph);
  add_order_anchor(graph, layers);
  CHECK(anchors(layers).size() == 1);
}

TEST_CASE("order anchor: layers with a search beam stand apart") {
  Graph graph;
  const Layer* x = copy(graph, OptionList{});
  for (int i = 0; i < 60; ++i) x = copy(graph, x);
  x = &graph.add("rec", {{"from", x}, {"unit", OptionDict{{"c", OptionDict{{"class", "choice"}}}}}}, {},
                 graph.root_scope(), "loop", {});
  for (int i = 0; i < 60; ++i) x = copy(graph, x);
  std::size_t decided = x->id + 1;
  x = copy(graph, x, "decide");
  for (int i = 0; i < 60; ++i) x = copy(graph, x);
  last_as_root(graph);
  LiveLayers layers = drop_dead(graph);
  add_order_anchor(graph, layers);
  REQUIRE(anchors(layers).size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    for (const Option& dep : deps(*anchors(layers)[i])) {
      std::size_t id = std::get<LayerRef>(dep.data).layer->id;
      CHECK((id < 61 ? 0 : id < decided ? 1 : 2) == i);
    }
  }
}

TEST_CASE("verify finds what is wrong") {
  Graph graph;
  Layer& a = graph.add("copy", {}, {}, graph.root_scope(), "a", {});
  Layer& b = graph.add("copy", {{"from", &a}}, {}, graph.root_scope(), "b", {});
  LiveLayers layers = {{{&a, &b}}};
  CHECK(verify(graph, layers, "test").empty());

  auto fault = [&](const LiveLayers& live) {
    std::vector<std::string> faults = verify(graph, live, "test");
    REQUIRE(faults.size() == 1);
    return faults[0];
  };
  CHECK(fault({{{&b}}}) == "after test: layer 1 `b` (copy) refers in `from` to a layer that is not before it");
  a.name = "b";
  CHECK(fault(layers) == "after test: layer 1 `b` (copy) has no name");
  b.name = "b";
  CHECK(fault(layers) == "after test: layer 1 `b` (copy) has a name that is already given");
  b.name = "data";
  CHECK(fault(layers) == "after test: layer 1 `data` (copy) has a name to which RETURNN gives a meaning");
  b.name = "c";
  a.options = {{"from", &b}};
  CHECK(fault(layers) == "after test: layer 0 `b` (copy) refers in `from` to a layer that is not before it");
  a.options = {{"axis", OptionList{Dim{}}}};
  CHECK(fault(layers) == "after test: layer 0 `b` (copy) has a null dim in `axis`");
  a.options = {{"x", 1}, {"x", 2}};
  CHECK(fault(layers) == "after test: layer 0 `b` (copy) has the option `x` twice");
  a.options = {{"x", LayerRef{}}};
  CHECK(fault(layers) == "after test: layer 0 `b` (copy) refers in `x` to no layer");
  a.options = {};
  a.type.dims = {nullptr};
  CHECK(fault(layers) == "after test: layer 0 `b` (copy) has a null dim in its type");
  a.type.dims = {};
  a.cls = "";
  CHECK(fault(layers) == "after test: layer 0 `b` (extern) is to have a class, or be an extern or built in");
}

TEST_CASE("entries of the dict keep layers alive and are verified") {
  Graph graph;
  const Layer* a = copy(graph, OptionList{});
  const Layer* b = copy(graph, OptionList{});
  graph.entries = {{"raw", OptionDict{{"from", b}}}};
  LiveLayers layers = drop_dead(graph);
  CHECK(layers.root() == List{&graph.layers[1]});
  CHECK(verify(graph, layers, "test").empty());
  graph.entries = {{"raw", a}};
  CHECK(verify(graph, layers, "test") ==
        std::vector<std::string>{"after test: the entry `raw` refers to a layer that is not there"});
  graph.layers[1].name = "raw";
  graph.entries = {{"raw", 1}};
  CHECK(verify(graph, layers, "test") ==
        std::vector<std::string>{"after test: the entry `raw` has the name of a layer"});
}
