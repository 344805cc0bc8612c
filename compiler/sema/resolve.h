// Every name of a file to what it stands for.
#pragma once

#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/sema/names.h"
#include "compiler/sema/stdlib_names.h"

namespace rcn {

// Reports names that nothing declares (looked up as local, member, declaration of the file, builtin), names that hide
// members, members of imported files that are not there or are private, externs and flags where they cannot be read,
// types that are none, and calls that do not fit. `files` are the names of all files, as in Program::files.
void resolve_names(const FileNames& file, const std::vector<FileNames>& files, const StdlibNames& stdlib,
                   DiagnosticSink& diagnostics);

}  // namespace rcn
