// A program of several files, loaded and checked, and what was said about it.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/sema/check.h"
#include "compiler/sema/loader.h"
#include "tests/unit/syntax/parsed.h"

namespace rcn::test {

// A small standard library; with `all`, one that has every name.
class FakeStdlib : public StdlibNames {
 public:
  explicit FakeStdlib(bool all = false) : all_(all) {}
  bool has_module(std::string_view m) const override { return m == "nn" || m == "nn.init"; }
  std::vector<std::string> modules() const override { return {"nn", "nn.init"}; }
  bool has_name(std::string_view m, std::string_view name) const override {
    std::vector<std::string> all = names(m);
    return all_ || std::find(all.begin(), all.end(), name) != all.end();
  }
  std::vector<std::string> names(std::string_view m) const override {
    if (m == "nn.init") return {"glorot", "zeros"};
    return {"Linear", "LSTM", "dropout", "relu", "softmax", "zeros"};
  }
  std::optional<std::vector<std::string>> parameters(std::string_view m, std::string_view name) const override {
    if (all_) return {};
    if (m == "nn" && name == "dropout") return std::vector<std::string>{"x", "p", "axis"};
    if (m == "nn" && name == "Linear") return std::vector<std::string>{"in_dim", "out_dim", "with_bias"};
    return {};
  }

  std::vector<std::string> flags() const override { return {"freeze"}; }

 private:
  bool all_;
};

struct Checked {
  SourceMap sources;
  Arena arena;
  DiagnosticSink diagnostics;
  MemoryFileSystem files;
  LoadOptions options;
  Program program;

  // The first file is the main one.
  explicit Checked(const std::vector<std::pair<std::string, std::string>>& texts, LoadOptions load_options = {},
                   bool all_of_stdlib = false)
      : options(std::move(load_options)) {
    for (auto& [name, text] : texts) files.add(name, text);
    FakeStdlib stdlib(all_of_stdlib);
    program = load_program(texts[0].first, files, sources, arena, stdlib, diagnostics, options);
    check_program(program, stdlib, diagnostics);
  }
  explicit Checked(const std::string& text) : Checked({{"m.rcn", text}}) {}
  std::string messages() const { return without_excerpts(render_text(diagnostics, sources, {.max_errors = 1000})); }
};

}  // namespace rcn::test
