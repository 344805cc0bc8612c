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
    if (regions_.back() != RegionKind::loop) fail(Diag::not_in_region, span, {"nn.choice", region_text(regions_.back())});
    if (loops_.size() > 1) fail(Diag::not_in_region, span, {"nn.choice", "a loop inside of another loop"});
    LoopRun& run = *loops_.back();
    std::int64_t beam = node.integer("beam_size");
    if (run.known && run.beam_size && *run.beam_size != beam)
      fail(Diag::choice_beams, span, {std::to_string(*run.beam_size), std::to_string(beam), to_string(run.axis)});
    run.beam_size = beam;
    return;
  }
  bool choosing = node.op->name == "decide" || node.op->name == "beam_scores";
  if (!choosing && search_dims_.empty()) return;
  std::vector<Dim> undecided, decided;
  for (const Operand& input : node.inputs)
    if (const Tensor* t = as_tensor(input)) {
      std::vector<Dim>& dims = (*t)->traits.undecided ? undecided : decided;
      dims = united(dims, (*t)->type.dims);
    }
  bool any = std::any_of(node.inputs.begin(), node.inputs.end(), [](const Operand& o) { return as_tensor(o) && (*as_tensor(o))->traits.undecided; });
  if (choosing) {
    std::string name = "nn." + std::string(node.op->name);
    if (!regions_.empty()) fail(Diag::not_in_region, span, {name, region_text(regions_.back())});
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

// What depends on an input that is absent in inference, or has a dim that only such inputs give a length.
void Interpreter::set_traits(const OpNode& node, const std::vector<Tensor>& results) {
  Traits traits;
  for (const Operand& input : node.inputs)
    if (const Tensor* t = as_tensor(input)) traits.merge((*t)->traits);
  if (node.op->name == "choice") traits.undecided = true;
  if (node.op->name == "decide") traits.undecided = false;
  auto step = [&](const std::shared_ptr<const Origin>& from) {
    return std::make_shared<const Origin>(Origin{op_text(*node.op), node.span, from});
  };
  if (traits.training_only && traits.training_only->span != node.span) traits.training_only = step(traits.training_only);
  for (const Tensor& t : results) {
    t->traits = traits;
    if (!traits.training_only)
      if (std::shared_ptr<const Origin> origin = dims_origin(t->type)) t->traits.training_only = step(origin);
  }
}

void Interpreter::find_training_dims() {
  std::vector<Dim> available;
  for (const ExternInput& input : externs_)
    if (input.available_for_inference)
      for (Dim d : input.type.dims) available = united(available, atoms(d));
  for (const ExternInput& input : externs_)
    for (Dim d : input.type.dims)
      for (Dim atom : atoms(d)) {
        if (!atom->dynamic() || atom->kind == DimKind::batch || contains(available, atom)) continue;
        available.push_back(atom);
        training_dims_.emplace_back(atom, std::make_shared<const Origin>(Origin{input.name, input.span, nullptr}));
      }
}

std::shared_ptr<const Origin> Interpreter::dims_origin(const TensorType& type) const {
  if (training_dims_.empty()) return nullptr;
  for (Dim d : type.dims)
    for (Dim atom : atoms(d))
      for (const auto& [own, origin] : training_dims_)
        if (own == atom) return origin;
  return nullptr;
}

// In inference there are no targets.
void Interpreter::require_available(const Mark& mark, const Tensor& value) {
  if (mark.role != MarkRole::output) return;
  static const Symbol kSearch("search");
  Value search = flag_value(network_, kSearch, mark.span);
  if (!search.is<bool>() || !search.get<bool>()) return;
  std::shared_ptr<const Origin> origin = value->traits.training_only;
  if (!origin) origin = dims_origin(value->type);
  if (!origin) return;
  const Origin* input = origin.get();
  while (input->from) input = input->from.get();
  auto builder = report(Diag::output_unavailable, mark.span, {mark.name, input->what});
  std::vector<const Origin*> path;
  for (const Origin* o = origin.get(); o->from; o = o->from.get()) path.push_back(o);
  if (path.size() > 6) path.erase(path.begin() + 3, path.end() - 3);
  for (const Origin* o : path) builder.note(Diag::note_depends_by, o->span, {o->what});
  builder.note(Diag::note_declared_here, input->span, {input->what});
  builder.help(Diag::help_text, {"under `search` an output depends on what there is in inference; an `error` may depend on targets"});
  throw EvalError{};
}

}  // namespace rcn
