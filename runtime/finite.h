// `--check-finite`: stops where a NaN or infinity first appears.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "runtime/eager_backend.h"

namespace rcn {

// Reports an operation that makes a NaN in a valid frame out of inputs without one, or an infinity out of finite inputs,
// and an input or parameter with either: then false. An infinity that the program writes down itself, as in
// `nn.where(mask, x, float("-inf"))`, is meant.
bool check_finite(const Produced& made, Lengths& lengths, DiagnosticSink& sink);

}  // namespace rcn
