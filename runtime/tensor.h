// Tensors with named axes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/dims/dim.h"
#include "compiler/dims/type.h"
#include "compiler/eval/value.h"
#include "runtime/torch.h"

namespace rcn {

using Axes = std::vector<Dim>;

// A libtorch tensor and the dim of each of its axes. The order of the axes is whatever was cheapest; no result depends
// on it. A dim may occur twice (weights); the occurrences keep the order of the type.
struct Named {
  at::Tensor value;
  Axes axes;

  bool has(Dim d) const;
  std::int64_t index(Dim d) const;  // of its first occurrence; the tensor has it
};

// What the eager backend holds for a tensor of the program.
struct EagerTensor : TensorData, Named {
  EagerTensor(TensorType t, Named named) : TensorData(std::move(t)), Named(std::move(named)) {}
};

const EagerTensor& eager(const Tensor& tensor);

at::ScalarType scalar_type(DType dtype);

// `axes` with those of `more` that they do not have, in order; a dim that `more` has twice occurs twice.
Axes united(Axes axes, const Axes& more);
// `axes` without the first occurrence of each of `removed`.
Axes without(Axes axes, const Axes& removed);
bool contains(const Axes& axes, Dim d);

// `x` with its axes in the order of `target`; size 1 for those that it does not have, so that torch's broadcasting pairs
// the axes by dim. `target` has all axes of `x`.
at::Tensor aligned(const Named& x, const Axes& target);

// `x` with `last` as its last axes, the others before them in their order.
Named with_last(const Named& x, const Axes& last);

}  // namespace rcn
