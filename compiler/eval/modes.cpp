// Mode flags: `mode` statements, `--set`, and reading flags.
#include <algorithm>

#include "compiler/base/suggest.h"
#include "compiler/eval/interpreter.h"

namespace rcn {

using namespace ast;

std::string_view to_string(FlagValue value) {
  switch (value) {
    case FlagValue::off: return "false";
    case FlagValue::on: return "true";
    case FlagValue::dynamic: return "dynamic";
  }
  return "";
}

FlagState* Instance::flag(Symbol flag_name) {
  for (FlagState& state : flags)
    if (state.name == flag_name) return &state;
  return nullptr;
}

const FlagLock* Instance::lock(Symbol flag_name) const {
  for (const FlagLock& lock : locks)
    if (lock.flag == flag_name) return &lock;
  return nullptr;
}

namespace {

bool is_below(const std::string& path, const std::string& root) {
  return root.empty() || path == root ||
         (path.size() > root.size() && path.starts_with(root) && path[root.size()] == '/');
}

std::string module_text(const std::string& path) { return path.empty() ? "the network" : "`" + path + "`"; }

// The modes that a model has without declaring them.
struct PredeclaredSetting {
  std::string_view mode, flag;
  FlagValue value;
};
constexpr PredeclaredSetting kPredeclared[] = {{"train", "train", FlagValue::dynamic},
                                               {"eval", "train", FlagValue::off},
                                               {"search", "train", FlagValue::off},
                                               {"search", "search", FlagValue::on}};

}  // namespace

void Interpreter::declare_mode(const ModeStmt& s) {
  for (const ModeStmt* other : modes_)
    if (other->name == s.name) {
      report(Diag::mode_twice, s.name_span, {s.name.str()}).note(Diag::note_first_here, other->name_span);
      throw EvalError{};
    }
  modes_.push_back(&s);
}

// Once all instances have their names: defaults, the mode, `--set`.
void Interpreter::set_all_flags() {
  static const Symbol kTrain("train"), kSearch("search");
  for (Instance* m : modules_) {
    m->flags = {{kTrain, FlagValue::off, {"default", {}}, false, {}},
                {kSearch, FlagValue::off, {"default", {}}, false, {}}};
    for (const Member& member : m->members)
      if (member.kind == MemberKind::flag && member.value.is<bool>())
        m->flags.push_back(
            {member.name, member.value.get<bool>() ? FlagValue::on : FlagValue::off, {"default", {}}, false, {}});
  }
  run_mode();
  apply_set_options();
}

void Interpreter::run_mode() {
  const std::string& name = options_.mode;
  for (const ModeStmt* mode : modes_) {
    if (mode->name.str() != name) continue;
    Frame inner;
    inner.kind = FrameKind::mode;
    inner.unit = network_class_.unit;
    inner.self = network_;
    inner.flags = network_;
    inner.scope = &inner.locals;
    Entered here(*this, inner);
    exec_block(mode->body);
    return;
  }
  bool known = false;
  for (const PredeclaredSetting& s : kPredeclared) {
    if (s.mode != name) continue;
    known = true;
    set_flag(*network_, Symbol(s.flag), {s.value, false}, {"mode " + name, {}}, {}, {});
  }
  if (known) return;
  std::vector<std::string> names = {"train", "eval", "search"};
  for (const ModeStmt* mode : modes_)
    if (std::find(names.begin(), names.end(), mode->name.str()) == names.end()) names.push_back(mode->name.str());
  auto builder = report(Diag::unknown_mode, Span{}, {name});
  if (std::vector<std::string> near = nearest_names(name, names); !near.empty())
    builder.help(Diag::help_did_you_mean, {quoted_list(near)});
  else
    builder.help(Diag::help_text, {"the modes are " + quoted_list(names, "and")});
}

// The settings stand as the lines of a text `--set`, so that messages can show them.
void Interpreter::apply_set_options() {
  if (options_.set.empty()) return;
  std::string text;
  for (const SetOption& s : options_.set) text += s.text + "\n";
  FileId file = in_.sources.add("--set", text);
  std::uint32_t begin = 0;
  for (const SetOption& s : options_.set) {
    auto part = [&](std::size_t from, std::size_t length) {
      auto first = begin + static_cast<std::uint32_t>(from);
      return Span{file, first, first + static_cast<std::uint32_t>(length)};
    };
    std::size_t flag_at = s.path.empty() ? 0 : s.path.size() + 1;
    Span where = part(0, flag_at + s.flag.size());
    auto dotted = [](std::string path) {
      std::replace(path.begin(), path.end(), '/', '.');
      return path;
    };
    Instance* named = nullptr;
    for (Instance* m : modules_)
      if (dotted(m->path) == dotted(s.path)) named = m;
    try {
      if (!named) {
        std::vector<std::string> paths;
        bool slashes = s.path.find('/') != std::string::npos;
        for (const Instance* m : modules_) paths.push_back(slashes ? m->path : dotted(m->path));
        auto builder = report(Diag::set_no_module, part(0, s.path.size()), {s.path});
        if (std::vector<std::string> near = nearest_names(s.path, paths); !near.empty())
          builder.help(Diag::help_did_you_mean, {quoted_list(near)});
        else
          builder.help(Diag::help_text, {"`rcnc flags` lists the modules"});
        throw EvalError{};
      }
      FlagSetting setting{s.value, false};
      if (setting.value == FlagValue::dynamic) setting = to_flag_setting(setting, s.flag, part(s.text.size() - 7, 7));
      set_flag(*named, Symbol(s.flag), setting, {"--set", where}, where, part(flag_at, s.flag.size()));
    } catch (const EvalError&) {  // the other settings have their own errors
    }
    begin += static_cast<std::uint32_t>(s.text.size() + 1);
  }
}

// `m.flag = value`, and for the network `flag = value`.
void Interpreter::exec_flag_setting(const AssignStmt& s) {
  const Target& target = *s.target;
  Instance* named = network_;
  if (target.flag_owner) {
    Value owner = eval(*target.flag_owner);
    if (!owner.is<Instance*>()) {
      auto builder = report(Diag::flag_owner, target.flag_owner->span, {kind_text(owner)});
      if (owner.is_list() || owner.is_tuple())
        builder.help(Diag::help_text, {"go through it: `for m in ... { m." + target.name.str() + " = ... }`"});
      throw EvalError{};
    }
    named = owner.get<Instance*>();
    if (named->flags.empty()) {
      report(Diag::flag_not_in_network, target.flag_owner->span, {named->cls->name.str()})
          .note(Diag::note_made_here, named->made);
      throw EvalError{};
    }
  }
  FlagSetting setting = to_flag_setting(eval(*s.value), target.name.str(), s.value->span);
  auto length = static_cast<std::uint32_t>(target.name.str().size());
  set_flag(*named, target.name, setting, {{}, s.span}, target.span,
           {target.span.file, target.span.end - length, target.span.end});
}

// `flag` may be empty: what `locked(...)` is given.
FlagSetting Interpreter::to_flag_setting(const Value& value, const std::string& flag, Span span) {
  bool may_be_dynamic = flag.empty() || flag == "train";
  if (value.is<bool>()) return {value.get<bool>() ? FlagValue::on : FlagValue::off, false};
  if (value.is<FlagSetting>()) {
    const FlagSetting& setting = value.get<FlagSetting>();
    if (setting.value != FlagValue::dynamic || may_be_dynamic) return setting;
    report(Diag::flag_value, span, {flag, "`true` or `false`", "`dynamic`"})
        .help(Diag::help_text, {"only `train` can be left to RETURNN"});
    throw EvalError{};
  }
  if (flag.empty()) fail(Diag::builtin_argument, span, {"locked", "`true`, `false` or `dynamic`", kind_text(value)});
  fail(Diag::flag_value, span,
       {flag, may_be_dynamic ? "`true`, `false` or `dynamic`" : "`true` or `false`", kind_text(value)});
}

// Sets the flag of the named instance and of all below it that have it, but for those that are locked.
void Interpreter::set_flag(Instance& named, Symbol flag, FlagSetting setting, const FlagSource& source, Span where,
                           Span flag_span) {
  if (const FlagLock* lock = named.lock(flag)) {
    report(Diag::flag_locked, where, {flag.str(), module_text(named.path)})
        .note(Diag::note_locked_here, lock->span, {lock->with == named.path ? "" : ", with " + module_text(lock->with)})
        .help(Diag::help_text, {"a setting that differs stands before the lock"});
    throw EvalError{};
  }
  bool any = false;
  for (Instance* m : modules_) {
    if (!is_below(m->path, named.path)) continue;
    FlagState* state = m->flag(flag);
    any = any || state;
    if (m->lock(flag)) {
      if (state) state->passed_by.push_back(source);
      continue;
    }
    if (state) {
      state->value = setting.value;
      state->source = source;
      state->locked = setting.locked;
    }
    if (setting.locked) m->locks.push_back({flag, source.span, named.path});
  }
  if (any) return;
  std::vector<std::string> names;
  for (Instance* m : modules_)
    if (is_below(m->path, named.path))
      for (const FlagState& state : m->flags)
        if (std::find(names.begin(), names.end(), state.name.str()) == names.end()) names.push_back(state.name.str());
  auto builder = report(Diag::no_flag_below, flag_span, {module_text(named.path), flag.str()});
  if (std::vector<std::string> near = nearest_names(flag.str(), names); !near.empty())
    builder.help(Diag::help_did_you_mean, {quoted_list(near)});
  else
    builder.help(Diag::help_text, {"the flags there are " + quoted_list(names, "and")});
  throw EvalError{};
}

void Interpreter::require_mode(std::string_view what, Span use) {
  if (frame_->kind == FrameKind::mode) return;
  report(Diag::outside_mode, use, {std::string(what)})
      .help(Diag::help_text, {"flags are set in a `mode` of the network"});
  throw EvalError{};
}

// In a function the value, as a tensor where it is dynamic; in a `mode` what is set so far.
Value Interpreter::flag_value(Instance* instance, Symbol name, Span use) {
  bool in_mode = frame_->kind == FrameKind::mode;
  if (!in_mode && (frame_->kind != FrameKind::function || !main_running_)) fail(Diag::flag_in_body, use, {name.str()});
  const FlagState* state = instance->flag(name);
  if (!state) {
    report(Diag::flag_not_in_network, use, {instance->cls->name.str()}).note(Diag::note_made_here, instance->made);
    throw EvalError{};
  }
  if (state->value != FlagValue::dynamic) return state->value == FlagValue::on;
  if (in_mode) return FlagSetting{FlagValue::dynamic, false};
  Restore<Instance*> owner(frame_->flags, instance);
  return apply("train_flag", {}, use, {});
}

}  // namespace rcn
