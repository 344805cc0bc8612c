// Runs a program once: static values are computed, control flow over static values is taken, and every operation on
// tensors goes to the backend.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/limits.h"
#include "compiler/base/source.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/eval/backend.h"
#include "compiler/eval/debugger.h"
#include "compiler/eval/flags.h"
#include "compiler/eval/op.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/ast_image.h"

namespace rcn {

// A file of the program, parsed and checked. The first one is the model.
struct UserFile {
  std::string name;
  FileId file = 0;
  ast::File ast;
  // What the sources of its imports stand for: an index into the files, or -1 for a module of the standard library.
  std::vector<std::pair<std::string, int>> imports;
};

struct EvalInput {
  const std::vector<UserFile>& files;
  std::span<const ImageFile> stdlib;
  const OpLibrary& ops;
  SourceMap& sources;
  Arena& arena;
  OpContext& context;  // dims, lengths, diagnostics; the train flag is that of the module whose function runs
  // All externs, before anything is computed; false after errors.
  std::function<bool(const std::vector<ExternInput>&)> declare_inputs = {};
  Debugger* debugger = nullptr;
};

struct EvalOptions {
  std::vector<std::pair<std::string, std::string>> defines;  // -D name=value
  std::string mode = "train";                                 // one of the network's, or `train`, `eval`, `search`
  std::vector<SetOption> set;                                 // after the mode's own settings
  bool flags_only = false;                                    // `main` does not run
  Limits limits;
};

struct EvalResult {
  bool ok = false;
  std::vector<Parameter> parameters;  // those that the network uses, in the order of their first use
  std::vector<ModuleFlags> flags;     // with flags_only: of all instances in the network
};

EvalResult evaluate(const EvalInput& input, const EvalOptions& options, Backend& backend);

}  // namespace rcn
