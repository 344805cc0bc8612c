// An eager run of one program, for the driver. Nothing of libtorch is seen here.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/limits.h"
#include "compiler/base/source.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/eval/backend.h"
#include "compiler/eval/op.h"

namespace rcn {

class Debugger;
class EagerDebugger;

// As on the command line.
struct EagerOptions {
  std::vector<std::string> data;            // --data NAME=FILE[:KEY] or NAME=[[1, 2], [3]]
  std::optional<std::int64_t> batch;        // --batch
  std::vector<std::string> time;            // --time DIM=7,5,2
  std::uint64_t seed = 42;                  // --seed
  std::optional<std::int64_t> sample_rate;  // --sample-rate
  std::string params;                       // --params FILE; empty: first values
  std::string rename_map;                   // --rename-map FILE
  bool params_partial = false;              // --params-partial
  std::string save_params;                  // --save-params FILE
  std::optional<std::string> trace;         // --trace[=WHAT]; "*" for all
  bool trace_json = false;                  // --trace-format json
  std::vector<std::string> print;           // --print WHAT
  bool padding = false;                     // --padding: printed tensors with their padding
  bool full = false;                        // --full: large ones too
  std::vector<std::string> save;            // --save FILE.npz[:WHAT]
  std::string record;                       // --record DIR
  std::string html;                         // --html FILE
  bool summary = false;                     // --summary
  bool check_finite = false;                // --check-finite
  bool check_padding = false;               // --check-padding
  bool grad_check = false;                  // --grad-check
  std::optional<std::int64_t> fit;          // --fit STEPS
  double learning_rate = 1e-3;              // --lr
  bool json = false;
  bool quiet = false;  // -q: errors only
  bool grad = false;
  bool train = false;          // what a dynamic train flag is
  std::int64_t step = 0;       // --step
  std::optional<int> threads;  // --threads
  std::int64_t loop_frames = Limits{}.loop_frames;
  EagerDebugger* debugger = nullptr;  // --debug, --break
};

// A further evaluation of the program: what the front end made for it. All of it is gone when its user returns.
struct Evaluation {
  DiagnosticSink& sink;  // of this evaluation alone
  const DimTable& dims;
  const DimLengths& known;
  // False after errors. The debugger may be null.
  std::function<bool(Backend&, std::function<bool(const std::vector<ExternInput>&)> declare_inputs, Debugger*)> evaluate;
};
using Anew = std::function<void(const std::function<void(Evaluation&)>& use)>;

// Construct it, train if that is wanted, declare the externs, evaluate the program with backend(), then finish().
class EagerRun {
 public:
  // Trace lines go to `out` as operations run, to `err` with `json`.
  EagerRun(EagerOptions options, const SourceMap& sources, DiagnosticSink& sink, const DimTable& dims,
           const DimLengths& known, std::ostream& out, std::ostream& err);
  ~EagerRun();
  EagerRun(const EagerRun&) = delete;
  EagerRun& operator=(const EagerRun&) = delete;

  // How the program is evaluated anew, for options that need that.
  void set_anew(Anew anew);
  // What comes before the run: --fit. False after errors, which are in the sink.
  bool prepare();
  // All externs that the program declares, before it is evaluated: data and lengths are compared among them. False
  // after errors, which are in the sink.
  bool declare_inputs(const std::vector<ExternInput>& externs);
  Backend& backend();
  // Shows and saves the results. Does nothing if the sink has errors. The exit code: 0, or 1 after errors.
  int finish();
  // After a run with errors: the page of what was computed.
  void failed();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rcn
