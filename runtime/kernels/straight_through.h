// A value that takes another's gradient.
#pragma once

#include "runtime/torch.h"

namespace rcn {

// `value` (of the shape of `x`, without gradient of its own); the gradient goes to `x` unchanged.
at::Tensor straight_through(const at::Tensor& x, const at::Tensor& value);

}  // namespace rcn
