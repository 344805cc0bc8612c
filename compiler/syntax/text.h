// What a source text must be before the lexer sees it.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/base/limits.h"
#include "compiler/base/source.h"
#include "compiler/diag/diagnostic.h"

namespace rcn {

// Checks that the text is UTF-8 without NUL and not too long, and returns where it begins (after a byte order mark).
// Reports and returns nothing otherwise.
std::optional<std::uint32_t> check_text(const SourceMap& sources, FileId file, DiagnosticSink& diagnostics,
                                        const Limits& limits);

// The code point that begins at `at` in valid UTF-8, and its length in bytes.
struct CodePoint {
  char32_t value;
  std::uint32_t length;
};
CodePoint code_point(std::string_view text, std::size_t at);
void append_utf8(std::string& out, char32_t c);

}  // namespace rcn
