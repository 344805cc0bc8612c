// Making module instances and their parameters.
#include "compiler/base/suggest.h"
#include "compiler/dims/dim_list.h"
#include "compiler/eval/interpreter.h"

namespace rcn {

using namespace ast;

const Member* Instance::find(Symbol name) const {
  auto it = index.find(name);
  return it == index.end() ? nullptr : &members[it->second];
}

void Instance::set(Member member) {
  auto [it, fresh] = index.try_emplace(member.name, members.size());
  if (fresh) {
    members.push_back(std::move(member));
  } else {
    members[it->second] = std::move(member);  // keeps the place of its first assignment
  }
}

std::string Function::display_name() const {
  if (decl) return self && !self->network && decl->name.str() != "call" ? self->cls->name.str() + "." + decl->name.str() : decl->name.str();
  if (op) return std::string(op->name);
  if (!builtin_name.empty()) return builtin_name;
  return "fn(...)";
}

Value Interpreter::instantiate(const ModuleClass& cls, CallArgs& args) {
  if (main_running_) {
    report(Diag::instance_in_function, args.span, {cls.name.str()})
        .help(Diag::help_text, {"make it in the body of a module or of the network, and keep it in a member"});
    throw EvalError{};
  }
  if (cls.sequential) return make_sequential(args);
  if (frame_->kind == FrameKind::file) {
    report(Diag::instance_in_file, args.span, {cls.name.str()});
    throw EvalError{};
  }
  check_call_depth(args.span);
  Instance& instance = instances_.emplace_back();
  instance.cls = &cls;
  instance.made = args.span;
  Frame inner;
  inner.kind = FrameKind::module_body;
  inner.unit = cls.unit;
  inner.self = &instance;
  inner.scope = &inner.locals;
  bind_params(cls.params(), args, cls.name.str(), cls.decl->name_span, inner);
  call_stack_.push_back({args.span, cls.name.str(), true});
  {
    Entered here(*this, inner);
    exec_block(cls.body());
    try {
      apply_directives(instance);
    } catch (const EvalError&) {
    }
  }
  call_stack_.pop_back();
  return &instance;
}

Instance* Interpreter::make_sequential(CallArgs& args) {
  Instance& instance = instances_.emplace_back();
  instance.cls = sequential_.get();
  instance.made = args.span;
  for (const CallArgs::Keyword& k : args.keywords) fail(Diag::unknown_keyword, k.name_span, {"Sequential", k.name.str()});
  if (args.positional.size() != 1 || !(args.positional[0].is_list() || args.positional[0].is_record() || args.positional[0].is_tuple()))
    fail(Diag::sequential_argument, args.span, {args.positional.size() == 1 ? kind_text(args.positional[0]) : std::to_string(args.positional.size()) + " arguments"});
  auto add = [&](Symbol name, const Value& child) {
    if (child.is_poison()) throw EvalError{};
    if (!child.is<Instance*>() && !child.is_function())
      fail(Diag::sequential_argument, args.spans[0], {"a list with " + kind_text(child)});
    Member member;
    member.name = name;
    member.kind = MemberKind::assigned;
    member.value = child;
    member.span = args.spans[0];
    instance.set(std::move(member));
  };
  const Value& children = args.positional[0];
  if (children.is_record()) {
    for (const auto& [name, child] : children.record().fields) add(name, child);
  } else {
    std::size_t i = 0;
    for (const Value& child : children.is_list() ? children.list() : children.tuple().items) add(Symbol(std::to_string(i++)), child);
  }
  return &instance;
}

// `copy(m)`: the same class and arguments, instances among them copied too, with parameters of its own.
Value Interpreter::copy_value(const Value& value, Span span) {
  if (value.is_list()) {
    List result;
    for (const Value& item : value.list()) result.push_back(copy_value(item, span));
    return result;
  }
  if (value.is_tuple()) {
    Tuple result;
    for (const Value& item : value.tuple().items) result.items.push_back(copy_value(item, span));
    return result;
  }
  if (value.is_record()) {
    Record result;
    for (const auto& [name, item] : value.record().fields) result.fields.emplace_back(name, copy_value(item, span));
    return result;
  }
  if (!value.is<Instance*>()) return value;
  const Instance& source = *value.get<Instance*>();
  CallArgs args;
  args.span = span;
  if (source.cls->sequential) {
    Record children;
    for (const Member& m : source.members) children.fields.emplace_back(m.name, copy_value(m.value, span));
    args.positional = {std::move(children)};
    args.spans = {span};
  } else {
    for (const Member& m : source.members)
      if (m.kind == MemberKind::argument) args.keywords.push_back({m.name, span, copy_value(m.value, span), span});
    for (std::size_t i = 0; i < source.cls->params().size(); ++i) {
      if (source.cls->params()[i].keyword_only) break;
      for (std::size_t k = 0; k < args.keywords.size(); ++k) {
        if (args.keywords[k].name != source.cls->params()[i].name) continue;
        args.positional.push_back(args.keywords[k].value);
        args.spans.push_back(span);
        args.keywords.erase(args.keywords.begin() + static_cast<std::ptrdiff_t>(k));
        break;
      }
    }
  }
  return instantiate(*source.cls, args);
}

void Interpreter::declare_param(const ParamStmt& s) {
  Instance& self = *frame_->self;
  ParamState& param = params_.emplace_back();
  param.owner = &self;
  param.info.span = s.name_span;
  param.info.type = tensor_type(*s.type);
  for (Dim d : param.info.type.dims)
    if (!d->size) fail(Diag::param_dynamic_dim, s.type->span, {s.name.str(), to_string(d)});
  param.info.trainable = is_float(param.info.type.dtype);
  Member member;
  member.name = s.name;
  member.kind = MemberKind::parameter;
  member.param = &param;
  member.span = s.name_span;
  static const Symbol kInitial("initial");
  set_param_option(param, kInitial, eval(*s.initial), s.initial->span);
  for (const Arg& option : s.options) set_param_option(param, option.name, eval(*option.value), option.value->span);
  self.set(std::move(member));
}

namespace {

// Nested lists of numbers must have the parameter's shape.
bool fits_shape(const Value& value, const std::vector<Dim>& dims, std::size_t depth) {
  if (depth == dims.size()) return value.is_number() || value.is<bool>();
  if (!value.is_list() || static_cast<std::int64_t>(value.list().size()) != *dims[depth]->size) return false;
  for (const Value& item : value.list())
    if (!fits_shape(item, dims, depth + 1)) return false;
  return true;
}

}  // namespace

void Interpreter::set_param_option(ParamState& param, Symbol option, const Value& value, Span span) {
  const std::string& name = option.str();
  auto wrong = [&](const char* expected) { fail(Diag::option_type, span, {name, expected, kind_text(value)}); };
  if (name == "trainable") {
    if (!value.is<bool>()) wrong("a bool");
    param.info.trainable = value.get<bool>();
    if (param.info.trainable && !is_float(param.info.type.dtype)) fail(Diag::trainable_int, span, {std::string(to_string(param.info.type.dtype))});
  } else if (name == "auxiliary") {
    if (!value.is<bool>()) wrong("a bool");
    param.info.auxiliary = value.get<bool>();
    if (param.info.auxiliary) param.info.trainable = false;
  } else if (name == "weight_decay") {
    if (!value.is_number()) wrong("a number");
    double decay = value.as_double();
    if (!(decay >= 0)) fail(Diag::option_range, span, {name, "not negative", to_text(value)});
    param.info.weight_decay = decay == 0 ? std::nullopt : std::optional(decay);
  } else if (name == "updater_opts") {
    if (!value.is_record() && !value.is_none()) wrong("a record");
    param.info.updater_opts = value;
  } else if (name == "transform") {
    if (!value.is_function() && !value.is<Instance*>()) wrong("a function");
    param.transforms.push_back({value, span});
  } else if (name == "initial") {
    bool initializer = value.is<std::shared_ptr<const Initializer>>();
    if (initializer && !is_float(param.info.type.dtype)) fail(Diag::initial_dtype, span, {to_string(param.info.type)});
    if (value.is_list() && !fits_shape(value, param.info.type.dims, 0)) fail(Diag::initial_shape, span, {to_string(param.info.type)});
    if (!initializer && !value.is_list() && !value.is_number() && !value.is<bool>()) wrong("a number, nested lists of numbers, or `nn.init...`");
    param.info.initial = value;
  } else {
    fail_unknown(Diag::unknown_option, span, {"param", name}, name,
                 {"trainable", "weight_decay", "auxiliary", "initial", "updater_opts", "transform"});
  }
}

void Interpreter::declare_flag(const FlagStmt& s) {
  if (s.name.str() == "train" || s.name.str() == "search") {
    report(Diag::flag_predeclared, s.name_span, {s.name.str()}).help(Diag::help_text, {"a `mode` of the network sets it"});
    throw EvalError{};
  }
  Value value = eval(*s.value);
  if (!value.is<bool>()) fail(Diag::flag_not_bool, s.value->span, {s.name.str(), kind_text(value)});
  Member member;
  member.name = s.name;
  member.kind = MemberKind::flag;
  member.value = value;
  member.span = s.name_span;
  frame_->self->set(std::move(member));
}

Value Interpreter::parameter_value(ParamState& param, Span use) {
  if (!main_running_) fail(Diag::param_in_body, use);
  if (param.shown) return param.shown;
  if (!param.owner->named) {
    report(Diag::no_owner, use, {param.owner->cls->name.str()}).note(Diag::note_made_here, param.owner->made);
    throw EvalError{};
  }
  if (!param.raw) {
    used_params_.push_back(&param);
    Parameter info = param.info;
    if (in_stdlib(info.span)) info.span = in_stdlib(param.owner->made) ? user_place(use) : param.owner->made;
    param.place = info.span;
    // Whoever asks first: a parameter is made once, and stands outside of all loops and branches.
    real_.outside([&] { param.raw = real_.parameter(info); });
  }
  if (param.transforms.empty()) {
    param.shown = param.raw;
    return param.raw;
  }
  Value shown = param.raw;
  Frame inner;  // a transform sees the flags of the parameter's owner
  inner.kind = FrameKind::function;
  inner.unit = param.owner->cls->unit ? param.owner->cls->unit : frame_->unit;
  inner.self = param.owner;
  inner.flags = param.owner;
  inner.scope = &inner.locals;
  auto transform_all = [&] {
    Entered here(*this, inner);
    for (const auto& [transform, span] : param.transforms) {
      CallArgs args;
      args.positional = {shown};
      args.spans = {span};
      args.span = span;
      shown = call(transform, args, span);
      auto wrong = [&, at = span](Diag kind, std::vector<std::string> texts) {
        report(kind, at, std::move(texts)).note(Diag::note_declared_here, param.info.span, {param.info.path});
        throw EvalError{};
      };
      if (!shown.is_tensor()) wrong(Diag::transform_result, {kind_text(shown)});
      const TensorType& type = shown.tensor()->type;
      if (!same_dims(type.dims, param.info.type.dims) || type.dtype != param.info.type.dtype)
        wrong(Diag::transform_type, {to_string(param.info.type), to_string(type)});
    }
  };
  {
    Restore<Backend*> real(backend_, &real_);
    Restore<std::vector<LoopRun*>> no_loops(loops_, {});
    Restore<std::vector<RegionKind>> no_regions(regions_, {});
    Restore<int> no_masks(masked_, 0);
    Restore<bool> keep(in_.context.lengths.keep, true);
    DimTable::Outside outside(in_.context.dims);
    real_.outside(transform_all);
  }
  param.shown = shown.tensor();
  return shown;
}

}  // namespace rcn
