// The ends of a dtype.
#pragma once

#include "runtime/torch.h"

namespace rcn {

// Lowest and highest finite value, as RETURNN fills the padding for max and min.
at::Scalar extreme(at::ScalarType dtype, bool lowest);

}  // namespace rcn
