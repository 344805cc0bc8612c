#include "compiler/base/suggest.h"
#include "compiler/eval/bind_op.h"
#include "compiler/eval/interpreter.h"

namespace rcn {

using namespace ast;

Value Interpreter::eval_call(const CallExpr& e) {
  Value callee = eval(*e.callee);
  CallArgs args = eval_args(e);
  try {
    return call(callee, args, e.callee->span);
  } catch (const std::overflow_error&) {  // of dim arithmetic
    fail(Diag::dim_size_overflow, e.span);
  }
}

Interpreter::CallArgs Interpreter::eval_args(const CallExpr& e) {
  CallArgs args;
  args.span = e.span;
  for (const Arg& arg : e.args) {
    Value value = eval(*arg.value);
    if (arg.name) {
      args.keywords.push_back({arg.name, arg.name_span, std::move(value), arg.value->span});
    } else {
      args.positional.push_back(std::move(value));
      args.spans.push_back(arg.value->span);
    }
  }
  return args;
}

Value Interpreter::call(const Value& callee, CallArgs& args, Span callee_span) {
  if (callee.is_function()) {
    const Function& f = callee.function();
    switch (f.kind) {
      case FunctionKind::declared: return call_declared(f, args);
      case FunctionKind::lambda: return call_lambda(f, args);
      case FunctionKind::op: return call_op(*f.op, args);
      case FunctionKind::builtin:
      case FunctionKind::named_builtin: return call_builtin(f, args);
    }
  }
  if (callee.is<Instance*>()) {
    static const Symbol kCall("call");
    return call_method(*callee.get<Instance*>(), kCall, args);
  }
  if (callee.is<const ModuleClass*>()) return instantiate(*callee.get<const ModuleClass*>(), args);
  if (callee.is<TypeName>()) {
    // `int(x)`, `float(x)`, `str(x)`, `Dim(..)`: the type's name is its conversion
    Function f;
    f.kind = FunctionKind::builtin;
    f.builtin_name = std::string(to_string(callee.get<TypeName>()));
    switch (callee.get<TypeName>()) {
      case TypeName::int_: f.builtin = Builtin::int_; return call_builtin(f, args);
      case TypeName::float_: f.builtin = Builtin::float_; return call_builtin(f, args);
      case TypeName::str: f.builtin = Builtin::str; return call_builtin(f, args);
      case TypeName::dim: f.builtin = Builtin::dim; return call_builtin(f, args);
      default: break;
    }
  }
  auto builder = report(Diag::not_callable, callee_span, {kind_text(callee)});
  if (callee.is<DType>()) builder.help(Diag::help_text, {"`nn.cast(x, " + to_text(callee) + ")` converts a tensor"});
  throw EvalError{};
}

Value Interpreter::call_method(Instance& instance, Symbol method, CallArgs& args) {
  if (instance.cls->sequential) return call_sequential(instance, args);
  auto it = instance.cls->functions.find(method);
  if (it == instance.cls->functions.end()) {
    std::vector<std::string> names;
    for (const auto& [name, decl] : instance.cls->functions) names.push_back(name.str());
    fail_unknown(Diag::no_member, args.span, {kind_text(Value(&instance)), method.str()}, method.str(), names);
  }
  Value f = function_value(*it->second, *instance.cls->unit, &instance);
  return call_declared(f.function(), args);
}

// The name of the scope that a call opens, and whether it belongs to the root of the dict.
std::pair<std::string, bool> Interpreter::scope_name(const Function& f) const {
  std::string fn = f.decl->name.str();
  if (!f.self || f.self->network) return {f.self && fn == "main" ? "" : fn, false};
  if (f.self == frame_->self) return {fn == "call" ? "" : fn, false};  // one function of a module calls another
  return scope_name(*f.self, fn);
}

std::pair<std::string, bool> Interpreter::scope_name(const Instance& self, const std::string& fn) const {
  std::string path = self.path;
  const std::string* around = frame_->flags ? &frame_->flags->path : nullptr;
  bool inside = around && !around->empty() && path.size() > around->size() && path.compare(0, around->size(), *around) == 0 &&
                path[around->size()] == '/';
  if (inside) path = path.substr(around->size() + 1);
  for (char& c : path)
    if (c == '/') c = '.';
  if (fn != "call") path += (path.empty() ? "" : ".") + fn;
  return {path, !inside};
}

// Too deep: most likely calls that go round without an end, so the round is shown.
void Interpreter::check_call_depth(Span span) {
  if (static_cast<std::int64_t>(call_stack_.size()) < options_.limits.call_depth) return;
  std::size_t last = call_stack_.size() - 1, i = last;
  while (i > 0 && call_stack_[i - 1].span != call_stack_[last].span) --i;
  if (i == 0) {
    report(Diag::limit_call_depth, span, {std::to_string(options_.limits.call_depth)});
    stop_evaluation();
  }
  std::string round = "`" + call_stack_[last].what + "`";
  for (std::size_t k = i; k <= last; ++k) round += " -> `" + call_stack_[k].what + "`";
  bool modules = std::any_of(call_stack_.begin() + static_cast<std::ptrdiff_t>(i), call_stack_.end(),
                             [](const CallSite& c) { return c.makes_instance; });
  auto builder = report(modules ? Diag::module_cycle : Diag::call_cycle, call_stack_[i].span,
                        {round, std::to_string(options_.limits.call_depth)});
  for (std::size_t k = i + 1; k <= last; ++k) builder.note(Diag::note_calls, call_stack_[k].span, {call_stack_[k].what});
  if (modules) builder.help(Diag::help_text, {"make the inner instance in an `if` with an end, or hand it over as a parameter"});
  stop_evaluation();
}

Value Interpreter::call_declared(const Function& f, CallArgs& args) {
  check_call_depth(args.span);
  if (f.self && main_running_ && !f.self->named) {
    report(Diag::no_owner, args.span, {f.self->cls->name.str()})
        .note(Diag::note_made_here, f.self->made)
        .help(Diag::help_text, {"make it in the body of a module or of the network, and keep it in a member"});
    throw EvalError{};
  }
  Frame inner;
  inner.kind = FrameKind::function;
  inner.unit = f.unit;
  inner.self = f.self;
  inner.flags = f.self ? f.self : frame_->flags;
  inner.scope = &inner.locals;
  std::string what = f.self && f.decl->name.str() == "call" ? f.self->cls->name.str() : f.decl->name.str();
  bind_params(f.decl->params, args, what, f.decl->name_span, inner);
  auto [scope, at_root] = scope_name(f);
  call_stack_.push_back({args.span, what, false});
  struct Leave {
    Backend* backend;
    ~Leave() {
      if (backend) backend->leave_scope();
    }
  } leave{scope.empty() ? nullptr : backend_};
  if (leave.backend) leave.backend->enter_scope(scope, at_root, args.span);
  {
    Entered here(*this, inner);
    exec_block(f.decl->body);
    const auto& types = f.decl->results;
    Value& result = inner.result;
    try {
      if (types.size() == 1) {
        if (!result.is_poison()) result = check_type(result, *types[0], types[0]->span, "the result of `" + what + "`");
      } else if (types.size() > 1 && !result.is_poison()) {
        if (!result.is_tuple() || result.tuple().items.size() != types.size())
          fail(Diag::result_count, f.decl->name_span, {what, std::to_string(types.size()), kind_text(result)});
        Tuple checked;
        for (std::size_t i = 0; i < types.size(); ++i)
          checked.items.push_back(check_type(result.tuple().items[i], *types[i], types[i]->span, "result " + std::to_string(i + 1) + " of `" + what + "`"));
        result = std::move(checked);
      }
    } catch (const EvalError&) {
      if (debugger_) debugger_->failed();
      result = Poison{};
    }
  }
  call_stack_.pop_back();
  if (inner.result.is_poison()) throw EvalError{};
  if (debugger_ && backend_ == &real_) [[unlikely]] debugger_->returned(inner.result);
  return inner.result;
}

Value Interpreter::call_lambda(const Function& f, CallArgs& args) {
  check_call_depth(args.span);
  Frame inner;
  inner.kind = FrameKind::function;
  inner.unit = f.unit;
  inner.self = f.self;
  inner.flags = frame_->flags;
  inner.locals.vars = f.captured;
  inner.scope = &inner.locals;
  bind_params(f.lambda->params, args, "fn(...)", f.lambda->span, inner);
  call_stack_.push_back({args.span, "fn(...)", false});
  struct Pop {
    std::vector<CallSite>& stack;
    ~Pop() { stack.pop_back(); }
  } pop{call_stack_};
  Entered here(*this, inner);
  return eval(*f.lambda->body);
}

void Interpreter::bind_params(std::span<Param> params, CallArgs& args, const std::string& what, Span declared, Frame& inner) {
  std::vector<const Value*> given(params.size());
  std::vector<Span> spans(params.size(), args.span);
  std::size_t positional = 0;
  while (positional < params.size() && !params[positional].keyword_only) ++positional;
  bool ok = true;
  auto wrong = [&](Diag kind, Span span, std::vector<std::string> texts) {
    ok = false;
    return report(kind, span, std::move(texts)).note(Diag::note_declared_here, declared, {what});
  };
  if (args.positional.size() > positional) {
    auto builder = wrong(Diag::too_many_arguments, args.spans[positional],
                         {what, std::to_string(positional), std::to_string(args.positional.size())});
    if (positional < params.size())
      builder.help(Diag::help_text, {"what stands after `*` is given by name: `" + params[positional].name.str() + "=`"});
  }
  for (std::size_t i = 0; i < args.positional.size() && i < positional; ++i) {
    given[i] = &args.positional[i];
    spans[i] = args.spans[i];
  }
  for (CallArgs::Keyword& keyword : args.keywords) {
    std::size_t i = 0;
    while (i < params.size() && params[i].name != keyword.name) ++i;
    if (i == params.size()) {
      std::vector<std::string> names;
      for (const Param& p : params) names.push_back(p.name.str());
      auto builder = wrong(Diag::unknown_keyword, keyword.name_span, {what, keyword.name.str()});
      std::vector<std::string> near = nearest_names(keyword.name.str(), names);
      if (!near.empty()) {
        builder.help(Diag::help_did_you_mean, {quoted_list(near)});
      } else if (!names.empty()) {
        builder.help(Diag::help_text, {"its parameters are " + quoted_list(names, "and")});
      }
      continue;
    }
    if (given[i]) {
      wrong(Diag::argument_twice, keyword.name_span, {keyword.name.str()});
      continue;
    }
    given[i] = &keyword.value;
    spans[i] = keyword.span;
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < params.size(); ++i)
    if (!given[i] && !params[i].default_value) missing.push_back(params[i].name.str());
  // What is missing may be what was misspelt, or given in the wrong way.
  if (ok && !missing.empty()) wrong(Diag::missing_argument, args.span, {what, quoted_list(missing, "and")});
  if (!ok) throw EvalError{};

  // Defaults and types may use the parameters; they are evaluated in the new frame.
  inner.params = params;
  Entered here(*this, inner);
  for (std::size_t i = 0; i < params.size(); ++i) {
    Value value = given[i] ? *given[i] : eval(*params[i].default_value);
    if (inner.kind == FrameKind::module_body) {
      Member member;
      member.name = params[i].name;
      member.kind = MemberKind::argument;
      member.value = value;
      member.span = params[i].span;
      inner.self->set(std::move(member));
    } else {
      inner.locals.vars.emplace_back(params[i].name, std::move(value));
    }
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (!params[i].type) continue;
    Value storage;
    const Value* value = lookup(params[i].name, params[i].span, storage);
    if (value->is_poison()) throw EvalError{};
    Value checked = check_type(*value, *params[i].type, given[i] ? spans[i] : params[i].span, "`" + params[i].name.str() + "` of `" + what + "`");
    if (inner.kind == FrameKind::module_body) {
      inner.self->members[inner.self->index.at(params[i].name)].value = checked;
    } else {
      *inner.locals.find(params[i].name) = checked;
    }
  }
}

Value Interpreter::call_op(const OpInfo& info, CallArgs& args) {
  std::vector<OpArgument> arguments;
  for (std::size_t i = 0; i < args.positional.size(); ++i) arguments.push_back({Symbol(), args.spans[i], args.positional[i], {}});
  for (CallArgs::Keyword& k : args.keywords) arguments.push_back({k.name, k.span, k.value, k.name_span});
  std::optional<BoundOpArguments> bound = bind_op(info, arguments, args.span, diag_);
  if (!bound) throw EvalError{};
  if (info.name == "choice") prepare_choice(bound->values, bound->spans, args.span);
  return apply(info, std::move(bound->values), std::move(bound->spans), args.span, {});
}

Value Interpreter::apply(std::string_view op, std::vector<Value> args, Span span, const std::string& name) {
  const OpInfo* info = in_.ops.find(op);
  if (!info) throw std::logic_error("no operation `" + std::string(op) + "`");
  std::vector<Span> spans(args.size(), span);
  return apply(*info, std::move(args), std::move(spans), span, name);
}

Value Interpreter::apply(const OpInfo& info, std::vector<Value> args, std::vector<Span> spans, Span span, const std::string& name) {
  for (std::size_t i = 0; i < args.size(); ++i)
    if (args[i].is_tensor() && args[i].tensor()->type.history && !(info.params[i].types & arg::history))
      fail(Diag::history_use, i < spans.size() ? spans[i] : span, {kind_text(args[i])});
  OpCall op(in_.context, info, std::move(args), std::move(spans), span);
  FlagValue train = frame_->flags && !frame_->flags->flags.empty() ? frame_->flags->flags[0].value : FlagValue::off;
  in_.context.train = train == FlagValue::on;
  if (train == FlagValue::dynamic) in_.context.train = None{};
  info.infer(op);
  if (op.has_static()) {
    if (op.extra().empty()) return op.static_value();
    Tuple tuple;
    tuple.items.push_back(op.static_value());
    for (const Value& v : op.extra()) tuple.items.push_back(v);
    return tuple;
  }
  if (!main_running_) fail(Diag::tensor_outside_main, span, {op_text(info)});
  OpNode& node = op.node();
  int search = require_search(node, span);
  if (info.name != "decide") require_one_sequence(node, span);
  if (info.name == "cum_concat") require_history_step(node, span);
  node.base_name = name;
  node.span = user_place(span);
  std::vector<Tensor> tensors = with_values([&] { return backend_->apply(node); });
  set_traits(node, search, tensors);
  if (info.name == "beam_scores") return score(tensors[0], search, span);
  if (info.name == "cum_concat" && node.dim("spatial_dim")->marker) loops_.back()->histories.emplace_back(node.tensor(1), tensors[1]);
  for (const OpCall::Rename& rename : op.renames())
    for (Tensor& t : tensors) {
      if (!t->type.has(rename.from)) continue;
      Value renamed = apply("replace_dim", {t, rename.from, rename.to}, span, name);
      t = renamed.tuple().items[0].tensor();
    }
  if (tensors.size() == 1 && op.extra().empty()) return tensors[0];
  Tuple tuple;
  for (Tensor& t : tensors) tuple.items.push_back(t);
  std::vector<Value> extra = op.extra();
  for (const OpCall::Rename& rename : op.renames())
    for (Value& value : extra)
      if (value.is_dim() && value.dim() == rename.from) value = rename.to;
  tuple.items.insert(op.extra_is_second() ? tuple.items.begin() + 1 : tuple.items.end(), extra.begin(), extra.end());
  return tuple;
}

Value Interpreter::call_sequential(Instance& instance, CallArgs& args) {
  if (args.positional.size() != 1) fail(Diag::too_many_arguments, args.span, {"nn.Sequential", "1", std::to_string(args.positional.size())});
  if (main_running_ && !instance.named) {
    report(Diag::no_owner, args.span, {"nn.Sequential"}).note(Diag::note_made_here, instance.made);
    throw EvalError{};
  }
  // Functions and lambdas among the children see the flags of this instance.
  auto [scope, at_root] = scope_name(instance, "call");
  struct Leave {
    Backend& backend;
    ~Leave() { backend.leave_scope(); }
  };
  backend_->enter_scope(scope, at_root, args.span);
  Leave leave{*backend_};
  Restore<Instance*> flags(frame_->flags, &instance);
  Value x = args.positional[0];
  for (const Member& child : instance.members) {
    if (child.value.is_poison()) throw EvalError{};
    CallArgs inner;
    inner.positional = {x};
    inner.spans = {args.spans[0]};
    inner.keywords = args.keywords;  // each child gets them
    inner.span = args.span;
    x = call(child.value, inner, args.span);
  }
  return x;
}

}  // namespace rcn
