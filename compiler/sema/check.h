// All that can be known of a program without running it.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/sema/loader.h"
#include "compiler/sema/stdlib_names.h"

namespace rcn {

// Checks every file of the program: places and forms of statements, declarations, names, calls of what is known. Never
// changes the trees, and says nothing about what may be right when it runs. Files with syntax errors are checked as far
// as they were understood.
void check_program(const Program& program, const StdlibNames& stdlib, DiagnosticSink& diagnostics);

}  // namespace rcn
