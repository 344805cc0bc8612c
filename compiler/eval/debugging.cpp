// What a debugger sees of the evaluator, and expressions of its prompt.
#include <algorithm>

#include "compiler/eval/interpreter.h"
#include "compiler/syntax/parse.h"

namespace rcn {

using namespace ast;

namespace {

constexpr std::string_view kReductions[] = {"max", "min", "mean", "sum", "any", "all"};

}  // namespace

class Interpreter::Halt final : public Stopped {
 public:
  Halt(Interpreter& in, Debugger& debugger) : in_(in), debugger_(debugger) {}

  std::size_t depth() const override {
    std::size_t n = 0;
    for (Frame* f = shown(in_.frame_); f; f = shown(f->caller)) ++n;
    return n;
  }

  CallFrame frame(std::size_t i) const override {
    const Frame* f = at(i);
    CallFrame result;
    result.at = f->at;
    bool called = f->calls > (f->caller ? f->caller->calls : 0);
    if (called) {
      result.what = in_.call_stack_[f->calls - 1].what;
    } else {
      result.what = f->kind == FrameKind::module_body ? "network" : f->kind == FrameKind::mode ? "mode" : f->unit->name;
    }
    std::size_t calls_of_inner = i > 0 ? at(i - 1)->calls : 0;
    if (calls_of_inner > f->calls) {
      result.place = in_.call_stack_[f->calls].span;
    } else if (f->at) {
      result.place = f->at->span;
    } else if (called) {
      result.place = in_.call_stack_[f->calls - 1].span;
    }
    return result;
  }

  std::vector<FrameVariable> variables(std::size_t i) const override {
    const Frame* f = at(i);
    std::vector<const Scope*> scopes;
    for (const Scope* s = f->scope; s; s = s->parent) scopes.insert(scopes.begin(), s);
    std::vector<FrameVariable> result;
    for (const Scope* s : scopes)
      for (const auto& [name, value] : s->vars) {
        auto same = [wanted = name](const FrameVariable& v) { return v.name == wanted; };
        if (auto it = std::find_if(result.begin(), result.end(), same); it != result.end()) {
          it->value = value;  // an inner block's own
        } else {
          result.push_back({name, value, is_argument(*f, name)});
        }
      }
    if (f->kind == FrameKind::module_body)
      for (const Member& m : f->self->members)
        if (!m.param && m.kind != MemberKind::flag) result.push_back({m.name, m.value, m.kind == MemberKind::argument});
    std::stable_partition(result.begin(), result.end(), [](const FrameVariable& v) { return v.argument; });
    return result;
  }

  bool on_types() const override { return in_.backend_ != &in_.real_; }

  Expr* parse(const std::string& name, const std::string& text, std::vector<Diagnostic>& problems) override {
    DiagnosticSink own;
    FileId file = in_.in_.sources.add(name, text + "\n");
    File parsed = rcn::parse(in_.in_.sources, file, in_.in_.arena, own, in_.options_.limits);
    auto whole = Span{file, 0, static_cast<std::uint32_t>(text.size())};
    bool one = parsed.body.size() == 1 && parsed.body[0]->kind == StmtKind::expr;
    if (!own.has_errors() && !one) {
      auto builder = own.report(Diag::prompt_no_expression, whole);
      if (parsed.body.size() == 1 && parsed.body[0]->kind == StmtKind::assign)
        builder.help(Diag::help_text, {"`set x = EXPR` gives a variable a value"});
    }
    problems = own.items();
    return own.has_errors() ? nullptr : as<ExprStmt>(*parsed.body[0]).value;
  }

  Evaluated evaluate(std::size_t i, Expr& e) override {
    Evaluated result;
    aside(i, e.span, result.problems, [&] {
      Scope scope = reductions();
      Restore<Scope*> inner(in_.frame_->scope, &scope);
      Value value = in_.eval(e);
      if (!value.is_poison()) result.value = std::move(value);
    });
    return result;
  }

  Changed set(std::size_t i, Expr& target, Expr& expression) override {
    Changed result;
    Evaluated evaluated = evaluate(i, expression);
    result.problems = std::move(evaluated.problems);
    if (!evaluated.value) return result;
    result.value = std::move(*evaluated.value);
    strict_ = !in_.regions_.empty();
    aside(i, target.span, result.problems, [&] {
      if (target.kind == ExprKind::name) {
        set_name(as<NameExpr>(target).name, target.span, expression.span, result);
      } else if (target.kind == ExprKind::member) {
        auto& member = as<MemberExpr>(target);
        Value object = in_.eval(*member.object);
        const Member* found = object.is<Instance*>() ? object.get<Instance*>()->find(member.name) : nullptr;
        if (!found || !found->param) in_.fail(Diag::prompt_cannot_set, target.span, {"is no parameter"});
        set_parameter(*found->param, target.span, expression.span, result);
      } else {
        in_.fail(Diag::prompt_cannot_set, target.span, {"is no name"});
      }
    });
    if (!result.problems.empty()) result.what = Changed::What::nothing;
    return result;
  }

  std::vector<std::string> names(std::size_t i) override {
    const Frame* f = at(i);
    std::vector<std::string> result;
    for (const FrameVariable& v : variables(i)) result.push_back(v.name.str());
    if (f->self)
      for (const Member& m : f->self->members) result.push_back(m.name.str());
    for (const auto& [name, span] : f->unit->declared) result.push_back(name.str());
    for (const auto& [name, value] : f->unit->values)
      if (!name.str().starts_with(' ')) result.push_back(name.str());
    for (std::string_view name : kReductions) result.emplace_back(name);
    sort_names(result);
    return result;
  }

  std::vector<std::string> members(std::size_t i, Expr& object) override {
    std::vector<std::string> result;
    Evaluated evaluated = evaluate(i, object);
    if (!evaluated.value) return result;
    const Value& value = *evaluated.value;
    if (value.is<const Namespace*>()) result = in_.namespace_names(*value.get<const Namespace*>());
    if (value.is<Instance*>()) {
      for (const Member& m : value.get<Instance*>()->members) result.push_back(m.name.str());
      for (const auto& [name, decl] : value.get<Instance*>()->cls->functions) result.push_back(name.str());
    }
    if (value.is_record())
      for (const auto& [name, field] : value.record().fields) result.push_back(name.str());
    if (value.is_tensor()) result = {"dims", "dtype", "sparse_dim"};
    if (value.is_dim()) result = {"size", "name", "kind"};
    sort_names(result);
    return result;
  }

  const std::vector<UserFile>& files() const override { return in_.in_.files; }
  const SourceMap& sources() const override { return in_.in_.sources; }

  Value reduce(const Function& f, CallArgs& args) {
    bool tensor = args.positional.size() == 1 && args.keywords.empty() && args.positional[0].is_tensor();
    if (!tensor) {
      const Value* own = builtin_value(Symbol(f.builtin_name));
      if (!own) in_.fail(Diag::prompt_reduce, args.span, {f.builtin_name, "one tensor"});
      return in_.call_builtin(own->function(), args);
    }
    if (std::optional<Value> value = debugger_.reduce(f.builtin_name, args.positional[0].tensor())) return *value;
    in_.fail(Diag::prompt_reduce, args.span,
             {f.builtin_name, "a tensor of numbers (`any` and `all`: of bools) with entries"});
  }

 private:
  // The frame itself, or the next outer one in which something runs.
  static Frame* shown(Frame* f) {
    while (f && !f->at && f->calls <= (f->caller ? f->caller->calls : 0)) f = f->caller;
    return f;
  }
  Frame* at(std::size_t i) const {
    Frame* f = shown(in_.frame_);
    for (; i > 0; --i) f = shown(f->caller);
    return f;
  }

  static bool is_argument(const Frame& f, Symbol name) {
    return std::any_of(f.params.begin(), f.params.end(), [&](const Param& p) { return p.name == name; });
  }

  static void sort_names(std::vector<std::string>& names) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }

  // Runs `body` in frame `i`, beside the program: nothing that the program does later depends on it, but for what it
  // changes on purpose. Whatever is reported comes to `problems`.
  template <class F>
  void aside(std::size_t i, Span place, std::vector<Diagnostic>& problems, F&& body) {
    DiagnosticSink::Mark before = in_.diag_.mark();
    OpContext& context = in_.in_.context;
    Restore<Frame*> here(in_.frame_, at(i));
    Restore<std::vector<CallSite>> calls(in_.call_stack_, {{place, "the prompt", false}});
    Restore<std::vector<RegionKind>> regions(in_.regions_, {});
    Restore<int> no_masks(in_.masked_, 0);
    Restore<std::int64_t> steps(in_.steps_, 0);
    Restore<bool> keep(context.lengths.keep, true);
    Restore<std::variant<bool, None>> train(context.train, context.train);
    Restore<Debugger*> silent(in_.debugger_, nullptr);
    DimTable::Outside outside(context.dims);
    try {
      body();
    } catch (const EvalError&) {
    } catch (const StopEvaluation&) {}
    const auto& items = in_.diag_.items();
    problems.assign(items.begin() + static_cast<std::ptrdiff_t>(before.items), items.end());
    in_.diag_.rollback(before);
  }

  // The reductions by name, but for those whose name is a variable.
  Scope reductions() {
    Scope scope;
    scope.parent = in_.frame_->scope;
    for (std::string_view name : kReductions) {
      Symbol symbol(name);
      Value storage;
      const Value* own = in_.lookup(symbol, {}, storage);
      bool hidden = own && !(own->is_function() && own->function().kind == FunctionKind::builtin);
      if (hidden) continue;
      auto f = std::make_shared<Function>();
      f->kind = FunctionKind::builtin;
      f->builtin = Builtin::reduce;
      f->builtin_name = std::string(name);
      scope.vars.emplace_back(symbol, Value(std::shared_ptr<const Function>(std::move(f))));
    }
    return scope;
  }

  // `nn.constant` lists no dim twice, but a parameter may have it.
  static bool has_dim_twice(const TensorType& type) {
    for (Dim d : type.dims)
      if (std::count(type.dims.begin(), type.dims.end(), d) > 1) return true;
    return false;
  }

  // A tensor as `before` is, full of the number.
  Value filled(const Value& before, const Value& number, Span span) {
    Value value = is_float(before.tensor()->type.dtype) && number.is<std::int64_t>() ? Value(number.as_double()) : number;
    return in_.apply("where", {in_.apply("equal", {before, before}, span, {}), value, value}, span, {});
  }

  // The new value in the form that `before` has: a number becomes a tensor. `strict`: nothing else may change.
  Value fitting(const Value& before, const Value& value, Span span, bool strict) {
    if (before.is_tensor()) {
      const TensorType& type = before.tensor()->type;
      if (value.is_tensor() ? same_type(value.tensor()->type, type) : number_fits(value, type) && !type.history)
        return !value.is_tensor() && has_dim_twice(type) ? filled(before, value, span) : in_.leaf_tensor(value, type, span);
    } else if (!before.is_poison() && same_value(before, value)) {
      return value;
    }
    if (strict) in_.fail(Diag::prompt_set_type, span, {shown_text(value), shown_text(before)});
    return value;
  }

  void set_name(Symbol name, Span span, Span value_span, Changed& result) {
    Frame& f = *in_.frame_;
    result.name = name.str();
    for (const LoopRun* run : in_.loops_)
      if (run->frame == &f && run->index_name == name)
        in_.fail(Diag::prompt_cannot_set, span, {"counts the steps of a loop"});
    for (Scope* scope = f.scope; scope; scope = scope->parent) {
      Value* place = scope->find(name);
      if (!place) continue;
      bool history = place->is_tensor() && place->tensor()->type.history;
      if (history) in_.fail(Diag::prompt_cannot_set, span, {"is a history"});
      // What a loop or branch makes has the types that it had when the body ran on types alone.
      *place = result.value = fitting(*place, result.value, value_span, strict_);
      result.what = Changed::What::variable;
      return;
    }
    if (f.self)
      if (const Member* member = f.self->find(name)) {
        if (!member->param) in_.fail(Diag::prompt_cannot_set, span, {"is a member of a module"});
        return set_parameter(*member->param, span, value_span, result);
      }
    Unit& unit = *f.unit;
    if (auto input = in_.inputs_.find(name); unit.main && input != in_.inputs_.end()) {
      input->second = fitting(input->second, result.value, value_span, true).tensor();
      result.value = input->second;
      result.what = Changed::What::input;
      return;
    }
    for (Stmt* s : unit.ast.body) {
      if (!unit.main || s->kind != StmtKind::option || as<OptionStmt>(*s).name != name) continue;
      result.value = in_.check_type(result.value, *as<OptionStmt>(*s).type, value_span, "option `" + name.str() + "`");
      unit.values.insert_or_assign(name, result.value);
      result.what = Changed::What::option;
      return;
    }
    if (unit.declared.contains(name) || unit.values.contains(name))
      in_.fail(Diag::prompt_cannot_set, span, {"is declared in the file"});
    if (f.kind != FrameKind::function || !f.scope) in_.fail(Diag::prompt_cannot_set, span, {"stands outside of calls"});
    f.scope->vars.emplace_back(name, result.value);
    result.what = Changed::What::variable;
  }

  void set_parameter(ParamState& param, Span span, Span value_span, Changed& result) {
    in_.parameter_value(param, span);
    result.value = fitting(param.raw, result.value, value_span, true);
    debugger_.replace(param.raw, result.value.tensor());
    if (!param.transforms.empty()) param.shown = nullptr;  // anew from the new values
    result.name = param.info.path;
    result.what = Changed::What::parameter;
  }

  Interpreter& in_;
  Debugger& debugger_;
  bool strict_ = false;  // the program stands in a loop, branch or masked part
};

void Interpreter::begin_debugging() {
  if (!in_.debugger) return;
  halt_ = std::make_unique<Halt>(*this, *in_.debugger);
  debugger_ = in_.debugger;
  debugger_->begin(*halt_);
}

void Interpreter::announce(Stmt& s) {
  bool first = !frame_->at;
  frame_->at = &s;
  if (backend_ == &real_) debugger_->statement(first);
}

void Interpreter::conclude(Stmt& s) {
  frame_->at = &s;  // not what an inner block ended with
  if (backend_ == &real_) debugger_->done();
}

Value Interpreter::reduce_all(const Function& f, CallArgs& args) { return static_cast<Halt&>(*halt_).reduce(f, args); }

}  // namespace rcn
