// The lengths of dynamic dims, and what is padding.
//
// The padded size (extent) of a dim is the longest of its lengths, in every tensor. Lengths may depend on other dims
// (usually batch). Derived dims have the lengths that their atoms give, no less than 0, so equal dims have equal
// lengths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "runtime/tensor.h"

namespace rcn {

class Lengths {
 public:
  explicit Lengths(Dim batch) : batch_(batch) {}

  void set_batch(std::int64_t size);
  std::optional<std::int64_t> batch() const { return batch_size_; }

  // Gives a dynamic dim its lengths: an int tensor over the dims they depend on.
  void define(Dim dim, Named lengths);
  // Static dims, batch once its size is known, and dims whose atoms have lengths.
  bool has(Dim dim) const;

  // int64, over the dims that the lengths depend on (none for static dims and batch).
  const Named& of(Dim dim);
  std::int64_t extent(Dim dim);
  // The lengths aligned to `axes`; of those that differ along a dim that `axes` do not have, the longest.
  at::Tensor over(Dim dim, const Axes& axes);
  std::vector<std::int64_t> shape(const Axes& axes);

  // True where an entry is padding because of one of the dims `by`: bool, broadcasts against a tensor with `axes`.
  // Where lengths depend on a dim that `axes` do not have, the longest counts. Undefined if nothing is padding.
  at::Tensor padding(const Axes& axes, const Axes& by);
  at::Tensor padding(const Axes& axes) { return padding(axes, axes); }
  // The dims of `axes` that decide what is padding: dynamic ones with different lengths, and what those depend on.
  Axes padded(const Axes& axes);

  // How many valid entries a tensor with `axes` has.
  std::int64_t count_valid(const Axes& axes);

 private:
  struct Entry {
    Named lengths;
    std::int64_t extent = 0;
    bool full = true;              // all lengths are the extent
    std::optional<Named> padding;  // [lengths' dims..., dim], made when first asked for
  };
  Entry& entry(Dim dim);
  Named raw(Dim dim);
  void store(Dim dim, Named lengths);

  Dim batch_;
  std::optional<std::int64_t> batch_size_;
  std::unordered_map<Dim, Entry> entries_;
};

// Calls `f(a, b)` on two int tensors with their axes brought together.
template <class F>
Named combined(const Named& a, const Named& b, F f) {
  Axes axes = united(a.axes, b.axes);
  return {f(aligned(a, axes), aligned(b, axes)), axes};
}

}  // namespace rcn
