// The stages in a row: text, tree, checks, evaluation, graph, text.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/arena.h"
#include "compiler/base/source.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/dims/dim.h"
#include "compiler/driver/options.h"
#include "compiler/eval/evaluator.h"
#include "compiler/ops/op_table.h"

namespace rcn {

// What all models of one run share: messages are sorted and printed together.
struct Messages {
  SourceMap sources;
  DiagnosticSink diagnostics;
};

// What one model's compilation owns.
struct Session {
  Session(const Options& o, Messages& m) : Session(o, m.sources, m.diagnostics) {}
  Session(const Options& o, SourceMap& s, DiagnosticSink& d)
      : options(o), sources(s), diagnostics(d), errors_before(d.error_count()) {}
  const Options& options;
  SourceMap& sources;
  DiagnosticSink& diagnostics;
  std::size_t errors_before;
  Arena arena;
  DimTable dims;
  DimLengths lengths;
  OpTable ops;
  OpContext context{dims, lengths, diagnostics, false};
  std::vector<UserFile> files;
  bool flags_only = false;  // `main` does not run
  std::string stage;  // what runs now, for the log

  bool failed() const { return diagnostics.error_count() > errors_before; }
};

// Loads and checks the model and its imports. False after errors.
bool load(Session& session, const std::string& model);
// Evaluates the loaded program with a backend. False after errors.
EvalResult run(Session& session, Backend& backend,
               std::function<bool(const std::vector<ExternInput>&)> declare_inputs = {}, Debugger* debugger = nullptr);
// Prints the diagnostics to stderr as the options say.
void print_diagnostics(const Messages& messages, const Options& options);
void print_diagnostics(const DiagnosticSink& diagnostics, const SourceMap& sources, const Options& options);

// The config text of a loaded model, and the parameters of its network; empty after errors.
struct Compiled {
  std::string text;
  std::vector<Parameter> parameters;
  std::string source_map;  // where the options ask for it
  std::string operations;  // for verify: see operation_map.h
};
Compiled compile(Session& session);

// Logs how long a stage took (-v).
class StageTimer {
 public:
  StageTimer(Session& session, const char* stage);
  ~StageTimer();

 private:
  Session& session_;
  std::string before_;
  std::int64_t start_;
};

}  // namespace rcn
