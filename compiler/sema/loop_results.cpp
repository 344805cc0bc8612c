#include "compiler/sema/loop_results.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/base/suggest.h"
#include "compiler/syntax/walk.h"

namespace rcn {

using namespace ast;

namespace {

bool inside(Span place, Span outer) { return place.begin >= outer.begin && place.end <= outer.end; }

class LoopResults {
 public:
  explicit LoopResults(DiagnosticSink& diagnostics) : diagnostics_(diagnostics) {}

  void run(const FnStmt& function) {
    block(function.body);
    for (const Found& found : loops_) check(found);
  }

 private:
  struct Read {
    Symbol name;
    Span span;
  };
  struct Found {
    const LoopStmt* loop;
    std::vector<Stmt*> around;  // what runs it again and again
    bool takes = false;               // something is stacked or checked in it
  };

  void block(Block body) {
    for (Stmt* s : body) statement(*s);
  }

  void statement(Stmt& s) {
    auto read = [&](Expr* e) {
      if (e) expr(*e);
    };
    switch (s.kind) {
      case StmtKind::param: read(as<ParamStmt>(s).initial); break;
      case StmtKind::dim: read(as<DimStmt>(s).size); break;
      case StmtKind::mark: {
        auto& m = as<MarkStmt>(s);
        read(m.index);
        for (Arg& option : m.options) read(option.value);
        read(m.value);
        if (!m.value) reads_.push_back({m.name, m.name_span});
        break;
      }
      case StmtKind::stack:
        read(as<StackStmt>(s).value);
        takes();
        break;
      case StmtKind::if_:
        for (IfBranch& branch : as<IfStmt>(s).branches) read(branch.condition);
        break;
      case StmtKind::for_: read(as<ForStmt>(s).source); break;
      case StmtKind::loop: {
        auto& loop = as<LoopStmt>(s);
        read(loop.over);
        read(loop.max);
        for (LoopState& state : loop.state) read(state.initial);
        loops_.push_back({&loop, around_, false});
        open_.push_back(loops_.size() - 1);
        break;
      }
      case StmtKind::masked: read(as<MaskedStmt>(s).mask); break;
      case StmtKind::return_: read(as<ReturnStmt>(s).value); break;
      case StmtKind::assert_:
        read(as<AssertStmt>(s).condition);
        read(as<AssertStmt>(s).message);
        for (std::size_t i : open_) loops_[i].takes = true;
        break;
      case StmtKind::assign: read(as<AssignStmt>(s).value); break;
      case StmtKind::update:
        reads_.push_back({as<UpdateStmt>(s).name, as<UpdateStmt>(s).name_span});
        read(as<UpdateStmt>(s).value);
        break;
      case StmtKind::expr: read(as<ExprStmt>(s).value); break;
      default: break;
    }
    bool repeats = s.kind == StmtKind::for_ || s.kind == StmtKind::loop;
    if (repeats) around_.push_back(&s);
    for_each_block(s, [&](Block b) { block(b); });
    if (repeats) around_.pop_back();
    if (s.kind == StmtKind::loop) open_.pop_back();
  }

  void takes() {
    if (!open_.empty()) loops_[open_.back()].takes = true;
  }

  void expr(Expr& e) {
    if (e.kind == ExprKind::name) reads_.push_back({as<NameExpr>(e).name, e.span});
    for_each_operand(e, [&](Expr& x) { expr(x); });
  }

  bool read_later(const Found& found, Symbol name) const {
    Span own = found.loop->span;
    for (Stmt* around : found.around)
      if (around->kind == StmtKind::loop)
        for (const LoopState& state : as<LoopStmt>(*around).state)
          if (state.name == name) return true;
    return std::any_of(reads_.begin(), reads_.end(), [&](const Read& read) {
      if (read.name != name || inside(read.span, own)) return false;
      return read.span.begin >= own.end || (!found.around.empty() && inside(read.span, found.around[0]->span));
    });
  }

  void check(const Found& found) {
    if (found.takes || found.loop->state.empty()) return;
    std::vector<std::string> names;
    for (const LoopState& state : found.loop->state) {
      if (read_later(found, state.name)) return;
      if (std::find(names.begin(), names.end(), state.name.str()) == names.end()) names.push_back(state.name.str());
    }
    diagnostics_.report(Diag::loop_unread, found.loop->span, {quoted_list(names, "and")});
  }

  DiagnosticSink& diagnostics_;
  std::vector<Read> reads_;
  std::vector<Found> loops_;
  std::vector<std::size_t> open_;     // the loops that a statement is in, as indices
  std::vector<Stmt*> around_;
};

}  // namespace

void check_loop_results(const FnStmt& function, DiagnosticSink& diagnostics) { LoopResults(diagnostics).run(function); }

}  // namespace rcn
