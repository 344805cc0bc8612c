// Arguments against parameters, where the callee is known.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/sema/modules.h"
#include "compiler/syntax/ast.h"

namespace rcn {

// Unknown keyword arguments, and for declarations of the program also too many, missing and doubly given ones.
void check_call(const ast::CallExpr& call, const KnownCallee& callee, DiagnosticSink& diagnostics);

}  // namespace rcn
