// Bytes that are no text, limits, and input that nobody wrote by hand.
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "compiler/base/big_stack.h"
#include "compiler/syntax/text.h"
#include "tests/unit/models/models.h"
#include "tests/unit/syntax/parsed.h"

using namespace rcn;
using namespace rcn::test;

TEST_CASE("what is no UTF-8 text is refused") {
  CHECK(Parsed(std::string("x = 1\0y", 7)).messages() ==
        "m.rcn:1:6: error: the file has a NUL byte: it is no text [E0103]\n");
  CHECK(Parsed("x = 1\n\xFF").messages() ==
        "m.rcn:2:1: error: the byte 0xFF is not UTF-8 [E0104]\nhelp: save the file as UTF-8\n");
  CHECK(Parsed(std::string("\xFF\xFEx\0", 4)).messages() ==
        "m.rcn:1:1: error: the file is UTF-16, not UTF-8 [E0102]\nhelp: save it as UTF-8\n");
  // Overlong, surrogate, beyond U+10FFFF, cut off.
  for (const char* bad : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xC3", "\x80",
                          "aaaaaaaaaaaaaaa\xC3("}) {
    CAPTURE(bad);
    CHECK(Parsed("# " + std::string(bad)).diagnostics.error_count() == 1);
  }
  CHECK(Parsed("# \xE2\x82\xAC \xF0\x9F\x98\x80\nx = \"\xC3\xA9\"").messages() == "");
}

TEST_CASE("code points") {
  std::string text;
  for (char32_t c : {U'a', U'\u00e9', U'\u20ac', U'\U0001F600'}) append_utf8(text, c);
  CHECK(text == "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(code_point(text, 1).value == U'\u00e9');
  CHECK(code_point(text, 3).value == U'\u20ac');
  CHECK(code_point(text, 6).value == U'\U0001F600');
  CHECK(code_point(text, 6).length == 4);
}

TEST_CASE("a file that is too long is not read") {
  Limits limits;
  limits.file_bytes = 10;
  CHECK(Parsed("x = 123456789", limits).messages() ==
        "m.rcn:1:1: error: the file has 13 bytes, more than 10 [E0101]\nhelp: a higher limit is set with `--limit "
        "file_bytes=N`\n");
}

TEST_CASE("nesting is limited before anything recurses") {
  Limits limits;
  limits.nesting = 10;
  auto repeated = [](const std::string& s, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += s;
    return out;
  };
  auto too_deep = [&](const std::string& text) {
    Parsed p(text, limits);
    return p.diagnostics.size() == 1 && p.diagnostics.items()[0].kind == Diag::nesting_limit;
  };
  struct Case {
    std::string open, middle, close;
  };
  for (const Case& c :
       {Case{"(", "x", ")"}, Case{"[", "x", "]"}, Case{"{a: ", "x", "}"}, Case{"f(", "x", ")"}, Case{"- ", "x", ""},
        Case{"not ", "x", ""}, Case{"x ** ", "x", ""}, Case{"x if y else ", "x", ""}, Case{"fn() => ", "x", ""},
        Case{"", "x", ".a"}, Case{"", "x", "(1)"}, Case{"", "x", "[0]"}}) {
    CAPTURE(c.open);
    CAPTURE(c.close);
    CHECK_FALSE(too_deep("y = " + repeated(c.open, 4) + c.middle + repeated(c.close, 4)));
    CHECK(too_deep("y = " + repeated(c.open, 11) + c.middle + repeated(c.close, 11)));
  }
  CHECK(too_deep(repeated("if x { ", 11) + repeated("}", 11)));
  // What stands side by side is not nested.
  for (std::string flat : {"y = [" + repeated("-x, ", 100) + "]", "y = " + repeated("-x ** 2 + ", 100) + "1",
                           "y = " + repeated("f(x).a + ", 100) + "1", "y = " + repeated("not a and ", 100) + "b",
                           "y = [" + repeated("a if b else c, ", 100) + "]", "if a { } " + repeated("elif b { } ", 100),
                           repeated("if a { } else { }\n", 100)}) {
    CAPTURE(flat);
    CHECK(Parsed(flat, limits).messages() == "");
  }
}

TEST_CASE("the deepest nesting that can be asked for is parsed") {
  Limits limits;
  limits.nesting = 1'000'000;
  std::string open, close;
  for (int i = 0; i < 990; ++i) {
    open += "(";
    close += ")";
  }
  std::size_t errors[3] = {9, 9, 9};
  on_big_stack([&] {
    errors[0] = Parsed("x = " + open + "y" + close, limits).diagnostics.error_count();
    // LL prediction and recovery go the same way down.
    errors[1] = Parsed("x = " + open + "y y" + close, limits).diagnostics.error_count();
    errors[2] = Parsed("x = " + open + open + "y" + close + close, limits).diagnostics.error_count();
  });
  CHECK(errors[0] == 0);
  CHECK(errors[1] == 1);
  CHECK(errors[2] == 1);
}

namespace {

// Whatever comes in: no crash, an end, and a reason for each failure.
void survives(const std::string& text) {
  Parsed p(text);
  bool whole = true;
  for (ast::Stmt* s : p.file.body) whole = whole && s->kind != ast::StmtKind::error;
  bool failed = p.diagnostics.has_errors();
  INFO(text);
  CHECK((whole || failed));
  CHECK(p.diagnostics.error_count() <= text.size() + 1);
  if (failed) CHECK(p.rendered() != "");
}

}  // namespace

TEST_CASE("truncated models") {
  for (const ModelText& m : kModels)
    for (std::size_t length = 1; length < m.text.size(); length += 97) survives(std::string(m.text.substr(0, length)));
}

TEST_CASE("mutated models") {
  std::mt19937 random(1);
  auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  static constexpr std::string_view kPieces[] = {
      "(",     ")",    "[",  "]",         "{",         "}",        ",",      ":",     "=",    "\n",   "\"",
      "#",     "##",   ".",  "...",       "if",        "else",     "fn ",    "loop ", "for ", " in ", "loss ",
      "with ", "-",    "**", "'",         "\\",        "\xC3\xA9", "0x",     "1.",    ";",    "=>",   "->",
      "?",     "not ", "@",  "network {", "module A(", "/*",       "\"\"\"", "\r",    "\t",   "&&",   "while "};
  for (const ModelText& m : kModels)
    for (int round = 0; round < 40; ++round) {
      std::string text(m.text);
      for (std::size_t edits = 1 + below(3); edits > 0; --edits) {
        std::size_t at = below(text.size());
        switch (below(4)) {
          case 0: text.erase(at, 1 + below(8)); break;
          case 1: text.insert(at, kPieces[below(std::size(kPieces))]); break;
          case 2: text.replace(at, 1, kPieces[below(std::size(kPieces))]); break;
          default: {
            std::size_t end = std::min(text.size(), at + 1 + below(60));
            text.insert(below(text.size()), text.substr(at, end - at));
          }
        }
      }
      survives(text);
    }
}

TEST_CASE("random tokens") {
  static constexpr std::string_view kWords[] = {
      "if ",     "elif ",   "else ",    "for ",    "in ",   "loop ",  "over ",   "max ",    "with ", "masked ",
      "fn ",     "module ", "network ", "import ", "from ", "as ",    "return ", "assert ", "dim ",  "param ",
      "extern ", "option ", "flag ",    "mode ",   "loss ", "stack ", "x ",      "y ",      "1 ",    "2.5 ",
      "\"s\" ",  "( ",      ") ",       "[ ",      "] ",    "{ ",     "} ",      ", ",      ": ",    "= ",
      "=> ",     "-> ",     "+ ",       "- ",      "* ",    "** ",    ". ",      "... ",    "? ",    "== ",
      "not ",    "and ",    "\n",       "\n",      "\n",    "; ",     "true "};
  std::mt19937 random(2);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (std::size_t n = 1 + random() % 40; n > 0; --n) text += kWords[random() % std::size(kWords)];
    survives(text);
  }
}

TEST_CASE("random bytes") {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (std::size_t n = random() % 200; n > 0; --n) text += static_cast<char>(random() % 128);
    survives(text);
  }
}
