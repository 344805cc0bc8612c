// `--grad-check`: gradients against finite differences.
#pragma once

#include <iosfwd>

#include "runtime/pass.h"

namespace rcn {

// In float64, for some entries of each trainable parameter: that of the largest gradient, and others at random. Those
// that differ are errors with the parameter's place; `out`, if given, gets a line for each parameter.
bool check_gradients(const Anew& anew, const EagerOptions& options, const Batch& batch, const ParamValues& params,
                     DiagnosticSink& sink, std::ostream* out);

}  // namespace rcn
