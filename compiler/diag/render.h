// Diagnostics as text for people and as JSON for tools.
#pragma once

#include <cstddef>
#include <string>

#include "compiler/base/source.h"
#include "compiler/diag/diagnostic.h"

namespace rcn {

struct RenderOptions {
  std::size_t max_errors = 20;  // further ones are counted in a closing line
  bool color = false;           // text only: ANSI escapes
};

// `file:line:column: error: message [E0123]`, the source line with the place underlined, then notes with places of
// their own and help. Sorted by position. Empty without diagnostics.
std::string render_text(const DiagnosticSink& diagnostics, const SourceMap& sources, const RenderOptions& options = {});

// One object: `diagnostics` is an array with file, line, column, end_line, end_column (one-based, in characters; the
// end is exclusive; absent where there is no place), severity, code, name, message and notes (the same without code and
// name); `not_shown` counts the errors beyond max_errors.
std::string render_json(const DiagnosticSink& diagnostics, const SourceMap& sources, const RenderOptions& options = {});

std::string_view severity_name(Severity severity);

}  // namespace rcn
