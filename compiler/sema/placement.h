// Which statement may stand where.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace rcn {

// Checks the places of all statements of a file, that statements which are only an expression are calls, and what a
// `mode` body may hold.
void check_placement(const ast::File& file, DiagnosticSink& diagnostics);

}  // namespace rcn
