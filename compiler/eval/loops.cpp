// What stands in the body of a loop: `stack`, `end`, frames, steps of a history. The loop itself: loop_statement.cpp.
#include "compiler/dims/dim_list.h"
#include "compiler/eval/interpreter.h"

namespace rcn {

using namespace ast;

void Interpreter::throw_if_errors_since(std::size_t before) {
  if (diag_.error_count() > before) throw EvalError{};
}

// `; missing: a; new: b`
std::string Interpreter::changed_dims(const TensorType& before, const TensorType& after) const {
  std::string text;
  auto list = [&](const char* word, const std::vector<Dim>& dims) {
    if (!dims.empty()) text += std::string(text.empty() ? " (" : "; ") + word + " `" + dims_text(dims) + "`";
  };
  list("without", without(before.dims, after.dims));
  list("with", without(after.dims, before.dims));
  return text.empty() ? text : text + ")";
}

// A leaf as a tensor of the type: numbers become constants.
Tensor Interpreter::leaf_tensor(const Value& leaf, const TensorType& type, Span span) {
  if (leaf.is_tensor()) return leaf.tensor();
  List dims;
  for (Dim d : type.dims) dims.push_back(d);
  Value value = leaf;
  if (is_float(type.dtype) && value.is<std::int64_t>()) value = value.as_double();
  return apply("constant", {value, dims, type.dtype, type.sparse_dim ? Value(type.sparse_dim) : Value(None{})}, span, {}).tensor();
}

// One call in each step, which all sequences come along; over a whole sequence nothing came before.
void Interpreter::require_history_step(const OpNode& node, Span span) {
  const Tensor& state = node.tensor(1);
  bool step = node.dim("spatial_dim")->marker;
  auto wrong = [&](const char* help) {
    report(Diag::history_use, span, {"`" + to_string(state->type) + "`"}).help(Diag::help_text, {help});
    throw EvalError{};
  };
  bool from_loop = false;
  for (const LoopRun* run : loops_)
    for (const auto& [from, to] : run->histories)
      if (from == state || to == state) wrong("it is used twice in this step");
  for (const LoopRun* run : loops_)
    for (const Tensor& t : run->state) from_loop = from_loop || t == state;
  if (!step) {
    if (from_loop) wrong("over a whole sequence it begins with `nn.empty_history`");
    return;
  }
  if (loops_.empty()) wrong("one step, `spatial_dim=nn.single_step_dim`, stands in a loop");
  bool here = false;
  for (const Tensor& t : loops_.back()->state) here = here || t == state;
  if (!here) wrong("in a loop it is state of that loop: `with h = nn.empty_history(...)`");
  if (regions_.back() != RegionKind::loop) wrong("in a branch or masked part it would not grow in each step");
}

void Interpreter::exec_stack(const StackStmt& s) {
  LoopRun& run = *loops_.back();
  if (frame_->scope->kind != ScopeKind::loop) fail_in_region(s.span, "stack");
  Value value = eval_named(*s.value, s.name.str());
  if (value.is_poison()) throw EvalError{};
  for (std::size_t i = 0; i < run.stacked.size(); ++i)
    if (run.stacked[i].first == s.name) {
      report(Diag::stack_twice, s.name_span, {s.name.str()}).note(Diag::note_first_here, run.stacked_spans[i]);
      throw EvalError{};
    }
  run.stacked.emplace_back(s.name, value);
  run.stacked_spans.push_back(s.name_span);
}

void Interpreter::builtin_end(CallArgs& args) {
  if (loops_.empty() || loops_.back()->frame != frame_) fail(Diag::misplaced, args.span, {"end", "a function outside of a loop's body"});
  if (frame_->scope->kind != ScopeKind::loop) fail_in_region(args.span, "end");
  LoopRun& run = *loops_.back();
  if (run.known) {
    report(Diag::end_known_length, args.span, {to_string(run.axis)})
        .help(Diag::help_text, {"in a loop that also serves training write `if search { end(...) }`, and go over a dim without length there"});
    throw EvalError{};
  }
  if (run.end) {
    report(Diag::end_twice, args.span).note(Diag::note_first_here, run.end_span).help(Diag::help_text, {"`end(a or b)` joins two conditions"});
    throw EvalError{};
  }
  if (args.positional.size() != 1) fail(Diag::end_condition, args.span, {std::to_string(args.positional.size()) + " values are given"});
  Value condition = args.positional[0];
  for (CallArgs::Keyword& k : args.keywords) {
    if (k.name.str() != "include_eos") fail(Diag::unknown_keyword, k.name_span, {"end", k.name.str()});
    if (!k.value.is<bool>()) fail(Diag::end_condition, k.span, {"`include_eos` is " + kind_text(k.value)});
    run.include_eos = k.value.get<bool>();
  }
  if (condition.is<bool>()) condition = apply("constant", {condition, List{}, None{}, None{}}, args.span, "end");
  const TensorType* type = condition.is_tensor() ? &condition.tensor()->type : nullptr;
  bool right = type && type->dtype == DType::bool_ && (type->dims.empty() || type->dims == std::vector<Dim>{in_.context.dims.batch()});
  if (!right) fail(Diag::end_condition, args.spans[0], {kind_text(condition)});
  run.end = condition.tensor();
  run.end_span = args.span;
}

// ---- frames

Interpreter::LoopRun* Interpreter::loop_of_index(const Value& index) {
  if (!index.is_tensor()) return nullptr;
  for (LoopRun* run : loops_)
    if (run->index == index.tensor()) return run;
  return nullptr;
}

Value Interpreter::frame_of(const Value& value, const Tensor& index, const IndexExpr& e) {
  LoopRun* run = loop_of_index(index);
  if (!run) {
    report(Diag::frame_index, e.index->span, {"a tensor `" + to_string(index->type) + "`"})
        .help(Diag::help_text, {"`nn.gather` takes the frames at computed positions, `nn.slice` a range of frames"});
    throw EvalError{};
  }
  if (!value.is_tensor()) {
    bool any = false;
    Value frames = map_leaves(value, [&](const Value& leaf) -> Value {
      if (!leaf.is_tensor() || !leaf.tensor()->type.has(run->axis)) return leaf;
      any = true;
      return frame_of(leaf, index, e);
    });
    if (!any) fail(Diag::frame_dim, e.span, {shown_text(value), to_string(run->axis), run->index_name.str()});
    return frames;
  }
  const TensorType& type = value.tensor()->type;
  if (type.history) fail(Diag::history_use, e.object->span, {kind_text(value)});
  if (!type.has(run->axis)) fail(Diag::frame_dim, e.span, {kind_text(value), to_string(run->axis), run->index_name.str()});
  for (Dim d : type.dims)
    if (contains(in_.context.lengths.length_dims(d), run->axis)) fail(Diag::frame_lengths, e.span, {to_string(d), to_string(run->axis)});
  if (value.tensor()->traits.undecided() && is_decided(run->axis)) fail(Diag::decided_mixed, e.span, {to_string(run->axis), "[" + run->index_name.str() + "]"});
  Tensor frame = backend_->frame(value.tensor(), run->axis, index, e.span);
  frame->traits = value.tensor()->traits;
  return frame;
}

}  // namespace rcn
