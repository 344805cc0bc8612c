#include "tests/unit/emit/models.h"

#include <limits>

namespace rcn::test {

namespace {

std::vector<Dim> replaced(const TensorType& type, Dim from, Dim to) {
  std::vector<Dim> dims = type.dims;
  for (Dim& d : dims)
    if (d == from) d = to;
  return dims;
}

std::vector<Dim> without(const TensorType& type, Dim dim) {
  std::vector<Dim> dims = type.dims;
  std::erase(dims, dim);
  return dims;
}

Option map_of(OptionDict entries) {
  OptionDict map;
  for (auto& [key, value] : entries) map.emplace_back(key, OptionDict{{"layer_output", std::move(value)}});
  return OptionDict{{"map", std::move(map)}};
}

std::string slashes(std::string path) {
  for (char& c : path)
    if (c == '.') c = '/';
  return path;
}

}  // namespace

const Layer* Model::data(const std::string& name, std::vector<Dim> type_dims, Dim sparse_dim, bool in_inference) {
  TensorType type{std::move(type_dims), sparse_dim ? DType::int32 : DType::float32, sparse_dim};
  graph.externs.push_back({name, name, type, in_inference, {}});
  Layer& layer = graph.add("", {}, type, graph.root_scope(), name, {});
  layer.source = &graph.externs.back();
  layer.name = "data:" + name;
  layer.fixed_name = true;
  return &layer;
}

const NameScope* Model::scope(const std::string& path) {
  for (const auto& [known, scope] : scopes_)
    if (known == path) return scope;
  const NameScope* scope = graph.add_scope(graph.root_scope(), path);
  scopes_.emplace_back(path, scope);
  return scope;
}

// Each layer comes from a source line of its own.
Span Model::next_line() {
  if (!file_) file_ = sources.add("/some/where/model.rcn", std::string(1000, '\n'));
  Span span{file_, line_, line_};
  ++line_;
  return span;
}

Layer& Model::place(const std::string& path, std::string cls, OptionDict options, TensorType type) {
  Span span = next_line();
  std::size_t dot = path.rfind('.');
  const NameScope* owner = dot == std::string::npos ? graph.root_scope() : scope(path.substr(0, dot));
  return graph.add(std::move(cls), std::move(options), std::move(type), owner,
                   dot == std::string::npos ? path : path.substr(dot + 1), span);
}

const Layer* Model::add(const std::string& path, std::string cls, OptionDict options, TensorType type) {
  return &place(path, std::move(cls), std::move(options), std::move(type));
}

const Layer* Model::mark(const std::string& name, std::string cls, OptionDict options, TensorType type) {
  Layer& layer = place(name, std::move(cls), std::move(options), std::move(type));
  layer.name = name;
  layer.fixed_name = layer.root = true;
  return &layer;
}

const Layer* Model::inner(const Region& region, const std::string& base, std::string cls, OptionDict options,
                          TensorType type) {
  return &graph.add(std::move(cls), std::move(options), std::move(type), region.scope, base, next_line(), &region);
}

const Layer* Model::named(const Region& region, const std::string& name, std::string cls, OptionDict options,
                          TensorType type) {
  Layer& layer =
      graph.add(std::move(cls), std::move(options), std::move(type), region.scope, name, next_line(), &region);
  layer.name = name;
  layer.fixed_name = true;
  layer.root = name == "output" || name == "end";
  return &layer;
}

const Layer* Model::builtin(const Region& region, const std::string& name, TensorType type) {
  Layer& layer = graph.add("", {}, std::move(type), region.scope, name, {}, &region);
  layer.name = name;
  layer.fixed_name = layer.builtin = true;
  return &layer;
}

const Layer* Model::loop(const Region* parent, const std::string& base, Region& body, Dim axis, TensorType type) {
  const Layer* layer =
      inner(*parent, base, "rec",
            {{"from", OptionList{}}, {"axis", axis}, {"name_scope", ""}, {"unit", RegionRef{&body}}}, std::move(type));
  body.owner = layer;
  return layer;
}

const Layer* Model::variable(const std::string& path, std::vector<Dim> type_dims) {
  OptionList shape;
  for (std::size_t i = 0; i < type_dims.size();
       ++i)  // the first of two equal dims is the one that inputs are matched with
    shape.push_back(DimRef{type_dims[i], i == 0 && type_dims.size() == 2 && type_dims[0] == type_dims[1] ? 1 : 0});
  Option init = 0.0;
  if (type_dims.size() > 1) init = "VarianceScaling(scale=1.0, mode='fan_avg', distribution='uniform')";
  return add(path, "variable",
             {{"shape", std::move(shape)},
              {"param_name", "param"},
              {"name_scope", "/" + slashes(path)},
              {"init", std::move(init)}},
             {type_dims});
}

const Layer* Model::linear(const std::string& path, const Layer* x, Dim in, Dim out, Option activation) {
  const Layer* weight = variable(path + ".weight", {in, out});
  const Layer* bias = variable(path + ".bias", {out});
  std::vector<Dim> dims_out = x->type.has(in) ? replaced(x->type, in, out) : x->type.dims;
  if (!x->type.has(in)) dims_out.push_back(out);
  return add(path + ".linear", "linear",
             {{"from", x},
              {"in_dim", in},
              {"out_dim", out},
              {"with_bias", true},
              {"activation", std::move(activation)},
              {"reuse_params", map_of({{"W", weight}, {"b", bias}})}},
             {dims_out});
}

const Layer* Model::lstm(const std::string& path, const Layer* x, Dim in, Dim out, Dim time, int direction) {
  Dim gates = times(out, 4);
  const Layer* w = variable(path + ".param_W", {in, gates});
  const Layer* r = variable(path + ".param_W_re", {out, gates});
  const Layer* b = variable(path + ".param_b", {gates});
  std::vector<Dim> dims_out = replaced(x->type, in, out);
  return add(path + ".rec", "rec",
             {{"from", x},
              {"in_dim", in},
              {"out_dim", out},
              {"axis", time},
              {"unit", "nativelstm2"},
              {"direction", direction},
              {"name_scope", "/" + slashes(path)},
              {"reuse_params", map_of({{"W", w}, {"W_re", r}, {"b", b}})}},
             {dims_out});
}

void Model::classify(const Layer* logits, const Layer* targets, Dim classes) {
  std::vector<Dim> frames = without(logits->type, classes);
  const Layer* log_probs = add("log_softmax", "softmax_over_spatial",
                               {{"from", logits}, {"axis", classes}, {"log_space", true}}, logits->type);
  const Layer* ce = add("cross_entropy", "sparse_softmax_cross_entropy_with_logits",
                        {{"logits", logits}, {"targets", targets}, {"axis", classes}}, {frames});
  mark("ce", "copy", {{"from", ce}, {"loss", "as_is"}, {"loss_scale", 1.0}}, {frames});
  const Layer* best = add("argmax", "reduce", {{"mode", "argmax"}, {"from", logits}, {"axis", classes}},
                          {frames, DType::int32, classes});
  const Layer* wrong =
      add("not_equal", "compare", {{"kind", "not_equal"}, {"from", OptionList{best, targets}}}, {frames, DType::bool_});
  const Layer* error = add("cast", "cast", {{"from", wrong}, {"dtype", "float32"}}, {frames});
  mark("fer", "copy", {{"from", error}, {"loss", "as_is"}, {"loss_opts", OptionDict{{"as_error", true}}}}, {frames});
  mark("log_probs", "copy", {{"from", log_probs}, {"is_output_layer", true}}, logits->type);
  mark("output", "copy", {{"from", log_probs}}, logits->type);
}

void Model::finish() {
  layers = drop_dead(graph);
  assign_names(layers, graph.entries);
  add_order_anchor(graph, layers);
}

namespace {

const Layer* dropout(Model& m, const std::string& path, const Layer* x, double rate) {
  const Layer* copy = m.add(path + ".copy", "copy", {{"from", x}}, x->type);  // one mask for each
  return m.add(path + ".dropout", "dropout",
               {{"from", copy}, {"dropout", rate}, {"dropout_noise_shape", OptionDict{{"*", Option()}}}}, x->type);
}

void tagger(Model& m) {
  Dim time = m.dynamic("time"), input = m.feature("input", 9), classes = m.feature("classes", 2),
      hidden = m.feature("hidden", 4);
  const Layer* x = m.data("data", {m.dims.batch(), time, input});
  const Layer* targets = m.data("classes", {m.dims.batch(), time}, classes, false);
  const Layer* h = m.lstm("lstm", dropout(m, "drop", x, 0.1), input, hidden, time, 1);
  m.add("unused", "copy", {{"from", x}}, x->type);
  m.classify(m.linear("out", h, hidden, classes), targets, classes);
}

void mlp(Model& m) {
  Dim time = m.dynamic("time"), input = m.feature("input", 9), hidden = m.feature("hidden", 6),
      classes = m.feature("classes", 3);
  Dim joined = m.dims.add(hidden, input);
  Dim batch = m.dims.batch();
  const Layer* x = m.data("data", {batch, time, input});
  const Layer* targets = m.data("classes", {batch, time}, classes, false);
  const Layer* a = m.linear("layers.0", x, input, hidden, "relu");
  const Layer* square = m.linear("layers.1", a, hidden, hidden);
  const Layer* act = m.add("layers.1.activation", "activation", {{"from", square}, {"activation", "tanh"}}, a->type);
  const Layer* sum = m.add("residual", "combine", {{"kind", "add"}, {"from", OptionList{act, a}}}, a->type);
  const Layer* cat =
      m.add("concat", "concat",
            {{"from", OptionList{OptionTuple{{sum, hidden}}, OptionTuple{{x, input}}}}, {"out_dim", joined}},
            {{batch, time, joined}});
  const Layer* scale = m.variable("scale", {joined});
  const Layer* scaled =
      m.add("scaled", "eval", {{"from", OptionList{cat, scale}}, {"eval", "source(0) * (1.0 + source(1))"}}, cat->type);
  m.classify(m.linear("out", scaled, joined, classes), targets, classes);
}

void hybrid(Model& m) {
  Dim time = m.dynamic("time"), x_dim = m.feature("input", 9), states = m.feature("states", 7);
  Dim batch = m.dims.batch();
  const Layer* x = m.data("data", {batch, time, x_dim});
  const Layer* targets = m.data("classes", {batch, time}, states, false);
  for (int i = 0; i < 2; ++i) {
    Dim size = m.feature("hidden", 5);
    Dim both = m.times(size, 2);
    std::string path = "encoder." + std::to_string(i);
    const Layer* in = dropout(m, path, x, 0.25);
    const Layer* fw = m.lstm(path + ".forward", in, x_dim, size, time, 1);
    const Layer* bw = m.lstm(path + ".backward", in, x_dim, size, time, -1);
    x = m.add(path + ".concat", "concat",
              {{"from", OptionList{OptionTuple{{fw, size}}, OptionTuple{{bw, size}}}},
               {"out_dim", both},
               {"out_shape", OptionSet{{batch, time, both}}}},
              {{batch, time, both}});
    x_dim = both;
  }
  m.classify(m.linear("out", x, x_dim, states), targets, states);
}

void ctc(Model& m) {
  Dim time = m.dynamic("time"), label_time = m.dynamic("label time"), input = m.feature("input", 9);
  Dim labels = m.feature("labels", 4), with_blank = m.dims.add(labels, m.dims.constant(1));
  Dim batch = m.dims.batch();
  const Layer* x = m.data("data", {batch, time, input});
  const Layer* targets = m.data("classes", {batch, label_time}, labels, false);
  const Layer* logits = m.linear("out", x, input, with_blank);
  const Layer* loss = m.add("ctc_loss", "ctc_loss",
                            {{"logits", logits},
                             {"targets", targets},
                             {"logits_normalized", false},
                             {"blank_index", 4},
                             {"max_approx", false}},
                            {{batch}});
  m.mark("ctc", "copy", {{"from", loss}, {"loss", "as_is"}}, {{batch}});
  m.mark("output", "softmax_over_spatial", {{"from", logits}, {"axis", with_blank}, {"log_space", true}}, logits->type);
}

void shapes(Model& m) {
  Dim time = m.dynamic("time"), input = m.feature("input", 9), other = m.feature("other", 5),
      words = m.feature("words", 11);
  Dim batch = m.dims.batch();
  const Layer* x = m.data("data", {batch, time, input});
  const Layer* word = m.data("words", {batch, time}, words);
  auto output = [&](const std::string& name, const Layer* y) {
    m.mark(name, "copy", {{"from", y}, {"is_output_layer", true}}, y->type);
  };
  auto reduce = [&](const std::string& mode, const Layer* y, std::vector<Dim> axes, std::vector<Dim> left) {
    return m.add(mode, "reduce", {{"mode", mode}, {"from", y}, {"axis", dims_option(axes)}}, {left});
  };
  const Layer* over_time = reduce("mean", x, {time}, {batch, input});
  const Layer* pooled = m.linear("pooled", over_time, input, other, "sigmoid");
  const Layer* embedded = m.linear("embedding", word, words, other);
  const Layer* gathered =
      m.add("gathered", "gather", {{"from", m.variable("table", {words, other})}, {"position", word}, {"axis", words}},
            {{batch, time, other}});
  const Layer* sum = m.add("sum", "combine", {{"kind", "add"}, {"from", OptionList{embedded, pooled}}}, embedded->type);
  const Layer* all =
      m.add("mixed", "eval", {{"from", OptionList{sum, gathered}}, {"eval", "source(0) + 2.5 * source(1)"}}, sum->type);
  output("attention", m.add("attention", "softmax_over_spatial", {{"from", all}, {"axis", time}}, all->type));
  output("total", reduce("sum", all, {batch, time, other}, {}));
  output("per_class", reduce("max", all, {time, batch}, {other}));
  output("frames", reduce("sum", all, {other}, {batch, time}));
  const Layer* outer = m.add("outer", "combine",
                             {{"kind", "mul"},
                              {"from", OptionList{pooled, reduce("sum", all, {other}, {batch, time})}},
                              {"allow_broadcast_all_sources", true}},
                             {{batch, other, time}});
  output("projected", m.linear("projection", outer, other, input));
  const Layer* last = m.add("last", "get_last_hidden_state",
                            {{"from", m.lstm("lstm", outer, other, other, time, -1)}, {"key", "h"}, {"out_dim", other}},
                            {{batch, other}});
  output("state", last);
  output("length",
         m.add("length", "length", {{"from", x}, {"axis", time}, {"dtype", "int32"}}, {{batch}, DType::int32}));
  m.mark("output", "copy", {{"from", all}}, all->type);
}

void pointwise(Model& m) {
  Dim time = m.dynamic("time"), input = m.feature("input", 9), other = m.feature("other", 5);
  Dim batch = m.dims.batch();
  const Layer* x = m.data("data", {batch, time, input});
  TensorType type = x->type;
  auto output = [&](const std::string& name, const Layer* y) {
    m.mark(name, "copy", {{"from", y}, {"is_output_layer", true}}, y->type);
  };
  const Layer* scale = m.variable("norm.scale", {input});
  const Layer* bias = m.variable("norm.bias", {input});
  const Layer* norm = m.add("norm.layer_norm", "layer_norm",
                            {{"from", x},
                             {"in_dim", input},
                             {"epsilon", 1e-06},
                             {"reuse_params", map_of({{"scale", scale}, {"bias", bias}})}},
                            type);
  output("normed", norm);
  const Layer* positive =
      m.add("greater", "compare", {{"kind", "greater"}, {"from", norm}, {"value", 0.25}}, {type.dims, DType::bool_});
  const Layer* masked = m.add("mask", "seq_len_mask", {{"from", norm}, {"axis", time}, {"mask_value", -1.5}}, type);
  output("selected",
         m.add("where", "switch", {{"condition", positive}, {"true_from", masked}, {"false_from", -2.0}}, type));
  output("scaled", m.add("grad", "scaled_grad", {{"from", masked}, {"scale", 0.5}}, type));
  const Layer* ones =
      m.add("ones", "constant", {{"value", 1.5}, {"shape", OptionList{batch, other}}, {"dtype", "float32"}},
            {{batch, other}});
  const Layer* row =
      m.add("row", "constant", {{"value", 2.0}, {"shape", OptionList{input}}, {"dtype", "float32"}}, {{input}});
  const Layer* mean = m.add("mean", "reduce", {{"mode", "mean"}, {"from", x}, {"axis", time}}, {{batch, input}});
  const Layer* outer =
      m.add("outer", "combine",
            {{"kind", "mul"}, {"from", OptionList{mean, ones}}, {"out_shape", OptionSet{{batch, input, other}}}},
            {{batch, input, other}});
  output("outer_product", outer);
  output("rows", m.add("rows", "combine", {{"kind", "add"}, {"from", OptionList{row, mean}}}, mean->type));
  // The feature mark is on the one dim, the layer works on the other.
  output("swapped", m.linear("swapped", outer, other, m.feature("wide", 12)));
  const Layer* total = m.add("total", "reduce", {{"mode", "sum"}, {"from", norm}, {"axis", input}}, {{batch, time}});
  auto frames = [&](const std::string& name, const Layer* y) {
    return m.add(name, "reinterpret_data", {{"from", y}, {"set_axes", OptionDict{{"T", time}}}}, y->type);
  };
  m.mark("mean_loss", "copy",
         {{"from", frames("mean_frames", total)},
          {"loss", "as_is"},
          {"loss_scale", 0.5},
          {"loss_opts", OptionDict{{"use_normalized_loss", true}}}},
         total->type);
  // Losses of what works on frames; the second has lost its time mark.
  const Layer* framed = frames("framed", masked);
  const Layer* per_frame =
      m.add("sum", "reduce", {{"mode", "sum"}, {"from", framed}, {"axis", input}}, {{batch, time}});
  m.mark("masked_loss", "copy", {{"from", per_frame}, {"loss", "as_is"}}, per_frame->type);
  const Layer* lost = m.add("lost", "combine",
                            {{"kind", "add"}, {"from", OptionList{ones, total}}, {"allow_broadcast_all_sources", true}},
                            {{batch, other, time}});
  const Layer* left = m.add("left", "reduce", {{"mode", "max"}, {"from", lost}, {"axis", other}}, {{batch, time}});
  m.mark("lost_loss", "copy", {{"from", left}, {"loss", "as_is"}}, left->type);
  const Layer* found = frames("found", left);
  m.mark("found_loss", "copy", {{"from", found}, {"loss", "as_is"}}, left->type);
  m.mark("output", "identity", {{"from", norm}}, type);
}

void inputs(Model& m) {
  Dim time = m.dynamic("time"), steps = m.dynamic("steps"), input = m.feature("input", 9),
      speaker = m.feature("speaker", 4);
  Dim channels = m.feature("channels", 3);
  Dim batch = m.dims.batch();
  const Layer* early = m.data("targets", {batch, time}, m.feature("classes", 6), false);
  const Layer* x = m.data("data", {batch, time, input});
  const Layer* vector = m.data("speaker", {batch, speaker});
  const Layer* label = m.data("label", {batch}, m.feature("labels", 8));
  const Layer* gain = m.data("gain", {batch, time});
  const Layer* timely = m.data("time_major", {time, batch, channels});
  const Layer* other = m.data("other", {batch, steps, input});
  const Layer* odd_order = m.data("channels_first", {batch, channels, steps});
  const Layer* number = m.data("number", {});
  auto output = [&](const std::string& name, const Layer* y) {
    m.mark(name, "copy", {{"from", y}, {"is_output_layer", true}}, y->type);
  };
  auto times = [&](const std::string& path, const Layer* a, const Layer* b) {
    return m.add(path, "combine", {{"kind", "mul"}, {"from", OptionList{a, b}}}, a->type);
  };
  const Layer* louder = times("mul", times("mul", x, gain), number);
  const Layer* sum =
      m.add("sum", "reduce", {{"mode", "sum"}, {"from", louder}, {"axis", OptionList{time}}}, {{batch, input}});
  output("louder", louder);
  output("joined", m.add("cat", "concat",
                         {{"from", OptionList{OptionTuple{{sum, input}}, OptionTuple{{vector, speaker}}}},
                          {"out_dim", m.dims.add(input, speaker)}},
                         {{batch, m.dims.add(input, speaker)}}));
  output("labelled", m.linear("label", label, label->type.sparse_dim, speaker));
  const Layer* masked =
      m.add("mask", "seq_len_mask", {{"from", timely}, {"axis", time}, {"mask_value", 0.0}}, timely->type);
  output("timely", times("mul", masked, gain));
  output("others", m.add("max", "reduce", {{"mode", "max"}, {"from", other}, {"axis", steps}}, {{batch, input}}));
  output("ordered",
         m.add("mean", "reduce", {{"mode", "mean"}, {"from", odd_order}, {"axis", channels}}, {{batch, steps}}));
  m.mark("output", "linear", m.linear("last", early, early->type.sparse_dim, speaker)->options,
         {{batch, time, speaker}});
}

void chain(Model& m, int length) {
  Dim time = m.dynamic("time"), input = m.feature("input", 9);
  const Layer* x = m.data("data", {m.dims.batch(), time, input});
  for (int i = 0; i < length; ++i) {
    const NameScope* scope = m.graph.add_scope(m.graph.root_scope(), "add");
    x = &m.graph.add("eval", {{"from", x}, {"eval", "source(0) + 0.5"}}, x->type, scope, "eval", {});
  }
  m.mark("output", "copy", {{"from", x}}, x->type);
}

const Layer* zeros(Model& m, Dim feature) {
  return m.add("zeros", "constant", {{"value", 0.0}, {"shape", OptionList{m.dims.batch(), feature}}},
               {{m.dims.batch(), feature}});
}

const Layer* index(Model& m, const Region& region) { return m.builtin(region, ":i", {{}, DType::int32}); }

const Layer* frame(Model& m, const Region& region, const Layer* x, Dim axis, const Layer* i) {
  return m.inner(region, "frame", "gather", {{"from", x}, {"axis", axis}, {"position", i}}, {without(x->type, axis)});
}

void loops(Model& m) {
  Dim time = m.dynamic("time"), input = m.feature("input", 9), batch = m.dims.batch();
  const Layer* x = m.data("data", {batch, time, input});
  TensorType state{{batch, input}}, stacked{{time, batch, input}};
  const Region* root = m.graph.root_region();

  const Layer* h0 = zeros(m, input);
  Region& body = m.graph.add_region(root);
  const Layer* x_t = frame(m, body, x, time, index(m, body));
  const Layer* h = m.named(body, "h", "combine", {}, state);
  m.graph.layers[h->id].options = {{"kind", "add"},
                                   {"from", OptionList{x_t, LayerRef{h, "", RefKind::previous}}},
                                   {"initial_output", h0},
                                   {"need_last", true}};
  const Layer* twice =
      m.named(body, "twice", "eval", {{"from", h}, {"eval", "source(0) * 2.0"}, {"is_output_layer", true}}, state);
  m.inner(body, "unused", "copy", {{"from", h}}, state);
  m.named(body, "output", "copy", {{"from", h}}, state);
  const Layer* loop = m.loop(root, "loop", body, time, stacked);
  const Layer* last = m.add("last", "rec_last_output",
                            {{"rec_layer", loop}, {"sub_layer_name", LayerRef{h, "", RefKind::name}}}, state);

  Region& second = m.graph.add_region(root);
  const Layer* y_t =
      m.inner(second, "frame", "gather", {{"from", twice}, {"axis", time}, {"position", index(m, second)}}, state);
  m.named(second, "output", "combine", {{"kind", "add"}, {"from", OptionList{y_t, last}}}, state);
  const Layer* other = m.loop(root, "loop", second, time, stacked);

  m.mark("sums", "copy", {{"from", loop}, {"is_output_layer", true}}, stacked);
  m.mark("doubled", "copy", {{"from", twice}, {"is_output_layer", true}}, stacked);
  m.mark("output", "copy", {{"from", other}}, stacked);
}

Option branch(const Region& region) {
  return OptionDict{{"class", "subnetwork"}, {"from", OptionList{}}, {"subnetwork", RegionRef{&region}}};
}

const Layer* cond(Model& m, const Region& parent, const Layer* condition, Region& yes, Region& no, TensorType type) {
  yes.owner = no.owner = m.inner(parent, "if", "cond",
                                 {{"from", OptionList{}},
                                  {"condition", condition},
                                  {"name_scope", ""},
                                  {"true_layer", branch(yes)},
                                  {"false_layer", branch(no)}},
                                 std::move(type));
  return yes.owner;
}

// In a loop, RETURNN finds neither a second value that a loop or cond hands out nor, in a loop, a value of the loop
// around from the step before: they are joined and split, and copied.
void nested(Model& m) {
  Dim time = m.dynamic("time"), steps = m.dynamic("steps"), input = m.feature("input", 9), batch = m.dims.batch();
  Dim both = m.times(input, 2);
  const Layer* x = m.data("data", {batch, time, input});
  const Layer* memory = m.data("memory", {batch, steps, input});
  TensorType state{{batch, input}}, stacked{{time, batch, input}}, joined{{batch, both}};
  const Region* root = m.graph.root_region();

  const Layer* h0 = zeros(m, input);
  Region& body = m.graph.add_region(root);
  const Layer* i = index(m, body);
  const Layer* x_t = frame(m, body, x, time, i);
  // These read the state `h`, which is made below.
  Layer& before = const_cast<Layer&>(*m.inner(body, "before", "copy", {}, state));

  Region& inside = m.graph.add_region(&body);
  const Layer* s = frame(m, inside, memory, steps, index(m, inside));
  Layer& g = const_cast<Layer&>(*m.named(inside, "g", "eval", {}, state));
  g.options = {{"from", OptionList{s, LayerRef{&g, "", RefKind::previous}, &before, i}},
               {"eval", "source(0) + 0.5 * source(1) + 0.25 * source(2) + 0.1 * tf.cast(source(3), tf.float32)"},
               {"initial_output", x_t}};
  m.named(inside, "output", "copy", {{"from", &g}}, state);
  const Layer* inner = m.loop(&body, "inner", inside, steps, {{steps, batch, input}});
  const Layer* sum =
      m.inner(body, "sum", "reduce", {{"mode", "sum"}, {"from", inner}, {"axis", OptionList{steps}}}, state);

  const Layer* even = m.inner(body, "even", "eval",
                              {{"from", i},
                               {"eval", "tf.equal(source(0) % 2, 0)"},
                               {"out_type", OptionDict{{"dtype", "bool"}, {"sparse_dim", Option()}}}},
                              {{}, DType::bool_});
  auto join = [&](const Region& region, const Layer* first, const Layer* second) {
    m.named(region, "output", "concat",
            {{"from", OptionList{OptionTuple{{first, input}}, OptionTuple{{second, input}}}}, {"out_dim", both}},
            joined);
  };
  Region &yes = m.graph.add_region(&body), &no = m.graph.add_region(&body);
  Layer& less = const_cast<Layer&>(*m.inner(yes, "less", "eval", {}, state));
  join(yes, &less, x_t);
  join(no, x_t, sum);
  const Layer* parts = m.inner(
      body, "split", "split",
      {{"from", cond(m, body, even, yes, no, joined)}, {"axis", both}, {"out_dims", OptionList{input, input}}}, joined);
  const Layer* h = m.named(body, "h", "eval",
                           {{"from", OptionList{LayerRef{parts, "0"}, LayerRef{parts, "1"}}},
                            {"eval", "tf.tanh(0.1 * (source(0) + 2.0 * source(1)))"},
                            {"initial_output", h0}},
                           state);
  const LayerRef old{h, "", RefKind::previous};
  before.options = {{"from", old}};
  less.options = {{"from", OptionList{sum, old}}, {"eval", "source(0) - 0.5 * source(1)"}};
  m.named(body, "output", "copy", {{"from", h}}, state);
  m.mark("output", "copy", {{"from", m.loop(root, "loop", body, time, stacked)}}, stacked);
}

void branches(Model& m) {
  Dim time = m.dynamic("time"), input = m.feature("input", 9), batch = m.dims.batch();
  const Layer* x = m.data("data", {batch, time, input});
  TensorType type = x->type;
  const Region& root = *m.graph.root_region();
  const Layer* one = m.add("one", "constant", {{"value", 1}, {"dtype", "int32"}}, {{}, DType::int32});
  const Layer* yes_or_no =
      m.add("positive", "compare", {{"from", one}, {"kind", "greater"}, {"value", 0}}, {{}, DType::bool_});

  Region &yes = m.graph.add_region(&root), &no = m.graph.add_region(&root);
  Region& body = m.graph.add_region(&yes);
  m.named(body, "output", "copy", {{"from", frame(m, body, x, time, index(m, body))}}, {{batch, input}});
  const Layer* loop = m.loop(&yes, "loop", body, time, type);
  const Layer* twice = m.inner(yes, "twice", "eval", {{"from", loop}, {"eval", "source(0) * 2.0"}}, type);
  Region &yes_yes = m.graph.add_region(&yes), &yes_no = m.graph.add_region(&yes);
  m.named(yes_yes, "output", "copy", {{"from", twice}}, type);
  const Layer* part = m.named(yes_yes, "part", "copy", {{"from", loop}, {"is_output_layer", true}}, type);
  m.named(yes_no, "output", "copy", {{"from", x}}, type);
  m.named(yes_no, "part", "copy", {{"from", x}, {"is_output_layer", true}}, type);
  const Layer* inner = cond(m, yes, yes_or_no, yes_yes, yes_no, type);
  m.named(yes, "output", "combine", {{"kind", "add"}, {"from", OptionList{inner, part}}}, type);
  const Layer* second = m.named(yes, "second", "copy", {{"from", twice}, {"is_output_layer", true}}, type);
  m.named(no, "output", "copy", {{"from", x}}, type);
  m.named(no, "second", "copy", {{"from", x}, {"is_output_layer", true}}, type);
  const Layer* outer = cond(m, root, yes_or_no, yes, no, type);
  m.mark("second", "copy", {{"from", second}, {"is_output_layer", true}}, type);
  m.mark("output", "copy", {{"from", outer}}, type);
}

void deep(Model& m, int below, int inside) {
  Dim time = m.dynamic("time"), input = m.feature("input", 9);
  const Layer* x = m.data("data", {m.dims.batch(), time, input});
  for (int i = 0; i < below; ++i) x = m.add("add", "eval", {{"from", x}, {"eval", "source(0) + 0.5"}}, x->type);
  TensorType type{{m.dims.batch(), input}};
  Region& body = m.graph.add_region(m.graph.root_region());
  const Layer* y = frame(m, body, x, time, index(m, body));
  for (int i = 2; i < inside; ++i) y = m.inner(body, "add", "eval", {{"from", y}, {"eval", "source(0) + 0.5"}}, type);
  m.named(body, "output", "copy", {{"from", y}}, type);
  m.mark("output", "copy", {{"from", m.loop(m.graph.root_region(), "loop", body, time, x->type)}}, x->type);
}

void odd(Model& m) {
  Dim time = m.dynamic("time"), time2 = m.dynamic("time"), input = m.feature("input", 9),
      greek = m.feature("größe dim", 3);
  Dim batch = m.dims.batch();
  Dim half = m.dims.ceildiv(m.dims.add(time, m.dims.constant(1)), m.dims.constant(2));
  const Layer* x = m.data("data", {batch, time, input});
  const Layer* y = m.add(
      "größe", "odd", {{"from", x}, {"$dim", "x"}, {"$$", OptionDict{{"$set", 1}, {"plain", OptionList{}}}}}, x->type);
  m.graph.entries = {{"#copy_param_mode", "subset"},
                     {"raw", OptionDict{{"class", "odd"}, {"from", y}, {"axis", time}}}};
  double inf = std::numeric_limits<double>::infinity();
  m.mark("output", "odd",
         {{"from", LayerRef{y, "0"}},
          {"numbers", OptionList{0.05, 100.0, 100, 1e-06, 1e22, 1.0 / 3, -0.0, 5e-324, 123456789012345680.0,
                                 std::int64_t{-9007199254740993}}},
          {"special", OptionList{inf, -inf, std::numeric_limits<double>::quiet_NaN()}},
          {"text", "a \"b\" 'c' \\ // /* \t\n\x01 é 😀"},
          {"flags", OptionList{true, false, Option()}},
          {"single_tuple", OptionTuple{{time}}},
          {"tuple", OptionTuple{{}}},
          {"no_set", OptionSet{}},
          {"set", OptionSet{{time2, batch, input}}},
          {"map", OptionMap{{{time, time2}, {half, greek}}}},
          {"square", OptionList{DimRef{input, 1}, input}},
          {"step", m.dims.single_step()}},
         x->type);
}

}  // namespace

std::unique_ptr<Model> make_model(const std::string& name) {
  auto model = std::make_unique<Model>();
  if (name == "tagger")
    tagger(*model);
  else if (name == "mlp")
    mlp(*model);
  else if (name == "hybrid")
    hybrid(*model);
  else if (name == "ctc")
    ctc(*model);
  else if (name == "shapes")
    shapes(*model);
  else if (name == "pointwise")
    pointwise(*model);
  else if (name == "inputs")
    inputs(*model);
  else if (name == "odd")
    odd(*model);
  else if (name == "loops")
    loops(*model);
  else if (name == "nested")
    nested(*model);
  else if (name == "branches")
    branches(*model);
  else if (name.starts_with("chain-"))
    chain(*model, std::stoi(name.substr(6)));
  else if (name.starts_with("deep-"))
    deep(*model, std::stoi(name.substr(5)), std::stoi(name.substr(name.rfind('-') + 1)));
  else
    return nullptr;
  model->finish();
  return model;
}

}  // namespace rcn::test
