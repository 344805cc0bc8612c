// The lengths of dynamic dims, and what is padding.
//
// The padded size (extent) of a dim is the longest of its lengths, in every tensor. Lengths may depend on other dims
// (usually batch). Derived dims have the lengths that their atoms give, no less than 0, so equal dims have equal
// lengths.
//
// Where a search makes a dim, its lengths have the axis of the beam (beam.h). Once they are decided, a tensor without
// that axis has the lengths of the best hypothesis.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/tensor.h"

namespace rcn {

// What runs around an operation: the steps of loops, and which entries take part there.
struct Surroundings {
  struct Mask {
    Named out;             // true: takes no part
    std::uint64_t region;  // another one for each mask that ever was
  };
  struct Step {
    Dim axis;
    std::int64_t index;
  };
  std::vector<Mask> masks;
  std::vector<Step> steps;
};

class Lengths {
 public:
  explicit Lengths(Dim batch) : batch_(batch) {}

  Dim batch_dim() const { return batch_; }
  void set_batch(std::int64_t size);
  std::optional<std::int64_t> batch() const { return batch_size_; }

  // Gives a dynamic dim its lengths: an int tensor over the dims they depend on. In a loop the same dim gets new ones
  // in each step.
  void define(Dim dim, Named lengths);
  // Static dims, batch once its size is known, and dims whose atoms have lengths.
  bool has(Dim dim) const;

  void forget(Dim dim);

  // int64, over the dims that the lengths depend on (none for static dims and batch); not as decided.
  const Named& of(Dim dim);
  // The same as a tensor without a beam has them.
  const Named& decided(Dim dim);
  std::int64_t extent(Dim dim);
  // The lengths for a tensor with `axes`: of those that differ along the axis of a running loop that `axes` do not
  // have, the ones of its step.
  Named seen_from(const Axes& axes, Dim dim);
  // The same aligned to `axes`; of lengths that differ along another dim that `axes` do not have, the longest.
  at::Tensor over(Dim dim, const Axes& axes);
  std::vector<std::int64_t> shape(const Axes& axes);

  // True where an entry is padding because of one of the dims `by`: bool, broadcasts against a tensor with `axes`.
  // Where lengths depend on a dim that `axes` do not have, the longest counts. What takes no part in the running step
  // or masked part is padding because of the mask's dims. Undefined if nothing is padding.
  at::Tensor padding(const Axes& axes, const Axes& by);
  at::Tensor padding(const Axes& axes) { return padding(axes, axes); }
  // The dims of `axes` that decide what is padding: dynamic ones with different lengths, and what those depend on.
  Axes padded(const Axes& axes);

  // The padding that is due to masks alone.
  at::Tensor masked_out(const Axes& axes, const Axes& by);
  at::Tensor masked_out(const Axes& axes) { return masked_out(axes, axes); }

  // While one lives, masks and steps may be added; then they are gone.
  class Inside {
   public:
    explicit Inside(Lengths& lengths)
        : lengths_(lengths), masks_(lengths.around_.masks.size()), steps_(lengths.around_.steps.size()) {}
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    void step(Dim axis, std::int64_t index) { lengths_.around_.steps.push_back({axis, index}); }
    // Entries whose `valid` (bool) is false take no part.
    void mask(const Named& valid);
    void leave_all() { left_ = std::exchange(lengths_.around_, {}); }

   private:
    Lengths& lengths_;
    std::size_t masks_, steps_;
    std::optional<Surroundings> left_;
  };
  // Of the innermost mask; 0 where there is none.
  std::uint64_t region() const { return around_.masks.empty() ? 0 : around_.masks.back().region; }

  // ---- a search
  using Change = std::function<Named(const Named&)>;
  // `move` brings what has the axis of a beam to the next one: all lengths and masks.
  void follow(Dim beam_axis, const Change& move);
  // From now on `dim` has, where a tensor does not have the axis, the lengths that `best` gives (without that axis).
  void decide(Dim dim, Dim beam_axis, const Change& best);
  bool is_decided(Dim dim) const;

  // How many valid entries a tensor with `axes` has.
  std::int64_t count_valid(const Axes& axes);

 private:
  struct Entry {
    Named lengths;
    std::int64_t extent = 0;
    bool full = true;              // all lengths are the extent
    std::optional<Named> padding;  // [lengths' dims..., dim], made when first asked for
  };
  Entry& entry(Dim dim, bool decided = false);
  // As a tensor with `axes` has them.
  Entry& entry_for(Dim dim, const Axes& axes) { return entry(dim, sees_decided(dim, axes)); }
  bool sees_decided(Dim dim, const Axes& axes) const;
  Named raw(Dim dim, bool decided);
  Entry made(Dim dim, Named lengths) const;
  void forget_derived(Dim atom);
  at::Tensor padding_by_lengths(const Axes& axes, const Axes& by, const Surroundings& around);

  Dim batch_;
  std::optional<std::int64_t> batch_size_;
  std::unordered_map<Dim, Entry> entries_;
  std::unordered_map<Dim, Entry> decided_;     // those that differ once decided
  std::unordered_map<Dim, Dim> decided_axes_;  // for each atom among them, the axis of the beam
  Surroundings around_;
  std::uint64_t regions_ = 0;
};

// Calls `f(a, b)` on two int tensors with their axes brought together.
template <class F>
Named combined(const Named& a, const Named& b, F f) {
  Axes axes = united(a.axes, b.axes);
  return {f(aligned(a, axes), aligned(b, axes)), axes};
}

}  // namespace rcn
