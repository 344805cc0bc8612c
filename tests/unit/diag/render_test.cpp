// Diagnostics as text and as JSON.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "compiler/diag/render.h"

using namespace rcn;

namespace {

struct Report {
  SourceMap sources;
  DiagnosticSink sink;
  FileId file;
  explicit Report(std::string text) : file(sources.add("m.rcn", std::move(text))) {}
  Span at(std::string_view what, std::size_t from = 0) const {
    auto begin = static_cast<std::uint32_t>(sources.text(file).find(what, from));
    return {file, begin, begin + static_cast<std::uint32_t>(what.size())};
  }
  std::string text(const RenderOptions& options = {}) const { return render_text(sink, sources, options); }
};

}  // namespace

TEST_CASE("a diagnostic with notes and help") {
  Report r("lin = 1\nx = foo(lni)\n");
  r.sink.report(Diag::unknown_name, r.at("lni"), {"lni"})
      .help(Diag::help_did_you_mean, {"`lin`"})
      .note(Diag::note_declared_here, r.at("lin"), {"lin"});
  CHECK(r.text() ==
        "m.rcn:2:9: error: unknown name `lni` [E0232]\n"
        "    2 | x = foo(lni)\n"
        "      |         ^~~\n"
        "help: did you mean `lin`?\n"
        "m.rcn:1:1: note: `lin` is declared here\n"
        "    1 | lin = 1\n"
        "      | ^~~\n");
}

TEST_CASE("places without width, at the end of a line and of the file") {
  Report r("x = (1\ny");
  r.sink.report(Diag::missing_closer, {r.file, 6, 6}, {")"});
  r.sink.report(Diag::no_effect, {r.file, 8, 8});
  CHECK(r.text() ==
        "m.rcn:1:7: error: missing `)` [E0130]\n"
        "    1 | x = (1\n"
        "      |       ^\n"
        "m.rcn:2:2: error: has no effect [E0219]\n"
        "    2 | y\n"
        "      |  ^\n");
}

TEST_CASE("a place of several lines is marked to the end of its first") {
  Report r("x = f(a,\n      b)\n");
  r.sink.report(Diag::no_effect, {r.file, 4, 16});
  CHECK(r.text() == "m.rcn:1:5: error: has no effect [E0219]\n    1 | x = f(a,\n      |     ^~~~\n");
}

TEST_CASE("without a place") {
  Report r("");
  r.sink.report(Diag::file_missing, Span(), {"a.rcn"});
  CHECK(r.text() == "error: there is no file `a.rcn` [E0201]\n");
}

TEST_CASE("tabs, wide and combining characters keep the mark under its place") {
  Report r("\tx = \"\xE4\xBD\xA0\xE5\xA5\xBD\" + y\nz = \"e\xCC\x81\" + w\n");
  r.sink.report(Diag::unknown_name, r.at("y"), {"y"});
  r.sink.report(Diag::unknown_name, r.at("w"), {"w"});
  CHECK(r.text() ==
        "m.rcn:1:13: error: unknown name `y` [E0232]\n"
        "    1 | \tx = \"\xE4\xBD\xA0\xE5\xA5\xBD\" + y\n"
        "      | \t             ^\n"
        "m.rcn:2:12: error: unknown name `w` [E0232]\n"
        "    2 | z = \"e\xCC\x81\" + w\n"
        "      |           ^\n");
}

TEST_CASE("a source does not steer the terminal") {
  Report r("x = \"\x1B[31m\" \xFF\xE2\x80\xAE + y\n");
  r.sink.report(Diag::unknown_name, r.at("y"), {"y"});
  std::string text = r.text();
  CHECK(text.find('\x1B') == std::string::npos);
  CHECK(text.find('\xFF') == std::string::npos);
  CHECK(text.find("\xE2\x80\xAE") == std::string::npos);
}

TEST_CASE("of a long line the part around the place is shown") {
  Report r(std::string(1000, 'a') + "!" + std::string(1000, 'b'));
  r.sink.report(Diag::unexpected_character, {r.file, 1000, 1001}, {"`!`"});
  std::string text = r.text();
  CHECK(text.size() < 500);
  CHECK(text.find("...aaa") != std::string::npos);
  CHECK(text.find("!bbb") != std::string::npos);
  std::size_t line = text.find("| ...") + 2;
  std::size_t mark = text.find("| ", line) + 2;
  CHECK(text.find('!', line) - line == text.find('^', mark) - mark);
}

TEST_CASE("sorted by position; repeats dropped; a limited number shown") {
  Report r("a\nb\nc\nd\n");
  for (std::uint32_t at : {6u, 2u, 4u, 0u, 2u}) r.sink.report(Diag::no_effect, {r.file, at, at + 1});
  r.sink.report(Diag::unused_import, {r.file, 0, 1}, {"a"});
  RenderOptions options;
  options.max_errors = 2;
  CHECK(r.text(options) ==
        "m.rcn:1:1: error: has no effect [E0219]\n"
        "    1 | a\n"
        "      | ^\n"
        "m.rcn:1:1: warning: `a` is imported and never used [E0210]\n"
        "    1 | a\n"
        "      | ^\n"
        "m.rcn:2:1: error: has no effect [E0219]\n"
        "    2 | b\n"
        "      | ^\n"
        "2 more errors not shown\n");
  options.max_errors = 3;
  CHECK(r.text(options).ends_with("1 more error not shown\n"));
  options.max_errors = 4;
  CHECK(r.text(options).find("not shown") == std::string::npos);
}

TEST_CASE("colour only when asked for") {
  Report r("a\n");
  r.sink.report(Diag::no_effect, {r.file, 0, 1});
  CHECK(r.text().find('\033') == std::string::npos);
  RenderOptions options;
  options.color = true;
  CHECK(r.text(options).find("\033[1;31merror:\033[0m") != std::string::npos);
}

TEST_CASE("JSON") {
  Report r("x = \"\xC3\xA9\" + lni\n");
  r.sink.report(Diag::unknown_name, r.at("lni"), {"lni"})
      .help(Diag::help_did_you_mean, {"`\"lin\"`"})
      .note(Diag::note_declared_here, r.at("x"), {"x"});
  r.sink.report(Diag::file_missing, Span(), {"a.rcn"});
  CHECK(render_json(r.sink, r.sources) == R"({
  "diagnostics": [
    {
      "severity": "error",
      "code": "E0201",
      "name": "file_missing",
      "message": "there is no file `a.rcn`",
      "notes": []
    },
    {
      "file": "m.rcn",
      "line": 1,
      "column": 11,
      "end_line": 1,
      "end_column": 14,
      "severity": "error",
      "code": "E0232",
      "name": "unknown_name",
      "message": "unknown name `lni`",
      "notes": [
        {
          "severity": "help",
          "message": "did you mean `\"lin\"`?"
        },
        {
          "file": "m.rcn",
          "line": 1,
          "column": 1,
          "end_line": 1,
          "end_column": 2,
          "severity": "note",
          "message": "`x` is declared here"
        }
      ]
    }
  ],
  "not_shown": 0
}
)");
  CHECK(render_json(DiagnosticSink(), r.sources) == "{\n  \"diagnostics\": [],\n  \"not_shown\": 0\n}\n");
}

TEST_CASE("the table of diagnostics") {
  std::set<std::string_view> codes, names;
  for (const DiagInfo& info : all_diagnostics()) {
    CAPTURE(info.name);
    CHECK(names.insert(info.name).second);
    bool message = info.severity == Severity::error || info.severity == Severity::warning;
    CHECK(message == !info.code.empty());
    if (!message) continue;
    CHECK(codes.insert(info.code).second);
    CHECK(info.code.size() == 5);
    CHECK(info.code[0] == 'E');
    CHECK_FALSE(info.text.ends_with('.'));
    bool capital = info.text[0] >= 'A' && info.text[0] <= 'Z';
    CHECK_FALSE(capital);
  }
}
