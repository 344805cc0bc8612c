// What operations are made of that pick entries along an axis.
#pragma once

#include "runtime/kernel.h"

namespace rcn {

// The entries of `x` along `axis` at `index`, an int64 tensor over some axes of `x`, `new_axis` and others that come in
// addition; values that are out of range are clamped. What comes back for padding is dropped.
Named picked(KernelCall& call, const Named& x, Dim axis, const Named& index, const Axes& index_new);

}  // namespace rcn
