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

void GraphBackend::carries(LayerRef layer, const TensorType& type) {
  bool inference = !training_only_.contains(layer.layer);
  for (Dim d : type.dims) {
    auto [it, fresh] = carriers_.emplace(d, Carrier{layer, inference});
    if (!fresh && inference && !it->second.inference) it->second = {layer, true};
  }
}

LayerRef GraphBackend::carrier(Dim d, Span span) {
  if (auto it = carriers_.find(d); it != carriers_.end()) return it->second.layer;
  if (d->size) {
    Layer& zeros = add_at_root("constant", {{"value", 0}, {"shape", OptionList{d}}, {"dtype", "int32"}},
                               {{d}, DType::int32, nullptr}, name_of(d) + "_dim", span);
    return {&zeros, {}};
  }
  if (d->form == DimForm::atom) {
    context_.diagnostics.report(Diag::dim_without_length, span, {to_string(d)});
    throw EvalError{};
  }
  return sequence_dim(d, length(d, span), name_of(d) + "_range", span);
}

LayerRef GraphBackend::sequence_dim(Dim d, LayerRef lengths, const std::string& base, Span span) {
  Layer& range = add_at_root("range_from_length", {{"from", lengths}, {"dtype", "int32"}, {"sparse", false}, {"out_spatial_dim", d}},
                             {{d}, DType::int32, nullptr}, base, span);
  ranges_.emplace(d, LayerRef{&range, {}});
  return {&range, {}};
}

LayerRef GraphBackend::length(Dim d, Span span) {
  if (auto it = lengths_.find(d); it != lengths_.end()) return it->second;
  LayerRef result;
  if (d->size) {
    result = {&add_at_root("constant", {{"value", *d->size}, {"shape", OptionList{}}, {"dtype", "int32"}},
                           {{}, DType::int32, nullptr}, name_of(d) + "_length", span), {}};
  } else if (d->form != DimForm::atom && !carriers_.contains(d)) {
    result = derived_length(d, span);
  } else {
    LayerRef source = carrier(d, span);
    result = {&add_at_root("length", {{"from", source}, {"axis", d}, {"dtype", "int32"}, {"sparse", false}},
                           {context_.lengths.length_dims(d), DType::int32, nullptr}, name_of(d) + "_length", span), {}};
  }
  lengths_.emplace(d, result);
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
  OptionDict options{{"from", from.size() == 1 ? from[0] : Option(from)},
                     {"eval", text},
                     {"out_type", OptionDict{{"dtype", "int32"}, {"sparse_dim", Option()}}}};
  if (!covered) options.emplace_back("allow_broadcast_all_sources", true);
  return {&add_at_root("eval", std::move(options), {all, DType::int32, nullptr}, name_of(d) + "_length", span), {}};
}

LayerRef GraphBackend::longest(Dim d, Span span) {
  if (auto it = longest_.find(d); it != longest_.end()) return it->second;
  LayerRef lengths = length(d, span);
  std::vector<Dim> over = context_.lengths.length_dims(d);
  LayerRef result = lengths;
  if (!d->size && !over.empty())
    result = {&add_at_root("reduce", {{"from", lengths}, {"mode", "max"}, {"axis", dims_option(over)}, {"keep_dims", false}},
                           {{}, DType::int32, nullptr}, name_of(d) + "_longest", span), {}};
  longest_.emplace(d, result);
  return result;
}

LayerRef GraphBackend::range(Dim d, Span span) {
  if (auto it = ranges_.find(d); it != ranges_.end()) return it->second;
  LayerRef source = carrier(d, span);
  if (auto it = ranges_.find(d); it != ranges_.end()) return it->second;  // the carrier is the range
  LayerRef result{&add_at_root("range_in_axis", {{"from", source}, {"axis", d}, {"dtype", "int32"}, {"sparse", false}},
                               {{d}, DType::int32, nullptr}, name_of(d) + "_range", span), {}};
  ranges_.emplace(d, result);
  return result;
}

LayerRef GraphBackend::valid(Dim d, Span span) {
  if (auto it = valid_.find(d); it != valid_.end()) return it->second;
  LayerRef positions = range(d, span), lengths = length(d, span);
  std::vector<Dim> dims = context_.lengths.length_dims(d);
  OptionDict options{{"from", OptionList{positions, lengths}}, {"kind", "less"}};
  if (!dims.empty()) options.emplace_back("allow_broadcast_all_sources", true);
  dims.push_back(d);
  LayerRef result{&add_at_root("compare", std::move(options), {dims, DType::bool_, nullptr}, name_of(d) + "_valid", span), {}};
  valid_.emplace(d, result);
  return result;
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
