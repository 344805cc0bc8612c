#include "compiler/sema/resolve.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "compiler/base/suggest.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/calls.h"
#include "compiler/sema/loop_results.h"
#include "compiler/sema/modules.h"
#include "compiler/sema/scopes.h"
#include "compiler/syntax/walk.h"

namespace rcn {

using namespace ast;

namespace {

class Resolver {
 public:
  Resolver(const FileNames& file, const std::vector<FileNames>& files, const StdlibNames& stdlib,
           DiagnosticSink& diagnostics)
      : file_(file),
        scopes_(file),
        lookup_(files, stdlib),
        diagnostics_(diagnostics),
        private_names_(file.private_names) {}

  void run() {
    for (const auto& [name, d] : file_.declared.items())
      if (d.kind == NameKind::imported) imported_name(name, d);
    block(file_.file->ast.body);
    for (const MemberExpr* m : private_uses_)
      if (!private_names_.contains(m->name))
        diagnostics_.report(Diag::private_member, m->name_span, {m->name.str()})
            .help(Diag::help_text, {"names that begin with `_` belong to their file"});
    for (const auto& [name, d] : file_.declared.items())
      if ((d.kind == NameKind::import || d.kind == NameKind::imported) && d.import->found() && !used_.contains(name) &&
          !file_.open && all_resolved_)
        diagnostics_.report(Diag::unused_import, d.span, {name.str()});
  }

 private:
  // ---- statements

  void block(Block body) {
    for (Stmt* s : body) statement(*s);
  }
  void maybe(Expr* e) {
    if (e != nullptr) expr(*e);
  }
  void options(std::span<Arg> args) {
    for (Arg& a : args) expr(*a.value);
  }

  void statement(Stmt& s) {
    switch (s.kind) {
      case StmtKind::option:
        type(as<OptionStmt>(s).type);
        maybe(as<OptionStmt>(s).value);
        break;
      case StmtKind::extern_:
        options(as<ExternStmt>(s).options);
        type(as<ExternStmt>(s).type);
        break;
      case StmtKind::dim: maybe(as<DimStmt>(s).size); break;
      case StmtKind::param:
        options(as<ParamStmt>(s).options);
        type(as<ParamStmt>(s).type);
        maybe(as<ParamStmt>(s).initial);
        break;
      case StmtKind::flag: maybe(as<FlagStmt>(s).value); break;
      case StmtKind::fn: return function(as<FnStmt>(s));
      case StmtKind::module: return module(s, as<ModuleStmt>(s).params, as<ModuleStmt>(s).body);
      case StmtKind::network: return module(s, {}, as<NetworkStmt>(s).body);
      case StmtKind::mode: return mode(as<ModeStmt>(s));
      case StmtKind::mark: {
        auto& m = as<MarkStmt>(s);
        maybe(m.index);
        options(m.options);
        if (m.value != nullptr)
          expr(*m.value);
        else if (m.index == nullptr)
          name(m.name, m.name_span);
        break;
      }
      case StmtKind::stack: maybe(as<StackStmt>(s).value); break;
      case StmtKind::if_:
        for (IfBranch& b : as<IfStmt>(s).branches) expr(*b.condition);
        break;
      case StmtKind::for_: expr(*as<ForStmt>(s).source); break;
      case StmtKind::loop: {
        auto& l = as<LoopStmt>(s);
        expr(*l.over);
        maybe(l.max);
        for (LoopState& state : l.state) {
          type(state.type);
          expr(*state.initial);
        }
        break;
      }
      case StmtKind::masked: expr(*as<MaskedStmt>(s).mask); break;
      case StmtKind::return_: maybe(as<ReturnStmt>(s).value); break;
      case StmtKind::assert_:
        expr(*as<AssertStmt>(s).condition);
        maybe(as<AssertStmt>(s).message);
        break;
      case StmtKind::assign:
        expr(*as<AssignStmt>(s).value);
        type(as<AssignStmt>(s).type);
        target(*as<AssignStmt>(s).target, as<AssignStmt>(s).type == nullptr);
        break;
      case StmtKind::update: {
        auto& u = as<UpdateStmt>(s);
        expr(*u.value);
        name(u.name, u.name_span);
        break;
      }
      case StmtKind::expr: {
        Expr& value = *as<ExprStmt>(s).value;
        // A name alone was reported as a statement without effect; `break` as what it is.
        if (value.kind != ExprKind::name || scopes_.find(as<NameExpr>(value).name).where != Found::Where::nowhere)
          expr(value);
        break;
      }
      default: break;
    }
    for_each_block(s, [&](Block b) { block(b); });
  }

  // What a `for` runs over is known in the mode only.
  void mode(ModeStmt& s) {
    NameTable variables;
    NameTable assigned = assigned_names(s.body);
    for (auto& [name, d] : assigned.items())
      if (d.only_loop_variable) variables.add(name, d);
    scopes_.push(std::move(variables), Scoped::comprehension);
    in_mode_ = true;
    block(s.body);
    in_mode_ = false;
    scopes_.pop();
  }

  // `flag`: in a mode it can be a setting; what cannot was reported.
  void target(const Target& t, bool flag) {
    for (const Target& item : t.items) target(item, false);
    if (t.flag_owner != nullptr) expr(*t.flag_owner);
    if (in_mode_ && flag && t.name) mode_flag(t);
  }

  // Which module has the flag is known when the instances are.
  void mode_flag(const Target& t) {
    if (t.name.str() == "train" || t.name.str() == "search" || file_.open) return;
    std::vector<std::string> flags = lookup_.flags();
    if (std::find(flags.begin(), flags.end(), t.name.str()) != flags.end()) return;
    auto length = static_cast<std::uint32_t>(t.name.str().size());
    auto report = diagnostics_.report(Diag::no_such_flag, {t.span.file, t.span.end - length, t.span.end}, {t.name.str()});
    if (std::vector<std::string> near = nearest_names(t.name.str(), flags); !near.empty())
      report.help(Diag::help_did_you_mean, {quoted_list(near)});
    else
      report.help(Diag::help_text, {"the flags are " + quoted_list(flags, "and")});
  }

  void module(Stmt& s, std::span<Param> params, Block body) {
    // One that stands where none can stand was reported, and its names were not collected.
    auto names = file_.modules.find(&s);
    if (names == file_.modules.end()) {
      all_resolved_ = false;
      return;
    }
    const ModuleNames* outer = scopes_.module;
    scopes_.module = names->second.get();
    for (Param& p : params) {
      type(p.type);
      maybe(p.default_value);
    }
    block(body);
    scopes_.module = outer;
  }

  void function(FnStmt& s) {
    // Defaults and types of parameters see the parameters; results and the body all names of the function.
    push_params(s.params, Scoped::function);
    for (Param& p : s.params) {
      type(p.type);
      maybe(p.default_value);
    }
    NameTable locals = assigned_names(s.body);
    for (auto& [local, d] : locals.items()) {
      if (scopes_.innermost().add(local, d)) hides_member(local, d.span);
    }
    for (TypeExpr* t : s.results) type(t);
    block(s.body);
    scopes_.pop();
    if (!file_.open) check_loop_results(s, diagnostics_);
  }

  void push_params(std::span<Param> params, Scoped kind) {
    NameTable names;
    for (Param& p : params) {
      names.add(p.name, {NameKind::parameter, p.span, nullptr, nullptr, {}, false});
      hides_member(p.name, p.span);
    }
    scopes_.push(std::move(names), kind);
  }

  void hides_member(Symbol name, Span span) {
    if (scopes_.module == nullptr) return;
    const Declared* member = scopes_.module->members.find(name);
    if (member == nullptr || member->only_loop_variable) return;
    diagnostics_.report(Diag::hides_member, span, {name.str()})
        .help(Diag::help_text, {"give it another name; members change only in the body of their module"})
        .note(Diag::note_declared_here, member->span, {name.str()});
  }

  // ---- expressions

  void expr(Expr& e) {
    switch (e.kind) {
      case ExprKind::name: name(as<NameExpr>(e).name, e.span); return;
      case ExprKind::member: member(as<MemberExpr>(e)); return;
      case ExprKind::lambda: {
        auto& l = as<LambdaExpr>(e);
        push_params(l.params, Scoped::lambda);
        for (Param& p : l.params) {
          type(p.type);
          maybe(p.default_value);
        }
        expr(*l.body);
        scopes_.pop();
        return;
      }
      case ExprKind::comprehension: {
        auto& c = as<ComprehensionExpr>(e);
        expr(*c.source);
        NameTable variables;
        add_target_names(*c.target, variables, nullptr, true);
        if (scopes_.runs_later())
          for (auto& [variable, d] : variables.items()) hides_member(variable, d.span);
        scopes_.push(std::move(variables), Scoped::comprehension);
        maybe(c.condition);
        expr(*c.item);
        scopes_.pop();
        return;
      }
      case ExprKind::record:
        for (RecordField& f : as<RecordExpr>(e).fields)
          if (is_private_name(f.name)) private_names_.insert(f.name);
        break;
      case ExprKind::call: call(as<CallExpr>(e)); break;
      default: break;
    }
    for_each_operand(e, [&](Expr& x) { expr(x); });
  }

  void name(Symbol name, Span span) {
    if (name.str() == "_") {
      diagnostics_.report(Diag::underscore_read, span);
      return;
    }
    Found found = scopes_.find(name);
    bool in_body = scopes_.module != nullptr && !scopes_.runs_later() && !in_mode_;
    switch (found.where) {
      case Found::Where::nowhere: unknown_name(name, span); return;
      case Found::Where::file: file_name(name, *found.declared, span); return;
      case Found::Where::member:
        if (found.declared->kind == NameKind::flag && in_body) flag_in_body(name, span);
        return;
      case Found::Where::builtin:
        if ((name.str() == "train" || name.str() == "search") && !in_mode_) {
          if (in_body)
            flag_in_body(name, span);
          else if (scopes_.module == nullptr && !scopes_.runs_later())
            diagnostics_.report(Diag::flag_in_file, span, {name.str()});
        }
        return;
      default: return;
    }
  }

  void flag_in_body(Symbol name, Span span) {
    diagnostics_.report(Diag::flag_in_body, span, {name.str()})
        .help(Diag::help_text, {"flags are read in functions, so that a model has the same parameters in all modes"});
  }

  void file_name(Symbol name, const Declared& d, Span span) {
    used_.insert(name);
    if (d.kind == NameKind::extern_) {
      bool network = scopes_.module != nullptr && scopes_.module->is_network();
      if (!network || !scopes_.runs_later())
        diagnostics_.report(Diag::extern_outside, span, {name.str()})
            .help(Diag::help_text, {"hand it over as an argument from a function of the `network`"})
            .note(Diag::note_declared_here, d.span, {name.str()});
    }
    bool ordered = d.kind == NameKind::dim || d.kind == NameKind::option || d.kind == NameKind::constant;
    if (ordered && scopes_.module == nullptr && !scopes_.runs_later() && d.span.begin > span.begin)
      diagnostics_.report(Diag::used_before, span, {name.str()})
          .help(Diag::help_text, {"constants, dims and options stand in order"})
          .note(Diag::note_declared_here, d.span, {name.str()});
  }

  void unknown_name(Symbol name, Span span) {
    if (file_.open) return;
    auto report = diagnostics_.report(Diag::unknown_name, span, {name.str()});
    // `relu(x)` is `nn.relu(x)` where nn is imported.
    for (auto& [n, d] : file_.declared.items()) {
      std::optional<ModuleRef> m = d.kind == NameKind::import ? lookup_.imported_module(d) : std::nullopt;
      if (m && !m->unknown && !is_private_name(name) && lookup_.has_name(*m, name)) {
        report.help(Diag::help_did_you_mean, {"`" + n.str() + "." + name.str() + "`"});
        return;
      }
    }
    static const std::unordered_map<std::string_view, std::string_view> kHabits = {
        {"print", "`rcnc --eager --print NAME` shows a value"},
        {"super", "there is no inheritance: the body of a module declares its children and parameters"},
        {"this", "members are read by their name alone"},
        {"null", "write `none`"},
        {"nil", "write `none`"},
    };
    if (auto habit = kHabits.find(name.str()); habit != kHabits.end()) {
      report.help(Diag::help_text, {std::string(habit->second)});
    } else if (std::vector<std::string> near = nearest_names(name.str(), scopes_.visible()); !near.empty()) {
      report.help(Diag::help_did_you_mean, {quoted_list(near)});
    } else if (lookup_.stdlib().has_module(name.str())) {
      report.help(Diag::help_text, {"write `import " + name.str() + "` at the top of the file"});
    }
  }

  // The module that an expression names: `nn`, `nn.init`, `blocks`.
  std::optional<ModuleRef> module_of(Expr& e) {
    if (e.kind == ExprKind::name) {
      Found found = scopes_.find(as<NameExpr>(e).name);
      if (found.where != Found::Where::file) return {};
      std::optional<ModuleRef> m = lookup_.imported_module(*found.declared);
      if (m) used_.insert(as<NameExpr>(e).name);
      return m;
    }
    if (e.kind == ExprKind::member) {
      std::optional<ModuleRef> m = module_of(*as<MemberExpr>(e).object);
      if (m) return lookup_.sub_module(*m, as<MemberExpr>(e).name);
    }
    return {};
  }

  void member(MemberExpr& e) {
    std::optional<ModuleRef> m = module_of(*e.object);
    if (!m) {
      std::size_t errors = diagnostics_.error_count();
      expr(*e.object);
      if (is_private_name(e.name) && diagnostics_.error_count() == errors) private_uses_.push_back(&e);
      return;
    }
    if (e.object->kind == ExprKind::member) member(as<MemberExpr>(*e.object));
    module_member(*m, e.name, e.name_span);
  }

  // False if it was reported.
  bool module_member(const ModuleRef& m, Symbol name, Span span) {
    if (m.unknown) return true;
    if (is_private_name(name)) {
      diagnostics_.report(Diag::private_name, span, {name.str(), lookup_.shown(m)})
          .help(Diag::help_text, {"names that begin with `_` belong to their file"});
      return false;
    }
    if (lookup_.has_name(m, name)) return true;
    auto report = diagnostics_.report(Diag::no_such_member, span, {lookup_.shown(m), name.str()});
    const Declared* d = m.file != nullptr ? m.file->declared.find(name) : nullptr;
    if (d != nullptr)
      report.help(Diag::help_text, {"it is imported there, and imported names are not passed on: import it here too"});
    else if (std::vector<std::string> near = nearest_names(name.str(), lookup_.names(m)); !near.empty())
      report.help(Diag::help_did_you_mean, {quoted_list(near)});
    return false;
  }

  // Whether or not it is ever used.
  void imported_name(Symbol name, const Declared& d) {
    ModuleRef m = lookup_.source_of(d);
    Span original{d.span.file, d.span.begin, d.span.begin + static_cast<std::uint32_t>(d.original.str().size())};
    if (!module_member(m, d.original, original)) used_.insert(name);
  }

  void call(CallExpr& e) {
    std::optional<KnownCallee> known;
    if (e.callee->kind == ExprKind::name) {
      Symbol name = as<NameExpr>(*e.callee).name;
      Found found = scopes_.find(name);
      if (found.where == Found::Where::builtin) return builtin_call(e, name.str());
      if (found.where == Found::Where::member || found.where == Found::Where::file)
        known = ModuleLookup::own_callee(name, *found.declared);
      if (found.where == Found::Where::file && found.declared->kind == NameKind::imported)
        known = lookup_.imported_callee(*found.declared);
    } else if (e.callee->kind == ExprKind::member) {
      std::optional<ModuleRef> m = module_of(*as<MemberExpr>(*e.callee).object);
      if (m && !m->unknown) known = lookup_.callee(*m, as<MemberExpr>(*e.callee).name);
    }
    if (known) check_call(e, *known, diagnostics_);
  }

  void builtin_call(CallExpr& e, const std::string& name) {
    KnownCallee callee{name, Span(), {}, {}};
    if (name == "end")
      callee.names = {"include_eos"};
    else if (name == "params")
      callee.names = {"trainable", "weight_decay", "auxiliary", "initial", "updater_opts", "transform"};
    else
      return;
    check_call(e, callee, diagnostics_);
  }

  // ---- types

  void type(TypeExpr* t) {
    if (t == nullptr) return;
    maybe(t->index_dim);
    for (Expr* d : t->dims) expr(*d);
    if (t->tensor) return tensor_type(*t);
    if (t->path.size() == 1) return plain_type(*t, t->path[0]);
    Found found = scopes_.find(t->path[0]);
    if (found.where == Found::Where::nowhere) return unknown_name(t->path[0], t->span);
    if (found.where != Found::Where::file) return;
    used_.insert(t->path[0]);
    std::optional<ModuleRef> m = lookup_.imported_module(*found.declared);
    for (std::size_t i = 1; m && i < t->path.size(); ++i) {
      if (!lookup_.has_name(*m, t->path[i]) || is_private_name(t->path[i])) {
        module_member(*m, t->path[i], t->span);
        return;
      }
      m = lookup_.sub_module(*m, t->path[i]);
    }
  }

  void tensor_type(TypeExpr& t) {
    std::string name = t.path.empty() ? "" : t.path[0].str();
    if (t.index_dim != nullptr && name != "index") {
      diagnostics_.report(Diag::type_parentheses, t.span, {name})
          .help(Diag::help_text, {"class indices are `index(classes)[dims]`"});
    } else if (t.index_dim == nullptr && name == "index") {
      diagnostics_.report(Diag::index_without_dim, t.span)
          .help(Diag::help_text, {"write `index(classes)[dims]`, with the dim that it counts"});
    } else if (!name.empty() && name != "index" && !is_dtype(name)) {
      std::vector<std::string> dtypes(dtype_names().begin(), dtype_names().end());
      auto report = diagnostics_.report(Diag::unknown_dtype, t.span, {name});
      if (std::vector<std::string> near = nearest_names(name, dtypes); !near.empty())
        report.help(Diag::help_did_you_mean, {quoted_list(near)});
      else if (name == "list" || name == "tuple")
        report.help(Diag::help_text, {"the type of a list says nothing of its items: `" + name + "`"});
      else
        report.help(Diag::help_text, {"the dtypes are " + quoted_list(dtypes, "and")});
    }
  }

  void plain_type(TypeExpr& t, Symbol name) {
    if (is_type_name(name.str())) return;
    Found found = scopes_.find(name);
    if (found.where == Found::Where::file) {
      used_.insert(name);
      NameKind kind = found.declared->kind;
      if (kind != NameKind::dim && kind != NameKind::fn && kind != NameKind::option && kind != NameKind::extern_ &&
          kind != NameKind::import)
        return;
    }
    // A value of the function or module may be a class.
    bool value = found.where == Found::Where::local || found.where == Found::Where::member;
    if (value && found.declared->kind != NameKind::dim) return;
    if (found.where == Found::Where::nowhere && file_.open) return;
    auto report = diagnostics_.report(Diag::not_a_type, t.span, {name.str()});
    if (is_dtype(name.str())) {
      report.help(Diag::help_text,
                  {"a tensor without dims is `" + name.str() + "[]`, one with dims `" + name.str() + "[batch, time]`"});
      return;
    }
    std::vector<std::string> types(type_names().begin(), type_names().end());
    for (auto& [n, d] : file_.declared.items())
      if (d.kind == NameKind::module || d.kind == NameKind::imported) types.push_back(n.str());
    if (std::vector<std::string> near = nearest_names(name.str(), types); !near.empty())
      report.help(Diag::help_did_you_mean, {quoted_list(near)});
    else if (found.declared != nullptr)
      report.note(Diag::note_declared_here, found.declared->span, {name.str()});
  }

  const FileNames& file_;
  Scopes scopes_;
  ModuleLookup lookup_;
  DiagnosticSink& diagnostics_;
  bool in_mode_ = false;
  bool all_resolved_ = true;  // false: something that stands where it cannot was left out
  std::unordered_set<Symbol> used_;
  std::unordered_set<Symbol> private_names_;
  std::vector<const MemberExpr*> private_uses_;
};

}  // namespace

void resolve_names(const FileNames& file, const std::vector<FileNames>& files, const StdlibNames& stdlib,
                   DiagnosticSink& diagnostics) {
  Resolver(file, files, stdlib, diagnostics).run();
}

}  // namespace rcn
