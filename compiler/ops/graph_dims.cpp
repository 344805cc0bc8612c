// Where dims come from: layers that have them, their lengths, ranges and masks.
#include "compiler/ops/graph_backend.h"
#include "compiler/ops/rules.h"

#include <algorithm>
#include <cctype>

namespace rcn {

std::string name_of(Dim d) {
  std::string result;
  for (char c : to_string(d)) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      result += c;
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  return result;
}

// What is known of a dim, from the outermost dict that knows it.
template <class Map>
const typename Map::mapped_type* GraphBackend::known(Map Open::*map, Dim d) const {
  for (const Open& open : open_)
    if (auto it = (open.*map).find(d); it != (open.*map).end()) return &it->second;
  return nullptr;
}

void GraphBackend::keep(std::unordered_map<Dim, LayerRef> Open::*map, Dim d, LayerRef ref) {
  (open_[open_of(*ref.layer)].*map).emplace(d, ref);
}

void GraphBackend::carries(LayerRef layer, const TensorType& type) {
  if (!layer.layer) return;  // a history
  if (!layer.sub.empty()) sub_types_.insert_or_assign({layer.layer, layer.sub}, type);
  if (layer.kind != RefKind::value) return;
  bool inference = !training_only_.contains(layer.layer);
  Open& open = open_[open_of(*layer.layer)];
  for (Dim d : type.dims) {
    auto [it, fresh] = open.carriers.emplace(d, Carrier{layer, inference});
    if (!fresh && inference && !it->second.inference) it->second = {layer, true};
  }
}

LayerRef GraphBackend::carrier(Dim d, Span span) {
  const Carrier* found = known(&Open::carriers, d);
  for (const Open& open : open_)  // one that is there in inference, if any is
    if (auto it = open.carriers.find(d); it != open.carriers.end() && found && !found->inference && it->second.inference) found = &it->second;
  if (found) return found->layer;
  if (d->size) {
    Layer& zeros = add_shared("constant", {{"value", 0}, {"shape", OptionList{d}}, {"dtype", "int32"}},
                               {{d}, DType::int32, nullptr}, name_of(d) + "_dim", span);
    return {&zeros, {}};
  }
  if (d->form == DimForm::atom) {
    context_.diagnostics.report(Diag::dim_without_length, span, {to_string(d)});
    throw EvalError{};
  }
  for (Dim atom : atoms(d))
    if (searched_.contains(atom)) refuse_lengths_of_hypotheses(span);
  return sequence_dim(d, length(d, span), name_of(d) + "_range", span);
}

void GraphBackend::refuse_lengths_of_hypotheses(Span span) {
  context_.diagnostics.report(Diag::frames_of_hypotheses, span, {running_ ? op_text(*running_) : "this"})
      .help(Diag::help_text, {"`nn.decide` takes the best hypothesis of each sequence"});
  throw EvalError{};
}

LayerRef GraphBackend::sequence_dim(Dim d, LayerRef lengths, const std::string& base, Span span) {
  Layer& range = add_shared("range_from_length", {{"from", lengths}, {"dtype", "int32"}, {"sparse", false}, {"out_spatial_dim", d}},
                             {{d}, DType::int32, nullptr}, base, span);
  keep(&Open::ranges, d, LayerRef{&range, {}});
  return {&range, {}};
}

bool GraphBackend::of_history(Dim d) const {
  if (histories_.empty()) return false;
  std::vector<Dim> parts = atoms(d);
  return std::any_of(parts.begin(), parts.end(), [&](Dim atom) { return histories_.contains(atom); });
}

LayerRef GraphBackend::length(Dim d, Span span) {
  if (const LayerRef* ref = known(&Open::lengths, d)) return *ref;
  LayerRef result;
  if (d->size) {
    result = {&add_shared("constant", {{"value", *d->size}, {"shape", OptionList{}}, {"dtype", "int32"}},
                           {{}, DType::int32, nullptr}, name_of(d) + "_length", span), {}};
  } else if (d->form != DimForm::atom && (!known(&Open::carriers, d) || of_history(d))) {
    // (RETURNN cannot hand out what it says is the length of a history made longer.)
    result = derived_length(d, span);
  } else {
    LayerRef source = carrier(d, span);
    result = {&add_shared("length", {{"from", source}, {"axis", d}, {"dtype", "int32"}, {"sparse", false}},
                           {context_.lengths.length_dims(d), DType::int32, nullptr}, name_of(d) + "_length", span), {}};
  }
  keep(&Open::lengths, d, result);
  return result;
}

namespace {

// The length as Python over `source(i)`, one for each dynamic atom; `atoms` collects them.
std::string length_text(Dim d, std::vector<Dim>& atoms) {
  auto index = [&](Dim atom) {
    for (std::size_t i = 0; i < atoms.size(); ++i)
      if (atoms[i] == atom) return i;
    atoms.push_back(atom);
    return atoms.size() - 1;
  };
  if (d->size) return *d->size < 0 ? "(" + std::to_string(*d->size) + ")" : std::to_string(*d->size);
  switch (d->form) {
    case DimForm::atom:
    case DimForm::constant: return "source(" + std::to_string(index(d)) + ")";
    case DimForm::sum: {
      std::string text;
      for (Dim part : d->parts) text += (text.empty() ? "" : " + ") + length_text(part, atoms);
      return "tf.maximum(" + text + ", 0)";
    }
    case DimForm::product: {
      std::string text = d->factor == 1 ? "" : d->factor < 0 ? "(" + std::to_string(d->factor) + ")" : std::to_string(d->factor);
      for (Dim part : d->parts) text += (text.empty() ? "" : " * ") + length_text(part, atoms);
      return "(" + text + ")";
    }
    case DimForm::floordiv: return "(" + length_text(d->parts[0], atoms) + " // " + length_text(d->parts[1], atoms) + ")";
    case DimForm::ceildiv:
      return "(-(-" + length_text(d->parts[0], atoms) + " // " + length_text(d->parts[1], atoms) + "))";
  }
  return {};
}

}  // namespace

// The length of a derived dim from those of its atoms: its form from the inside out, no sum below 0.
LayerRef GraphBackend::derived_length(Dim d, Span span) {
  std::vector<Dim> atoms;
  std::string text = length_text(d, atoms);
  OptionList from;
  std::vector<std::vector<Dim>> over;
  for (Dim atom : atoms) {
    from.emplace_back(length(atom, span));
    over.push_back(context_.lengths.length_dims(atom));
  }
  std::vector<Dim> all = context_.lengths.length_dims(d);
  bool covered = false;
  for (const auto& dims : over) covered = covered || without(all, dims).empty();
  TensorType type{all, DType::int32, nullptr};
  OptionDict options{{"from", from.size() == 1 ? from[0] : Option(from)}, {"eval", text}, {"out_type", out_type(type)}};
  if (!covered) options.emplace_back("allow_broadcast_all_sources", true);
  return {&add_shared("eval", std::move(options), std::move(type), name_of(d) + "_length", span), {}};
}

LayerRef GraphBackend::longest(Dim d, Span span) {
  if (const LayerRef* ref = known(&Open::longest, d)) return *ref;
  LayerRef lengths = length(d, span);
  std::vector<Dim> over = context_.lengths.length_dims(d);
  LayerRef result = lengths;
  if (!d->size && !over.empty())
    result = {&add_shared("reduce", {{"from", lengths}, {"mode", "max"}, {"axis", dims_option(over)}, {"keep_dims", false}},
                           {{}, DType::int32, nullptr}, name_of(d) + "_longest", span), {}};
  keep(&Open::longest, d, result);
  return result;
}

LayerRef GraphBackend::range(Dim d, Span span) {
  if (const LayerRef* ref = known(&Open::ranges, d)) return *ref;
  LayerRef source = carrier(d, span);
  if (const LayerRef* ref = known(&Open::ranges, d)) return *ref;  // the carrier is the range
  LayerRef result{&add_shared("range_in_axis", {{"from", source}, {"axis", d}, {"dtype", "int32"}, {"sparse", false}},
                               {{d}, DType::int32, nullptr}, name_of(d) + "_range", span), {}};
  keep(&Open::ranges, d, result);
  return result;
}

LayerRef GraphBackend::valid(Dim d, Span span) {
  if (const LayerRef* ref = known(&Open::valid, d)) return *ref;
  LayerRef positions = range(d, span), lengths = length(d, span);
  std::vector<Dim> dims = context_.lengths.length_dims(d);
  // Also one number broadcasts: RETURNN may move a history out of its loop, and then there is one for each step.
  OptionDict options{{"from", OptionList{positions, lengths}}, {"kind", "less"}, {"allow_broadcast_all_sources", true}};
  dims.push_back(d);
  LayerRef result{&add_shared("compare", std::move(options), {dims, DType::bool_, nullptr}, name_of(d) + "_valid", span), {}};
  keep(&Open::valid, d, result);
  return result;
}

// RETURNN keeps the float mask of a dim's frames where the first LSTM over the dim computes it. In a branch or a loop no other
// LSTM could read it, so it is made outside; a layer behind `source` comes behind that.
LayerRef GraphBackend::behind_lstm_mask(LayerRef source, const TensorType& type, Dim axis, const std::string& base, Span span) {
  if (open_.size() == 1 || axis->size || context_.lengths.length_dims(axis) != std::vector<Dim>{context_.dims.batch()}) return source;
  const LayerRef* mask = known(&Open::lstm_masks, axis);
  if (!mask) {
    OptionDict options{{"from", range(axis, span)},
                       {"eval", "[source(0), to_float32(sequence_mask_time_major(source(0, as_data=True).dims[0].dyn_size))][0]"}};
    Layer& made = add_shared("eval", std::move(options), {{axis}, DType::int32, nullptr}, name_of(axis) + "_lstm_mask", span);
    keep(&Open::lstm_masks, axis, {&made, {}});
    mask = known(&Open::lstm_masks, axis);
  }
  return {&add("copy", {{"from", source}, {"extra_deps", OptionList{*mask}}}, type, base, span), {}};
}

OptionList GraphBackend::shape_deps(const std::vector<Dim>& dims, Span span) {
  OptionList deps;
  std::vector<std::pair<const Layer*, std::string>> seen;
  for (Dim d : dims) {
    if (d->size) continue;
    LayerRef ref = carrier(d, span);
    std::pair<const Layer*, std::string> key{ref.layer, ref.sub};
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
    seen.push_back(key);
    deps.emplace_back(ref);
  }
  return deps;
}

}  // namespace rcn
