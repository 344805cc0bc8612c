// Loops that nothing is taken from.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace rcn {

// Warns of each loop in the function that stacks nothing and whose state is not read after it.
void check_loop_results(const ast::FnStmt& function, DiagnosticSink& diagnostics);

}  // namespace rcn
