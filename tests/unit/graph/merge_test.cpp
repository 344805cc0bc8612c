#include <doctest/doctest.h>

#include "compiler/graph/passes.h"

using namespace rcn;

namespace {

using Names = std::vector<std::string>;

struct Model : Graph {
  DimTable dims;
  Dim time = dims.declare("time", DimKind::spatial, std::nullopt);
  Dim feat = dims.declare("feat", DimKind::feature, 3);
  const Layer* data = nullptr;

  Model() {
    batch = dims.batch();
    data = &layer("copy", {}, {batch, time, feat}, "data");
  }
  Layer& layer(std::string cls, OptionDict options, std::vector<Dim> of, std::string base = "x", const Region* region = nullptr) {
    return add(std::move(cls), std::move(options), {std::move(of), DType::float32, nullptr}, root_scope(), std::move(base), {}, region);
  }
  Layer& of(const Layer& source, std::string cls, OptionDict more = {}) {
    more.insert(more.begin(), {"from", &source});
    return layer(std::move(cls), std::move(more), source.type.dims);
  }
  Layer& root(std::vector<const Layer*> sources, std::vector<Dim> dims_of) {
    Layer& made = layer("copy", {{"from", OptionList(sources.begin(), sources.end())}}, std::move(dims_of), "output");
    made.root = made.fixed_name = true;
    made.name = made.base;
    return made;
  }
  Names merged() {
    LiveLayers live = drop_dead(*this);
    merge_equal(*this, live);
    CHECK(verify(*this, live, "test") == Names{});
    Names result;
    for (const Layer* layer : live.all()) result.push_back(layer->cls);
    return result;
  }
};

}  // namespace

TEST_CASE("merge: layers of the same class with the same options, one behind the other") {
  Model m;
  const Layer &a = m.of(*m.data, "activation", {{"activation", "exp"}}), &b = m.of(*m.data, "activation", {{"activation", "exp"}});
  const Layer &c = m.of(*m.data, "activation", {{"activation", "log"}});
  m.root({&m.of(a, "cast"), &m.of(b, "cast"), &c}, {m.feat});
  CHECK(m.merged() == Names{"copy", "activation", "activation", "cast", "copy"});
}

TEST_CASE("merge: numbers are compared bit for bit") {
  Model m;
  m.root({&m.of(*m.data, "constant", {{"value", 0.0}}), &m.of(*m.data, "constant", {{"value", -0.0}}), &m.of(*m.data, "constant", {{"value", 0}}),
          &m.of(*m.data, "constant", {{"value", -0.0}})}, {m.feat});
  CHECK(m.merged() == Names{"copy", "constant", "constant", "constant", "copy"});
}

TEST_CASE("merge: not what draws, nor what the program gives as it is, nor loops") {
  Model m;
  Layer &raw = m.of(*m.data, "activation"), &other = m.of(*m.data, "activation");
  raw.opaque = other.opaque = true;
  m.root({&raw, &other, &m.of(*m.data, "random"), &m.of(*m.data, "random"), &m.of(*m.data, "eval", {{"eval", "tf.random.uniform(source(0))"}}),
          &m.of(*m.data, "eval", {{"eval", "tf.random.uniform(source(0))"}})}, {m.feat});
  CHECK(m.merged().size() == 8);
}

TEST_CASE("merge: not in loops") {
  Model m;
  Region& body = m.add_region(m.root_region());
  Layer &a = m.layer("cast", {{"from", m.data}}, {m.feat}, "a", &body), &b = m.layer("cast", {{"from", m.data}}, {m.feat}, "b", &body);
  Layer& output = m.layer("combine", {{"from", OptionList{&a, &b}}}, {m.feat}, "output", &body);
  output.root = output.fixed_name = true;
  output.name = "output";
  Layer& loop = m.layer("rec", {{"unit", RegionRef{&body}}}, {m.time, m.feat});
  body.owner = &loop;
  m.root({&loop}, {m.feat});
  CHECK(m.merged().size() == 6);
}

TEST_CASE("merge: two dropouts keep layers of their own to read") {
  Model m;
  const Layer &a = m.of(*m.data, "cast"), &b = m.of(*m.data, "cast"), &c = m.of(*m.data, "cast");
  m.root({&m.of(a, "dropout"), &m.of(b, "dropout"), &c}, {m.feat});
  CHECK(m.merged() == Names{"copy", "cast", "cast", "dropout", "dropout", "copy"});
}

TEST_CASE("merge: dims with the same lengths are one, where nothing has both") {
  for (bool meet : {false, true}) {
    Model m;
    Dim a = m.dims.declare("a", DimKind::spatial, std::nullopt), b = m.dims.declare("b", DimKind::spatial, std::nullopt);
    const Layer& length = m.layer("length", {{"from", m.data}, {"axis", m.time}}, {m.batch});
    const Layer& first = m.layer("range_from_length", {{"from", &length}, {"out_spatial_dim", a}}, {a});
    const Layer& second = m.layer("range_from_length", {{"from", &length}, {"out_spatial_dim", b}}, {b});
    const Layer& use = m.layer("reduce", {{"from", &second}, {"axis", b}}, {});
    const Layer& both = m.layer("combine", {{"from", OptionList{&first, &second}}}, {a, b});
    const Layer& sum = m.layer("reduce", {{"from", &both}, {"axis", OptionList{a, b}}}, {});
    m.root(meet ? std::vector<const Layer*>{&use, &sum} : std::vector<const Layer*>{&m.layer("reduce", {{"from", &first}, {"axis", a}}, {}), &use}, {});
    Names classes = m.merged();
    CHECK(classes.size() == (meet ? 8 : 5));
    CHECK(std::get<DimRef>(use.option("axis")->data).dim == (meet ? b : a));
  }
}

TEST_CASE("merge: dims that stay two keep two layers for their lengths") {
  Model m;
  Dim a = m.dims.declare("a", DimKind::spatial, std::nullopt), b = m.dims.declare("b", DimKind::spatial, std::nullopt);
  const Layer &x = m.of(*m.data, "eval", {{"eval", "source(0)"}}), &y = m.of(*m.data, "eval", {{"eval", "source(0)"}});
  const Layer& first = m.layer("range_from_length", {{"from", &x}, {"out_spatial_dim", a}}, {a});
  const Layer& second = m.layer("range_from_length", {{"from", &y}, {"out_spatial_dim", b}}, {b});
  m.root({&m.layer("combine", {{"from", OptionList{&first, &second}}}, {a, b})}, {a, b});
  CHECK(m.merged() == Names{"copy", "eval", "eval", "range_from_length", "range_from_length", "combine", "copy"});
}

TEST_CASE("merge: dims that get the lengths of one dim, though not by the same layer") {
  Model m;
  Dim a = m.dims.declare("a", DimKind::spatial, std::nullopt), b = m.dims.declare("b", DimKind::spatial, std::nullopt);
  m.lengths_of = {{a, m.time}, {b, m.time}};
  auto renamed = [&](const Layer& source, Dim to) -> const Layer& {
    return m.layer("reinterpret_data", {{"from", &source}, {"set_dim_tags", OptionList{OptionTuple{{m.time, to}}}}}, {m.batch, to, m.feat});
  };
  const Layer &x = renamed(*m.data, a), &y = renamed(m.of(*m.data, "cast"), b);
  const Layer& range = m.layer("range_in_axis", {{"from", &x}, {"axis", a}}, {a});
  const Layer& again = m.layer("range_in_axis", {{"from", &y}, {"axis", b}}, {b});
  m.root({&m.layer("reduce", {{"from", &range}, {"axis", a}}, {}), &m.layer("reduce", {{"from", &again}, {"axis", b}}, {}),
          &m.layer("reduce", {{"from", &y}, {"axis", b}}, {m.batch, m.feat})}, {});
  CHECK(m.merged() == Names{"copy", "reinterpret_data", "cast", "reinterpret_data", "range_in_axis", "reduce", "reduce", "copy"});
}
