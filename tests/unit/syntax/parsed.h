// A text parsed, and what was said about it.
#pragma once

#include <string>

#include "compiler/diag/render.h"
#include "compiler/syntax/parse.h"

namespace rcn::test {

// The rendered text without the excerpts of the source: one line a message.
inline std::string without_excerpts(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = text.find('\n', i);
    std::string line = text.substr(i, end - i);
    std::size_t bar = line.find_first_not_of(" 0123456789");
    if (bar == std::string::npos || line[bar] != '|') result += line + "\n";
    i = end + 1;
  }
  return result;
}

struct Parsed {
  SourceMap sources;
  Arena arena;
  DiagnosticSink diagnostics;
  ParseStats stats;
  ast::File file;

  explicit Parsed(std::string text, const Limits& limits = {}) {
    file = parse(sources, sources.add("m.rcn", std::move(text)), arena, diagnostics, limits, &stats);
  }
  std::string rendered() const { return render_text(diagnostics, sources, {.max_errors = 1000}); }
  std::string messages() const { return without_excerpts(rendered()); }
};

}  // namespace rcn::test
