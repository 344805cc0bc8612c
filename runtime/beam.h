// Hypotheses of a beam search. They are an axis that no type has: what depends on a choice has it among its axes.
//
// A choice makes a beam out of the one before. Whatever was made earlier follows the hypotheses that were chosen: where
// tensors meet, all are moved to the latest beam of their search. So the lengths of dims and the masks, which are kept
// for the whole search at once, are always those of the latest beam.
#pragma once

#include <deque>
#include <memory>

#include "runtime/tensor.h"

namespace rcn {

class Search;

struct Beam {
  Search* search = nullptr;
  Dim axis = nullptr;  // static
  BeamPtr parent;      // null: there was one hypothesis before
  at::Tensor source;   // [batch, axis]: the hypothesis of the parent that each goes on from
  at::Tensor scores;   // [batch, axis], float32
  at::Tensor labels;   // [batch, axis]: what was chosen
  at::Tensor ended;    // [batch, axis], bool: had ended before, so the label is none; undefined: none had
  double divisor = 1;  // of the scores, once the search is over

  Beam() = default;
  Beam(const Beam&) = delete;
  Beam& operator=(const Beam&) = delete;
  ~Beam();  // not recursive: there is one for each step
};

class Search {
 public:
  explicit Search(Dim batch_dim) : batch(batch_dim) {}
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  const Dim batch;
  BeamPtr latest;  // null before the first choice

  // The axis of its beams of that size.
  Dim axis(std::int64_t size);
  bool has_axis(Dim d) const;

 private:
  std::deque<DimNode> axes_;
};

// All searches of a run.
class Searches {
 public:
  explicit Searches(Dim batch) : batch_(batch) {}

  Dim batch() const { return batch_; }
  bool empty() const { return all_.empty(); }
  Search& begin() { return all_.emplace_back(batch_); }
  // The latest beam of the search one of whose axes is among these; null: they have none.
  BeamPtr beam_of(const Axes& axes) const;
  // Lengths or a mask, which are always those of the latest beam.
  Held held(const Named& x) const { return {x, beam_of(x.axes)}; }

 private:
  Dim batch_;
  std::deque<Search> all_;
};

// The latest beam of the search of `a` or `b`, which is one; either may be null.
BeamPtr common_beam(const BeamPtr& a, const BeamPtr& b);

// `index` [batch, n]: the entries along the axis `from` of `x` that become those along `to`, for each sequence.
Named taken(const Named& x, Dim batch, Dim from, const at::Tensor& index, Dim to);

// Moves what belongs to an earlier beam. Quick for the newest first.
class Lineage {
 public:
  explicit Lineage(BeamPtr to) : to_(std::move(to)) {}
  // What has no beam stays as it is.
  Named moved(const Held& x);

 private:
  BeamPtr to_, at_;
  at::Tensor index_;  // [batch, axis of to_]: hypotheses of at_
};

Held latest(const Held& x);
Tensor latest(const Tensor& x);

// With their axes and beams brought together.
template <class F>
Held combined(const Held& a, const Held& b, F f) {
  BeamPtr beam = common_beam(a.beam, b.beam);
  Named x = latest(a), y = latest(b);
  Axes axes = united(x.axes, y.axes);
  return {{f(aligned(x, axes), aligned(y, axes)), axes}, beam};
}
Held chosen(const Held& mask, const Held& yes, const Held& no);

// As users see it: batch and the beam's axis first.
Tensor shown(const Tensor& x);

}  // namespace rcn
