// Files and their imports.
#include <doctest/doctest.h>

#include "tests/unit/models/models.h"
#include "tests/unit/sema/checked.h"

using namespace rcn;
using namespace rcn::test;

namespace {
using Texts = std::vector<std::pair<std::string, std::string>>;
LoadOptions import_dirs(std::vector<std::string> dirs) {
  LoadOptions options;
  options.import_dirs = std::move(dirs);
  return options;
}
}  // namespace

TEST_CASE("each file once, imported ones first") {
  Checked c(Texts{{"dir/m.rcn", "import \"a.rcn\" as a\nimport \"sub/b.rcn\" as b\nx = a.one + b.two\n"},
                  {"dir/a.rcn", "one = 1\n"},
                  {"dir/sub/b.rcn", "import \"../a.rcn\" as other\ntwo = other.one\n"}});
  CHECK(c.messages() == "");
  REQUIRE(c.program.files.size() == 3);
  CHECK(c.program.files[0].path == "dir/a.rcn");
  CHECK(c.program.files[1].path == "dir/sub/b.rcn");
  CHECK(c.program.main_file().path == "dir/m.rcn");
  CHECK(c.program.main_file().imports[0].file == 0);
  CHECK(c.program.main_file().imports[1].file == 1);
  CHECK(c.program.files[1].imports[0].file == 0);
}

TEST_CASE("the importing file's folder comes before import folders, and those in order") {
  Texts texts{{"m.rcn", "import \"a.rcn\" as a\nimport \"b.rcn\" as b\nx = a.here + b.first\n"},
              {"a.rcn", "here = 1\n"},
              {"inc/a.rcn", "wrong = 1\n"},
              {"inc/b.rcn", "first = 1\n"},
              {"lib/b.rcn", "wrong = 1\n"}};
  CHECK(Checked(texts, import_dirs({"inc", "lib"})).messages() == "");
}

TEST_CASE("modules of the standard library are no files") {
  Checked c("import nn\nfrom nn.init import glorot\nx = nn.relu(glorot())\n");
  CHECK(c.messages() == "");
  CHECK(c.program.main_file().imports[0].stdlib_module == "nn");
  CHECK(c.program.main_file().imports[1].stdlib_module == "nn.init");
}

TEST_CASE("imports that are not found") {
  Checked c(Texts{{"dir/m.rcn",
                   "import \"nothing.rcn\" as a\nimport \"blocks\" as b\nimport blocks\nimport nnn\nimport \"sub\" as "
                   "d\nx = a.y + b.z\n"},
                  {"dir/blocks.rcn", "q = 1\n"},
                  {"dir/sub/x.rcn", "q = 1\n"}},
            import_dirs({"inc"}));
  CHECK(c.messages() ==
        "dir/m.rcn:1:8: error: cannot find `nothing.rcn` [E0205]\n"
        "note: searched in `dir` and `inc`\n"
        "dir/m.rcn:2:8: error: cannot find `blocks` [E0205]\n"
        "note: searched in `dir` and `inc`\n"
        "help: did you mean `\"blocks.rcn\"`?\n"
        "dir/m.rcn:3:8: error: the standard library has no module `blocks` [E0206]\n"
        "help: a file is imported by its path: `import \"blocks.rcn\" as blocks`\n"
        "dir/m.rcn:4:8: error: the standard library has no module `nnn` [E0206]\n"
        "help: did you mean `nn`?\n"
        "dir/m.rcn:5:8: error: `dir/sub` is a folder [E0202]\n");
}

TEST_CASE("the main file") {
  SourceMap sources;
  Arena arena;
  DiagnosticSink diagnostics;
  MemoryFileSystem files;
  files.add("dir/m.rcn", "x = 1\n");
  files.add_unreadable("secret.rcn", "permission denied");
  for (const char* path : {"none.rcn", "dir", "secret.rcn"})
    CHECK(load_program(path, files, sources, arena, FakeStdlib(), diagnostics).files.empty());
  LoadOptions options;
  options.limits.file_bytes = 3;
  CHECK(load_program("dir/m.rcn", files, sources, arena, FakeStdlib(), diagnostics, options).files.empty());
  CHECK(render_text(diagnostics, sources) ==
        "error: there is no file `none.rcn` [E0201]\n"
        "error: `dir` is a folder [E0202]\n"
        "error: cannot read `secret.rcn`: permission denied [E0203]\n"
        "error: `dir/m.rcn` has more than 3 bytes [E0204]\n"
        "help: a higher limit is set with `--limit file_bytes=N`\n");
  CHECK(load_text("<stdin>", "import \"dir/m.rcn\" as m\n", files, sources, arena, FakeStdlib(), diagnostics)
            .files.size() == 2);
}

TEST_CASE("cycles of imports are shown as a chain") {
  Checked c(Texts{{"m.rcn", "import \"a.rcn\" as a\nx = a.y\n"},
                  {"a.rcn", "import \"b.rcn\" as b\ny = b.z\n"},
                  {"b.rcn", "import \"./a.rcn\" as a\nz = a.y\n"}});
  CHECK(c.messages() ==
        "b.rcn:1:8: error: `a.rcn` imports itself [E0207]\n"
        "a.rcn:1:8: note: `a.rcn` imports `b.rcn` here\n"
        "b.rcn:1:8: note: `b.rcn` imports `a.rcn` here\n");
  CHECK(Checked(Texts{{"m.rcn", "import \"m.rcn\" as m\nx = m.x\n"}}).messages() ==
        "m.rcn:1:8: error: `m.rcn` imports itself [E0207]\nm.rcn:1:8: note: `m.rcn` imports `m.rcn` here\n");
}

TEST_CASE("imports inside imports are limited") {
  Texts texts;
  for (int i = 0; i < 6; ++i)
    texts.emplace_back(std::to_string(i) + ".rcn", "import \"" + std::to_string(i + 1) + ".rcn\" as a\nx = a.x\n");
  texts.emplace_back("6.rcn", "x = 1\n");
  CHECK(Checked(texts).messages() == "");
  LoadOptions options;
  options.limits.import_depth = 3;
  CHECK(Checked(texts, options).messages() ==
        "3.rcn:1:8: error: imports are nested more than 3 deep [E0208]\n"
        "help: a higher limit is set with `--limit import_depth=N`\n");
}

TEST_CASE("an import needs a name") {
  CHECK(Checked(Texts{{"m.rcn", "import \"my-blocks.rcn\"\nimport \"lib.rcn\"\nx = lib.y\n"},
                      {"my-blocks.rcn", ""},
                      {"lib.rcn", "y = 1\n"}})
            .messages() ==
        "m.rcn:1:8: error: the file name of `my-blocks.rcn` is no name [E0209]\n"
        "help: write `import \"my-blocks.rcn\" as name`\n");
}

TEST_CASE("errors of all files are told at once") {
  Checked c(Texts{{"m.rcn", "import \"a.rcn\" as a\nx = a.f(1)\ny = unknown\nz = (1\n"},
                  {"a.rcn", "fn f() { return q }\n"},
                  {"b.rcn", ""}});
  CHECK(c.messages() ==
        "m.rcn:2:9: error: `f` takes at most 0 arguments by position [E0244]\n"
        "a.rcn:1:4: note: `f` is declared here\n"
        "m.rcn:3:5: error: unknown name `unknown` [E0232]\n"
        "m.rcn:4:7: error: missing `)` [E0130]\n"
        "m.rcn:4:5: note: the `(` was opened here\n"
        "a.rcn:1:17: error: unknown name `q` [E0232]\n");
}

TEST_CASE("names of imported files") {
  Texts texts{{"m.rcn",
               "import \"lib.rcn\" as lib\n"
               "from \"lib.rcn\" import Layer, Laier, nn, _hidden\n"
               "x = lib.Layer(1) + lib.Lier(1) + lib._hidden() + lib.nn.relu(1) + Layer(n=1, m=2)\n"},
              {"lib.rcn", "import nn\nmodule Layer(n) { a = nn.relu(n) }\nfn _hidden() { return 1 }\nx = _hidden()\n"}};
  CHECK(Checked(texts).messages() ==
        "m.rcn:2:30: error: `lib.rcn` has no `Laier` [E0236]\n"
        "help: did you mean `Layer`?\n"
        "m.rcn:2:37: error: `lib.rcn` has no `nn` [E0236]\n"
        "help: it is imported there, and imported names are not passed on: import it here too\n"
        "m.rcn:2:41: error: `_hidden` is private to `lib.rcn` [E0237]\n"
        "help: names that begin with `_` belong to their file\n"
        "m.rcn:3:24: error: `lib.rcn` has no `Lier` [E0236]\n"
        "help: did you mean `Layer`?\n"
        "m.rcn:3:38: error: `_hidden` is private to `lib.rcn` [E0237]\n"
        "help: names that begin with `_` belong to their file\n"
        "m.rcn:3:54: error: `lib.rcn` has no `nn` [E0236]\n"
        "help: it is imported there, and imported names are not passed on: import it here too\n"
        "m.rcn:3:78: error: `Layer` has no parameter `m` [E0243]\n"
        "help: its parameters are `n`\n"
        "lib.rcn:2:8: note: `Layer` is declared here\n");
}

TEST_CASE("the models have nothing to be said about") {
  Texts models;
  for (const ModelText& m : kModels) models.emplace_back(m.name, m.text);
  for (std::size_t i = 0; i < models.size(); ++i) {
    Texts texts{models[i]};
    for (auto& m : models) texts.push_back(m);
    CAPTURE(texts[0].first);
    CHECK(Checked(texts, {}, true).messages() == "");
  }
}

TEST_CASE("a check of damaged models ends") {
  for (const ModelText& m : kModels)
    for (std::size_t length = 1; length < m.text.size(); length += 331) {
      Checked c(Texts{{"m.rcn", std::string(m.text.substr(0, length))}}, {}, true);
      CHECK(c.program.files.size() == 1);
    }
  Checked hard(Texts{{"m.rcn", std::string(kHard.text)}}, {}, true);
  CHECK(hard.diagnostics.has_errors());
}
