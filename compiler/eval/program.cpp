// The files of a program: declarations, imports, options; and the run itself.
#include <algorithm>
#include <cctype>

#include "compiler/base/suggest.h"
#include "compiler/eval/interpreter.h"
#include "compiler/syntax/parse.h"

namespace rcn {

using namespace ast;

EvalResult evaluate(const EvalInput& input, const EvalOptions& options, Backend& backend) {
  return Interpreter(input, options, backend).run();
}

Interpreter::Interpreter(const EvalInput& input, const EvalOptions& options, Backend& backend)
    : in_(input), options_(options), backend_(backend), diag_(input.context.diagnostics), errors_before_(diag_.error_count()) {
  if (options.mode == "train") in_.context.train = None{};
  sequential_ = std::make_unique<ModuleClass>();
  sequential_->name = Symbol("Sequential");
  sequential_->sequential = true;
}

EvalResult Interpreter::run() {
  diag_.decorate = [this](Diagnostic& d) { add_call_trace(d); };
  make_units();
  Unit& main = *units_[0];
  if (options_.mode != "train" && options_.mode != "eval" && options_.mode != "search")
    report(Diag::unknown_mode, Span{}, {options_.mode}).help(Diag::help_text, {"the modes are `train`, `eval` and `search`"});
  try {
    evaluate_file(main);
    check_defines(main);
    if (main.network) {
      evaluate_network(main);
    } else {
      report(Diag::no_network, Span{}, {main.name});
    }
  } catch (const StopEvaluation&) {
  }
  diag_.decorate = nullptr;
  EvalResult result;
  for (ParamState* p : used_params_) result.parameters.push_back(p->info);
  result.ok = diag_.error_count() == errors_before_;
  return result;
}

// Every -D names an option of the model.
void Interpreter::check_defines(Unit& main) {
  std::vector<std::string> names;
  for (Stmt* s : main.ast.body)
    if (s->kind == StmtKind::option) names.push_back(as<OptionStmt>(*s).name.str());
  for (const auto& [name, text] : options_.defines) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    auto builder = report(Diag::unknown_define, Span{}, {name});
    std::vector<std::string> near = nearest_names(name, names);
    if (!near.empty()) {
      builder.help(Diag::help_did_you_mean, {quoted_list(near)});
    } else if (!names.empty()) {
      builder.help(Diag::help_text, {"the options of this model are " + quoted_list(names, "and")});
    }
  }
}

// The body makes the modules; then everything has its name, and `main` computes.
void Interpreter::evaluate_network(Unit& main) {
  network_class_.name = Symbol("network");
  network_class_.unit = &main;
  network_class_.network = main.network;
  for (Stmt* s : main.network->body)
    if (s->kind == StmtKind::fn) network_class_.functions.emplace(as<FnStmt>(*s).name, &as<FnStmt>(*s));
  Instance& network = instances_.emplace_back();
  network.cls = &network_class_;
  network.network = true;
  network.made = main.network->span;
  network_ = &network;
  Frame body;
  body.kind = FrameKind::module_body;
  body.unit = &main;
  body.self = &network;
  body.scope = &body.locals;
  {
    Restore<Frame*> here(frame_, &body);
    exec_block(main.network->body);
    apply_directives(network);
  }
  network.body_done = true;
  name_network();
  auto it = network_class_.functions.find(Symbol("main"));
  if (it == network_class_.functions.end()) {
    report(Diag::no_main, main.network->span);
    return;
  }
  Frame outside;
  outside.kind = FrameKind::file;
  outside.unit = &main;
  outside.flags = &network;
  outside.scope = &outside.locals;
  Restore<Frame*> here(frame_, &outside);
  main_running_ = true;
  CallArgs none;
  none.span = it->second->name_span;
  try {
    if (in_.declare_inputs && !in_.declare_inputs(externs_)) return;
    for (const ExternInput& input : externs_) inputs_[Symbol(input.name)] = backend_.input(input);
    Value f = function_value(*it->second, main, &network);
    call_declared(f.function(), none);
  } catch (const EvalError&) {
    return;
  }
  if (diag_.error_count() == errors_before_ && marks_.empty()) report(Diag::nothing_marked, it->second->name_span);
}

void Interpreter::make_units() {
  for (std::size_t i = 0; i < in_.files.size(); ++i) {
    const UserFile& file = in_.files[i];
    auto unit = std::make_unique<Unit>();
    unit->name = file.name;
    unit->main = i == 0;
    unit->file = file.file;
    unit->ast = file.ast;
    unit->space = {file.name, unit.get(), "", false};
    for (Stmt* s : file.ast.body) {
      if (s->kind == StmtKind::fn) {
        unit->functions[as<FnStmt>(*s).name] = s;
        unit->declared[as<FnStmt>(*s).name] = as<FnStmt>(*s).name_span;
      } else if (s->kind == StmtKind::module) {
        unit->functions[as<ModuleStmt>(*s).name] = s;
        unit->declared[as<ModuleStmt>(*s).name] = as<ModuleStmt>(*s).name_span;
      } else if (s->kind == StmtKind::network) {
        unit->network = &as<NetworkStmt>(*s);
      } else if (s->kind == StmtKind::extern_) {
        unit->externs[as<ExternStmt>(*s).name] = &as<ExternStmt>(*s);
        unit->declared[as<ExternStmt>(*s).name] = as<ExternStmt>(*s).name_span;
      }
    }
    units_.push_back(std::move(unit));
  }
  for (std::size_t i = 0; i < in_.files.size(); ++i)
    for (const auto& [source, target] : in_.files[i].imports)
      units_[i]->paths[source] = target >= 0 ? units_[static_cast<std::size_t>(target)].get() : stdlib_module(source);
}

// A module of the standard library; null if there is none.
Unit* Interpreter::stdlib_module(const std::string& name) {
  auto it = stdlib_.find(name);
  if (it != stdlib_.end()) return it->second.get();
  auto unit = std::make_unique<Unit>();
  unit->name = name;
  unit->stdlib = true;
  bool any = false;
  for (const ImageFile& image : in_.stdlib) {
    if (image.module != name) continue;
    any = true;
    for (const ImageEntry& entry : image.entries)
      if (!entry.name.empty()) unit->pending.emplace(Symbol(entry.name), Unit::Pending{&image, &entry});
  }
  bool ops = name == "nn" || name == "nn.init";
  if (!any && !ops) return nullptr;
  unit->space = {name, unit.get(), name == "nn" ? "" : name == "nn.init" ? "init." : "", ops};
  Unit* result = unit.get();
  stdlib_.emplace(name, std::move(unit));
  return result;
}

void Interpreter::evaluate_file(Unit& unit) {
  if (unit.stdlib || unit.values.contains(Symbol(" evaluated"))) return;
  unit.values.emplace(Symbol(" evaluated"), Value(true));
  Frame inner;
  inner.kind = FrameKind::file;
  inner.unit = &unit;
  inner.scope = &inner.locals;
  Restore<Frame*> here(frame_, &inner);
  exec_block(unit.ast.body);
}

namespace {

// The name that `import "blocks/common.rcn"` or `import nn.init` binds.
std::string default_alias(const Source& source) {
  std::string text(source.text);
  std::size_t begin = text.find_last_of(source.is_path ? '/' : '.');
  text = begin == std::string::npos ? text : text.substr(begin + 1);
  if (source.is_path && text.ends_with(".rcn")) text.resize(text.size() - 4);
  return text;
}

}  // namespace

void Interpreter::exec_import(const ImportStmt& s) {
  auto it = frame_->unit->paths.find(std::string(s.source.text));
  if (it == frame_->unit->paths.end() || !it->second) fail(Diag::import_not_found, s.source.span, {std::string(s.source.text)});
  evaluate_file(*it->second);
  assign(s.alias ? s.alias : Symbol(default_alias(s.source)), Value(&it->second->space), s.span);
}

void Interpreter::exec_from_import(const FromImportStmt& s) {
  auto it = frame_->unit->paths.find(std::string(s.source.text));
  if (it == frame_->unit->paths.end() || !it->second) fail(Diag::import_not_found, s.source.span, {std::string(s.source.text)});
  Unit& source = *it->second;
  evaluate_file(source);
  for (const ImportedName& name : s.names) {
    const Value* value = namespace_member(source.space, name.name, name.span);
    if (!value) {
      fail_unknown(Diag::not_in_file, name.span, {source.space.name, name.name.str()}, name.name.str(), namespace_names(source.space));
    }
    assign(name.alias, *value, name.span);
  }
}

std::vector<std::string> Interpreter::namespace_names(const Namespace& space) {
  std::vector<std::string> names;
  for (const auto& [name, value] : space.unit->values) names.push_back(name.str());
  for (const auto& [name, decl] : space.unit->functions) names.push_back(name.str());
  for (const auto& [name, pending] : space.unit->pending) names.push_back(name.str());
  if (space.has_ops)
    for (std::string_view op : in_.ops.names())
      if (op.substr(0, space.op_prefix.size()) == space.op_prefix) names.emplace_back(op.substr(space.op_prefix.size()));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

const Value* Interpreter::namespace_member(const Namespace& space, Symbol name, Span use) {
  Unit& unit = *space.unit;
  const std::string& n = name.str();
  if (!n.empty() && n[0] == '_') {
    fail(Diag::private_name, use, {n, space.name});
  }
  auto found = unit.values.find(name);
  if (found != unit.values.end()) {
    // imported names are not exported again
    if (!unit.stdlib && found->second.is<const Namespace*>()) return nullptr;
    return &found->second;
  }
  if (const Value* value = unit_value(unit, name, use)) return value;
  if (!space.has_ops) return nullptr;
  auto keep = [&](Value value) { return &unit.values.emplace(name, std::move(value)).first->second; };
  if (space.op_prefix.empty()) {
    if (n == "single_step_dim") return keep(in_.context.dims.single_step());
    if (n == "init") return keep(Value(static_cast<const Namespace*>(&stdlib_module("nn.init")->space)));
    if (n == "Sequential") return keep(Value(static_cast<const ModuleClass*>(sequential_.get())));
    static constexpr std::pair<std::string_view, Builtin> kOwn[] = {
        {"make_layer", Builtin::make_layer}, {"network_entry", Builtin::network_entry},
        {"choice", Builtin::control_flow},   {"decide", Builtin::control_flow},
        {"assign", Builtin::control_flow},   {"empty_history", Builtin::control_flow},
        {"cum_concat", Builtin::control_flow}};
    for (const auto& [own, builtin] : kOwn)
      if (own == n) {
        auto f = std::make_shared<Function>();
        f->kind = FunctionKind::named_builtin;
        f->builtin = builtin;
        f->builtin_name = "nn." + n;
        return keep(Value(std::shared_ptr<const Function>(std::move(f))));
      }
  }
  if (const OpInfo* op = in_.ops.find(space.op_prefix + n)) {
    auto f = std::make_shared<Function>();
    f->kind = FunctionKind::op;
    f->op = op;
    return keep(Value(std::shared_ptr<const Function>(std::move(f))));
  }
  return nullptr;
}

// A declaration of a file: evaluated constants and dims, functions, modules, externs; null if there is none.
const Value* Interpreter::unit_value(Unit& unit, Symbol name, Span use) {
  auto found = unit.values.find(name);
  if (found != unit.values.end()) return &found->second;
  auto keep = [&](Value value) { return &unit.values.insert_or_assign(name, std::move(value)).first->second; };
  auto declared = unit.functions.find(name);
  if (declared != unit.functions.end()) {
    const Stmt& s = *declared->second;
    if (s.kind == StmtKind::fn) return keep(function_value(static_cast<const FnStmt&>(s), unit, nullptr));
    return keep(class_of(static_cast<const ModuleStmt&>(s), unit));
  }
  if (auto ext = unit.externs.find(name); ext != unit.externs.end()) {
    const ExternStmt& s = *ext->second;
    bool allowed = main_running_ && frame_->self && frame_->self->network && frame_->kind == FrameKind::function;
    if (!allowed) {
      report(Diag::extern_outside, use, {name.str()})
          .note(Diag::note_declared_here, s.name_span, {name.str()})
          .help(Diag::help_text, {"hand it over as an argument"});
      throw EvalError{};
    }
    auto input = inputs_.find(name);
    static thread_local Value storage;
    if (input == inputs_.end()) fail(Diag::no_value_here, use, {name.str()});
    storage = input->second;
    return &storage;
  }
  if (unit.stdlib) {
    static const Symbol kNn("nn");
    auto pending = unit.pending.find(name);
    if (pending != unit.pending.end()) {
      auto [image, entry] = pending->second;
      unit.pending.erase(pending);
      FileId file = 0;
      auto known = unit.declared.find(Symbol(image->name));
      if (known != unit.declared.end()) {
        file = known->second.file;
      } else {
        file = in_.sources.add_view(std::string(image->name), image->text);
        unit.declared.emplace(Symbol(image->name), Span{file, 0, 0});
      }
      Stmt* s = decode_statement(*image, entry->offset, file, in_.arena);
      if (s->kind == StmtKind::fn || s->kind == StmtKind::module) {
        unit.functions[name] = s;
        return unit_value(unit, name, use);
      }
      Frame inner;
      inner.kind = FrameKind::file;
      inner.unit = &unit;
      inner.scope = &inner.locals;
      Restore<Frame*> here(frame_, &inner);
      exec(*s);
      return unit_value(unit, name, use);
    }
    if (name == kNn) return keep(Value(static_cast<const Namespace*>(&stdlib_module("nn")->space)));
  }
  return nullptr;
}

const ModuleClass* Interpreter::class_of(const ModuleStmt& decl, Unit& unit) {
  std::unique_ptr<ModuleClass>& cls = classes_[&decl];
  if (!cls) {
    cls = std::make_unique<ModuleClass>();
    cls->name = decl.name;
    cls->unit = &unit;
    cls->decl = &decl;
    for (Stmt* s : decl.body)
      if (s->kind == StmtKind::fn) cls->functions.emplace(as<FnStmt>(*s).name, &as<FnStmt>(*s));
  }
  return cls.get();
}

Value Interpreter::function_value(const FnStmt& decl, Unit& unit, Instance* self) {
  auto f = std::make_shared<Function>();
  f->kind = FunctionKind::declared;
  f->unit = &unit;
  f->decl = &decl;
  f->self = self;
  return std::shared_ptr<const Function>(std::move(f));
}

Value Interpreter::declared_dim(const DimStmt& s) {
  DimKind kind = s.dim_kind.str() == "feature" ? DimKind::feature : DimKind::spatial;
  if (s.dim_kind.str() != "feature" && s.dim_kind.str() != "spatial") fail(Diag::dim_kind, s.kind_span, {s.dim_kind.str()});
  std::optional<std::int64_t> size;
  if (s.size) {
    Value value = eval(*s.size);
    if (value.is_tensor()) fail(Diag::tensor_as_static, s.size->span, {"the size of a dim", to_string(value.tensor()->type)});
    if (!value.is<std::int64_t>()) fail(Diag::dim_size, s.size->span, {kind_text(value)});
    size = value.get<std::int64_t>();
    if (*size < 0) fail(Diag::negative_dim, s.size->span, {s.name.str(), std::to_string(*size)});
  }
  return in_.context.dims.declare(s.name.str(), kind, size, s.name_span);
}

void Interpreter::exec_option(const OptionStmt& s) {
  const std::string* text = nullptr;
  if (frame_->unit->main)
    for (const auto& [name, value] : options_.defines)
      if (name == s.name.str()) text = &value;
  Value value = text ? option_from_define(s, *text) : eval(*s.value);
  value = check_type(value, *s.type, text ? s.name_span : s.value->span, "option `" + s.name.str() + "`");
  assign(s.name, value, s.name_span);
}

// An extern gives its dynamic dims their lengths, one for each entry of the batch where it has one.
void Interpreter::exec_extern(const ExternStmt& s) {
  if (!frame_->unit->main) return;
  ExternInput input;
  input.name = s.name.str();
  input.key = input.name;
  input.type = tensor_type(*s.type);
  input.span = s.name_span;
  for (const Arg& option : s.options) {
    Value value = eval(*option.value);
    const std::string& name = option.name.str();
    auto wrong = [&](const char* expected) { fail(Diag::extern_option, option.value->span, {name, expected, kind_text(value)}); };
    if (name == "key") {
      if (!value.is_str()) wrong("a string");
      input.key = value.str();
    } else if (name == "available_for_inference") {
      if (!value.is<bool>()) wrong("a bool");
      input.available_for_inference = value.get<bool>();
    } else if (name == "range") {
      bool pair = value.is_list() && value.list().size() == 2 && value.list()[0].is<std::int64_t>() && value.list()[1].is<std::int64_t>();
      if (!pair || !is_int(input.type.dtype)) wrong("a list of two ints, for a tensor of ints");
      input.range = {value.list()[0].get<std::int64_t>(), value.list()[1].get<std::int64_t>()};
    } else {
      fail_unknown(Diag::unknown_option, option.name_span, {"extern", name}, name, {"key", "available_for_inference", "range"});
    }
  }
  bool legal_key = !input.key.empty();
  for (char c : input.key) legal_key = legal_key && (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-');
  if (!legal_key) fail(Diag::extern_key, s.name_span, {input.key});
  for (const ExternInput& other : externs_)
    if (other.key == input.key) {
      report(Diag::extern_key_twice, s.name_span, {other.name, input.name, input.key}).note(Diag::note_first_here, other.span);
      throw EvalError{};
    }
  std::vector<Dim> length_dims;
  if (input.type.has(in_.context.dims.batch())) length_dims.push_back(in_.context.dims.batch());
  for (Dim d : input.type.dims) {
    if (d == in_.context.dims.batch() || d->size || in_.context.lengths.defined(d)) continue;
    if (d->form == DimForm::atom) in_.context.lengths.define(d, length_dims);
    // a derived dim whose parts no input has: nothing says how long those are
    else fail(Diag::extern_derived_dim, s.type->span, {s.name.str(), to_string(d)});
  }
  externs_.push_back(std::move(input));
}

namespace {

// What may stand behind `-D name=`: no names, no calls.
bool is_literal(const Expr& e) {
  auto all = [](std::span<Expr*> items) { return std::all_of(items.begin(), items.end(), [](Expr* item) { return is_literal(*item); }); };
  switch (e.kind) {
    case ExprKind::int_literal:
    case ExprKind::float_literal:
    case ExprKind::string_literal:
    case ExprKind::bool_literal:
    case ExprKind::none_literal: return true;
    case ExprKind::negate: return is_literal(*static_cast<const NegateExpr&>(e).operand);
    case ExprKind::list: return all(static_cast<const ListExpr&>(e).items);
    case ExprKind::tuple: return all(static_cast<const TupleExpr&>(e).items);
    case ExprKind::record: {
      const auto& fields = static_cast<const RecordExpr&>(e).fields;
      return std::all_of(fields.begin(), fields.end(), [](const RecordField& f) { return is_literal(*f.value); });
    }
    default: return false;
  }
}

}  // namespace

// `-D name=value`: a string as it stands, anything else as the language writes it.
Value Interpreter::option_from_define(const OptionStmt& s, const std::string& text) {
  const TypeExpr& type = *s.type;
  std::string type_name = type.path.size() == 1 ? type.path[0].str() : "";
  if (type_name == "str" && !(type.optional && text == "none")) {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return text.substr(1, text.size() - 2);
    return text;
  }
  FileId file = in_.sources.add("-D " + s.name.str(), "value = " + text + "\n");
  DiagnosticSink own;
  ast::File parsed = parse(in_.sources, file, in_.arena, own, options_.limits);
  if (own.has_errors() || parsed.body.size() != 1 || parsed.body[0]->kind != StmtKind::assign ||
      !is_literal(*as<AssignStmt>(*parsed.body[0]).value))
    fail(Diag::define_syntax, s.name_span, {s.name.str(), text, type_text(type)});
  Frame inner;
  inner.kind = FrameKind::file;
  inner.unit = frame_->unit;
  inner.scope = &inner.locals;
  Restore<Frame*> here(frame_, &inner);
  return eval(*as<AssignStmt>(*parsed.body[0]).value);
}

// ---- reporting

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
  if (d.kind == Diag::call_cycle) return;  // shows the calls itself
  std::vector<Span> shown = {d.span};
  for (std::size_t i = depth; i > 1 && shown.size() < 5; --i) {
    Span span = call_stack_[i - 1].span;
    if (!span.valid() || in_stdlib(span) || std::find(shown.begin(), shown.end(), span) != shown.end()) continue;
    d.notes.push_back({Diag::note_called_from, span, {}});
    shown.push_back(span);
  }
}

void Interpreter::count_step(Span span) {
  if (++steps_ <= options_.limits.steps) return;
  report(Diag::limit_steps, span, {std::to_string(options_.limits.steps)});
  throw StopEvaluation{};
}

}  // namespace rcn
