// What the steps of parse() share: the text, and where errors were reported already.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/token.h"

namespace rcn {

struct ParseContext {
  FileId file;
  std::string_view text;
  DiagnosticSink& diagnostics;
  // Where an error was reported. Its statement is not looked at again: one message per cause.
  std::vector<std::uint32_t> marks;
  // A `}` too many, or a colon for `{`: what stands in which block is a guess.
  bool blocks_unsure = false;

  Span span(std::uint32_t begin, std::uint32_t end) const { return {file, begin, end}; }
  Span span(const Token& t) const { return {file, t.begin, t.end}; }
  std::string_view text_of(const Token& t) const { return text.substr(t.begin, t.end - t.begin); }
  bool is_newline(const Token& t) const { return t.type == Tk::SEP && !t.bad && text[t.begin] != ';'; }

  DiagnosticSink::Builder report(Diag kind, Span where, std::vector<std::string> args = {}) {
    marks.push_back(where.begin);
    return diagnostics.report(kind, where, std::move(args));
  }
};

inline std::string quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

}  // namespace rcn
