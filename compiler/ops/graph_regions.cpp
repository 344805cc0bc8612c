// Dicts in layers, and loops.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "compiler/eval/type_backend.h"
#include "compiler/ops/graph_backend.h"
#include "compiler/ops/rules.h"

namespace rcn {

GraphBackend::Open& GraphBackend::open_region(bool loop) {
  Region& region = graph_.add_region(open_.back().region);
  Open& open = open_.emplace_back();
  open.region = &region;
  open.loop = loop;
  const_cast<NameScope*>(region.scope)->caller = scopes_.back();
  scopes_.push_back(region.scope);
  return open;
}

const Region* GraphBackend::close_region() {
  const Region* region = open_.back().region;
  open_.pop_back();
  scopes_.pop_back();
  return region;
}

std::size_t GraphBackend::loops() const {
  return static_cast<std::size_t>(std::count_if(open_.begin(), open_.end(), [](const Open& open) { return open.loop; }));
}

std::uint64_t GraphBackend::choosing_loops() const {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < open_.size(); ++i) result |= open_[i].chooses ? bit(i) : 0;
  return result;
}

std::uint64_t GraphBackend::open_loops() const {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < open_.size(); ++i) result |= open_[i].loop ? bit(i) : 0;
  return result;
}

// Inside of a loop over a dim, what has that dim as an axis must have another one there: when RETURNN moves layers out
// of the loop they get the loop's axis, and it would take the two for one.
Dim GraphBackend::inner_dim(Open& open) {
  if (!open.inner) {
    DimTable::Outside outside(context_.dims);
    open.inner = context_.dims.declare(open.axis->form == DimForm::atom ? open.axis->name : name_of(open.axis), open.axis->kind, open.axis->size);
  }
  return open.inner;
}

Tensor GraphBackend::made(const TensorType& type, LayerRef layer, std::vector<Dim> missing, bool wild_padding) const {
  auto tensor = std::make_shared<GraphTensor>(type, std::move(layer), std::move(missing));
  tensor->wild_padding = wild_padding;
  tensor->masks = masks_.size();
  return tensor;
}

LayerRef GraphBackend::imported(const LayerRef& given, std::size_t open) {
  LayerRef ref = in_each_step(given, open);
  for (std::size_t i = open_of(*ref.layer) + 1; i <= open; ++i) {
    if (!open_[i].loop || !type_of(ref).has(open_[i].axis)) continue;
    std::pair<const Layer*, std::string> key{ref.layer, ref.sub};
    auto it = open_[i].imported.find(key);
    if (it == open_[i].imported.end()) {
      TensorType type = type_of(ref);
      Dim inner = inner_dim(open_[i]);
      type.dims = with_replaced(type.dims, open_[i].axis, {inner});
      std::string base = (ref.layer->base.empty() ? "data" : ref.layer->base) + "_" + name_of(open_[i].axis);
      Layer& renamed = add_in(open_of(*ref.layer), "reinterpret_data", {{"from", ref}, {"set_dim_tags", dim_tags(open_[i].axis, inner)}}, type, base, ref.layer->span);
      it = open_[i].imported.emplace(key, LayerRef{&renamed, {}}).first;
    }
    ref = it->second;
  }
  return ref;
}

// Moves a layer out of the loop whose body it is in, with all that it reads there; whether it can stand outside.
bool GraphBackend::move_out(const Layer& layer, std::size_t open) {
  if (open_of(layer) < open) return true;
  bool stays = layer.region != open_[open].region || layer.builtin || layer.fixed_name || (variation({&layer, {}}) & bit(open));
  std::vector<Dim> made_here;
  for (Dim d : layer.type.dims) {
    bool known_outside = !d->dynamic();
    for (std::size_t i = 0; i < open && !known_outside; ++i) known_outside = open_[i].carriers.contains(d);
    if (known_outside) continue;
    auto it = open_[open].carriers.find(d);
    if (it == open_[open].carriers.end() || it->second.layer.layer != &layer) stays = true;
    made_here.push_back(d);
  }
  for (const auto& [key, option] : layer.options)
    for_each_layer(option, [&](const LayerRef& ref) { stays = stays || ref.kind == RefKind::previous || !move_out(*ref.layer, open); });
  if (stays) return false;
  const_cast<Layer&>(layer).region = open_[open - 1].region;
  for (Dim d : made_here) open_[open - 1].carriers.insert(open_[open].carriers.extract(d));
  return true;
}

// What an inner loop or branch reads of the loop around it. RETURNN moves what is the same in all steps out of the outer
// loop, where the inner one does not find it, and a branch makes it anew.
LayerRef GraphBackend::in_each_step(const LayerRef& ref, std::size_t open) {
  std::size_t own = open_of(*ref.layer);
  bool inner = open > own;
  while (inner && own > 0 && open_[own].loop && !(variation(ref) & bit(own)) && move_out(*ref.layer, own)) --own;
  if (!inner || own == 0 || !open_[own].loop || (variation(ref) & bit(own))) return ref;
  std::pair<const Layer*, std::string> key{ref.layer, ref.sub};
  auto it = open_[own].each_step.find(key);
  if (it == open_[own].each_step.end()) it = open_[own].each_step.emplace(key, varying(ref, own, type_of(ref), ref.layer->base, ref.layer->span)).first;
  return it->second;
}

// RETURNN finds the step before of the innermost loop only.
LayerRef GraphBackend::before_outside(const LayerRef& ref, std::size_t open) {
  std::size_t own = open_of(*ref.layer);
  bool inner = false;
  for (std::size_t i = own + 1; i <= open; ++i) inner = inner || open_[i].loop;
  if (!inner) return ref;
  auto it = open_[own].before.find(ref.layer);
  if (it == open_[own].before.end())
    it = open_[own].before.emplace(ref.layer, LayerRef{&add_in(own, "copy", {{"from", ref}}, ref.layer->type, ref.layer->base + "_before", ref.layer->span), {}}).first;
  return it->second;
}

// The layer, made to have the loop's axis when RETURNN moves it out of the loop.
LayerRef GraphBackend::varying(const LayerRef& ref, const TensorType& type, const std::string& base, Span span) {
  std::size_t open = open_.size() - 1;
  while (!open_[open].loop) --open;
  return varying(ref, open, type, base, span);
}

LayerRef GraphBackend::varying(const LayerRef& ref, std::size_t open, const TensorType& type, const std::string& base, Span span) {
  if ((variation(ref) & bit(open)) && !by_lengths_.contains(ref.layer)) return ref;
  return depending(ref, {open_[open].index, {}}, std::max(open, open_of(*ref.layer)), type, base + "_each", span);
}

// The layer, made to depend on another one (of ints from 0) that does not change it; `before`: RETURNN constructs that one first.
LayerRef GraphBackend::depending(const LayerRef& ref, const LayerRef& on, std::size_t open, const TensorType& type, const std::string& base,
                                 Span span, bool before) {
  OptionDict options{{"from", before ? OptionList{on, ref} : OptionList{ref, on}},
                     {"eval", before ? "tf.where(source(0) >= 0, source(1), source(1))" : "tf.where(source(1) >= 0, source(0), source(0))"},
                     {"out_type", out_type(type)},
                     {"allow_broadcast_all_sources", true}};
  return {&add_in(open, "eval", std::move(options), type, base, span), {}};
}

// Lets RETURNN leave a new dict in the loops given as bits: what it moves out gets the loop's axis, and that it cannot give
// to a condition, nor to lengths of a loop.
void GraphBackend::stay_inside(OptionDict& options, std::uint64_t loops, Span span) {
  std::size_t own = open_.size() - 1;
  if (open_[own].loop && (loops & bit(own)))
    options.emplace_back("collocate_with", OptionList{LayerRef{anchor(own, span), {}, RefKind::name}});
  open_[own].stays |= loops & (bit(own) - 1);
}

const Layer* GraphBackend::anchor(std::size_t open, Span span) {
  const Layer*& anchor = open_[open].region->anchor;
  if (!anchor) {
    TensorType type{{}, DType::int32, nullptr};
    OptionDict options{{"from", LayerRef{open_[open].index, {}}},
                       {"eval", "tf.maximum(source(0), source(1))"},
                       {"initial_output", 0},
                       {"is_output_layer", true},
                       {"out_type", out_type(type)}};
    Layer& layer = add_in(open, "eval", std::move(options), type, "step", span);
    layer.options.front().second = OptionList{LayerRef{open_[open].index, {}}, LayerRef{&layer, {}, RefKind::previous}};
    anchor = &layer;
  }
  return anchor;
}

Tensor GraphBackend::frame(const Tensor& x, Dim axis, const Tensor&, Span span) {
  GraphTensor tensor = guarded(graph_tensor(x), span);
  TensorType type = tensor.type;
  type.dims = without(type.dims, {axis});
  std::size_t loop = open_.size() - 1;
  while (loop > 0 && !(open_[loop].loop && open_[loop].over == axis)) --loop;
  LayerRef ref = tensor.layer;
  if (contains(tensor.missing, axis)) {
    return made(type, ref, without(tensor.missing, {axis}), tensor.wild_padding);
  }
  TensorType layer_type = tensor.layer_type;
  layer_type.dims = without(layer_type.dims, {axis});
  LayerRef at{open_[loop].index, {}};
  if (ref.kind == RefKind::previous) ref = before_outside(ref, loop);
  bool from_outside = ref.kind == RefKind::value && open_of(*ref.layer) < loop;
  if (from_outside && tensor.type.sparse_dim && !ref.layer->source && takes_numbers(tensor.type.dtype) && axis->dynamic() &&
      without(context_.lengths.length_dims(axis), tensor.layer_type.dims).empty()) {
    // what stands in the padding need not be an index
    ref = {&add_in(open_of(*ref.layer), "seq_len_mask", {{"from", ref}, {"axis", axis}, {"mask_value", 0}}, tensor.layer_type, "frames", span), {}};
  }
  Dim inner = from_outside || open_[loop].axis != axis ? axis : inner_dim(open_[loop]);
  std::string base = (ref.layer->base.empty() ? "data" : ref.layer->base) + "_frame";
  if (from_outside) ref = imported(in_each_step(ref, loop), loop - 1);
  Layer& frame = add_in(std::max(loop, open_of(*ref.layer)), "gather", {{"from", ref}, {"position", at}, {"axis", inner}}, layer_type, base, span, true);
  return made(type, LayerRef{&frame, {}}, tensor.missing, tensor.wild_padding);
}

std::string part_name(const std::string& path) {
  std::string result;
  for (char c : path)
    if (c != ']') result += c == '.' || c == '[' ? '_' : c;
  return result;
}

namespace {

// Whether the layer depends on what this step of a search chose; with `states`, the layers that those of the step before
// stand for, also on what an earlier one did.
bool has_choice(const Layer* layer, const std::unordered_map<const Layer*, const Layer*>* states = nullptr) {
  std::vector<const Layer*> open{layer};
  std::unordered_set<const Layer*> seen;
  while (!open.empty()) {
    const Layer* next = open.back();
    open.pop_back();
    if (next->cls == "choice") return true;
    if (!seen.insert(next).second) continue;
    for (const auto& [key, option] : next->options)
      for_each_layer(option, [&](const LayerRef& ref) {
        const Layer* to = ref.layer;
        if (ref.kind == RefKind::previous) to = states && states->contains(to) ? states->at(to) : nullptr;
        if (to && to->region == layer->region) open.push_back(to);
      });
  }
  return false;
}

}  // namespace

// The layer of a state. `before` stands for its value in the step before: RETURNN knows the shape of what is between the two,
// whatever of it is constructed first, only if the state reads itself first.
Layer& GraphBackend::add_state(const Layer* before, const LayerRef& value, const LayerRef& initial, const std::string& base, Span span) {
  const TensorType& type = before->type;
  Layer& layer = add("eval", {{"from", OptionList{LayerRef{before, {}, RefKind::previous}, value}},
                              {"initial_output", initial},
                              {"eval", "(source(0), source(1))[1]"},
                              {"out_type", out_type(type)}}, type, base, span);
  // Where the first value differs between steps of a loop around and the next ones do not, RETURNN may give it that loop's axis:
  // then they need it too.
  std::uint64_t first = 0;
  for_each_layer(*layer.option("initial_output"), [&](const LayerRef& ref) { first |= variation(ref); });
  for (auto& [key, option] : layer.options)
    if (key == "eval" && (first & ~variation(value))) option = "tf.where(tf.fill(tf.shape(source(0)), True), source(1), source(0))";
  return layer;
}

LoopResult GraphBackend::loop(const LoopSpec& given, const LoopBody& body) {
  Unwind unwind(*this);
  const std::size_t outer = open_.size() - 1;
  LoopSpec spec = given;
  for (const LoopState& state : spec.state)
    if (state.hypotheses && choosing_loops()) {
      context_.diagnostics.report(Diag::loop_of_search, spec.span, {state.name})
          .help(Diag::help_text, {"without state, `stack` works: `loop t over time { stack y = f(x[t], h) }`"});
      throw EvalError{};
    }
  OptionDict options;
  OptionList source;  // that nothing reads: `data:source` is wrong in nested loops, and fails for some orders of its axes in memory
  const std::uint64_t around = open_loops();
  if (spec.max && !spec.has_end && !spec.search && !around) {
    // `max` alone is the length
    const GraphTensor& max = graph_tensor(spec.max);
    LayerRef given_max = expanded(max, max.missing, "loop_max_expanded", spec.span);
    TensorType type{spec.length_dims, DType::int32, nullptr};
    Layer& steps = add("eval", {{"from", given_max}, {"eval", "tf.maximum(source(0), 0)"}, {"out_type", out_type(type)}}, type, "loop_steps", spec.span);
    source.emplace_back(sequence_dim(spec.axis, {&steps, {}}, name_of(spec.axis) + "_range", spec.span));
    spec.max = nullptr;
    spec.axis_known = true;
  }
  // RETURNN goes over dynamic dims only, and not over those that it grows itself.
  Dim counted = spec.axis->size || histories_.contains(spec.axis) ? spec.axis : nullptr;
  if (counted) {
    DimTable::Outside outside(context_.dims);
    spec.axis = context_.dims.declare(name_of(counted) + "_steps", DimKind::spatial, std::nullopt);
    bool keep_before = std::exchange(context_.lengths.keep, true);
    context_.lengths.define(spec.axis, {});
    context_.lengths.keep = keep_before;
    LayerRef steps = length(counted, spec.span);
    source.emplace_back(sequence_dim(spec.axis, steps, name_of(spec.axis) + "_range", spec.span));
    keep(&Open::lengths, spec.axis, steps);
  }
  if (given.axis_known && source.empty() && !searched_.contains(spec.axis)) {
    // RETURNN knows the dims of the data from the start, others once the layer is there that makes them.
    const Carrier* carrier = known(&Open::carriers, spec.axis);
    if (!carrier || !carrier->layer.layer->source) source.emplace_back(range(spec.axis, spec.span));
  }
  options.emplace_back("from", std::move(source));
  options.emplace_back("axis", spec.axis);

  // ---- outside: initial values, how many frames at most
  auto whole = [&](const Tensor& t, const std::string& base) {
    const GraphTensor& tensor = graph_tensor(t);
    return expanded(tensor, tensor.missing, base + "_expanded", spec.span);
  };
  std::vector<LayerRef> initial;
  for (const LoopState& state : spec.state) {
    std::string base = part_name(state.name);
    initial.push_back(state.type.history ? LayerRef{} : batch_major(whole(state.initial, base + "_initial"), state.type, base + "_initial", spec.span));
  }
  TensorType flags{spec.length_dims, DType::bool_, nullptr}, counts{{}, DType::int32, nullptr};
  auto no_flags = [&] {
    OptionDict constant{{"value", false}, {"shape", dims_option(spec.length_dims)}, {"dtype", "bool"}};
    if (OptionList deps = shape_deps(spec.length_dims, spec.span); !deps.empty()) constant.emplace_back("shape_deps", std::move(deps));
    return LayerRef{&add("constant", std::move(constant), flags, "loop_no_end", spec.span), {}};
  };
  LayerRef max, no_end;
  if (spec.max) {
    max = whole(spec.max, "loop_max");
    LayerRef longest = max;
    if (!spec.max->type.dims.empty()) {
      longest = {&add("reduce", {{"from", max}, {"mode", "max"}, {"axis", dims_option(spec.max->type.dims)}, {"keep_dims", false}}, counts, "loop_max_longest", spec.span), {}};
    } else if (spec.search) {
      max = expanded(GraphTensor({spec.length_dims, DType::int32, nullptr}, max, spec.length_dims), spec.length_dims, "loop_max_each", spec.span);
    }
    // one step more: the frame in which a sequence ends does not count, then a `max` of 0 is right, too
    Layer& steps = add("eval", {{"from", longest}, {"eval", "tf.maximum(source(0), 0) + 1"}, {"out_type", out_type(counts)}}, counts, "loop_max_steps", spec.span);
    options.emplace_back("max_seq_len_via", &steps);
    options.emplace_back("include_eos", false);
    if (spec.has_end && spec.include_eos) no_end = no_flags();
  } else if (spec.has_end && !spec.max) {
    options.emplace_back("include_eos", spec.include_eos);
    options.emplace_back("max_seq_len", std::int64_t{std::numeric_limits<std::int32_t>::max()});  // RETURNN wants one
  }
  options.emplace_back("name_scope", "");

  // ---- the body
  open_region(true);
  open_.back().axis = spec.axis;
  open_.back().over = given.axis;
  open_.back().chooses = spec.chooses;
  auto builtin_layer = [&](TensorType type, const std::string& name) -> Layer& {
    std::string base = name.starts_with("prev:") ? part_name(name.substr(5)) : name;
    Layer& layer = graph_.add("", {}, std::move(type), open_.back().region->scope, base, spec.span, open_.back().region);
    layer.builtin = true;
    layer.name = name;
    layer.fixed_name = true;
    varying_.emplace(&layer, bit(open_.size() - 1));
    return layer;
  };
  Layer& index = builtin_layer({{}, DType::int32, nullptr}, ":i");
  open_.back().index = &index;
  Layer& dense_index = add("eval", {{"from", &index}, {"eval", "source(0)"}, {"out_type", out_type(counts)}}, counts, "index", spec.span);
  LoopStep step;
  step.index = made(counts, {&dense_index, {}}, {}, false);
  std::vector<Layer*> before;  // stands for a state until its layer is made
  const std::size_t first_layer = graph_.layers.size();
  for (const LoopState& state : spec.state) {
    Layer& layer = builtin_layer(state.type, "prev:" + state.name);
    before.push_back(&layer);
    if (!state.type.history) varying_[&layer] |= variation(in_each_step(initial[before.size() - 1], open_.size() - 1));  // as the state reads it
    bool wild = !state.type.history && graph_tensor(state.initial).wild_padding;
    step.state.push_back(made(state.type, {&layer, {}, RefKind::previous}, {}, wild));
  }
  Layer* past = spec.max && spec.has_end && spec.include_eos ? &builtin_layer(flags, "prev:past") : nullptr;
  if (spec.search && spec.max) {
    Layer& within = add("compare", {{"from", OptionList{&index, max}}, {"kind", "less"}}, flags, "live_max", spec.span);
    open_.back().search_live = {&within, {}};
    if (past) {
      Layer& not_past = add("activation", {{"from", LayerRef{past, {}, RefKind::previous}}, {"activation", "logical_not"}}, flags, "live_past", spec.span);
      Layer& both = add("combine", {{"from", OptionList{&within, &not_past}}, {"kind", "logical_and"}}, flags, "live", spec.span);
      open_.back().search_live = {&both, {}};
    }
  }
  LoopNext next = body(step);

  std::unordered_map<const Layer*, const Layer*> states;
  std::vector<LayerRef> last;
  for (std::size_t i = 0; i < spec.state.size(); ++i) {
    const LoopState& state = spec.state[i];
    last.emplace_back();
    if (state.type.history) continue;
    std::string base = part_name(state.name);
    LayerRef value = batch_major(varying(whole(next.state[i], base), state.type, base, spec.span), state.type, base, spec.span);
    Layer& layer = add_state(before[i], value, initial[i], base, spec.span);
    varying_[&layer] |= bit(open_.size() - 1);
    states.emplace(before[i], &layer);
    // All its values, for the last one after the loop; gone where nothing reads that. (RETURNN's own `rec_last_output`
    // fails for a state that is not batch-major, in loops, and in searches.)
    std::vector<Dim> absent = without(spec.length_dims, state.type.dims);
    GraphTensor seen(last_type(spec, state), {&layer, {}}, absent);
    LayerRef frames = expanded(seen, absent, base + "_last", spec.span);
    Layer& all = add("copy", {{"from", frames}, {"is_output_layer", true}}, seen.type, base + "_frames", spec.span);
    last.back() = {&all, {}};
  }
  // What the states bring from one step to the next.
  for (bool more = true; more;) {
    more = false;
    for (const auto& [from, to] : states)
      if (std::uint64_t bits = varying_[to]; bits & ~varying_[from]) {
        varying_[from] |= bits;
        more = true;
      }
    for (std::size_t i = first_layer; more && i < graph_.layers.size(); ++i) {
      std::uint64_t bits = 0;
      for (const auto& [key, option] : graph_.layers[i].options) for_each_layer(option, [&](const LayerRef& ref) { bits |= variation(ref); });
      if (bits) varying_[&graph_.layers[i]] |= bits;
    }
  }
  auto change_states = [&] {
    for (std::size_t i = first_layer; i < graph_.layers.size(); ++i)
      for (auto& [key, option] : graph_.layers[i].options)
        change_parts<LayerRef>(option, [&](LayerRef& ref) {
          if (auto it = states.find(ref.layer); it != states.end()) ref.layer = it->second;
        });
  };

  std::vector<Layer*> choices;
  for (std::size_t i = first_layer; i < graph_.layers.size(); ++i)
    if (Layer& made = graph_.layers[i]; made.cls == "choice" && made.region == open_.back().region) choices.push_back(&made);
  const Layer* choice = choices.empty() ? nullptr : choices.back();
  auto behind = [&](Layer& layer, const LayerRef& on, std::string_view suffix, bool on_first) {
    Option& from = layer.options.front().second;
    const LayerRef read = std::get<LayerRef>(from.data);
    from = depending(read, on, open_.size() - 1, read.layer->type, layer.base + "_" + std::string(suffix), spec.span, on_first);
  };
  // Of several choices each goes on from the hypotheses of the one before, the first from those of the last in the step
  // before. What leaves the step has the hypotheses of the last, which RETURNN has to construct before the others.
  const bool several = choices.size() > 1;
  for (std::size_t i = 0; several && i < choices.size(); ++i)
    behind(*choices[i], i == 0 ? LayerRef{choice, {}, RefKind::previous} : LayerRef{choices[i - 1], {}}, "scores", false);
  if (spec.has_end || spec.max) {
    LayerRef user = spec.has_end ? whole(next.end, "end") : LayerRef{}, end = user;
    auto either = [&](LayerRef a, LayerRef b, const std::string& base) {
      return LayerRef{&add("combine", {{"from", OptionList{a, b}}, {"kind", "logical_or"}}, flags, base, spec.span), {}};
    };
    if (spec.max) {
      Layer& full = add("compare", {{"from", OptionList{&index, max}}, {"kind", "greater_equal"}}, flags, "end_max", spec.span);
      end = {&full, {}};
      if (past) {
        LayerRef was{past, {}, RefKind::previous};
        Layer& now = add("combine", {{"from", OptionList{user, was}}, {"kind", "logical_or"}, {"initial_output", no_end}}, flags, "ended", spec.span);
        states.emplace(past, &now);
        end = either(was, end, "end");
      } else if (spec.has_end) {
        end = either(user, end, "end");
      }
    }
    if (choice && (several || !has_choice(end.layer, &states))) end = depending(end, {choice, {}}, open_.size() - 1, flags, "end_chosen", spec.span, several);
    Layer& layer = add("copy", {{"from", end}}, flags, "end", spec.span);
    layer.name = "end";
    layer.fixed_name = true;
    layer.root = true;
    if (!spec.search) {
      // RETURNN gives the axis its lengths with the first layer, by name, of which it needs all frames: one with the batch.
      std::vector<Dim> absent = without({context_.dims.batch()}, flags.dims);
      GraphTensor seen({united(absent, flags.dims), DType::bool_, nullptr}, {&layer, {}}, absent);
      Layer& first = add("copy", {{"from", expanded(seen, absent, "end_batch", spec.span)}, {"is_output_layer", true}}, seen.type, "", spec.span);
      first.name = ".end";
      first.fixed_name = true;
      first.root = true;
    }
  }

  LoopResult result;
  std::vector<LayerRef> stacked;
  std::vector<bool> wild;
  for (std::size_t i = 0; i < spec.stacked.size(); ++i) {
    std::string base = part_name(spec.stacked_names[i]);
    LayerRef value = varying(whole(next.stacked[i], base), spec.stacked[i], base, spec.span);
    if (spec.search) value = batch_major(value, spec.stacked[i], base, spec.span);
    stacked.push_back({&add("copy", {{"from", value}}, spec.stacked[i], base, spec.span), {}});
    wild.push_back(graph_tensor(next.stacked[i]).wild_padding);
  }
  // Each hypothesis has frames of its own, also of what depends on no choice: RETURNN wants to see hypotheses there.
  const Layer* hypotheses = given.axis_known ? (searched_.contains(spec.axis) ? length(spec.axis, spec.span).layer : nullptr) : choice;
  auto of_hypotheses = [&](const LayerRef& ref) {
    if (!ref.layer || !ref.layer->type.has(context_.dims.batch())) return;
    if (several || !has_choice(ref.layer, &states)) behind(const_cast<Layer&>(*ref.layer), {hypotheses, {}}, "chosen", several);
  };
  if (hypotheses) {
    for (const LayerRef& ref : last) of_hypotheses(ref);
    for (const LayerRef& ref : stacked) of_hypotheses(ref);
  }
  // RETURNN takes the hypotheses of `output`, and with them the lengths, for those of the loop; of a loop that ends by
  // itself it would take the lengths of another dim, too. It wants the same order of axes in and out of the loop.
  Layer* output = nullptr;
  auto fits = [&](const TensorType& t) {
    return given.axis_known || std::none_of(t.dims.begin(), t.dims.end(), [](Dim d) { return d->dynamic() && d->kind != DimKind::batch; });
  };
  for (const LayerRef& ref : stacked)
    if (!output && fits(ref.layer->type) && (around || !reordered_.contains(ref.layer)) && (!spec.search || has_choice(ref.layer))) output = const_cast<Layer*>(ref.layer);
  if (!output && choice) output = &add("copy", {{"from", choice}}, choice->type, "output", spec.span);
  for (const LayerRef& ref : stacked)
    if (ref.layer != output) const_cast<Layer*>(ref.layer)->options.emplace_back("is_output_layer", true);
  if (!output) {  // every loop has one
    const Layer* some = nullptr;
    for (const auto& [unused, layer] : states)
      if (fits(layer->type) && !reordered_.contains(layer) && (!some || layer->id < some->id)) some = layer;
    output = &add("copy", {{"from", some ? LayerRef{some, {}} : LayerRef{&dense_index, {}}}}, some ? some->type : counts, "output", spec.span);
  }
  output->name = "output";
  output->fixed_name = true;
  output->root = true;
  change_states();
  if (!open_.back().assigns.empty()) throw std::logic_error("a parameter is assigned in a loop");
  Dim inner = open_.back().inner;
  std::uint64_t stays = open_.back().stays | around;
  if (around && given.axis_known) stays = open_.back().stays | variation(length(spec.axis, spec.span));
  const Region* region = close_region();

  // ---- what comes out
  for (std::size_t i = 0; counted && i < spec.stacked.size(); ++i)
    for (Dim d : spec.stacked[i].dims) {
      std::vector<Dim> parts = atoms(d);
      if (std::all_of(parts.begin(), parts.end(), [&](Dim a) { return a->size || a->kind == DimKind::batch || known(&Open::carriers, a); })) continue;
      context_.diagnostics.report(Diag::stack_dim_of_step, spec.span, {spec.stacked_names[i], to_string(d), to_string(counted), counted->size ? "a dim of a fixed size" : "the frames of a history"});
      throw EvalError{};
    }
  if (spec.search && !spec.axis_known) searched_.insert(spec.axis);
  TensorType type = output->type;
  type.dims.insert(type.dims.begin(), spec.axis);
  // Outside of the loop RETURNN loses the hypotheses of what comes from it.
  if (spec.search) options.emplace_back("optimize_move_layers_out", false);
  stay_inside(options, stays, spec.span);
  options.emplace_back("unit", RegionRef{region});
  Layer& rec = add("rec", std::move(options), type, spec.name, spec.span);
  const_cast<Region*>(region)->owner = &rec;
  std::uint64_t varies = 0;
  for (std::size_t i = first_layer; i < graph_.layers.size(); ++i) varies |= variation({&graph_.layers[i], {}});
  if (varies) varying_[&rec] |= varies;
  carries({output, {}}, type);
  for (const std::vector<LayerRef>* results : {&last, &stacked})
    for (const LayerRef& ref : *results) {
      if (!ref.layer) continue;
      TensorType frames = ref.layer->type;
      frames.dims.insert(frames.dims.begin(), spec.axis);
      frames_types_.emplace(ref.layer, std::move(frames));
    }
  auto outwards = [&](LayerRef ref, TensorType t, const std::string& base) {  // the axis under its own name again
    if (!inner || !t.has(spec.axis)) return ref;
    TensorType seen = t;
    seen.dims = with_replaced(t.dims, spec.axis, {inner});
    return LayerRef{&add_in(outer, "reinterpret_data", {{"from", ref}, {"set_dim_tags", dim_tags(inner, spec.axis)}}, t, base + "_" + name_of(spec.axis), spec.span), {}};
  };
  for (std::size_t i = 0; i < spec.state.size(); ++i) {
    const LoopState& state = spec.state[i];
    if (state.type.history) {
      result.last.push_back(nullptr);
      continue;
    }
    std::string base = part_name(state.name);
    TensorType t = last_type(spec, state);
    TensorType over{spec.length_dims, DType::int32, nullptr};
    LayerRef len = length(spec.axis, spec.span);
    Layer& position = add("eval", {{"from", len}, {"eval", "tf.maximum(source(0) - 1, 0)"}, {"out_type", out_type(over)}}, over, base + "_last_index", spec.span);
    Layer& any = add("compare", {{"from", len}, {"kind", "greater"}, {"value", 0}}, {spec.length_dims, DType::bool_, nullptr}, base + "_any", spec.span);
    Layer& at = add_in(outer, "gather", {{"from", last[i]}, {"position", &position}, {"axis", spec.axis}, {"clip_to_valid", true}}, t, base + "_at", spec.span);
    std::vector<Dim> absent = without(spec.length_dims, state.type.dims);
    GraphTensor first(t, initial[i], absent);
    LayerRef start = expanded(first, absent, base + "_initial", spec.span);
    LayerRef found = outwards({&at, {}}, t, base);
    LayerRef ref{&add("switch", {{"condition", &any}, {"true_from", found}, {"false_from", start}}, t, base, spec.span), {}};
    result.last.push_back(made(t, ref, {}, graph_tensor(next.state[i]).wild_padding));
  }
  for (std::size_t i = 0; i < stacked.size(); ++i) {
    TensorType t = stacked_type(spec, i);
    carries(stacked[i], t);
    LayerRef frames = stacked[i];
    if (counted) {
      t.dims = with_replaced(t.dims, spec.axis, {counted});
      frames = {&add("gather", {{"from", frames}, {"position", range(counted, spec.span)}, {"axis", spec.axis}}, t, part_name(spec.stacked_names[i]), spec.span), {}};
    }
    result.stacked.push_back(made(t, frames, {}, (wild[i] || !given.axis_known) && is_float(t.dtype)));
  }
  return result;
}

}  // namespace rcn
