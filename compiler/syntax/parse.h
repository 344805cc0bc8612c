// Text to syntax tree.
#pragma once

#include <cstddef>

#include "compiler/base/arena.h"
#include "compiler/base/limits.h"
#include "compiler/base/source.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace rcn {

struct ParseStats {
  std::size_t fallbacks = 0;  // files that ANTLR's fast prediction refused wrongly: the grammar should have none
};

// Parses one file. Reports what is wrong (several errors, one per cause) and returns what could be parsed; the tree
// may hold error nodes then. Nodes are owned by `arena`, texts in them too.
ast::File parse(const SourceMap& sources, FileId file, Arena& arena, DiagnosticSink& diagnostics, const Limits& limits,
                ParseStats* stats = nullptr);

}  // namespace rcn
