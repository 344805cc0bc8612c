// The dicts that loops, branches and masked parts become.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/ops/fixture.h"

using namespace rcn;

namespace {

struct Regions : OpFixture {
  Tensor x = extern_tensor("data", {batch, time, input});

  TensorType type(std::vector<Dim> of, DType dtype = DType::float32) { return {std::move(of), dtype, nullptr}; }
  Tensor zeros(std::vector<Dim> of) {
    List dims_list;
    for (Dim d : of) dims_list.push_back(d);
    return tensor("zeros", {dims_list});
  }

  // Over `time`, with the state `h` [batch, input] that is stacked as `ys`: h = h + x[t].
  LoopSpec spec() {
    LoopSpec s;
    s.name = "loop";
    s.axis = time;
    s.length_dims = {batch};
    s.state = {{"h", zeros({batch, input}), type({batch, input}), {}}};
    s.stacked_names = {"ys"};
    s.stacked = {type({batch, input})};
    return s;
  }
  LoopResult sum_up(const LoopSpec& s) {
    return backend.loop(s, [&](const LoopStep& step) {
      Tensor h = tensor("add", {step.state[0], backend.frame(x, s.axis, step.index, {})});
      return LoopNext{{h}, {h}, nullptr};
    });
  }

  // Marks the tensors as outputs, and drops what nothing needs.
  int marks = 0;
  LiveLayers live(const std::vector<Tensor>& outputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      Mark mark;
      mark.role = MarkRole::output;
      mark.name = "out" + std::to_string(marks++);
      backend.mark(mark, outputs[i]);
    }
    LiveLayers result = drop_dead(graph);
    std::vector<std::string> faults = verify(graph, result, "test");
    CHECK_MESSAGE(faults.empty(), (faults.empty() ? std::string() : faults[0]));
    return result;
  }
  static std::vector<std::string> classes_in(const LiveLayers& layers, std::size_t dict) {
    std::vector<std::string> result;
    for (const Layer* layer : layers.dicts.at(dict))
      if (layer->emitted()) result.push_back(layer->cls);
    return result;
  }
  static const Layer* of_class(const LiveLayers& layers, const std::string& cls) {
    for (const Layer* layer : layers.all())
      if (layer->cls == cls) return layer;
    return nullptr;
  }
  static const Layer* named(const std::vector<Layer*>& layers, const std::string& name) {
    auto it = std::find_if(layers.begin(), layers.end(), [&](const Layer* layer) { return layer->name == name; });
    return it == layers.end() ? nullptr : *it;
  }
  static LayerRef ref(const Layer& layer, std::string_view key) { return std::get<LayerRef>(layer.option(key)->data); }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a loop is a rec layer whose unit reads the frame and the state of the step before") {
  Regions f;
  LoopResult r = f.sum_up(f.spec());
  CHECK(r.stacked[0]->type.dims == std::vector<Dim>{f.time, f.batch, f.input});
  CHECK(r.last[0]->type.dims == std::vector<Dim>{f.batch, f.input});
  LiveLayers layers = f.live({r.stacked[0]});
  const Layer* rec = Regions::of_class(layers, "rec");
  REQUIRE(rec);
  CHECK(std::get<DimRef>(rec->option("axis")->data).dim == f.time);
  const Region* unit = std::get<RegionRef>(rec->option("unit")->data).region;
  CHECK(unit->owner == rec);
  const Layer* output = Regions::named(layers.in(unit), "output");
  REQUIRE(output);
  std::size_t before = 0, frames = 0;
  for (const Layer* layer : layers.in(unit)) {
    frames += layer->cls == "gather";
    for (const auto& [key, option] : layer->options)
      for_each_layer(option, [&](const LayerRef& read) {
        if (read.kind != RefKind::previous) return;
        ++before;
        CHECK(read.layer->region == unit);
        CHECK(read.layer->option("initial_output"));
      });
  }
  CHECK(before == 2);  // by the sum, and by the state itself
  CHECK(frames == 1);
}

TEST_CASE("a last state that nothing reads leaves no layer") {
  Regions f;
  LoopResult r = f.sum_up(f.spec());
  LiveLayers layers = f.live({r.stacked[0]});
  for (const Layer* layer : layers.root()) CHECK(layer->base != "h_at");
  CHECK(f.live({r.last[0]}).root().size() > layers.root().size());
}

TEST_CASE("a loop that makes the lengths of its dim has an end") {
  Regions f;
  LoopSpec spec = f.spec();
  spec.axis = f.no_length("out");
  spec.axis_known = false;
  spec.max = f.tensor("length", {f.time});
  spec.has_end = true;
  spec.include_eos = false;
  LoopResult r = f.backend.loop(spec, [&](const LoopStep& step) {
    Tensor h = f.tensor("add", {step.state[0], 1.0});
    Tensor end = f.tensor("greater", {f.tensor("reduce", {h}, {{"mode", "max"}, {"axis", f.input}}), 3.0});
    return LoopNext{{h}, {h}, end};
  });
  LiveLayers layers = f.live({r.stacked[0]});
  const Layer* rec = Regions::of_class(layers, "rec");
  REQUIRE(rec);
  CHECK(rec->option("max_seq_len_via"));
  CHECK(std::get<bool>(rec->option("include_eos")->data) == false);
  CHECK(Regions::named(layers.in(std::get<RegionRef>(rec->option("unit")->data).region), "end"));
}

TEST_CASE("the `output` of a search has the choice in it") {
  for (bool stacked : {true, false}) {
    Regions f;
    LoopSpec spec = f.spec();
    spec.search = true;
    spec.stacked_names = {"scores"};
    spec.stacked = {f.type({f.batch, f.input})};
    if (stacked) {
      spec.stacked_names.push_back("label");
      spec.stacked.push_back({{f.batch}, DType::int32, f.input});
    }
    LoopResult r = f.backend.loop(spec, [&](const LoopStep& step) {
      Tensor scores = f.tensor("log_softmax", {step.state[0]}, {{"axis", f.input}});
      Tensor label = f.tensor("choice", {scores}, {{"axis", f.input}, {"beam_size", 2}});
      Tensor h = f.tensor("add", {step.state[0], f.tensor("one_hot", {label})});
      return LoopNext{{h}, stacked ? std::vector<Tensor>{scores, label} : std::vector<Tensor>{scores}, nullptr};
    });
    LiveLayers layers = f.live(r.stacked);
    const Layer* rec = Regions::of_class(layers, "rec");
    REQUIRE(rec);
    std::vector<Layer*> unit = layers.in(std::get<RegionRef>(rec->option("unit")->data).region);
    const Layer* output = Regions::named(unit, "output");
    REQUIRE(output);
    CHECK(output->type.dims == std::vector<Dim>{f.batch});
    CHECK(!output->option("is_output_layer"));
    for (const Layer* layer : unit)
      if (layer->base == "scores") CHECK(layer->option("is_output_layer"));
  }
}

TEST_CASE("both branches of a cond have the same names, the first result is `output`") {
  Regions f;
  CondSpec spec;
  spec.name = "if";
  spec.condition = f.tensor("greater", {f.tensor("dim_value", {f.time}), 2});
  spec.names = {"y", "z"};
  spec.results = {f.x->type, f.x->type};
  Tensor w = f.param("w", {f.input});
  std::vector<Tensor> r = f.backend.cond(
      spec, [&] { return std::vector<Tensor>{f.tensor("mul", {f.x, w}), f.x}; },
      [&] { return std::vector<Tensor>{f.x, f.tensor("mul", {f.x, w})}; });
  LiveLayers layers = f.live(r);
  const Layer* cond = Regions::of_class(layers, "cond");
  REQUIRE(cond);
  for (const char* key : {"true_layer", "false_layer"}) {
    const OptionDict& branch = std::get<OptionDict>(cond->option(key)->data);
    const Region* region = nullptr;
    for (const auto& [name, option] : branch)
      if (const auto* made = std::get_if<RegionRef>(&option.data)) region = made->region;
    REQUIRE(region);
    CHECK(Regions::named(layers.in(region), "output"));
    CHECK(Regions::named(layers.in(region), "z"));
  }
  std::size_t variables = 0;
  for (const Layer* layer : layers.all()) {
    if (layer->cls != "variable") continue;
    ++variables;
    CHECK(layer->region == f.graph.root_region());
  }
  CHECK(variables == 1);
}

TEST_CASE("a masked part is a switch for each name") {
  Regions f;
  LoopSpec spec = f.spec();
  LoopResult r = f.backend.loop(spec, [&](const LoopStep& step) {
    Tensor frame = f.backend.frame(f.x, f.time, step.index, {});
    MaskedSpec masked;
    masked.name = "masked";
    masked.mask = f.tensor("greater", {f.tensor("reduce", {frame}, {{"mode", "sum"}, {"axis", f.input}}), 0.0});
    masked.names = {"h"};
    masked.before = {step.state[0]};
    Tensor h = f.backend.masked(masked, [&] { return std::vector<Tensor>{f.tensor("add", {step.state[0], frame})}; }).at(0);
    return LoopNext{{h}, {h}, nullptr};
  });
  LiveLayers layers = f.live({r.stacked[0]});
  const Layer* rec = Regions::of_class(layers, "rec");
  REQUIRE(rec);
  const Layer* chosen = nullptr;
  for (const Layer* layer : layers.in(std::get<RegionRef>(rec->option("unit")->data).region))
    if (layer->cls == "switch" && layer->base == "h") chosen = layer;
  REQUIRE(chosen);
  CHECK(Regions::ref(*chosen, "false_from").kind == RefKind::previous);
}

TEST_CASE("an assignment of a parameter waits for what reads the old value, and runs with the outputs") {
  Regions f;
  Parameter p;
  p.path = "mean";
  p.type = f.type({f.input});
  p.initial = 0.0;
  p.auxiliary = true;
  Tensor mean = f.backend.parameter(p);
  Tensor y = f.tensor("sub", {f.x, mean});
  f.backend.assign(p, mean, f.tensor("mul", {mean, 0.5}), {});
  Mark mark;
  mark.role = MarkRole::output;
  mark.name = "y";
  f.backend.mark(mark, y);
  f.backend.finish();
  LiveLayers layers = f.live({});
  const Layer* assign = Regions::of_class(layers, "variable_assign");
  REQUIRE(assign);
  const OptionList& waits = std::get<OptionList>(assign->option("control_dependencies")->data);
  CHECK(waits.size() == 2);  // the difference, and the product that is assigned
  CHECK(Regions::named(layers.root(), ".update"));
}
