// One evaluation of the program on tensors, with all that belongs to it alone. A run has one; what trains or compares
// makes further ones.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "runtime/data/batch.h"
#include "runtime/eager.h"
#include "runtime/eager_backend.h"

namespace rcn {

using ParamValues = std::map<std::string, at::Tensor>;  // by path

// How a further pass differs from the run.
struct Changes {
  const Batch* batch = nullptr;         // its data; null: as the options say
  const ParamValues* params = nullptr;  // in place of those of the file, and of first values
  std::optional<bool> grad;
  std::int64_t steps = 0;  // training steps later: other masks of dropout
};

struct Pass {
  Pass(const EagerOptions& options, DiagnosticSink& sink, const DimTable& dims, const DimLengths& known,
       const Changes& changes = {});
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  // Data of the run, once it is declared.
  bool declare(const std::vector<ExternInput>& externs) { return inputs.declare(externs); }

  Dim batch;
  bool grad;
  RunState run;
  Inputs inputs;
  Params params;
  EagerBackend backend;
};

// What a run computed with.
ParamValues values_of(const Params& params);

// Evaluates the program once more. `before` sees the pass before anything is computed, `after` what has become of it;
// with it the pass is gone. After errors, which are added to `sink` with `what` as a note, `after` is not called:
// false; a debugger then sees the pass once more, up to the error.
bool run_pass(const Anew& anew, const EagerOptions& options, const Changes& changes, const std::string& what,
              DiagnosticSink& sink, const std::function<void(Pass&)>& before, const std::function<void(Pass&)>& after);

}  // namespace rcn
