// Errors of the evaluator: in the user's own file, with the calls that led there.
#include <algorithm>

#include "compiler/base/suggest.h"
#include "compiler/eval/interpreter.h"
#include "compiler/syntax/walk.h"

namespace rcn {

DiagnosticSink::Builder Interpreter::report(Diag kind, Span span, std::vector<std::string> args) {
  return diag_.report(kind, span, std::move(args));
}

void Interpreter::fail(Diag kind, Span span, std::vector<std::string> args) {
  report(kind, span, std::move(args));
  throw EvalError{};
}

void Interpreter::fail_unknown(Diag kind, Span span, std::vector<std::string> args, std::string_view name,
                               const std::vector<std::string>& candidates) {
  auto builder = report(kind, span, std::move(args));
  std::vector<std::string> near = nearest_names(name, candidates);
  if (!near.empty()) builder.help(Diag::help_did_you_mean, {quoted_list(near)});
  throw EvalError{};
}

bool Interpreter::in_stdlib(Span span) const { return span.valid() && in_.sources.name(span.file).starts_with("stdlib/"); }

Span Interpreter::user_place(Span span) const {
  if (!in_stdlib(span)) return span;
  for (std::size_t i = call_stack_.size(); i > 0; --i)
    if (!in_stdlib(call_stack_[i - 1].span)) return call_stack_[i - 1].span;
  return span;
}

// Errors inside the standard library are shown where the user's file called it; calls around follow as notes.
void Interpreter::add_call_trace(Diagnostic& d) {
  std::size_t depth = call_stack_.size();
  if (in_stdlib(d.span)) {
    std::size_t i = depth;
    while (i > 0 && in_stdlib(call_stack_[i - 1].span)) --i;
    if (i > 0 && call_stack_[i - 1].span.valid()) {
      d.notes.insert(d.notes.begin(), Note{Diag::note_inside, d.span, {call_stack_[i - 1].what}});
      d.span = call_stack_[i - 1].span;
      depth = i - 1;
    }
  }
  if (d.kind == Diag::call_cycle || d.kind == Diag::module_cycle) return;  // they show the calls themselves
  std::vector<Span> shown = {d.span};
  std::size_t outermost = main_running_ ? 1 : 0;  // nobody calls `main`
  for (std::size_t i = depth; i > outermost && shown.size() < 5; --i) {
    Span span = call_stack_[i - 1].span;
    if (!span.valid() || in_stdlib(span) || std::find(shown.begin(), shown.end(), span) != shown.end()) continue;
    d.notes.push_back({Diag::note_called_from, span, {}});
    shown.push_back(span);
  }
}

void Interpreter::count_step(Span span) {
  if (++steps_ <= options_.limits.steps) return;
  report(Diag::limit_steps, span, {std::to_string(options_.limits.steps)});
  stop_evaluation();
}

// After a limit was reached and reported.
void Interpreter::stop_evaluation() {
  if (debugger_) debugger_->failed();
  throw StopEvaluation{};
}

namespace {

bool holds(Span outer, Span inner) {
  return outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end;
}

void collect_names(ast::Expr& e, Span within, std::vector<Symbol>& names) {
  if (e.kind == ast::ExprKind::name && holds(within, e.span)) {
    Symbol name = ast::as<ast::NameExpr>(e).name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  for_each_operand(e, [&](ast::Expr& operand) { collect_names(operand, within, names); });
}

}  // namespace

void Interpreter::note_values() {
  Span where = diag_.items().back().span;
  DiagnosticSink::Builder builder(&diag_, diag_.size() - 1);
  for (const auto& [dim, step] : real_.running_loops()) builder.note(Diag::note_step, Span{}, {std::to_string(step), to_string(dim)});
  const Frame* f = frame_;
  while (f && !(f->at && holds(f->at->span, where))) f = f->caller;
  if (!f) return;
  std::vector<Symbol> names;
  for_each_expr(*f->at, [&](ast::Expr& e) { collect_names(e, where, names); });
  for (Symbol name : names) {
    const Value* value = nullptr;
    for (Scope* scope = f->scope; scope && !value; scope = scope->parent) value = scope->find(name);
    Tensor tensor = value && value->is_tensor() ? value->tensor() : nullptr;
    const Member* member = !value && f->self ? f->self->find(name) : nullptr;
    if (member && member->param) tensor = member->param->shown;
    if (auto input = inputs_.find(name); !value && !member && input != inputs_.end()) tensor = input->second;
    if (!tensor) continue;
    if (std::string text = real_.describe(tensor); !text.empty())
      builder.note(Diag::note_value, Span{}, {name.str(), text});
  }
}

}  // namespace rcn
