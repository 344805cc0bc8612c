// What was read as an expression and turned out to stand left of `=`.
#pragma once

#include "compiler/base/arena.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/context.h"

namespace rcn {

// Names, `_`, tuples and lists of them; `m.flag` is left to sema. Anything else is reported, and drops the value.
ast::Target to_target(ast::Expr& e, ParseContext& context, Arena& arena);

// Whether it may stand left of `+=` and the like: a name only. Reported if not.
bool is_update_target(const ast::Expr& e, std::string_view op, ParseContext& context);

}  // namespace rcn
