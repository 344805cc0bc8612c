#include <doctest/doctest.h>

#include "compiler/graph/passes.h"

using namespace rcn;

namespace {

using Names = std::vector<std::string>;

struct Model : Graph {
  DimTable dims;
  Dim time = dims.declare("time", DimKind::spatial, std::nullopt);
  Dim feat = dims.declare("feat", DimKind::feature, 3);
  const Layer *x = nullptr, *y = nullptr, *scale = nullptr;

  Model() {
    batch = dims.batch();
    x = &layer("copy", {}, {batch, time, feat});
    y = &layer("copy", {}, {batch, time, feat});
    scale = &layer("variable", {}, {feat});
  }
  Layer& layer(std::string cls, OptionDict options, std::vector<Dim> of, const Region* region = nullptr) {
    return add(std::move(cls), std::move(options), {std::move(of), DType::float32, nullptr}, root_scope(), "x", {}, region);
  }
  Layer& step(std::string cls, std::string key, std::string what, std::vector<const Layer*> sources, std::vector<Dim> of) {
    Option from = sources.size() == 1 ? Option(sources[0]) : Option(OptionList(sources.begin(), sources.end()));
    Layer& made = layer(std::move(cls), {{"from", std::move(from)}, {std::move(key), std::move(what)}}, std::move(of));
    made.elementwise = true;
    return made;
  }
  Layer& combine(std::string kind, const Layer& a, const Layer& b) { return step("combine", "kind", std::move(kind), {&a, &b}, {batch, time, feat}); }
  Layer& activation(std::string name, const Layer& a) { return step("activation", "activation", std::move(name), {&a}, a.type.dims); }
  Layer& eval(std::string text, const Layer& a) { return step("eval", "eval", std::move(text), {&a}, a.type.dims); }
  void root(std::vector<const Layer*> sources) {
    Layer& made = layer("copy", {{"from", OptionList(sources.begin(), sources.end())}}, {feat});
    made.root = true;
  }
  std::size_t fused() {
    LiveLayers live = drop_dead(*this);
    fuse_elementwise(*this, live);
    CHECK(live == drop_dead(*this));
    CHECK(verify(*this, live, "test") == Names{});
    return live.all().size();
  }
  static std::string text(const Layer& layer) { return layer.cls == "eval" ? std::get<std::string>(layer.option("eval")->data) : layer.cls; }
  static std::vector<const Layer*> sources(const Layer& layer) {
    std::vector<const Layer*> result;
    for_each_layer(*layer.option("from"), [&](const LayerRef& ref) { result.push_back(ref.layer); });
    return result;
  }
};

}  // namespace

TEST_CASE("fuse: the formula of a norm, with no more parentheses than it needs") {
  Model m;
  const Layer& mean = m.layer("reduce", {{"from", m.x}}, {m.batch, m.time});
  const Layer& root = m.activation("rsqrt", m.eval("source(0) + 1e-06", mean));
  Layer& y = m.combine("add", m.combine("mul", m.combine("mul", *m.y, root), *m.scale), *m.scale);
  m.root({&y});
  CHECK(m.fused() == 6);
  CHECK(Model::text(y) == "source(0) * tf.math.rsqrt(source(1) + 1e-06) * source(2) + source(2)");
  CHECK(Model::sources(y) == std::vector<const Layer*>{m.y, &mean, m.scale});
}

TEST_CASE("fuse: parentheses where an operator binds less") {
  Model m;
  auto text = [&](Layer& y) {
    m.root({&y});
    m.fused();
    return Model::text(y);
  };
  CHECK(text(m.combine("mul", m.combine("add", *m.x, *m.y), *m.x)) == "(source(0) + source(1)) * source(0)");
  CHECK(text(m.combine("sub", *m.x, m.combine("sub", *m.y, *m.x))) == "source(0) - (source(1) - source(0))");
  CHECK(text(m.combine("add", *m.x, m.eval("0.5 * source(0)", m.combine("mul", *m.x, *m.y)))) == "source(0) + 0.5 * (source(0) * source(1))");
  CHECK(text(m.combine("mul", m.eval("source(0) ** 3.0", m.activation("relu", *m.x)), *m.y)) == "(tf.nn.relu(source(0)) ** 3.0) * source(1)");
  CHECK(text(m.eval("tf.maximum(source(0), 0.5)", m.combine("sub", *m.x, *m.y))) == "tf.maximum(source(0) - source(1), 0.5)");
  CHECK(text(m.combine("maximum", *m.x, m.combine("truediv", *m.x, *m.y))) == "tf.maximum(source(0), source(0) / source(1))");
}

TEST_CASE("fuse: what others read, what has a name, what is used twice, and what is a loop's stays") {
  Model m;
  const Layer& read = m.activation("exp", *m.x);
  Layer& named = m.activation("log", *m.x);
  named.named = true;
  Layer &a = m.combine("add", read, named), &b = m.combine("sub", *m.y, read);
  Layer& twice = m.eval("tf.where(source(0) > 0.0, source(0), 0.0)", m.activation("sin", *m.x));
  Region& body = m.add_region(m.root_region());
  Layer& inner = m.activation("cos", m.activation("sin", *m.x));
  for (std::size_t i = 0; i < 2; ++i) m.layers[m.layers.size() - 1 - i].region = &body;
  inner.root = inner.fixed_name = true;
  inner.name = "output";
  Layer& loop = m.layer("rec", {{"unit", RegionRef{&body}}}, {m.time, m.feat});
  body.owner = &loop;
  m.root({&a, &b, &twice, &loop});
  CHECK(m.fused() == 12);  // all but `scale`
}

TEST_CASE("fuse: one source has to have all dims") {
  Model m;
  const Layer& time = m.layer("range_in_axis", {}, {m.time});
  Layer& outer = m.step("combine", "kind", "mul", {&time, m.scale}, {m.time, m.feat});
  outer.options.emplace_back("allow_broadcast_all_sources", true);
  Layer &alone = m.activation("exp", outer), &with = m.combine("add", m.activation("sin", m.step("combine", "kind", "sub", {&time, m.scale}, {m.time, m.feat})), *m.x);
  m.root({&alone, &with});
  m.fused();
  CHECK(Model::text(alone) == "activation");
  CHECK(Model::text(with) == "tf.sin(source(0) - source(1)) + source(2)");
}

TEST_CASE("fuse: other dtypes are said; what waits for a part waits for the whole") {
  Model m;
  Layer& flags = m.layer("compare", {}, {m.batch, m.time, m.feat});
  flags.type.dtype = DType::bool_;
  Layer &part = m.step("activation", "activation", "logical_not", {&flags}, flags.type.dims), &y = m.step("combine", "kind", "logical_and", {&part, &flags}, flags.type.dims);
  part.type.dtype = y.type.dtype = DType::bool_;
  const Layer& sum = m.activation("exp", *m.x);
  Layer& power = m.activation("log", sum);
  Layer& waits = m.layer("variable_assign", {{"value", &power}, {"control_dependencies", OptionList{&sum, &power}}}, {});
  m.root({&y, &waits});
  m.fused();
  CHECK(Model::text(y) == "tf.logical_and(tf.logical_not(source(0)), source(0))");
  CHECK(y.option("out_type") == nullptr);
  CHECK(std::get<OptionList>(waits.option("control_dependencies")->data).size() == 1);
}

TEST_CASE("fuse: long chains in pieces") {
  Model m;
  const Layer* x = m.x;
  for (int i = 0; i < 100; ++i) x = &m.activation("sin", *x);
  m.root({x});
  CHECK(m.fused() == 7);
}
