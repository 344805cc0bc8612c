// First values of parameters.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/eval/backend.h"
#include "runtime/torch.h"

namespace rcn {

// On the CPU, in the order of the parameter's dims. Random ones depend on the seed, the path, the dims' sizes and the
// initialiser only; not on other parameters.
at::Tensor initial_value(const Parameter& parameter, std::uint64_t seed);

}  // namespace rcn
