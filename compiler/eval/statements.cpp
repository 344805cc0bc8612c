#include <cctype>

#include "compiler/eval/interpreter.h"

namespace rcn {

using namespace ast;

Interpreter::Flow Interpreter::exec_block(Block block) {
  for (Stmt* s : block) {
    count_step(s->span);
    try {
      if (debugger_) [[unlikely]] announce(*s);
      frame_->at = s;
      Flow flow = exec(*s);
      if (debugger_) [[unlikely]] conclude(*s);
      if (flow == Flow::returned) return flow;
    } catch (const EvalError&) {
      frame_->at = s;  // not what an inner block ended with
      if (debugger_) debugger_->failed();
      poison_targets(*s);
      // What an assertion of a function guards would fail for the same reason.
      bool guarded = s->kind == StmtKind::assert_ && frame().kind == FrameKind::function && call_stack_.size() > 1;
      if (s->kind == StmtKind::return_ || guarded) {
        frame().result = Poison{};
        return Flow::returned;
      }
    }
  }
  return Flow::next;
}

Interpreter::Flow Interpreter::exec(Stmt& s) {
  switch (s.kind) {
    case StmtKind::error: throw EvalError{};
    case StmtKind::import: exec_import(as<ImportStmt>(s)); break;
    case StmtKind::from_import: exec_from_import(as<FromImportStmt>(s)); break;
    case StmtKind::option: exec_option(as<OptionStmt>(s)); break;
    case StmtKind::extern_: exec_extern(as<ExternStmt>(s)); break;
    case StmtKind::fn:
    case StmtKind::module:
    case StmtKind::network: break;  // known before the file runs
    case StmtKind::dim: {
      auto& d = as<DimStmt>(s);
      assign(d.name, declared_dim(d), d.name_span);
      break;
    }
    case StmtKind::param: declare_param(as<ParamStmt>(s)); break;
    case StmtKind::flag: declare_flag(as<FlagStmt>(s)); break;
    case StmtKind::mode: declare_mode(as<ModeStmt>(s)); break;
    case StmtKind::mark: exec_mark(as<MarkStmt>(s)); break;
    case StmtKind::stack: exec_stack(as<StackStmt>(s)); break;
    case StmtKind::if_: return exec_if(as<IfStmt>(s));
    case StmtKind::for_: return exec_for(as<ForStmt>(s));
    case StmtKind::loop: exec_loop(as<LoopStmt>(s)); break;
    case StmtKind::masked: exec_masked(as<MaskedStmt>(s)); break;
    case StmtKind::return_: {
      if (frame().scope->kind != ScopeKind::plain) fail_in_region(s.span, "return");
      Expr* value = as<ReturnStmt>(s).value;
      frame().result = value ? eval(*value) : Value(None{});
      return Flow::returned;
    }
    case StmtKind::assert_: exec_assert(as<AssertStmt>(s)); break;
    case StmtKind::assign: exec_assign(as<AssignStmt>(s)); break;
    case StmtKind::update: exec_update(as<UpdateStmt>(s)); break;
    case StmtKind::expr: eval(*as<ExprStmt>(s).value); break;
  }
  return Flow::next;
}

void Interpreter::exec_assign(const AssignStmt& s) {
  if (frame().kind == FrameKind::mode) return exec_flag_setting(s);
  std::string name = s.target->items.empty() && s.target->name ? s.target->name.str() : std::string();
  Restore<std::string> dim_name(dim_name_, name);
  Value value = eval_named(*s.value, name);
  if (s.type) value = check_type(value, *s.type, s.value->span, "`" + name + "`");
  // `body = inner`: a member that was assigned a module parameter does not own what it holds
  bool weak = false;
  if (frame().kind == FrameKind::module_body && s.value->kind == ExprKind::name) {
    const Member* source = frame().self->find(as<NameExpr>(*s.value).name);
    weak = source && (source->kind == MemberKind::argument || source->weak);
  }
  bind(*s.target, value, s.value->span, weak);
}

void Interpreter::exec_update(const UpdateStmt& s) {
  Value storage;
  Value before = value_of(s.name, s.name_span, storage);
  Value value = binary(s.op, before, eval(*s.value), s.span, s.name.str());
  assign(s.name, value, s.name_span);
}

const std::vector<Value>& Interpreter::unpacked(const Target& target, const Value& value, Span value_span) {
  const std::vector<Value>* items = value.is_tuple() ? &value.tuple().items : value.is_list() ? &value.list() : nullptr;
  if (!items) fail(Diag::cannot_unpack, value_span, {kind_text(value), std::to_string(target.items.size())});
  if (items->size() != target.items.size())
    fail(Diag::unpack_count, value_span, {std::to_string(items->size()), std::to_string(target.items.size())});
  return *items;
}

void Interpreter::bind(const Target& target, const Value& value, Span value_span, bool weak) {
  if (target.items.empty()) {
    if (target.name) assign(target.name, value, target.span, weak);
    return;
  }
  const std::vector<Value>& items = unpacked(target, value, value_span);
  for (std::size_t i = 0; i < items.size(); ++i) bind(target.items[i], items[i], value_span);
}

void Interpreter::assign(Symbol name, const Value& value, Span span, bool weak) {
  if (name.str() == "_") return;
  Frame& f = frame();
  switch (f.kind) {
    case FrameKind::file:
      f.unit->values[name] = value;
      f.unit->declared.try_emplace(name, span);
      break;
    case FrameKind::module_body: {
      Member member;
      member.name = name;
      member.kind = MemberKind::assigned;
      member.value = value;
      member.weak = weak;
      member.span = span;
      f.self->set(std::move(member));
      break;
    }
    case FrameKind::function:
    case FrameKind::mode: {
      if (value.is_tensor()) backend_->bound(name, value.tensor(), span);
      if (Value* old = f.scope->find(name)) {
        *old = value;
      } else {
        if (!value.is_poison()) check_state(name, span);
        f.scope->vars.emplace_back(name, value);
      }
      if (f.scope->kind != ScopeKind::plain) {
        std::erase_if(f.scope->assigned, [&](const auto& entry) { return entry.first == name; });
        f.scope->assigned.emplace_back(name, span);
      }
      std::erase_if(f.scope->only_branch, [&](const auto& entry) { return entry.first == name; });
      break;
    }
  }
}

// What a loop's body assigns lives for one step, unless it is state.
void Interpreter::check_state(Symbol name, Span span) {
  bool crossed = false;
  for (Scope* scope = frame().scope; scope; scope = scope->parent) {
    if (Value* old = scope->find(name)) {
      if (!crossed || old->is_poison()) return;
      report(Diag::must_be_state, span, {name.str()})
          .help(Diag::help_text, {"add `with " + name.str() + " = ...` to the head of the loop, or use another name in its body"});
      throw EvalError{};
    }
    crossed = crossed || scope->kind == ScopeKind::loop;
  }
}

void Interpreter::poison(const Target& target) {
  if (target.items.empty()) {
    if (target.name && !target.flag_owner && frame().kind != FrameKind::mode) assign(target.name, Poison{}, target.span);
    return;
  }
  for (const Target& item : target.items) poison(item);
}

// After a statement failed: what it would have bound stays unknown, silently.
void Interpreter::poison_targets(Stmt& s) {
  auto block = [&](Block b) {
    for (Stmt* inner : b) poison_targets(*inner);
  };
  switch (s.kind) {
    case StmtKind::assign: poison(*as<AssignStmt>(s).target); break;
    case StmtKind::update: assign(as<UpdateStmt>(s).name, Poison{}, s.span); break;
    case StmtKind::dim: assign(as<DimStmt>(s).name, Poison{}, s.span); break;
    case StmtKind::option: assign(as<OptionStmt>(s).name, Poison{}, s.span); break;
    case StmtKind::extern_: assign(as<ExternStmt>(s).name, Poison{}, s.span); break;
    case StmtKind::param: assign(as<ParamStmt>(s).name, Poison{}, s.span); break;
    case StmtKind::flag: assign(as<FlagStmt>(s).name, Poison{}, s.span); break;
    case StmtKind::stack: assign(as<StackStmt>(s).name, Poison{}, s.span); break;
    case StmtKind::mark:
      if (!as<MarkStmt>(s).index && as<MarkStmt>(s).value) assign(as<MarkStmt>(s).name, Poison{}, s.span);
      break;
    case StmtKind::import: {
      auto& i = as<ImportStmt>(s);
      if (i.alias) assign(i.alias, Poison{}, s.span);
      break;
    }
    case StmtKind::from_import:
      for (const ImportedName& name : as<FromImportStmt>(s).names) assign(name.alias, Poison{}, s.span);
      break;
    case StmtKind::if_: {
      for (const IfBranch& branch : as<IfStmt>(s).branches) block(branch.body);
      block(as<IfStmt>(s).otherwise);
      break;
    }
    case StmtKind::for_:
      poison(*as<ForStmt>(s).target);
      block(as<ForStmt>(s).body);
      break;
    case StmtKind::loop:
      for (const ast::LoopState& state : as<LoopStmt>(s).state) assign(state.name, Poison{}, s.span);
      block(as<LoopStmt>(s).body);
      break;
    case StmtKind::masked: block(as<MaskedStmt>(s).body); break;
    default: break;
  }
}

Interpreter::Flow Interpreter::exec_if(const IfStmt& s) {
  for (const IfBranch& branch : s.branches) {
    Value value = eval(*branch.condition);
    if (value.is_tensor())
      return exec_dynamic_if(s, static_cast<std::size_t>(&branch - s.branches.data()), condition_tensor(value, branch.condition->span, "`if`"));
    if (condition(value, branch.condition->span, "`if`")) return exec_block(branch.body);
  }
  return exec_block(s.otherwise);
}

Interpreter::Flow Interpreter::exec_for(const ForStmt& s) {
  std::vector<Value> items = iterate(eval(*s.source), s.source->span);
  for (const Value& item : items) {
    bind(*s.target, item, s.source->span);
    if (exec_block(s.body) == Flow::returned) return Flow::returned;
  }
  return Flow::next;
}

void Interpreter::exec_assert(const AssertStmt& s) {
  Value value = eval(*s.condition);
  auto message = [&]() -> std::string {
    if (!s.message) return std::string(in_.sources.text(s.condition->span));
    Value m = eval(*s.message);
    if (!m.is_str()) fail(Diag::assert_message, s.message->span, {kind_text(m)});
    return m.str();
  };
  if (value.is_tensor()) {
    if (value.tensor()->type.dtype != DType::bool_) fail(Diag::condition_not_bool, s.condition->span, {"`assert`", kind_text(value)});
    std::string text = message();
    with_values([&] { backend_->check(value.tensor(), text, s.condition->span); });
    return;
  }
  if (!value.is<bool>()) fail(Diag::condition_not_bool, s.condition->span, {"`assert`", kind_text(value)});
  if (!value.get<bool>()) fail(Diag::assertion_failed, s.span, {message()});
}

// A name of the dict, which no other mark or entry may have.
void Interpreter::reserve_name(const std::string& name, Span span) {
  bool legal = !name.empty() && name != "data" && name != "none";
  for (char c : name) legal = legal && (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || (c == '#' && name[0] == '#'));
  if (!legal) fail(Diag::mark_name, span, {name});
  auto [it, fresh] = marks_.try_emplace(name, span);
  if (fresh) return;
  auto builder = report(Diag::marked_twice, span, {name});
  builder.note(Diag::note_first_here, it->second);
  if (name == "output") builder.help(Diag::help_text, {"the first output is also called `output`"});
  throw EvalError{};
}

void Interpreter::exec_mark(const MarkStmt& s) {
  static constexpr std::string_view kRoles[] = {"loss", "error", "output"};
  std::string role(kRoles[static_cast<std::size_t>(s.mark)]);
  if (!main_running_) fail(Diag::mark_outside_main, s.span, {role});
  require_plain_region(s.span, role);
  Mark mark;
  mark.role = static_cast<MarkRole>(s.mark);
  mark.span = s.span;
  mark.name = s.name.str();
  if (s.index) {
    Value index = eval(*s.index);
    if (!index.is<std::int64_t>() && !index.is_str()) fail(Diag::mark_index, s.index->span, {role, kind_text(index)});
    mark.name += "_" + to_text(index);
  }
  for (const Arg& option : s.options) {
    Value value = eval(*option.value);
    const std::string& name = option.name.str();
    auto wrong = [&](const char* expected) { fail(Diag::option_type, option.value->span, {name, expected, kind_text(value)}); };
    if (name == "scale") {
      if (!value.is_number()) wrong("a number");
      mark.scale = value.as_double();
    } else if (name == "use_normalized_loss" || name == "use_flatten_frames") {
      if (!value.is<bool>()) wrong("a bool");
      (name == "use_normalized_loss" ? mark.use_normalized_loss : mark.use_flatten_frames) = value.get<bool>();
    } else if (name == "custom_inv_norm_factor") {
      if (!value.is_tensor()) wrong("a tensor");
      mark.custom_inv_norm_factor = value.tensor();
    } else {
      fail(Diag::unknown_option, option.name_span, {role, name});
    }
  }
  Value value;
  if (s.value) {
    value = eval(*s.value);
  } else {
    Value storage;
    value = value_of(s.name, s.name_span, storage);
  }
  if (value.is_poison()) throw EvalError{};
  Span value_span = s.value ? s.value->span : s.name_span;
  if (value.is_number()) value = apply("constant", {value, List{}, None{}, None{}}, value_span, mark.name);
  if (value.is_tensor() && value.tensor()->type.history) fail(Diag::history_use, value_span, {kind_text(value)});
  if (value.is_tensor() && value.tensor()->traits.undecided() && mark.role != MarkRole::output)
    fail(Diag::mixes_sequences, value_span, {role, "which a search has not decided yet"});
  if (!value.is_tensor()) fail(Diag::mark_not_tensor, value_span, {role, mark.name, kind_text(value)});
  mark.first_output = mark.role == MarkRole::output && !any_output_;
  if (mark.role == MarkRole::output) any_output_ = true;
  require_available(mark, value.tensor());
  reserve_name(mark.name, s.name_span);
  if (mark.first_output && mark.name != "output") reserve_name("output", s.name_span);
  backend_->mark(mark, value.tensor());
  if (s.value && !s.index) assign(s.name, value, s.name_span);
}

}  // namespace rcn
