// The files of a program: declarations and imports; and the run itself.
#include <algorithm>

#include "compiler/base/suggest.h"
#include "compiler/eval/interpreter.h"

namespace rcn {

using namespace ast;

EvalResult evaluate(const EvalInput& input, const EvalOptions& options, Backend& backend) {
  return Interpreter(input, options, backend).run();
}

Interpreter::Interpreter(const EvalInput& input, const EvalOptions& options, Backend& backend)
    : in_(input), options_(options), real_(backend), backend_(&backend), diag_(input.context.diagnostics), errors_before_(diag_.error_count()) {
  sequential_ = std::make_unique<ModuleClass>();
  sequential_->name = Symbol("Sequential");
  sequential_->sequential = true;
}

EvalResult Interpreter::run() {
  diag_.decorate = [this](Diagnostic& d) { add_call_trace(d); };
  make_units();
  Unit& main = *units_[0];
  try {
    begin_debugging();
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
  for (ParamState* p : used_params_) {
    result.parameters.push_back(p->info);
    result.parameters.back().span = p->place;
  }
  if (options_.flags_only)
    for (const Instance* m : modules_) result.flags.push_back({m->path, m->cls->name.str(), m->flags});
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
    Entered here(*this, body);
    exec_block(main.network->body);
    apply_directives(network);
  }
  name_network();
  std::size_t errors = diag_.error_count();
  set_all_flags();
  if (options_.flags_only || diag_.error_count() != errors) return;
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
  Entered here(*this, outside);
  main_running_ = true;
  CallArgs none;
  none.span = it->second->name_span;
  try {
    if (in_.declare_inputs && !in_.declare_inputs(externs_)) return;
    find_training_dims();
    for (const ExternInput& input : externs_) {
      Tensor tensor = backend_->input(input);
      if (!input.available_for_inference)
        tensor->traits.training_only = std::make_shared<const Origin>(Origin{input.name, input.span, nullptr});
      inputs_[Symbol(input.name)] = std::move(tensor);
    }
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
  Entered here(*this, inner);
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
        {"assign", Builtin::assign}};
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
      Entered here(*this, inner);
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

}  // namespace rcn
