#include "runtime/check/finite.h"

#include <cmath>

#include "runtime/show/view.h"

namespace rcn {

namespace {

bool says_infinity(const Value& value) {
  if (value.is<double>()) return std::isinf(value.get<double>());
  if (!value.is_list()) return false;
  for (const Value& v : value.list())
    if (says_infinity(v)) return true;
  return false;
}

bool says_infinity(const OpNode& node) {
  for (const Operand& input : node.inputs)
    if (const double* number = std::get_if<double>(&input); number && std::isinf(*number)) return true;
  for (const auto& [name, value] : node.attrs)
    if (says_infinity(value)) return true;
  return false;
}

std::string operand_text(const Operand& input, Lengths& lengths) {
  if (const auto* v = std::get_if<std::int64_t>(&input)) return std::to_string(*v);
  if (const auto* v = std::get_if<double>(&input)) return short_number(*v);
  if (const auto* v = std::get_if<bool>(&input)) return *v ? "true" : "false";
  Tensor x = shown(std::get<Tensor>(input));
  if (x->type.history) return "a history";
  return sized_type(x->type, lengths, true) + "  " + stats_text(statistics(eager(x), lengths));
}

// `2 NaN and 1 infinite`.
std::string counts_text(std::int64_t nans, std::int64_t infs) {
  std::string text = nans > 0 ? std::to_string(nans) + " NaN" : "";
  if (infs > 0) text += (text.empty() ? "" : " and ") + std::to_string(infs) + " infinite";
  return text;
}

std::int64_t count(const at::Tensor& x) { return x.sum().item<std::int64_t>(); }

}  // namespace

bool check_finite(const Produced& made, Lengths& lengths, DiagnosticSink& sink) {
  if (made.by == MadeBy::loop || !is_float(made.tensor->type.dtype)) return true;  // of frames that were looked at
  Stats stats = statistics(eager(made.tensor), lengths);
  if (stats.nans == 0 && stats.infs == 0) return true;

  bool nan_before = false, inf_before = false;
  if (made.node) {
    inf_before = says_infinity(*made.node) || is_search_op(made.node->op->name);
    for (const Operand& input : made.node->inputs)
      if (const Tensor* t = as_tensor(input); t && !(*t)->type.history) {
        Stats s = statistics(eager(shown(*t)), lengths);
        nan_before = nan_before || s.nans > 0;
        inf_before = inf_before || s.infs > 0 || s.nans > 0;
      }
  }
  bool nan = stats.nans > 0 && !nan_before, inf = stats.infs > 0 && !inf_before;
  if (!nan && !inf) return true;

  const Named& x = eager(made.tensor);
  at::Tensor bad = nan ? x.value.detach().isnan() : x.value.detach().isinf();
  at::Tensor padding = lengths.padding(x.axes);
  if (padding.defined()) bad = bad.logical_and(padding.logical_not());
  const char* makes = made.by == MadeBy::operation ? "makes" : "has";
  auto report = sink.report(
      Diag::eager_not_finite, made.span,
      {made.name, makes, counts_text(stats.nans, stats.infs), std::to_string(stats.count), first_index(bad, x.axes)});
  if (made.node)
    for (std::size_t i = 0; i < made.node->inputs.size(); ++i)
      report.note(Diag::note_more, Span{},
                  {"input " + std::to_string(i + 1) + ": " + operand_text(made.node->inputs[i], lengths)});
  report.note(Diag::note_more, Span{},
              {"result: " + sized_type(made.tensor->type, lengths, true) + "  " + stats_text(stats)});
  return false;
}

void FiniteGradients::follow(const Produced& made, Lengths& lengths) {
  if (made.node)
    for (const Operand& input : made.node->inputs)
      if (const Tensor* t = as_tensor(input))
        if (auto it = followed_.find(eager(*t).value.unsafeGetTensorImpl()); it != followed_.end())
          it->second.uses.push_back({made.name, made.span});
  const Named& x = eager(made.source);
  const c10::TensorImpl* tensor = x.value.unsafeGetTensorImpl();
  if (!x.value.requires_grad() || !followed_.emplace(tensor, Followed{x.value, {}}).second) return;
  at::Tensor padding = lengths.padding(x.axes);
  x.value.register_hook([this, tensor, padding, axes = x.axes, made = Use{made.name, made.span}](const at::Tensor& g) {
    if (first_) return;
    at::Tensor valid =
        padding.defined() ? padding.logical_not().expand(g.sizes()) : at::ones(g.sizes(), at::TensorOptions(at::kBool));
    at::Tensor nan = g.isnan().logical_and(valid), inf = g.isinf().logical_and(valid);
    std::string where = first_index(nan.logical_or(inf), axes);
    if (where.empty()) return;
    first_ = First{made, tensor, counts_text(count(nan), count(inf)), count(valid), where};
  });
}

bool FiniteGradients::check(DiagnosticSink& sink) const {
  if (!first_) return true;
  auto report = sink.report(
      Diag::eager_not_finite, first_->made.span,
      {first_->made.name, "gets a gradient with", first_->counts, std::to_string(first_->valid), first_->where});
  for (const Use& use : followed_.at(first_->tensor).uses)
    report.note(Diag::note_more, use.span, {"`" + use.name + "` is computed from it"});
  return false;
}

}  // namespace rcn
