// A tree as text, for comparisons: every node and every field.
#pragma once

#include <string>

#include "compiler/syntax/ast.h"

namespace rcn::test {

std::string dump(ast::Stmt& statement, bool spans);
std::string dump(ast::Expr& expression);

}  // namespace rcn::test
