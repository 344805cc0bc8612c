#include "compiler/ops/graph_backend.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "compiler/base/number_text.h"
#include "compiler/ops/rules.h"

namespace rcn {

GraphBackend::GraphBackend(Graph& graph, const OpTable& table, OpContext& context)
    : graph_(graph), table_(table), context_(context), scopes_{graph.root_scope()} {
  graph_.batch = context.dims.batch();
  open_.emplace_back().region = &graph_.regions.front();
}

void GraphBackend::enter_scope(const std::string& base, bool at_root, Span call) {
  scopes_.push_back(graph_.add_scope(at_root ? open_.back().region->scope : scopes_.back(), base, call, scopes_.back()));
}
void GraphBackend::leave_scope() { scopes_.pop_back(); }

// ---- layers

// Pairs, not a dict: TensorFlow sorts the keys of dicts in options, and dims change while a network is constructed.
OptionList dim_tags(Dim from, Dim to) { return {OptionTuple{{from, to}}}; }

OptionDict out_type(const TensorType& type) {
  return {{"dtype", to_string(type.dtype)}, {"sparse_dim", type.sparse_dim ? Option(type.sparse_dim) : Option()}};
}

// The loops around from step to step of which the layer differs, seen from where it can be read.
std::uint64_t GraphBackend::variation(const LayerRef& ref) const {
  std::size_t open = open_of(*ref.layer);
  auto it = varying_.find(ref.layer);
  std::uint64_t own = it == varying_.end() ? 0 : it->second;
  if (ref.kind == RefKind::previous) own |= bit(open);
  return own & ((bit(open) << 1) - 1);
}

const TensorType& GraphBackend::type_of(const LayerRef& ref) const {
  if (!ref.sub.empty())
    if (auto it = sub_types_.find({ref.layer, ref.sub}); it != sub_types_.end()) return it->second;
  bool inside = std::any_of(open_.begin(), open_.end(), [&](const Open& open) { return open.region == ref.layer->region; });
  if (auto it = frames_types_.find(ref.layer); !inside && it != frames_types_.end()) return it->second;
  return ref.layer->type;
}

std::size_t GraphBackend::open_of(const Layer& layer) const {
  for (const Region* region = layer.region; region; region = region->owner ? region->owner->region : region->parent)
    for (std::size_t i = open_.size(); i > 0; --i)
      if (open_[i - 1].region == region) return i - 1;
  return 0;
}

// Whether one of the layers has the dims of all, also once RETURNN has moved some out of loops: they get the loop's axis.
bool GraphBackend::one_has_all(const std::vector<LayerRef>& sources) const {
  std::vector<Dim> all;
  std::uint64_t all_loops = 0;
  for (const LayerRef& ref : sources) {
    all = united(all, type_of(ref).dims);
    all_loops |= variation(ref);
  }
  return std::any_of(sources.begin(), sources.end(), [&](const LayerRef& ref) {
    return variation(ref) == all_loops && without(all, type_of(ref).dims).empty();
  });
}

namespace {

Operand operand_of(const Option& number) {
  if (const bool* b = std::get_if<bool>(&number.data)) return *b;
  if (const std::int64_t* i = std::get_if<std::int64_t>(&number.data)) return *i;
  return std::get<double>(number.data);
}

}  // namespace

void GraphBackend::allow_loop_axis(std::string& cls, OptionDict& options, const TensorType& type) const {
  auto option = [&](std::string_view key) {
    auto it = std::find_if(options.begin(), options.end(), [&](const auto& entry) { return entry.first == key; });
    return it == options.end() ? nullptr : &it->second;
  };
  if (option("allow_broadcast_all_sources")) return;
  std::vector<LayerRef> sources;
  for (const auto& [key, value] : options)
    if (key == "from" || cls == "switch") for_each_layer(value, [&](const LayerRef& ref) { sources.push_back(ref); });
  if (one_has_all(sources)) return;
  if (cls == "switch") {  // which has no way to broadcast all of its sources
    OptionList from;
    auto text = [&](const Option& part) {
      if (std::holds_alternative<LayerRef>(part.data)) {
        from.push_back(part);
        return "source(" + std::to_string(from.size() - 1) + ")";
      }
      return python_number(operand_of(part), type.dtype);
    };
    std::string yes = text(*option("true_from")), no = text(*option("false_from")), condition = text(*option("condition"));
    cls = "eval";
    options = {{"from", std::move(from)}, {"eval", "tf.where(" + condition + ", " + yes + ", " + no + ")"}, {"out_type", out_type(type)}};
  }
  options.emplace_back("allow_broadcast_all_sources", true);
}

Layer& GraphBackend::add_in(std::size_t open, std::string cls, OptionDict options, TensorType type, std::string base,
                            Span span, bool as_it_is) {
  std::uint64_t varies = 0;
  bool value_varies = cls == "random" || cls == "choice";
  if (value_varies)
    for (std::size_t i = 1; i <= open; ++i) varies |= open_[i].loop ? bit(i) : 0;
  for (auto& [key, option] : options) {
    if (open > 0 && !as_it_is) {
      change_parts<LayerRef>(option, [&](LayerRef& ref) {
        if (ref.kind == RefKind::previous) ref = before_outside(ref, open);
        if (ref.kind == RefKind::value) ref = imported(ref, open);
      });
      change_parts<DimRef>(option, [&](DimRef& ref) {
        for (std::size_t i = 1; i <= open; ++i)
          if (open_[i].loop && open_[i].axis == ref.dim) ref.dim = inner_dim(open_[i]);
      });
    }
    for_each_layer(option, [&, &key = key](const LayerRef& ref) {
      varies |= variation(ref);
      value_varies = value_varies || (key != "shape_deps" && variation(ref) && !by_lengths_.contains(ref.layer));
    });
  }
  if (cls == "range_from_length" || cls == "range_in_axis") value_varies = false;
  if (varies && (cls == "combine" || cls == "compare" || cls == "eval" || cls == "switch")) allow_loop_axis(cls, options, type);
  if (!histories_.empty() && open > 0 && open + 1 == open_.size() && !as_it_is && !choosing_loops()) {
    // What reads a history stays in its loop: outside, RETURNN has no lengths for the frames of all steps. (Of a search it moves
    // nothing out.)
    auto any_of_history = [&](const std::vector<Dim>& dims) { return std::any_of(dims.begin(), dims.end(), [&](Dim d) { return of_history(d); }); };
    bool reads = false;
    for (const auto& [key, option] : options)
      for_each_layer(option, [&](const LayerRef& ref) { reads = reads || (ref.kind == RefKind::value && any_of_history(type_of(ref).dims)); });
    if (reads && !any_of_history(type.dims)) stay_inside(options, open_loops(), span);
  }
  const NameScope* scope = open + 1 == open_.size() ? scopes_.back() : open_[open].region->scope;
  Layer& layer = graph_.add(std::move(cls), std::move(options), std::move(type), scope, std::move(base), span, open_[open].region);
  if (varies) varying_.emplace(&layer, varies);
  if (varies && !value_varies) by_lengths_.insert(&layer);
  for (const auto& [key, option] : layer.options)
    for_each_layer(option, [&](const LayerRef& ref) {
      if (training_only_.contains(ref.layer)) training_only_.insert(&layer);
      if (permuted_.contains(ref.layer)) permuted_.insert(&layer);
    });
  if (layer.cls == "constant" && layer.type.has(context_.dims.batch()) && layer.type.dims[0] != context_.dims.batch()) permuted_.insert(&layer);
  if (open > 0 && may_be_reordered(layer)) reordered_.insert(&layer);
  carries({&layer, {}}, layer.type);
  return layer;
}

// Where sources have different dims, the order of their axes depends on whether the loop's axis is among them; a softmax
// moves its axis.
bool GraphBackend::may_be_reordered(const Layer& layer) const {
  if (layer.type.dims.size() < 2) return false;
  if (layer.option("allow_broadcast_all_sources") || layer.cls == "softmax_over_spatial") return true;
  static constexpr std::string_view keeping[] = {"activation", "cast", "combine", "compare", "copy", "dropout", "eval", "reduce", "switch"};
  if (std::find(std::begin(keeping), std::end(keeping), layer.cls) == std::end(keeping)) return false;
  bool result = false;
  for (const auto& [key, option] : layer.options)
    for_each_layer(option, [&](const LayerRef& ref) { result = result || reordered_.contains(ref.layer); });
  return result;
}

Layer& GraphBackend::add(std::string cls, OptionDict options, TensorType type, std::string base, Span span) {
  return add_in(open_.size() - 1, std::move(cls), std::move(options), std::move(type), std::move(base), span);
}

Layer& GraphBackend::add_shared(std::string cls, OptionDict options, TensorType type, std::string base, Span span) {
  std::size_t open = 0;
  for (const auto& [key, option] : options)
    for_each_layer(option, [&](const LayerRef& ref) { open = std::max(open, open_of(*ref.layer)); });
  bool here = open + 1 == open_.size();
  if (here) scopes_.push_back(open_[open].region->scope);
  Layer& layer = add_in(open, std::move(cls), std::move(options), std::move(type), std::move(base), span);
  if (here) scopes_.pop_back();
  return layer;
}

LayerRef GraphBackend::reinterpreted(LayerRef source, const TensorType& type, Dim from, Dim to, const std::string& base, Span span) {
  TensorType renamed = type;
  renamed.dims = with_replaced(type.dims, from, {to});
  return {&add("reinterpret_data", {{"from", source}, {"set_dim_tags", dim_tags(from, to)}}, std::move(renamed), base, span), {}};
}

// What changes nothing when it is added. Adding -0.0 changes no float, not even -0.0 itself.
LayerRef GraphBackend::neutral(const std::vector<Dim>& dims, DType dtype, const std::string& base, Span span) {
  Option value = is_float(dtype) ? Option(-0.0) : dtype == DType::bool_ ? Option(false) : Option(0);
  OptionDict options{{"value", value}, {"shape", dims_option(dims)}, {"dtype", to_string(dtype)}};
  if (OptionList deps = shape_deps(dims, span); !deps.empty()) options.emplace_back("shape_deps", std::move(deps));
  return {&add("constant", std::move(options), {dims, dtype, nullptr}, base + "_dims", span), {}};
}

LayerRef GraphBackend::expanded(const GraphTensor& tensor, const std::vector<Dim>& wanted, const std::string& base, Span span) {
  std::vector<Dim> added;
  for (Dim d : tensor.missing)
    if (contains(wanted, d)) added.push_back(d);
  if (added.empty()) return tensor.layer;
  // Features last, where RETURNN puts them: else a layer that it moves out of a loop has another order of its dims there.
  std::stable_partition(added.begin(), added.end(), [](Dim d) { return d->kind != DimKind::feature; });
  DType dtype = tensor.type.dtype;
  LayerRef dims = neutral(added, dtype, base, span);
  TensorType type = tensor.layer_type;
  type.dims.insert(type.dims.begin(), added.begin(), added.end());
  OptionDict combine{{"from", OptionList{tensor.layer, dims}}, {"kind", dtype == DType::bool_ ? "logical_or" : "add"}};
  if (!tensor.layer_type.dims.empty()) combine.emplace_back("allow_broadcast_all_sources", true);
  if (type.sparse_dim) combine.emplace_back("out_type", OptionDict{{"sparse_dim", type.sparse_dim}});
  return {&add("combine", std::move(combine), std::move(type), base, span), {}};
}

// RETURNN takes the order of axes from the first source that has them all. Some of its layers want the batch first, and
// in a loop the order of a state must not come from that state.
LayerRef GraphBackend::batch_major(const LayerRef& ref, TensorType type, const std::string& base, Span span) {
  Dim batch = context_.dims.batch();
  if (!ref.layer || !permuted_.contains(ref.layer) || type.dims.size() < 2 || !type.has(batch)) return ref;
  type.dims = united({batch}, type.dims);
  OptionDict combine{{"from", OptionList{neutral(type.dims, type.dtype, base, span), ref}}, {"kind", type.dtype == DType::bool_ ? "logical_or" : "add"}};
  if (type.sparse_dim) combine.emplace_back("out_type", OptionDict{{"sparse_dim", type.sparse_dim}});
  Layer& layer = add("combine", std::move(combine), std::move(type), base + "_batch_major", span);
  permuted_.erase(&layer);
  return {&layer, {}};
}

namespace {

void replace_dim(Value& value, Dim from, Dim to) {
  if (value.is_dim() && value.dim() == from) value = to;
  if (!value.is_list()) return;
  List items = value.list();
  for (Value& item : items) replace_dim(item, from, to);
  value = std::move(items);
}

}  // namespace

std::vector<Tensor> GraphBackend::apply(const OpNode& given) {
  const OpDef* def = table_.definition(given.op->name);
  if (!def) throw std::logic_error("operation `" + std::string(given.op->name) + "` is not in the table");

  // A declared dim that gets the length of a computed one is another dim than that: the operation makes the computed
  // one, and the result is renamed. RETURNN would take the two for one dim if a layer made the declared one directly.
  OpNode node = given;
  if (!masks_.empty())
    for (Operand& input : node.inputs)
      if (const Tensor* t = as_tensor(input)) {
        GraphTensor seen = guarded(graph_tensor(*t), given.span);
        if (seen.layer.layer != graph_tensor(*t).layer.layer || seen.layer.sub != graph_tensor(*t).layer.sub)
          input = Tensor(std::make_shared<GraphTensor>(std::move(seen)));
      }
  std::vector<NewDim> renames;
  for (const NewDim& d : given.new_dims) {
    if (!d.computed) continue;
    if (joined_) joined_->insert_or_assign(d.dim, d.computed);
    graph_.lengths_of.emplace(d.dim, d.computed);
    renames.push_back(d);
    for (TensorType& type : node.outputs) type.dims = with_replaced(type.dims, d.dim, {d.computed});
    for (auto& [key, value] : node.attrs) replace_dim(value, d.dim, d.computed);
  }
  running_ = given.op;
  Lowering lowering(*this, node);
  {
    DimTable::Outside of_its_own(context_.dims);  // dims that only the lowering needs: evaluation on types does not make them
    def->lower(lowering);
  }
  if (lowering.results_.size() != given.outputs.size())
    throw std::logic_error("lowering of `" + std::string(given.op->name) + "` gave another number of results");
  for (const Tensor& tensor : lowering.results_) carries(graph_tensor(tensor).layer, graph_tensor(tensor).layer_type);

  for (const NewDim& d : renames) {
    for (Tensor& tensor : lowering.results_) {
      const GraphTensor& t = graph_tensor(tensor);
      if (!t.layer_type.has(d.computed)) continue;
      LayerRef ref = reinterpreted(t.layer, t.layer_type, d.computed, d.dim, lowering.base_ + "_renamed", given.span);
      TensorType type = t.type;
      type.dims = with_replaced(type.dims, d.computed, {d.dim});
      auto renamed = std::make_shared<GraphTensor>(std::move(type), ref, t.missing);
      renamed->wild_padding = t.wild_padding;
      renamed->zero_padding = with_replaced(t.zero_padding, d.computed, {d.dim});
      renamed->bounds = t.bounds;
      tensor = std::move(renamed);
    }
  }
  if (given.op->name == "decide")
    for (Dim d : graph_tensor(lowering.results_[0]).layer_type.dims)
      if (searched_.erase(d))
        for (Open& open : open_) {
          for (auto* map : {&open.lengths, &open.longest, &open.ranges, &open.valid}) map->erase(d);
          open.carriers.erase(d);
          carries(graph_tensor(lowering.results_[0]).layer, graph_tensor(lowering.results_[0]).layer_type);
        }
  for (const Tensor& tensor : lowering.results_) graph_tensor(tensor).masks = masks_.size();
  return lowering.results_;
}

// ---- inputs and parameters

Tensor GraphBackend::input(const ExternInput& input) {
  Extern& source = graph_.externs.emplace_back();
  source.name = input.name;
  source.key = input.key;
  source.type = input.type;
  source.available_for_inference = input.available_for_inference;
  source.span = input.span;
  Layer& layer = graph_.add("", {}, input.type, graph_.root_scope(), input.name, input.span);
  layer.source = &source;
  layer.name = input.key == "data" ? "data" : "data:" + input.key;
  layer.fixed_name = true;
  if (!input.available_for_inference) training_only_.insert(&layer);
  if (input.type.has(context_.dims.batch()) && input.type.dims[0] != context_.dims.batch()) permuted_.insert(&layer);
  carries({&layer, {}}, layer.type);
  auto tensor = std::make_shared<GraphTensor>(input.type, LayerRef{&layer, {}}, std::vector<Dim>{});
  bool dynamic = std::any_of(input.type.dims.begin(), input.type.dims.end(), [](Dim d) { return d->dynamic() && d->kind != DimKind::batch; });
  tensor->wild_padding = dynamic && is_float(input.type.dtype);  // nobody says what a dataset pads with
  return tensor;
}

namespace {

// Filters as runtime/data/initializers.cpp has them, in NumPy, which RETURNN knows there.
std::string gammatone_text(const Initializer& init, const std::vector<Dim>& dims) {
  std::int64_t length = *dims.front()->size, channels = *dims.back()->size, parts = (length + 1023) / 1024;
  auto scale = [](double hertz) { return "numpy.log10(" + number_text(hertz) + " / 165.4 + 0.88)"; };
  std::string n = std::to_string(length), rate = number_text(init.sampling_rate), shape;
  for (Dim d : dims) shape += (shape.empty() ? "" : ", ") + std::to_string(*d->size);
  return "(lambda f, t: (lambda h: h / numpy.abs(numpy.fft.fft(h, n=" + std::to_string(1024 * parts) + ", axis=0)[:" + std::to_string(512 * parts) +
         ":" + std::to_string(parts) + "]).max(axis=0))(t ** 3 * numpy.exp(-2 * numpy.pi * (24.7 + f / 9.264491981582191) * t) * " +
         "numpy.cos(2 * numpy.pi * f * t)))(165.4 * (10 ** numpy.linspace(" + scale(init.a) + ", " + scale(init.b) + ", " +
         std::to_string(channels) + ") - 0.88), numpy.linspace(1 / " + rate + ", " + n + " / " + rate + ", " + n + ")[:, None]).reshape(" + shape +
         ").astype('float32')";
}

// RETURNN's spelling of an initialiser: names of TensorFlow's classes.
std::string initializer_text(const Initializer& init, const std::vector<Dim>& dims) {
  auto number = [](double x) { return number_text(x); };
  switch (init.kind) {
    case Initializer::Kind::variance_scaling:
      return "VarianceScaling(scale=" + number(init.a) + ", mode='" + init.mode + "', distribution='" + init.distribution + "')";
    case Initializer::Kind::uniform: return "RandomUniform(minval=" + number(init.a) + ", maxval=" + number(init.b) + ")";
    case Initializer::Kind::normal: return "RandomNormal(mean=" + number(init.a) + ", stddev=" + number(init.b) + ")";
    case Initializer::Kind::truncated_normal:
      return "TruncatedNormal(mean=" + number(init.a) + ", stddev=" + number(init.b) + ")";
    case Initializer::Kind::orthogonal: return "Orthogonal()";
    case Initializer::Kind::gammatone: return gammatone_text(init, dims);
  }
  return {};
}

Option initial_option(const Value& initial, const TensorType& type) {
  DType dtype = type.dtype;
  if (const auto* init = std::get_if<std::shared_ptr<const Initializer>>(&initial.data())) return initializer_text(**init, type.dims);
  if (initial.is_list() || initial.is_tuple())
    return "numpy.array(" + python_nested(initial, dtype) + ", dtype='" + std::string(to_string(dtype)) + "')";
  return number_option(OpCall::to_operand(initial), dtype);
}

}  // namespace

Tensor GraphBackend::parameter(const Parameter& p) {
  OptionList shape;
  for (std::size_t i = 0; i < p.type.dims.size(); ++i) {
    // Of a dim that comes again, the earlier occurrence is the one that products reduce.
    Dim d = p.type.dims[i];
    auto later = std::count(p.type.dims.begin() + static_cast<std::ptrdiff_t>(i) + 1, p.type.dims.end(), d);
    shape.emplace_back(DimRef{d, static_cast<int>(later)});
  }
  bool trainable = p.trainable && !p.auxiliary && is_float(p.type.dtype);
  OptionDict options{{"shape", std::move(shape)}};
  if (p.type.dtype != DType::float32) options.emplace_back("dtype", to_string(p.type.dtype));
  options.emplace_back("init", initial_option(p.initial, p.type));
  if (!trainable) options.emplace_back("trainable", false);
  if (trainable && p.weight_decay) options.emplace_back("L2", *p.weight_decay);  // it would count for a frozen one too
  if (!p.updater_opts.is_none()) options.emplace_back("updater_opts", option_of(p.updater_opts, p.span));
  options.emplace_back("param_name", "param");
  options.emplace_back("name_scope", "/" + p.path);

  std::string base = p.path;
  std::replace(base.begin(), base.end(), '/', '.');
  Layer& layer = add_shared("variable", std::move(options), p.type, std::move(base), p.span);
  layer.parameter = p.path;
  variables_[p.path] = &layer;
  if (p.type.sparse_dim) {
    Layer& sparse = add_shared("reinterpret_data", {{"from", &layer}, {"set_sparse", true}, {"set_sparse_dim", p.type.sparse_dim}},
                                p.type, layer.base + "_sparse", p.span);
    return std::make_shared<GraphTensor>(p.type, LayerRef{&sparse, {}}, std::vector<Dim>{});
  }
  return std::make_shared<GraphTensor>(p.type, LayerRef{&layer, {}}, std::vector<Dim>{});
}

}  // namespace rcn
