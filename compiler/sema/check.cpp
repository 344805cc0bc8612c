#include "compiler/sema/check.h"

#include <vector>

#include "compiler/sema/forms.h"
#include "compiler/sema/names.h"
#include "compiler/sema/placement.h"
#include "compiler/sema/resolve.h"

namespace rcn {

void check_program(const Program& program, const StdlibNames& stdlib, DiagnosticSink& diagnostics) {
  std::vector<FileNames> names;
  names.reserve(program.files.size());
  for (const LoadedFile& file : program.files) {
    if (!file.ast.blocks_unsure) check_placement(file.ast, diagnostics);
    check_forms(file.ast, diagnostics);
    names.push_back(collect_names(file, diagnostics));
  }
  for (const FileNames& file : names)
    if (!file.file->ast.blocks_unsure) resolve_names(file, names, stdlib, diagnostics);
}

}  // namespace rcn
