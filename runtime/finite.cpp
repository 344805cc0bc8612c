#include "runtime/finite.h"

#include <cmath>

#include "runtime/view.h"

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

std::string count_text(std::int64_t count, const std::string& what) {
  return count > 0 ? std::to_string(count) + " " + what : "";
}

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
  std::string counts = count_text(stats.nans, "NaN"), infs = count_text(stats.infs, "infinite");
  if (!counts.empty() && !infs.empty()) counts += " and ";
  counts += infs;
  const char* makes = made.by == MadeBy::operation ? "makes" : "has";
  auto report = sink.report(
      Diag::eager_not_finite, made.span,
      {made.name, makes, counts, std::to_string(stats.count), first_index(bad, x.axes)});
  if (made.node)
    for (std::size_t i = 0; i < made.node->inputs.size(); ++i)
      report.note(Diag::note_more, Span{},
                  {"input " + std::to_string(i + 1) + ": " + operand_text(made.node->inputs[i], lengths)});
  report.note(Diag::note_more, Span{},
              {"result: " + sized_type(made.tensor->type, lengths, true) + "  " + stats_text(stats)});
  return false;
}

}  // namespace rcn
