#include "compiler/sema/names.h"

#include "compiler/syntax/import_name.h"
#include "compiler/syntax/walk.h"

namespace rcn {

using namespace ast;

namespace {

bool is_private(Symbol name) { return name.str().size() > 1 && name.str()[0] == '_'; }

// Declarations clash with everything of the same name; assignments only with declarations.
bool is_assignment(NameKind kind) { return kind == NameKind::constant || kind == NameKind::parameter; }

class Collector {
 public:
  Collector(FileNames& names, DiagnosticSink& diagnostics) : names_(names), diagnostics_(diagnostics) {}

  void file(const LoadedFile& file) {
    names_.open = file.ast.blocks_unsure;
    for (Stmt* s : file.ast.body) names_.open = names_.open || s->kind == StmtKind::error;
    for (const ResolvedImport& import : file.imports) {
      if (import.statement->kind == StmtKind::import) {
        auto& s = as<ImportStmt>(*import.statement);
        Symbol name = import_name(s);
        Span span = s.alias ? s.alias_span : s.source.span;
        if (!name)
          diagnostics_.report(Diag::import_needs_alias, s.source.span, {std::string(s.source.text)})
              .help(Diag::help_text, {"write `import \"" + std::string(s.source.text) + "\" as name`"});
        else
          declare(names_.declared, name, {NameKind::import, span, import.statement, &import, {}, false});
      } else {
        auto& s = as<FromImportStmt>(*import.statement);
        for (ImportedName& n : s.names)
          declare(names_.declared, n.alias, {NameKind::imported, n.span, import.statement, &import, n.name, false});
      }
    }
    block(file.ast.body, names_.declared, false);
  }

 private:
  void declare(NameTable& table, Symbol name, const Declared& declared) {
    if (name.str() == "_" && is_assignment(declared.kind)) return;
    Declared* before = table.find(name);
    if (before == nullptr) {
      table.add(name, declared);
      return;
    }
    if (is_assignment(before->kind) && is_assignment(declared.kind)) {
      before->only_loop_variable = before->only_loop_variable && declared.only_loop_variable;
      return;
    }
    // A declaration in each branch of an `if` is one member: only one branch is taken.
    if (!clashes(*before, declared) || names_.file->ast.blocks_unsure) return;
    diagnostics_.report(Diag::declared_twice, declared.span, {name.str()}).note(Diag::note_first_here, before->span);
  }

  bool clashes(const Declared& a, const Declared& b) const {
    auto where = [&](const Declared& d) {
      auto it = branch_of_.find(d.statement);
      return it == branch_of_.end() ? 0 : it->second;
    };
    return d_equal(where(a), where(b));
  }
  static bool d_equal(std::size_t a, std::size_t b) { return a == b || a == 0 || b == 0; }

  // `members`: the table is that of a module.
  void block(Block body, NameTable& table, bool members) {
    for (Stmt* s : body) statement(*s, table, members);
  }

  void statement(Stmt& s, NameTable& table, bool members) {
    if (branch_ != 0) branch_of_[&s] = branch_;
    auto add = [&](NameKind kind, Symbol name, Span span) {
      if (members && is_private(name)) names_.private_names.insert(name);
      declare(table, name, {kind, span, &s, nullptr, {}, false});
    };
    switch (s.kind) {
      case StmtKind::option: add(NameKind::option, as<OptionStmt>(s).name, as<OptionStmt>(s).name_span); break;
      case StmtKind::extern_: add(NameKind::extern_, as<ExternStmt>(s).name, as<ExternStmt>(s).name_span); break;
      case StmtKind::dim: add(NameKind::dim, as<DimStmt>(s).name, as<DimStmt>(s).name_span); break;
      case StmtKind::param: add(NameKind::param, as<ParamStmt>(s).name, as<ParamStmt>(s).name_span); break;
      case StmtKind::flag: add(NameKind::flag, as<FlagStmt>(s).name, as<FlagStmt>(s).name_span); break;
      case StmtKind::fn: add(NameKind::fn, as<FnStmt>(s).name, as<FnStmt>(s).name_span); break;
      case StmtKind::module:
        add(NameKind::module, as<ModuleStmt>(s).name, as<ModuleStmt>(s).name_span);
        module(s, as<ModuleStmt>(s).params, as<ModuleStmt>(s).body);
        break;
      case StmtKind::network:
        if (names_.network == nullptr) names_.network = &s;
        module(s, {}, as<NetworkStmt>(s).body);
        break;
      case StmtKind::assign: targets(*as<AssignStmt>(s).target, s, table, members, false); break;
      case StmtKind::update:
        declare(table, as<UpdateStmt>(s).name,
                {NameKind::constant, as<UpdateStmt>(s).name_span, &s, nullptr, {}, false});
        break;
      case StmtKind::for_:
        targets(*as<ForStmt>(s).target, s, table, members, true);
        block(as<ForStmt>(s).body, table, members);
        break;
      case StmtKind::if_: {
        std::size_t outer = branch_;
        for (IfBranch& b : as<IfStmt>(s).branches) {
          branch_ = ++branches_;
          block(b.body, table, members);
        }
        branch_ = ++branches_;
        block(as<IfStmt>(s).otherwise, table, members);
        branch_ = outer;
        break;
      }
      default: break;
    }
  }

  void targets(const Target& t, Stmt& s, NameTable& table, bool members, bool loop_variable) {
    if (t.flag_owner != nullptr) return;
    if (!t.name) {
      for (const Target& item : t.items) targets(item, s, table, members, loop_variable);
      return;
    }
    if (members && is_private(t.name)) names_.private_names.insert(t.name);
    declare(table, t.name, {NameKind::constant, t.span, &s, nullptr, {}, loop_variable});
  }

  void module(Stmt& s, std::span<Param> params, Block body) {
    auto& module = names_.modules[&s];
    module = std::make_unique<ModuleNames>();
    module->statement = &s;
    std::size_t outer = branch_;
    branch_ = 0;
    for (Param& p : params) {
      if (is_private(p.name)) names_.private_names.insert(p.name);
      // Twice in the list is told with the other rules of parameter lists.
      if (module->members.find(p.name) == nullptr)
        module->members.add(p.name, {NameKind::parameter, p.span, nullptr, nullptr, {}, false});
    }
    block(body, module->members, true);
    branch_ = outer;
  }

  FileNames& names_;
  DiagnosticSink& diagnostics_;
  std::size_t branch_ = 0;  // of the innermost `if`; 0: none
  std::size_t branches_ = 0;
  std::unordered_map<Stmt*, std::size_t> branch_of_;
};

void collect_assigned(Block body, NameTable& names) {
  for (Stmt* s : body) {
    auto add = [&](Symbol name, Span span) {
      if (name.str() != "_") names.add(name, {NameKind::constant, span, s, nullptr, {}, false});
    };
    switch (s->kind) {
      case StmtKind::assign: add_target_names(*as<AssignStmt>(*s).target, names, s, false); break;
      case StmtKind::update: add(as<UpdateStmt>(*s).name, as<UpdateStmt>(*s).name_span); break;
      case StmtKind::for_: add_target_names(*as<ForStmt>(*s).target, names, s, true); break;
      case StmtKind::dim: add(as<DimStmt>(*s).name, as<DimStmt>(*s).name_span); break;
      case StmtKind::stack: add(as<StackStmt>(*s).name, as<StackStmt>(*s).name_span); break;
      // in the wrong place, which is reported as such; their names are known all the same
      case StmtKind::param: add(as<ParamStmt>(*s).name, as<ParamStmt>(*s).name_span); break;
      case StmtKind::flag: add(as<FlagStmt>(*s).name, as<FlagStmt>(*s).name_span); break;
      case StmtKind::option: add(as<OptionStmt>(*s).name, as<OptionStmt>(*s).name_span); break;
      case StmtKind::extern_: add(as<ExternStmt>(*s).name, as<ExternStmt>(*s).name_span); break;
      case StmtKind::fn: add(as<FnStmt>(*s).name, as<FnStmt>(*s).name_span); break;
      case StmtKind::module: add(as<ModuleStmt>(*s).name, as<ModuleStmt>(*s).name_span); break;
      case StmtKind::mark:
        if (as<MarkStmt>(*s).value != nullptr && as<MarkStmt>(*s).index == nullptr)
          add(as<MarkStmt>(*s).name, as<MarkStmt>(*s).name_span);
        break;
      case StmtKind::loop:
        add(as<LoopStmt>(*s).index, as<LoopStmt>(*s).index_span);
        for (LoopState& state : as<LoopStmt>(*s).state) add(state.name, state.name_span);
        break;
      default: break;
    }
    if (s->kind != StmtKind::fn && s->kind != StmtKind::module && s->kind != StmtKind::network)
      for_each_block(*s, [&](Block inner) { collect_assigned(inner, names); });
  }
}

}  // namespace

FileNames collect_names(const LoadedFile& file, DiagnosticSink& diagnostics) {
  FileNames names;
  names.file = &file;
  Collector(names, diagnostics).file(file);
  return names;
}

NameTable assigned_names(Block body) {
  NameTable names;
  collect_assigned(body, names);
  return names;
}

void add_target_names(const Target& target, NameTable& names, Stmt* statement, bool loop_variable) {
  if (target.flag_owner != nullptr) return;
  if (!target.name) {
    for (const Target& item : target.items) add_target_names(item, names, statement, loop_variable);
  } else if (target.name.str() != "_") {
    names.add(target.name, {NameKind::constant, target.span, statement, nullptr, {}, loop_variable});
  }
}

}  // namespace rcn
