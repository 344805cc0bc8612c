#include "compiler/sema/forms.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/base/suggest.h"
#include "compiler/syntax/walk.h"

namespace rcn {

using namespace ast;

namespace {

// The options of each declaration.
struct OptionRow {
  std::string_view declaration;
  std::vector<std::string> names;
};
const std::vector<OptionRow>& option_table() {
  static const std::vector<OptionRow> kTable = {
      {"param", {"trainable", "weight_decay", "auxiliary", "initial", "updater_opts", "transform"}},
      {"extern", {"key", "available_for_inference", "range"}},
      {"loss", {"scale", "use_normalized_loss", "use_flatten_frames", "custom_inv_norm_factor"}},
      {"error", {"scale", "use_normalized_loss", "use_flatten_frames", "custom_inv_norm_factor"}},
      {"output", {}},
  };
  return kTable;
}

class Forms {
 public:
  explicit Forms(DiagnosticSink& diagnostics) : diagnostics_(diagnostics) {}

  void block(Block body) {
    for (Stmt* s : body) statement(*s);
  }

 private:
  void maybe(Expr* e) {
    if (e != nullptr) expr(*e);
  }

  void statement(Stmt& s) {
    switch (s.kind) {
      case StmtKind::option:
        type(as<OptionStmt>(s).type);
        maybe(as<OptionStmt>(s).value);
        break;
      case StmtKind::extern_:
        options("extern", as<ExternStmt>(s).options);
        type(as<ExternStmt>(s).type);
        break;
      case StmtKind::dim: dim(as<DimStmt>(s)); break;
      case StmtKind::param:
        options("param", as<ParamStmt>(s).options);
        type(as<ParamStmt>(s).type);
        maybe(as<ParamStmt>(s).initial);
        break;
      case StmtKind::flag: maybe(as<FlagStmt>(s).value); break;
      case StmtKind::fn:
        params(as<FnStmt>(s).params);
        for (TypeExpr* t : as<FnStmt>(s).results) type(t);
        break;
      case StmtKind::module: params(as<ModuleStmt>(s).params); break;
      case StmtKind::mark: {
        auto& m = as<MarkStmt>(s);
        options(m.mark == MarkKind::loss ? "loss" : m.mark == MarkKind::error ? "error" : "output", m.options);
        maybe(m.index);
        maybe(m.value);
        break;
      }
      case StmtKind::stack: maybe(as<StackStmt>(s).value); break;
      case StmtKind::if_:
        for (IfBranch& b : as<IfStmt>(s).branches) expr(*b.condition);
        break;
      case StmtKind::for_: maybe(as<ForStmt>(s).source); break;
      case StmtKind::loop: loop(as<LoopStmt>(s)); break;
      case StmtKind::masked: maybe(as<MaskedStmt>(s).mask); break;
      case StmtKind::return_: maybe(as<ReturnStmt>(s).value); break;
      case StmtKind::assert_:
        maybe(as<AssertStmt>(s).condition);
        maybe(as<AssertStmt>(s).message);
        break;
      case StmtKind::assign:
        type(as<AssignStmt>(s).type);
        maybe(as<AssignStmt>(s).value);
        break;
      case StmtKind::update: maybe(as<UpdateStmt>(s).value); break;
      case StmtKind::expr: maybe(as<ExprStmt>(s).value); break;
      default: break;
    }
    for_each_block(s, [&](Block b) { block(b); });
  }

  void expr(Expr& e) {
    if (e.kind == ExprKind::call) {
      arguments(as<CallExpr>(e).args);
    } else if (e.kind == ExprKind::record) {
      std::unordered_map<Symbol, Span> seen;
      for (RecordField& f : as<RecordExpr>(e).fields) twice(seen, f.name, f.span, Diag::field_twice);
    } else if (e.kind == ExprKind::lambda) {
      params(as<LambdaExpr>(e).params, false);
    }
    for_each_operand(e, [&](Expr& x) { expr(x); });
  }

  void type(TypeExpr* t) {
    if (t == nullptr) return;
    maybe(t->index_dim);
    for (Expr* d : t->dims) expr(*d);
  }

  void twice(std::unordered_map<Symbol, Span>& seen, Symbol name, Span span, Diag kind) {
    auto [it, added] = seen.try_emplace(name, span);
    if (!added) diagnostics_.report(kind, span, {name.str()}).note(Diag::note_first_here, it->second);
  }

  void arguments(std::span<Arg> args) {
    std::unordered_map<Symbol, Span> seen;
    bool named = false;
    for (Arg& a : args) {
      if (a.name) {
        named = true;
        twice(seen, a.name, a.name_span, Diag::argument_twice);
      } else if (named && a.value->kind != ExprKind::error) {
        diagnostics_.report(Diag::positional_after_named, a.value->span);
      }
    }
  }

  void options(std::string_view declaration, std::span<Arg> args) {
    const std::vector<std::string>* valid = nullptr;
    for (const OptionRow& row : option_table())
      if (row.declaration == declaration) valid = &row.names;
    std::unordered_map<Symbol, Span> seen;
    for (Arg& a : args) {
      expr(*a.value);
      if (!a.name) {
        diagnostics_.report(Diag::option_without_name, a.value->span, {std::string(declaration)})
            .help(Diag::help_text,
                  {valid->empty() ? "it has no options" : "its options are " + quoted_list(*valid, "and")});
        continue;
      }
      twice(seen, a.name, a.name_span, Diag::argument_twice);
      bool known = false;
      for (const std::string& name : *valid) known = known || name == a.name.str();
      if (known) continue;
      auto report = diagnostics_.report(Diag::unknown_option, a.name_span, {std::string(declaration), a.name.str()});
      if (std::vector<std::string> near = nearest_names(a.name.str(), *valid); !near.empty())
        report.help(Diag::help_did_you_mean, {quoted_list(near)});
      else
        report.help(Diag::help_text, {valid->empty() ? "`" + std::string(declaration) + "` has no options"
                                                     : "its options are " + quoted_list(*valid, "and")});
    }
  }

  // A lambda's defaults are operands, and walked there.
  void params(std::span<Param> list, bool walk_defaults = true) {
    std::unordered_map<Symbol, Span> seen;
    const Param* with_default = nullptr;
    for (Param& p : list) {
      twice(seen, p.name, p.span, Diag::parameter_twice);
      type(p.type);
      if (p.default_value != nullptr) {
        if (walk_defaults) expr(*p.default_value);
        if (!p.keyword_only) with_default = &p;
      } else if (with_default != nullptr && !p.keyword_only) {
        diagnostics_.report(Diag::no_default_after_default, p.span, {p.name.str(), with_default->name.str()})
            .help(Diag::help_text,
                  {"give it a default, put it first, or put `*` before it so that it is given by name"});
      }
    }
  }

  void dim(DimStmt& s) {
    const std::string& kind = s.dim_kind.str();
    if (kind != "spatial" && kind != "feature") {
      auto report = diagnostics_.report(Diag::dim_kind, s.kind_span, {kind});
      if (std::vector<std::string> near = nearest_names(kind, {"spatial", "feature"}); !near.empty())
        report.help(Diag::help_did_you_mean, {quoted_list(near)});
      else
        report.help(Diag::help_text, {"a dim is `spatial` or `feature`"});
    }
    maybe(s.size);
  }

  void loop(LoopStmt& s) {
    expr(*s.over);
    maybe(s.max);
    std::unordered_map<Symbol, Span> seen;
    for (LoopState& state : s.state) {
      twice(seen, state.name, state.name_span, Diag::state_twice);
      type(state.type);
      expr(*state.initial);
    }
  }

  DiagnosticSink& diagnostics_;
};

}  // namespace

void check_forms(const File& file, DiagnosticSink& diagnostics) { Forms(diagnostics).block(file.body); }

}  // namespace rcn
