#include "compiler/syntax/text.h"

#include <cstdio>
#include <cstring>
#include <string>

namespace rcn {

namespace {

// The length of the well-formed sequence at `at`, or 0 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
std::size_t sequence_length(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  auto continues = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  unsigned a = byte(at), b = byte(at + 1);
  if (a < 0x80) return 1;
  if (a >= 0xC2 && a <= 0xDF) return continues(at + 1) ? 2 : 0;
  if (a >= 0xE0 && a <= 0xEF) {
    if ((a == 0xE0 && b < 0xA0) || (a == 0xED && b > 0x9F)) return 0;
    return continues(at + 1) && continues(at + 2) ? 3 : 0;
  }
  if (a >= 0xF0 && a <= 0xF4) {
    if ((a == 0xF0 && b < 0x90) || (a == 0xF4 && b > 0x8F)) return 0;
    return continues(at + 1) && continues(at + 2) && continues(at + 3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::optional<std::uint32_t> check_text(const SourceMap& sources, FileId file, DiagnosticSink& diagnostics,
                                        const Limits& limits) {
  std::string_view text = sources.text(file);
  if (text.size() > static_cast<std::size_t>(limits.file_bytes) || text.size() >= 0xFFFFFFFFu) {
    diagnostics
        .report(Diag::file_too_large, Span{file, 0, 0},
                {std::to_string(text.size()), std::to_string(limits.file_bytes)})
        .help(Diag::help_text, {"a higher limit is set with `--limit file_bytes=N`"});
    return {};
  }
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    diagnostics.report(Diag::text_is_utf16, Span{file, 0, 0}).help(Diag::help_text, {"save it as UTF-8"});
    return {};
  }
  std::size_t i = 0;
  while (i < text.size()) {
    // Eight ASCII bytes at a time; NUL is looked for below.
    std::uint64_t word = 0;
    if (i + 8 <= text.size()) {
      std::memcpy(&word, text.data() + i, 8);
      if ((word & 0x8080808080808080ull) == 0 &&
          ((word - 0x0101010101010101ull) & ~word & 0x8080808080808080ull) == 0) {
        i += 8;
        continue;
      }
    }
    if (text[i] == '\0') {
      diagnostics.report(Diag::text_has_nul,
                         Span{file, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + 1)});
      return {};
    }
    std::size_t length = sequence_length(text, i);
    if (length == 0) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "0x%02X", static_cast<unsigned char>(text[i]));
      diagnostics
          .report(Diag::text_not_utf8, Span{file, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + 1)},
                  {hex})
          .help(Diag::help_text, {"save the file as UTF-8"});
      return {};
    }
    i += length;
  }
  return text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
}

CodePoint code_point(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[at + i])); };
  char32_t a = byte(0);
  if (a < 0x80) return {a, 1};
  if (a < 0xE0) return {((a & 0x1F) << 6) | (byte(1) & 0x3F), 2};
  if (a < 0xF0) return {((a & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F), 3};
  return {((a & 0x07) << 18) | ((byte(1) & 0x3F) << 12) | ((byte(2) & 0x3F) << 6) | (byte(3) & 0x3F), 4};
}

void append_utf8(std::string& out, char32_t c) {
  auto put = [&](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

}  // namespace rcn
