// The layers that operations, parameters and marks become.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/ops/fixture.h"

using namespace rcn;

namespace {

std::string text(const Option& option) {
  struct Visitor {
    std::string items(const OptionList& list) const {
      std::string result;
      for (const Option& item : list) result += (result.empty() ? "" : ", ") + text(item);
      return result;
    }
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool b) const { return b ? "True" : "False"; }
    std::string operator()(std::int64_t i) const { return std::to_string(i); }
    std::string operator()(double d) const { return python_float(d); }
    std::string operator()(const std::string& s) const { return "'" + s + "'"; }
    std::string operator()(const RegionRef&) const { return "region"; }
    std::string operator()(const LayerRef& ref) const {
      return std::string(ref.kind == RefKind::previous ? "prev:" : "") + (ref.layer->name.empty() ? ref.layer->base : ref.layer->name) + (ref.sub.empty() ? "" : "/" + ref.sub);
    }
    std::string operator()(const DimRef& ref) const { return to_string(ref.dim) + (ref.match_priority ? "!" + std::to_string(ref.match_priority) : ""); }
    std::string operator()(const OptionList& list) const { return "[" + items(list) + "]"; }
    std::string operator()(const OptionTuple& tuple) const { return "(" + items(tuple.items) + ")"; }
    std::string operator()(const OptionSet& set) const { return "{" + items(set.items) + "}"; }
    std::string operator()(const OptionMap&) const { return "map"; }
    std::string operator()(const OptionDict& dict) const {
      std::string result;
      for (const auto& [key, value] : dict) result += (result.empty() ? "" : ", ") + key + ": " + text(value);
      return "{" + result + "}";
    }
  };
  return std::visit(Visitor{}, option.data);
}

std::string text(const Layer& layer) { return layer.cls + " " + text(Option(layer.options)); }

struct Layers : OpFixture {
  Tensor x = extern_tensor("data", {batch, time, input});
  Tensor labels = extern_tensor("classes", {batch, time}, DType::int32, classes);

  std::vector<std::string> of(const Tensor& value) {
    std::vector<std::string> result;
    for (const Layer* layer : layers_of(value)) result.push_back(text(*layer));
    return result;
  }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("numbers in expressions") {
  CHECK(python_float(2.0) == "2.0");
  CHECK(python_float(0.1) == "0.1");
  CHECK(python_float(-1.5) == "(-1.5)");
  CHECK(python_float(-0.0) == "(-0.0)");
  CHECK(python_float(1.0 / 0.0) == "float('inf')");
  CHECK(python_number(std::int64_t{3}, DType::float32) == "3.0");
  CHECK(python_number(std::int64_t{-3}, DType::int32) == "(-3)");
  CHECK(python_number(true, DType::bool_) == "True");
}

TEST_CASE("elementwise operations") {
  auto lines = [](auto&& make) {
    Layers f;
    return f.of(make(f));
  };
  CHECK(lines([](Layers& f) { return f.tensor("relu", {f.x}); }) == Lines{"activation {from: data, activation: 'relu'}"});
  CHECK(lines([](Layers& f) { return f.tensor("sub", {2, f.x}); }) == Lines{"eval {from: data, eval: '2.0 - source(0)'}"});
  CHECK(lines([](Layers& f) { return f.tensor("pow", {f.x, 2}); }) == Lines{"eval {from: data, eval: 'source(0) ** 2.0'}"});
  CHECK(lines([](Layers& f) { return f.tensor("pow", {f.x, -2}); }) ==
        Lines{"seq_len_mask {from: data, axis: time, mask_value: 1.0}", "eval {from: pow_masked, eval: 'source(0) ** (-2.0)'}"});
  CHECK(lines([](Layers& f) { return f.tensor("less", {2, f.labels}); }) == Lines{"compare {from: data:classes, kind: 'greater', value: 2}"});
  CHECK(lines([](Layers& f) { return f.tensor("add", {f.labels, 1}); }) ==
        Lines{"eval {from: data:classes, eval: 'source(0) + 1', out_type: {sparse_dim: None}}"});
}

TEST_CASE("expand_dims makes no layer where the reader broadcasts") {
  Layers f;
  Tensor mean = f.tensor("reduce", {f.x}, {{"mode", "sum"}, {"axis", f.input}});
  Value wide = f.call("expand_dims", {mean, list_of({f.hidden})});
  Tensor w = f.param("w", {f.hidden});
  Lines lines = f.of(f.tensor("mul", {wide, w}));
  CHECK(lines.back() == "combine {from: [reduce, w], kind: 'mul', allow_broadcast_all_sources: True}");
  Layers g;
  Value scaled = g.call("mul", {g.call("expand_dims", {g.x, list_of({g.hidden})}), 2.0});
  CHECK(graph_tensor(scaled.tensor()).missing == std::vector<Dim>{g.hidden});
  CHECK(g.of(scaled.tensor()).size() == 3);  // at the mark: neutral element of the dims, and the sum with it
}

TEST_CASE("linear: one layer for a parameter, a product for anything else") {
  Layers f;
  Tensor w = f.param("ff/weight", {f.input, f.hidden}), b = f.param("ff/bias", {f.hidden}, 0.0);
  OpFixture::Keywords io{{"in_dim", f.input}, {"out_dim", f.hidden}};
  CHECK(f.of(f.tensor("linear", {f.x, w, b}, io)) ==
        Lines{"variable {shape: [input, hidden], init: 'RandomUniform(minval=-0.5, maxval=0.5)', param_name: 'param', name_scope: '/ff/weight'}",
              "variable {shape: [hidden], init: 0.0, param_name: 'param', name_scope: '/ff/bias'}",
              "linear {from: data, in_dim: input, out_dim: hidden, with_bias: True, activation: None, reuse_params: {map: "
              "{W: {layer_output: ff.weight}, b: {layer_output: ff.bias}}}}"});
  Layers g;
  Tensor half = g.tensor("mul", {g.param("w", {g.input, g.hidden}), 0.5});
  CHECK(g.of(g.tensor("linear", {g.x, half}, {{"in_dim", g.input}, {"out_dim", g.hidden}})).back() ==
        "dot {from: [data, mul], reduce: input, use_mask: True}");
}

TEST_CASE("the second dropout of a layer reads a copy of its own") {
  Layers f;
  f.context.train = None{};
  CHECK(f.of(f.tensor("dropout", {f.x, 0.5}, {{"axis", f.input}})) ==
        Lines{"dropout {from: data, dropout: 0.5, dropout_axis: input, dropout_on_forward: False}"});
  CHECK(f.of(f.tensor("dropout", {f.x, 0.25}, {{"axis", f.input}})).back() ==
        "dropout {from: dropout_input, dropout: 0.25, dropout_axis: input, dropout_on_forward: False}");
  Layers g;
  g.context.train = true;
  CHECK(g.of(g.tensor("dropout", {g.x, 0.5}, {{"axis", list_of({g.batch, g.time, g.input})}})).back() ==
        "dropout {from: data, dropout: 0.5, dropout_noise_shape: {*: None}, dropout_on_forward: True}");
}

TEST_CASE("padding that may be nan is masked before a function that is not finite everywhere, and before a product") {
  Layers f;
  Tensor logs = f.tensor("log", {f.x});
  Lines lines = f.of(f.tensor("dot", {logs, f.x}, {{"reduce", f.time}}));
  CHECK(lines == Lines{"seq_len_mask {from: data, axis: time, mask_value: 1.0}", "activation {from: log_masked, activation: 'log'}",
                       "seq_len_mask {from: data, axis: time, mask_value: 0.0}",
                       "dot {from: [log, dot_masked], reduce: time, use_mask: False}"});
}

TEST_CASE("what is 0 in the padding is masked once, also behind a dropout") {
  Layers f;
  Tensor weights = f.tensor("dropout", {f.tensor("softmax", {f.x}, {{"axis", f.time}}), 0.5}, {{"axis", list_of({f.batch, f.time, f.input})}, {"on_forward", true}});
  Lines lines = f.of(f.tensor("dot", {weights, f.x}, {{"reduce", f.time}}));
  CHECK(std::count_if(lines.begin(), lines.end(), [](const std::string& line) { return line.starts_with("seq_len_mask"); }) == 2);
  CHECK(lines.back() == "dot {from: [dropout, dot_masked], reduce: time, use_mask: False}");
}

TEST_CASE("a declared dim gets a length: the result is renamed") {
  Layers f;
  Dim out = f.no_length("out");
  Value padded = f.call("pad", {f.x}, {{"axis", f.time}, {"right", 2}, {"out_dim", out}});
  CHECK(f.of(padded.tuple().items[0].tensor()) ==
        Lines{"pad {from: data, axes: [time], padding: [(0, 2)], out_dims: [time + 2], handle_dynamic_dims: True, value: 0.0, mode: 'constant'}",
              "reinterpret_data {from: pad, set_dim_tags: [(time + 2, out)]}"});
}

TEST_CASE("lengths of a dim that no layer has come from those of its atoms") {
  Layers f;
  Dim d = f.dims.sub(f.dims.mul(f.time, f.dims.constant(2)), f.dims.constant(1));
  CHECK(f.of(f.tensor("range_over_dim", {d})) ==
        Lines{"length {from: data, axis: time, dtype: 'int32', sparse: False}",
              "eval {from: time_length, eval: 'tf.maximum((2 * source(0)) + (-1), 0)', out_type: {dtype: 'int32', sparse_dim: None}}",
              "range_from_length {from: 2_time_1_length, dtype: 'int32', sparse: False, out_spatial_dim: 2 * time - 1}"});
}

TEST_CASE("shapes with dynamic dims depend on an input that inference has") {
  OpFixture f;
  f.extern_tensor("targets", {f.batch, f.time}, DType::int32, f.classes, false);
  f.extern_tensor("data", {f.batch, f.time, f.input});
  Tensor zeros = f.tensor("zeros", {list_of({f.batch, f.time, f.hidden})});
  CHECK(text(*f.layers_of(zeros)[0]) == "constant {value: 0.0, shape: [batch, time, hidden], dtype: 'float32', shape_deps: [data]}");
}

TEST_CASE("parameters") {
  Layers f;
  auto made = [&](Parameter p) { return text(*graph_tensor(f.backend.parameter(p)).layer.layer); };
  Parameter p;
  p.path = "enc/0/w";
  p.type = {{f.input, f.input}, DType::float32, nullptr};
  p.initial = Initializer{Initializer::Kind::variance_scaling, 1, 0, "fan_avg", "uniform"};
  p.weight_decay = 0.01;
  CHECK(made(p) == "variable {shape: [input!1, input], init: 'VarianceScaling(scale=1.0, mode='fan_avg', distribution='uniform')', L2: 0.01, "
                   "param_name: 'param', name_scope: '/enc/0/w'}");
  p.trainable = false;  // RETURNN counts the L2 of a frozen variable
  p.initial = 0;
  CHECK(made(p) == "variable {shape: [input!1, input], init: 0.0, trainable: False, param_name: 'param', name_scope: '/enc/0/w'}");
  p.trainable = true;
  p.weight_decay.reset();
  p.type = {{f.input}, DType::int32, nullptr};
  p.initial = list_of({1, 2, 3});
  CHECK(made(p) == "variable {shape: [input], dtype: 'int32', init: 'numpy.array([1, 2, 3], dtype='int32')', trainable: False, "
                   "param_name: 'param', name_scope: '/enc/0/w'}");
}

TEST_CASE("marks") {
  Layers f;
  Mark loss{MarkRole::loss, "ce", 0.5, true, true, nullptr, false, {}};
  Tensor per_frame = f.tensor("reduce", {f.x}, {{"mode", "sum"}, {"axis", f.input}});
  f.backend.mark(loss, per_frame);
  CHECK(text(f.graph.layers.back()) == "copy {from: reduce, loss: 'as_is', loss_opts: {scale: 0.5, use_normalized_loss: True, use_flatten_frames: True}}");
  CHECK(f.graph.layers.back().name == "ce");
  CHECK(f.graph.layers.back().root);
  Mark error{MarkRole::error, "fer", 1.0, true, true, nullptr, false, {}};
  f.backend.mark(error, f.labels);
  CHECK(text(f.graph.layers.back()) == "copy {from: fer_value, loss: 'as_is', loss_opts: {as_error: True, use_normalized_loss: True, use_flatten_frames: True}}");
  CHECK_THROWS_AS(f.backend.mark(loss, f.labels), EvalError);
  CHECK(format_message(f.diagnostics.items().back().kind, f.diagnostics.items().back().args) == "the loss `ce` must be a float, but has dtype `int32`");
  CHECK_THROWS_AS(f.backend.mark(loss, f.tensor("cast", {f.tensor("range_over_dim", {f.time}), DType::float32})), EvalError);
  Mark output{MarkRole::output, "probs", 1.0, false, true, nullptr, true, {}};
  f.backend.mark(output, f.x);
  CHECK(f.graph.layers.back().name == "output");
  CHECK(text(f.graph.layers.back()) == "copy {from: data, is_output_layer: True}");
}

TEST_CASE("layers as they are") {
  Layers f;
  Record layer{{{Symbol("class"), "gauss_window_attention"}, {Symbol("from"), list_of({f.x})}, {Symbol("axis"), f.time}, {Symbol("opts"), Record{{{Symbol("n"), 3}}}}}};
  std::vector<Tensor> made = f.backend.raw_layer(layer, {{{f.batch, f.input}, DType::float32, nullptr}, {{f.batch}, DType::int32, nullptr}}, {"", "sizes"}, {});
  CHECK(text(*graph_tensor(made[0]).layer.layer) == "gauss_window_attention {from: [data], axis: time, opts: {n: 3}}");
  CHECK(graph_tensor(made[1]).layer.sub == "sizes");
  CHECK_THROWS_AS(f.backend.raw_layer(Record{}, {}, {}, {}), EvalError);
  f.backend.raw_entry("#copy_param_mode", "subset", {});
  CHECK(f.graph.entries.front().first == "#copy_param_mode");
}
