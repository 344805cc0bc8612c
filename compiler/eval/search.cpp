// Where a search may choose, and what is decided and what not.
#include <algorithm>

#include "compiler/dims/dim_list.h"
#include "compiler/eval/bind_op.h"
#include "compiler/eval/interpreter.h"

namespace rcn {

// Scores of other kinds become log probabilities before the operation sees them.
void Interpreter::prepare_choice(std::vector<Value>& values, const std::vector<Span>& spans, Span span) {
  constexpr std::size_t kScores = 0, kAxis = 1, kInputType = 3;
  const std::string& kind = values[kInputType].str();
  if (kind == "prob") {
    values[kScores] = apply("safe_log", {values[kScores], 1e-20}, span, {});
  } else if (kind == "logits") {
    values[kScores] = apply("log_softmax", {values[kScores], values[kAxis]}, span, {});
  } else if (kind != "log_prob") {
    fail(Diag::choice_input_type, spans[kInputType], {kind});
  }
  values[kInputType] = "log_prob";
}

void Interpreter::require_search(const OpNode& node, Span span) {
  if (node.op->name == "choice") {
    static const Symbol kSearch("search");
    Value search = flag_value(frame_->flags, kSearch, span);
    if (!search.is<bool>() || !search.get<bool>()) {
      report(Diag::choice_without_search, span)
          .help(Diag::help_text, {"`label = nn.choice(...) if search else targets[t]` serves both; `--mode search` turns the flag on"});
      throw EvalError{};
    }
    if (loops_.empty()) fail(Diag::choice_outside_loop, span);
    if (std::string_view(regions_.back()) != "a loop") fail(Diag::not_in_region, span, {"nn.choice", regions_.back()});
    if (loops_.size() > 1) fail(Diag::not_in_region, span, {"nn.choice", "a loop inside of another loop"});
    LoopRun& run = *loops_.back();
    std::int64_t beam = node.integer("beam_size");
    if (run.known && run.beam_size && *run.beam_size != beam)
      fail(Diag::choice_beams, span, {std::to_string(*run.beam_size), std::to_string(beam), to_string(run.axis)});
    run.beam_size = beam;
    return;
  }
  bool choosing = node.op->name == "decide" || node.op->name == "beam_scores";
  std::vector<Dim> undecided, decided;
  for (const Operand& input : node.inputs)
    if (const Tensor* t = as_tensor(input)) {
      std::vector<Dim>& dims = (*t)->undecided ? undecided : decided;
      dims = united(dims, (*t)->type.dims);
    }
  bool any = std::any_of(node.inputs.begin(), node.inputs.end(), [](const Operand& o) { return as_tensor(o) && (*as_tensor(o))->undecided; });
  if (choosing) {
    std::string name = "nn." + std::string(node.op->name);
    if (!regions_.empty()) fail(Diag::not_in_region, span, {name, regions_.back()});
    if (!any) fail(Diag::nothing_to_decide, span, {name});
    if (node.op->name == "decide")
      for (Dim d : undecided)
        if (contains(search_dims_, d) && !contains(decided_dims_, d)) decided_dims_.push_back(d);
    return;
  }
  for (Dim d : search_dims_) {
    if (any && (contains(decided, d) || (contains(undecided, d) && contains(decided_dims_, d))))
      fail(Diag::decided_mixed, span, {to_string(d), op_text(*node.op)});
    if (node.op->name == "length" && node.find("dim") && node.dim("dim") == d && !contains(decided_dims_, d))
      fail(Diag::length_undecided, span, {to_string(d)});
  }
}

}  // namespace rcn
