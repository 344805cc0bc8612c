#include "compiler/syntax/targets.h"

#include <vector>

namespace rcn {

using namespace ast;

namespace {

Target bad_target(Expr& e, ParseContext& context) {
  bool in_place = e.kind == ExprKind::index || e.kind == ExprKind::slice;
  context.report(Diag::bad_target, e.span)
      .help(Diag::help_text, {in_place ? "lists, records and tensors do not change in place: make a new value"
                                       : "names, `_`, and tuples or lists of them stand left of `=`"});
  return {e.span, Symbol("_"), {}, nullptr};
}

Target several(Expr& e, std::span<Expr*> items, ParseContext& context, Arena& arena) {
  if (items.empty()) return bad_target(e, context);
  std::vector<Target> parts;
  for (Expr* item : items) parts.push_back(to_target(*item, context, arena));
  return {e.span, Symbol(), arena.copy(parts), nullptr};
}

}  // namespace

Target to_target(Expr& e, ParseContext& context, Arena& arena) {
  switch (e.kind) {
    case ExprKind::name: return {e.span, as<NameExpr>(e).name, {}, nullptr};
    case ExprKind::tuple: return several(e, as<TupleExpr>(e).items, context, arena);
    case ExprKind::list: return several(e, as<ListExpr>(e).items, context, arena);
    case ExprKind::member: return {e.span, as<MemberExpr>(e).name, {}, as<MemberExpr>(e).object};
    case ExprKind::error: return {e.span, Symbol("_"), {}, nullptr};
    default: return bad_target(e, context);
  }
}

bool is_update_target(const Expr& e, std::string_view op, ParseContext& context) {
  if (e.kind == ExprKind::name) return true;
  context.report(Diag::bad_update_target, e.span, {std::string(op)})
      .help(Diag::help_text, {"lists, records and tensors do not change in place: make a new value"});
  return false;
}

}  // namespace rcn
