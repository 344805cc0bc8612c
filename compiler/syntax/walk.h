// What most passes over the tree have in common: the children of a node, in the order of the text.
#pragma once

#include "compiler/syntax/ast.h"

namespace rcn {

// Calls f(Expr&) for each direct operand of an expression. Comprehensions and lambdas are left to the caller's f as
// well: their parts come in the order in which they are evaluated (source, condition, item; defaults, body).
template <class F>
void for_each_operand(ast::Expr& e, F&& f) {
  using namespace ast;
  auto maybe = [&](Expr* x) {
    if (x != nullptr) f(*x);
  };
  switch (e.kind) {
    case ExprKind::tuple:
      for (Expr* x : as<TupleExpr>(e).items) f(*x);
      break;
    case ExprKind::list:
      for (Expr* x : as<ListExpr>(e).items) f(*x);
      break;
    case ExprKind::record:
      for (RecordField& x : as<RecordExpr>(e).fields) f(*x.value);
      break;
    case ExprKind::comprehension: {
      auto& c = as<ComprehensionExpr>(e);
      f(*c.source);
      maybe(c.condition);
      f(*c.item);
      break;
    }
    case ExprKind::lambda: {
      auto& l = as<LambdaExpr>(e);
      for (Param& p : l.params) maybe(p.default_value);
      f(*l.body);
      break;
    }
    case ExprKind::conditional: {
      auto& c = as<ConditionalExpr>(e);
      f(*c.then);
      f(*c.condition);
      f(*c.otherwise);
      break;
    }
    case ExprKind::logical:
      for (Expr* x : as<LogicalExpr>(e).operands) f(*x);
      break;
    case ExprKind::not_: f(*as<NotExpr>(e).operand); break;
    case ExprKind::compare:
      f(*as<CompareExpr>(e).first);
      for (CompareLink& x : as<CompareExpr>(e).rest) f(*x.operand);
      break;
    case ExprKind::binary:
      f(*as<BinaryExpr>(e).first);
      for (BinaryLink& x : as<BinaryExpr>(e).rest) f(*x.operand);
      break;
    case ExprKind::negate: f(*as<NegateExpr>(e).operand); break;
    case ExprKind::call:
      f(*as<CallExpr>(e).callee);
      for (Arg& x : as<CallExpr>(e).args) f(*x.value);
      break;
    case ExprKind::index:
      f(*as<IndexExpr>(e).object);
      f(*as<IndexExpr>(e).index);
      break;
    case ExprKind::slice: {
      auto& s = as<SliceExpr>(e);
      f(*s.object);
      maybe(s.start);
      maybe(s.stop);
      maybe(s.step);
      break;
    }
    case ExprKind::member: f(*as<MemberExpr>(e).object); break;
    default: break;
  }
}

// Calls f(Expr&) for each expression that a statement evaluates itself, not in its blocks.
template <class F>
void for_each_expr(ast::Stmt& s, F&& f) {
  using namespace ast;
  auto maybe = [&](Expr* x) {
    if (x != nullptr) f(*x);
  };
  switch (s.kind) {
    case StmtKind::option: f(*as<OptionStmt>(s).value); break;
    case StmtKind::dim: maybe(as<DimStmt>(s).size); break;
    case StmtKind::param: f(*as<ParamStmt>(s).initial); break;
    case StmtKind::flag: f(*as<FlagStmt>(s).value); break;
    case StmtKind::mark:
      maybe(as<MarkStmt>(s).index);
      for (Arg& x : as<MarkStmt>(s).options) f(*x.value);
      maybe(as<MarkStmt>(s).value);
      break;
    case StmtKind::stack: f(*as<StackStmt>(s).value); break;
    case StmtKind::if_:
      for (IfBranch& b : as<IfStmt>(s).branches) f(*b.condition);
      break;
    case StmtKind::for_: f(*as<ForStmt>(s).source); break;
    case StmtKind::loop: {
      auto& l = as<LoopStmt>(s);
      f(*l.over);
      maybe(l.max);
      for (ast::LoopState& x : l.state) f(*x.initial);
      break;
    }
    case StmtKind::masked: f(*as<MaskedStmt>(s).mask); break;
    case StmtKind::return_: maybe(as<ReturnStmt>(s).value); break;
    case StmtKind::assert_:
      f(*as<AssertStmt>(s).condition);
      maybe(as<AssertStmt>(s).message);
      break;
    case StmtKind::assign: f(*as<AssignStmt>(s).value); break;
    case StmtKind::update: f(*as<UpdateStmt>(s).value); break;
    case StmtKind::expr: f(*as<ExprStmt>(s).value); break;
    default: break;
  }
}

// Calls f(Block) for each block of a statement.
template <class F>
void for_each_block(ast::Stmt& s, F&& f) {
  using namespace ast;
  switch (s.kind) {
    case StmtKind::fn: f(as<FnStmt>(s).body); break;
    case StmtKind::module: f(as<ModuleStmt>(s).body); break;
    case StmtKind::network: f(as<NetworkStmt>(s).body); break;
    case StmtKind::mode: f(as<ModeStmt>(s).body); break;
    case StmtKind::if_:
      for (IfBranch& b : as<IfStmt>(s).branches) f(b.body);
      f(as<IfStmt>(s).otherwise);
      break;
    case StmtKind::for_: f(as<ForStmt>(s).body); break;
    case StmtKind::loop: f(as<LoopStmt>(s).body); break;
    case StmtKind::masked: f(as<MaskedStmt>(s).body); break;
    default: break;
  }
}

}  // namespace rcn
