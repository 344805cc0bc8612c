#include "compiler/eval/interpreter.h"

#include "compiler/base/suggest.h"
#include "compiler/syntax/walk.h"

namespace rcn {

using namespace ast;

Value* Interpreter::Scope::find(Symbol name) {
  for (auto it = vars.rbegin(); it != vars.rend(); ++it)
    if (it->first == name) return &it->second;
  return nullptr;
}

Value Interpreter::eval(Expr& e) {
  switch (e.kind) {
    case ExprKind::error: throw EvalError{};
    case ExprKind::name: return eval_name(as<NameExpr>(e));
    case ExprKind::int_literal: return as<IntExpr>(e).value;
    case ExprKind::float_literal: return as<FloatExpr>(e).value;
    case ExprKind::string_literal: return Value(as<StringExpr>(e).value);
    case ExprKind::bool_literal: return as<BoolExpr>(e).value;
    case ExprKind::none_literal: return None{};
    case ExprKind::tuple: {
      Tuple tuple;
      for (Expr* item : as<TupleExpr>(e).items) tuple.items.push_back(eval(*item));
      return tuple;
    }
    case ExprKind::list: {
      List list;
      for (Expr* item : as<ListExpr>(e).items) list.push_back(eval(*item));
      return list;
    }
    case ExprKind::record: {
      Record record;
      for (RecordField& field : as<RecordExpr>(e).fields) record.fields.emplace_back(field.name, eval(*field.value));
      return record;
    }
    case ExprKind::comprehension: return eval_comprehension(as<ComprehensionExpr>(e));
    case ExprKind::lambda: return eval_lambda(as<LambdaExpr>(e));
    case ExprKind::conditional: return eval_conditional(as<ConditionalExpr>(e));
    case ExprKind::call: return eval_call(as<CallExpr>(e));
    case ExprKind::index: return eval_index(as<IndexExpr>(e));
    case ExprKind::slice: return eval_slice(as<SliceExpr>(e));
    case ExprKind::member: return eval_member(as<MemberExpr>(e));
    case ExprKind::logical:
    case ExprKind::not_:
    case ExprKind::compare:
    case ExprKind::binary:
    case ExprKind::negate: return eval_named(e, {});
  }
  __builtin_unreachable();
}

Value Interpreter::eval_named(Expr& e, const std::string& name) {
  switch (e.kind) {
    case ExprKind::logical: return eval_logical(as<LogicalExpr>(e));
    case ExprKind::not_: {
      Value v = eval(*as<NotExpr>(e).operand);
      if (v.is<bool>()) return !v.get<bool>();
      if (v.is_tensor()) return apply("logical_not", {v}, e.span, name);
      fail(Diag::operand_not_bool, e.span, {"not", kind_text(v)});
    }
    case ExprKind::compare: return eval_compare(as<CompareExpr>(e));
    case ExprKind::binary: return eval_binary(as<BinaryExpr>(e), name);
    case ExprKind::negate: return negate(eval(*as<NegateExpr>(e).operand), e.span, name);
    default: return eval(e);
  }
}

// Local or parameter, member of the module, declaration of the file, builtin.
const Value* Interpreter::lookup(Symbol name, Span use, Value& storage) {
  Frame& f = frame();
  for (Scope* scope = f.scope; scope; scope = scope->parent)
    if (Value* value = scope->find(name)) return value;
  if (f.self) {
    if (const Member* member = f.self->find(name)) {
      storage = read_member(*f.self, *member, use);
      return &storage;
    }
    auto it = f.self->cls->functions.find(name);
    if (it != f.self->cls->functions.end()) {
      storage = function_value(*it->second, *f.self->cls->unit, f.self);
      return &storage;
    }
  }
  if (const Value* value = unit_value(*f.unit, name, use)) return value;
  static const Symbol kTrain("train"), kSearch("search");
  if (name == kTrain || name == kSearch) {
    storage = flag_value(f.flags, name, use);
    return &storage;
  }
  static const Symbol kBatch("batch"), kDynamic("dynamic");
  if (name == kBatch) {
    storage = in_.context.dims.batch();
    return &storage;
  }
  if (name == kDynamic) {
    require_mode("dynamic", use);
    storage = FlagSetting{FlagValue::dynamic, false};
    return &storage;
  }
  return builtin_value(name);
}

namespace {

bool names_target(const Target& target, Symbol name) {
  return (target.items.empty() && target.name == name) ||
         std::any_of(target.items.begin(), target.items.end(), [&](const Target& item) { return names_target(item, name); });
}

bool assigns(Block block, Symbol name) {
  for (Stmt* s : block) {
    bool found = s->kind == StmtKind::assign && names_target(*as<AssignStmt>(*s).target, name);
    for_each_block(*s, [&](Block inner) { found = found || assigns(inner, name); });
    if (found) return true;
  }
  return false;
}

}  // namespace

const Value& Interpreter::value_of(Symbol name, Span use, Value& storage) {
  const Value* value = lookup(name, use, storage);
  if (!value) {
    auto builder = report(Diag::no_value_here, use, {name.str()});
    for (const LoopRun* run : loops_)
      if (run->frame == frame_ && assigns(run->loop->body, name))
        builder.help(Diag::help_text, {"what a step takes from the one before is state: `with " + name.str() + " = ...` in the head of the loop gives it a first value"});
    throw EvalError{};
  }
  if (!value->is_poison()) return *value;
  for (Scope* scope = frame().scope; scope; scope = scope->parent)
    for (const auto& [only, where] : scope->only_branch)
      if (only == name) {
        report(Diag::only_in_branch, use, {name.str()})
            .note(Diag::note_only_here, where)
            .help(Diag::help_text, {"give it a value before the `if`, or in both branches"});
        throw EvalError{};
      }
  throw EvalError{};
}

Value Interpreter::eval_name(const NameExpr& e) {
  Value storage;
  return value_of(e.name, e.span, storage);
}

Value Interpreter::read_member(Instance& owner, const Member& member, Span use) {
  if (member.kind == MemberKind::parameter) return parameter_value(*member.param, use);
  if (member.kind == MemberKind::flag) return flag_value(&owner, member.name, use);
  if (member.value.is_poison()) throw EvalError{};
  return member.value;
}

Value Interpreter::eval_member(const MemberExpr& e) {
  Value object = eval(*e.object);
  return member_of(object, e.name, e.name_span);
}

Value Interpreter::member_of(const Value& object, Symbol name, Span span) {
  const std::string& n = name.str();
  auto unknown = [&](std::vector<std::string> names) {
    fail_unknown(Diag::no_member, span, {kind_text(object), n}, n, names);
  };
  if (object.is<const Namespace*>()) {
    const Namespace& space = *object.get<const Namespace*>();
    if (const Value* value = namespace_member(space, name, span)) {
      if (value->is_poison()) throw EvalError{};
      return *value;
    }
    fail_unknown(Diag::not_in_file, span, {space.name, n}, n, namespace_names(space));
  }
  if (object.is<Instance*>()) {
    Instance& instance = *object.get<Instance*>();
    static const Symbol kTrain("train"), kSearch("search");
    if (const Member* member = instance.find(name)) return read_member(instance, *member, span);
    auto it = instance.cls->functions.find(name);
    if (it != instance.cls->functions.end()) return function_value(*it->second, *instance.cls->unit, &instance);
    if (name == kTrain || name == kSearch) return flag_value(&instance, name, span);
    std::vector<std::string> names;
    for (const Member& m : instance.members) names.push_back(m.name.str());
    for (const auto& [fn, decl] : instance.cls->functions) names.push_back(fn.str());
    unknown(names);
  }
  if (object.is_record()) {
    if (const Value* field = object.record().find(name)) {
      if (field->is_poison()) throw EvalError{};
      return *field;
    }
    if (n == "keys") {
      List keys;
      for (const auto& [key, value] : object.record().fields) keys.push_back(key.str());
      return keys;
    }
    std::vector<std::string> names;
    for (const auto& [key, value] : object.record().fields) names.push_back(key.str());
    unknown(names);
  }
  if (object.is_dim()) {
    Dim d = object.dim();
    if (n == "size") {
      if (!d->size) fail(Diag::dynamic_size, span, {to_string(d)});
      return *d->size;
    }
    if (n == "name") return to_string(d);
    if (n == "kind") return Value(to_string(d->kind));
    unknown({"size", "name", "kind"});
  }
  if (object.is_tensor()) {
    const TensorType& type = object.tensor()->type;
    if (n == "dims") {
      List dims;
      for (Dim d : type.dims) dims.push_back(d);
      return dims;
    }
    if (n == "dtype") return type.dtype == DType::bool_ ? Value(TypeName::bool_) : Value(type.dtype);
    if (n == "sparse_dim") return type.sparse_dim ? Value(type.sparse_dim) : Value(None{});
    unknown({"dims", "dtype", "sparse_dim"});
  }
  unknown({});
  return {};
}

Value Interpreter::eval_index(const IndexExpr& e) {
  Value object = eval(*e.object);
  Value index = eval(*e.index);
  if (index.is_tensor() && (object.is_tensor() || (object.is_record() && loop_of_index(index)))) return frame_of(object, index.tensor(), e);
  if (object.is_tensor()) fail(Diag::tensor_index, e.span, {kind_text(object)});
  if (index.is_tensor()) fail(Diag::tensor_as_static, e.index->span, {"an index", to_string(index.tensor()->type)});
  if (object.is_record()) {
    if (!index.is_str()) fail(Diag::index_type, e.index->span, {"a record", "a string", kind_text(index)});
    return member_of(object, Symbol(index.str()), e.index->span);
  }
  std::vector<Value> children;
  const std::vector<Value>* items = object.is_list() ? &object.list() : object.is_tuple() ? &object.tuple().items : nullptr;
  if (object.is<Instance*>() && object.get<Instance*>()->cls->sequential) {
    for (const Member& m : object.get<Instance*>()->members) children.push_back(m.value);
    items = &children;
  }
  if (!items && !object.is_str()) fail(Diag::cannot_index, e.object->span, {kind_text(object)});
  if (!index.is<std::int64_t>()) fail(Diag::index_type, e.index->span, {kind_text(object), "an int", kind_text(index)});
  std::int64_t size = static_cast<std::int64_t>(items ? items->size() : object.str().size());
  std::int64_t i = index.get<std::int64_t>();
  if (i < -size || i >= size) fail(Diag::item_range, e.index->span, {std::to_string(i), std::to_string(size)});
  if (i < 0) i += size;
  if (!items) return std::string(1, object.str()[static_cast<std::size_t>(i)]);
  const Value& item = (*items)[static_cast<std::size_t>(i)];
  if (item.is_poison()) throw EvalError{};
  return item;
}

Value Interpreter::eval_slice(const SliceExpr& e) {
  Value object = eval(*e.object);
  if (object.is_tensor()) fail(Diag::tensor_index, e.span, {kind_text(object)});
  if (!object.is_list() && !object.is_tuple() && !object.is_str()) fail(Diag::cannot_index, e.object->span, {kind_text(object)});
  auto bound = [&](Expr* x) -> std::optional<std::int64_t> {
    if (!x) return std::nullopt;
    Value v = eval(*x);
    if (v.is_none()) return std::nullopt;
    if (!v.is<std::int64_t>()) fail(Diag::index_type, x->span, {"a slice", "an int", kind_text(v)});
    return v.get<std::int64_t>();
  };
  std::optional<std::int64_t> start = bound(e.start), stop = bound(e.stop);
  std::int64_t step = bound(e.step).value_or(1);
  if (step == 0) fail(Diag::slice_step, e.step->span);
  std::int64_t size = static_cast<std::int64_t>(object.is_list() ? object.list().size()
                                                : object.is_tuple() ? object.tuple().items.size() : object.str().size());
  auto clip = [&](std::int64_t i, std::int64_t low, std::int64_t high) {
    if (i < 0) i += size;
    return i < low ? low : i > high ? high : i;
  };
  std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  std::int64_t from = start ? clip(*start, low, high) : (step > 0 ? low : high);
  std::int64_t to = stop ? clip(*stop, low, high) : (step > 0 ? high : low);
  std::vector<Value> items;
  std::string text;
  for (std::int64_t i = from; step > 0 ? i < to : i > to; i += step) {
    std::size_t k = static_cast<std::size_t>(i);
    if (object.is_str()) {
      text += object.str()[k];
    } else {
      items.push_back(object.is_list() ? object.list()[k] : object.tuple().items[k]);
    }
  }
  if (object.is_str()) return text;
  if (object.is_list()) return List(std::move(items));
  return Tuple{std::move(items)};
}

std::vector<Value> Interpreter::iterate(const Value& value, Span span) {
  if (value.is_list()) return value.list();
  if (value.is_tuple()) return value.tuple().items;
  if (value.is<Instance*>() && value.get<Instance*>()->cls->sequential) {
    std::vector<Value> children;
    for (const Member& m : value.get<Instance*>()->members) children.push_back(m.value);
    return children;
  }
  if (value.is_tensor()) fail(Diag::tensor_as_static, span, {"a sequence to go through", to_string(value.tensor()->type)});
  auto builder = report(Diag::cannot_iterate, span, {kind_text(value)});
  if (value.is<std::int64_t>()) builder.help(Diag::help_text, {"write `range(" + to_text(value) + ")` to count"});
  if (value.is_record()) builder.help(Diag::help_text, {"`r.keys` is the list of its names"});
  throw EvalError{};
}

Value Interpreter::eval_comprehension(const ComprehensionExpr& e) {
  std::vector<Value> source = iterate(eval(*e.source), e.source->span);
  List result;
  Scope scope;
  scope.parent = frame().scope;
  Restore<Scope*> inner(frame().scope, &scope);
  // names of a comprehension live in its own scope
  auto bind_local = [&](auto&& self, const Target& target, const Value& value) -> void {
    if (target.items.empty()) {
      if (!target.name || target.name.str() == "_") return;
      if (Value* old = scope.find(target.name)) {
        *old = value;
      } else {
        scope.vars.emplace_back(target.name, value);
      }
      return;
    }
    const std::vector<Value>& items = unpacked(target, value, e.source->span);
    for (std::size_t i = 0; i < items.size(); ++i) self(self, target.items[i], items[i]);
  };
  for (const Value& item : source) {
    count_step(e.span);
    bind_local(bind_local, *e.target, item);
    if (e.condition && !condition(eval(*e.condition), e.condition->span, "the condition of a comprehension")) continue;
    result.push_back(eval(*e.item));
  }
  return result;
}

Value Interpreter::eval_lambda(const LambdaExpr& e) {
  auto f = std::make_shared<Function>();
  f->kind = FunctionKind::lambda;
  f->unit = frame().unit;
  f->lambda = &e;
  f->self = frame().self;
  for (Scope* scope = frame().scope; scope; scope = scope->parent)
    for (auto it = scope->vars.rbegin(); it != scope->vars.rend(); ++it) {
      bool hidden = false;
      for (const auto& [name, value] : f->captured) hidden = hidden || name == it->first;
      if (!hidden) f->captured.push_back(*it);
    }
  return std::shared_ptr<const Function>(std::move(f));
}

bool Interpreter::condition(const Value& value, Span span, const char* what) {
  if (value.is<bool>()) return value.get<bool>();
  if (value.is_tensor()) fail(Diag::tensor_as_static, span, {what, to_string(value.tensor()->type)});
  auto builder = report(Diag::condition_not_bool, span, {what, kind_text(value)});
  if (value.is_none()) builder.help(Diag::help_text, {"there is no truthiness: compare with `none`"});
  if (value.is_list()) builder.help(Diag::help_text, {"there is no truthiness: write `len(x) > 0`"});
  if (value.is<std::int64_t>()) builder.help(Diag::help_text, {"there is no truthiness: write `x != 0`"});
  throw EvalError{};
}

// The condition of a branch that is decided while the network runs.
Tensor Interpreter::condition_tensor(const Value& value, Span span, const char* what) {
  const TensorType& type = value.tensor()->type;
  if (type.dtype != DType::bool_) fail(Diag::condition_not_bool, span, {what, kind_text(value)});
  if (!type.dims.empty()) {
    report(Diag::condition_not_scalar, span, {what, dims_text(type.dims)})
        .help(Diag::help_text, {"`nn.where` chooses element by element; `masked`, in a loop, chooses for each sequence"});
    throw EvalError{};
  }
  if (value.tensor()->traits.undecided()) fail(Diag::mixes_sequences, span, {"if", "which a search has not decided yet"});
  return value.tensor();
}

Value Interpreter::eval_conditional(const ConditionalExpr& e) {
  Value value = eval(*e.condition);
  if (value.is_tensor()) return dynamic_conditional(e, condition_tensor(value, e.condition->span, "`if`"));
  return eval(condition(value, e.condition->span, "`if`") ? *e.then : *e.otherwise);
}

Value Interpreter::eval_logical(const LogicalExpr& e) {
  bool is_and = e.op == LogicalOp::and_;
  const char* word = is_and ? "and" : "or";
  Value result;
  bool have = false;
  for (Expr* operand : e.operands) {
    Value v = eval(*operand);
    if (v.is<bool>()) {
      if (v.get<bool>() != is_and) return v;  // decides; what follows is not evaluated
      continue;                               // folds away
    }
    if (!v.is_tensor() || v.tensor()->type.dtype != DType::bool_) fail(Diag::operand_not_bool, operand->span, {word, kind_text(v)});
    result = have ? apply(is_and ? "logical_and" : "logical_or", {result, v}, e.span, {}) : v;
    have = true;
  }
  return have ? result : Value(is_and);
}

Value Interpreter::eval_compare(const CompareExpr& e) {
  Value left = eval(*e.first);
  Value result;
  bool have = false;
  for (const CompareLink& link : e.rest) {
    Value right = eval(*link.operand);
    Span span = join(e.first->span, link.operand->span);
    Value one = compare(link.op, left, right, span, {});
    if (one.is<bool>() && !one.get<bool>()) return false;
    if (one.is_tensor()) {
      result = have ? apply("logical_and", {result, one}, e.span, {}) : one;
      have = true;
    }
    left = right;
  }
  return have ? result : Value(true);
}

Value Interpreter::eval_binary(const BinaryExpr& e, const std::string& name) {
  Value result = eval(*e.first);
  for (std::size_t i = 0; i < e.rest.size(); ++i) {
    Value right = eval(*e.rest[i].operand);
    bool last = i + 1 == e.rest.size();
    result = binary(e.rest[i].op, result, right, join(e.first->span, e.rest[i].operand->span), last ? name : std::string());
  }
  return result;
}

}  // namespace rcn
