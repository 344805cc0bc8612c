// Reads and parses a model file and all that it imports.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/base/arena.h"
#include "compiler/base/file_system.h"
#include "compiler/base/limits.h"
#include "compiler/base/source.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/sema/stdlib_names.h"
#include "compiler/syntax/ast.h"

namespace rcn {

// What an import statement brings in: a file of the program, a module of the standard library, or nothing (reported).
struct ResolvedImport {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  ast::Stmt* statement = nullptr;  // ImportStmt or FromImportStmt
  std::size_t file = kNone;        // index in Program::files
  std::string stdlib_module;       // empty: a file
  bool found() const { return file != kNone || !stdlib_module.empty(); }
};

struct LoadedFile {
  FileId id = 0;
  std::string path;  // as shown: relative to where the user stands, as the main file's path was given
  ast::File ast;
  std::vector<ResolvedImport> imports;
};

struct Program {
  std::vector<LoadedFile> files;  // each once, imported ones before those that import them
  std::size_t main = 0;           // the last; files is empty if the main file could not be read
  const LoadedFile& main_file() const { return files[main]; }
};

struct LoadOptions {
  std::vector<std::string> import_dirs;  // -I, in order
  Limits limits;
};

// Loads `path`. A quoted import is looked for relative to the importing file, then in each import folder; a dotted one
// is a module of the standard library. Reports missing files (with the folders that were searched), cycles (with the
// chain) and what parse() reports, for all files.
Program load_program(const std::string& path, FileSystem& files, SourceMap& sources, Arena& arena,
                     const StdlibNames& stdlib, DiagnosticSink& diagnostics, const LoadOptions& options = {});

// The same with the main file's text given (standard input); `path` is its name and the place its imports start from.
Program load_text(const std::string& path, std::string text, FileSystem& files, SourceMap& sources, Arena& arena,
                  const StdlibNames& stdlib, DiagnosticSink& diagnostics, const LoadOptions& options = {});

}  // namespace rcn
