#include <doctest/doctest.h>

#include <algorithm>

#include "compiler/graph/edit.h"
#include "compiler/graph/pack.h"

using namespace rcn;

namespace {

using Names = std::vector<std::string>;

// A loop over `keys` in one over `time`; `results` are what the inner one hands out, all of them read in the outer one.
struct Nested : Graph {
  DimTable dims;
  DiagnosticSink diagnostics;
  Dim time = dims.declare("time", DimKind::spatial, std::nullopt);
  Dim keys = dims.declare("keys", DimKind::spatial, std::nullopt);
  Dim other = dims.declare("other", DimKind::spatial, std::nullopt);
  Dim d = dims.declare("d", DimKind::feature, 3);
  Dim e = dims.declare("e", DimKind::feature, 4);
  Region* body = nullptr;
  Region* inside = nullptr;
  const Layer* data = nullptr;
  std::vector<const Layer*> results;

  Nested() {
    batch = dims.batch();
    data = &layer("data", "copy", {batch, time, keys, other, d, e}, {}, nullptr);
    body = &add_region(root_region());
    inside = &add_region(body);
  }
  Layer& layer(const std::string& base, std::string cls, std::vector<Dim> of, OptionDict options, const Region* region, DType dtype = DType::float32) {
    const Region* place = region ? region : root_region();
    return add(std::move(cls), std::move(options), {std::move(of), dtype, nullptr}, place->scope, base, {}, place);
  }
  Layer& result(const std::string& base, std::vector<Dim> of, DType dtype = DType::float32, std::string cls = "cast") {
    Layer& source = layer(base + "_value", std::move(cls), of, {{"from", data}}, inside, dtype);
    Layer& made = layer(base, "copy", of, {{"from", &source}}, inside, dtype);
    if (results.empty()) {
      output(made);
    } else {
      made.options.emplace_back("is_output_layer", true);
    }
    results.push_back(&made);
    return made;
  }
  static void output(Layer& layer) {
    layer.name = "output";
    layer.fixed_name = layer.root = true;
  }
  Layer& own(Region& region, Dim axis) {
    std::vector<Dim> of = {axis};
    Layer& owner = layer("loop", "rec", std::move(of), {{"axis", axis}, {"unit", RegionRef{&region}}}, region.parent);
    region.owner = &owner;
    return owner;
  }
  // Closes the loops, packs, and gives what is left.
  LiveLayers packed() {
    own(*inside, keys);
    OptionList all(results.begin(), results.end());
    output(layer("all", "combine", {d}, {{"from", all}}, body));
    own(*body, time);
    output(layer("out", "copy", {time, d}, {{"from", body->owner}}, nullptr));
    pack_results(*this, dims, diagnostics);
    LiveLayers live = drop_dead(*this);
    CHECK(verify(*this, live, "test") == Names{});
    return live;
  }
  static Names classes(const std::vector<Layer*>& layers) {
    Names result;
    for (const Layer* layer : layers) result.push_back(layer->cls);
    return result;
  }
  static const Layer* of_class(const std::vector<Layer*>& layers, const std::string& cls) {
    auto it = std::find_if(layers.begin(), layers.end(), [&](const Layer* layer) { return layer->cls == cls; });
    return it == layers.end() ? nullptr : *it;
  }
};

}  // namespace

TEST_CASE("pack: one result stays as it is") {
  Nested g;
  g.result("y", {g.batch, g.d});
  CHECK(Nested::classes(g.packed().in(g.body)) == Names{"rec", "combine"});
}

TEST_CASE("pack: a result that is no output becomes it") {
  Nested g;
  g.result("y", {g.batch, g.d});
  g.result("s", {g.batch, g.d});
  g.results = {g.results[1]};
  LiveLayers live = g.packed();
  CHECK(Nested::classes(live.in(g.inside)) == Names{"cast", "copy"});
  CHECK(live.in(g.inside).back()->base == "s");
  CHECK(live.in(g.inside).back()->name == "output");
}

TEST_CASE("pack: several results are joined and split again") {
  Nested g;
  g.result("y", {g.batch, g.d});
  g.result("z", {g.batch, g.d, g.e});
  g.result("n", {g.batch});
  LiveLayers live = g.packed();
  const Layer* joined = Nested::of_class(live.in(g.inside), "concat");
  REQUIRE(joined);
  CHECK(joined->name == "output");
  CHECK(joined->type.dims.back()->size == 3 + 12 + 1);
  CHECK(Nested::classes(live.in(g.inside)) == Names{"cast", "copy", "cast", "copy", "cast", "copy", "merge_dims", "expand_dims", "concat"});
  CHECK(Nested::classes(live.in(g.body)) == Names{"rec", "slice", "reinterpret_data", "slice", "split_dims", "slice", "squeeze", "combine"});
  const auto& from = std::get<OptionList>(live.in(g.body).back()->option("from")->data);
  CHECK(std::get<LayerRef>(from[0].data).layer->cls == "reinterpret_data");
  CHECK(std::get<LayerRef>(from[1].data).layer->cls == "split_dims");
  CHECK(std::get<LayerRef>(from[2].data).layer->cls == "squeeze");
}

TEST_CASE("pack: copies of one layer are one part") {
  Nested g;
  const Layer& y = g.result("y", {g.batch, g.d});
  g.results.push_back(&g.layer("again", "copy", {g.batch, g.d}, {{"from", &y}}, g.inside));
  LiveLayers live = g.packed();
  CHECK(Nested::classes(live.in(g.body)) == Names{"rec", "combine"});
}

TEST_CASE("pack: ints among floats go by their bits, bools as numbers") {
  Nested g;
  g.result("y", {g.batch, g.d});
  g.result("n", {g.batch, g.e}, DType::int32);
  g.result("p", {g.batch, g.e}, DType::bool_);
  LiveLayers live = g.packed();
  CHECK(Nested::classes(live.in(g.body)) == Names{"rec", "slice", "reinterpret_data", "slice", "reinterpret_data", "eval", "slice", "reinterpret_data", "cast", "combine"});
  const Layer* back = Nested::of_class(live.in(g.body), "eval");
  CHECK(std::get<std::string>(back->option("eval")->data) == "tf.bitcast(source(0), tf.int32)");
  CHECK(back->type.dtype == DType::int32);
  Nested ints;
  ints.result("n", {ints.batch, ints.d}, DType::int32);
  ints.result("p", {ints.batch, ints.d}, DType::bool_);
  LiveLayers without = ints.packed();
  CHECK(Nested::of_class(without.in(ints.inside), "concat")->type.dtype == DType::int32);
  CHECK(Nested::classes(without.in(ints.body)) == Names{"rec", "slice", "reinterpret_data", "slice", "reinterpret_data", "cast", "combine"});
}

TEST_CASE("pack: what has no batch is taken from one sequence") {
  Nested g;
  g.result("y", {g.batch, g.d});
  g.result("n", {g.d});
  LiveLayers live = g.packed();
  CHECK(Nested::classes(live.in(g.body)) == Names{"rec", "slice", "reinterpret_data", "slice", "gather", "reinterpret_data", "combine"});
}

TEST_CASE("pack: other dynamic dims come from a copy of the loop") {
  Nested g;
  g.result("y", {g.batch, g.d});
  g.result("w", {g.batch, g.other});
  LiveLayers live = g.packed();
  CHECK(Nested::classes(live.in(g.body)) == Names{"rec", "rec", "combine"});
  CHECK(!g.diagnostics.has_errors());
  std::size_t dicts = 0;
  for (const auto& dict : live.dicts) dicts += !dict.empty();
  CHECK(dicts == 4);
  CHECK(Nested::classes(live.in(g.inside)) == Names{"cast", "copy"});  // each copy makes only its part
}

TEST_CASE("pack: what draws random numbers is not copied") {
  Nested g;
  g.result("y", {g.batch, g.d}, DType::float32, "random");
  g.result("w", {g.batch, g.other});
  g.own(*g.inside, g.keys);
  Nested::output(g.layer("all", "combine", {g.d}, {{"from", OptionList(g.results.begin(), g.results.end())}}, g.body));
  g.own(*g.body, g.time).root = true;
  pack_results(g, g.dims, g.diagnostics);
  REQUIRE(g.diagnostics.items().size() == 1);
  CHECK(g.diagnostics.items()[0].kind == Diag::packed_random);
}

TEST_CASE("edit: places give the order") {
  Graph g;
  Layer& a = g.add("copy", {}, {}, g.root_scope(), "a", {});
  Layer& b = g.add("copy", {}, {}, g.root_scope(), "b", {});
  GraphEdit edit(g);
  Layer& behind = edit.insert_behind(a, a.region, "copy", {}, {}, "behind");
  edit.insert_before(b, b.region, "copy", {}, {}, "before");
  edit.insert_behind(behind, a.region, "copy", {}, {}, "more");
  edit.insert_behind(a, a.region, "copy", {}, {}, "last");
  edit.renumber();
  std::vector<const Layer*> order;
  for (const Layer& layer : g.layers) order.push_back(&layer);
  std::sort(order.begin(), order.end(), [](const Layer* x, const Layer* y) { return x->id < y->id; });
  Names names;
  for (const Layer* layer : order) names.push_back(layer->base);
  CHECK(names == Names{"a", "behind", "more", "last", "before", "b"});
}
