// Rules on the form of declarations and calls that need no names: options, parameter lists, arguments given twice.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace rcn {

// Options of `param`, `extern`, `loss`, `error` and `output` against their table; fields of records, keyword arguments
// and parameters given twice; parameters without default after one with; kinds of dims.
void check_forms(const ast::File& file, DiagnosticSink& diagnostics);

}  // namespace rcn
