// Tensors with named axes.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compiler/dims/dim.h"
#include "compiler/dims/dim_list.h"
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

// With a beam, each hypothesis of a search has a value of its own: the beam's axis is among the axes.
struct Beam;
using BeamPtr = std::shared_ptr<const Beam>;
struct Held : Named {
  Held() = default;
  Held(Named named, BeamPtr of) : Named(std::move(named)), beam(std::move(of)) {}
  template <class T>
    requires std::same_as<std::remove_cvref_t<T>, Named>
  Held(T&& named) : Named(std::forward<T>(named)) {}

  BeamPtr beam;
};

// What the eager backend holds for a tensor of the program. Of a history, the frames so far are stacked in front of the
// axes: its value has one axis more.
struct EagerTensor : TensorData, Held {
  EagerTensor(TensorType t, Held held, std::uint64_t made_in = 0)
      : TensorData(std::move(t)), Held(std::move(held)), region(made_in) {}

  std::uint64_t region;  // of Lengths, in which it was made
};

const EagerTensor& eager(const Tensor& tensor);

// The same tensor with `type`, whose dims may be in another order; the evaluator gives it traits of its own.
Tensor retyped(const Tensor& tensor, const TensorType& type);

// Why libtorch refused, in one line and our words where memory is the reason.
std::string torch_reason(const c10::Error& error);

at::ScalarType scalar_type(DType dtype);

// While one lives, float16 and float32 are computed in float64.
class DoublePrecision {
 public:
  DoublePrecision();
  ~DoublePrecision();
  DoublePrecision(const DoublePrecision&) = delete;
  DoublePrecision& operator=(const DoublePrecision&) = delete;
};

// Takes the axes of a tensor by dim, each once; of a dim that occurs twice the first occurrence first.
class AxisTaker {
 public:
  explicit AxisTaker(const Axes& axes) : axes_(axes), used_(axes.size(), false) {}
  // The index of the axis, or -1 if there is none left.
  std::int64_t take(Dim d);
  std::vector<std::int64_t> take_all(const Axes& dims);  // the tensor has them
  std::vector<std::int64_t> rest() const;

 private:
  const Axes& axes_;
  std::vector<bool> used_;
};

// `x` with its axes in the order of `target`; size 1 for those that it does not have, so that torch's broadcasting
// pairs the axes by dim. `target` has all axes of `x`.
at::Tensor aligned(const Named& x, const Axes& target);

// `x` with `last` as its last axes, the others before them in their order.
Named with_last(const Named& x, const Axes& last);

}  // namespace rcn
