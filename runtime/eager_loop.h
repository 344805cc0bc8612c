// What a loop keeps while it runs step by step.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/eval/backend.h"
#include "runtime/beam.h"
#include "runtime/lengths.h"

namespace rcn {

// Which sequences take part in a step, and how many frames each has so far. All is over the dims that the lengths of
// the loop's axis depend on, for each hypothesis where those differ.
class LoopProgress {
 public:
  LoopProgress(const LoopSpec& spec, Lengths& lengths, const Searches& searches);

  // False once no sequence has a frame `t`.
  bool begin_step(std::int64_t t);
  // `end` may be null. What counts as a frame of the step that ends.
  Held end_step(const Held* end);

  const Held& active() const { return active_; }
  bool all_active() const { return active_.value.all().item<bool>(); }
  const Held& frames() const { return frames_; }

 private:
  const LoopSpec& spec_;
  Held limit_;  // frames at most; undefined: no limit
  Held active_, frames_;
};

// Stacks `count` tensors along a new axis in front: each is brought to `shape`; what is missing is 0.
at::Tensor stacked(const std::vector<at::Tensor>& parts, std::int64_t count, std::vector<std::int64_t> shape,
                   at::ScalarType dtype);

// A part of the state as the last frame of each sequence leaves it.
class LastState {
 public:
  explicit LastState(const LoopState& state) : state_(state), value_(eager(state.initial)) {}

  void update(const Held& value, const Held& counts);
  Tensor finish(const LoopSpec& spec, Lengths& lengths) const;

 private:
  const LoopState& state_;
  Held value_;
};

// Frames that are stacked along the loop's axis, and the lengths of the dims that the body makes for them.
class LoopFrames {
 public:
  LoopFrames(const LoopSpec& spec, Lengths& lengths, const Searches& searches);

  void add(const std::vector<Tensor>& frames);
  // The axis has its lengths by now. A dim that the body made keeps the lengths it had in all steps; where they differ,
  // they come to depend on the axis.
  std::vector<Tensor> finish();

 private:
  struct MadeDim {
    at::Tensor before;          // its lengths before the loop, undefined if it had none
    std::vector<Held> lengths;  // after each step
    bool settled = false;
  };
  void watch(Dim dim);
  void settle(Dim atom, MadeDim& made);
  std::int64_t count() const;

  // The beam of what is stacked, null if it has none: of its frames, or of the dims that it has.
  BeamPtr beam_of(std::size_t i);

  const LoopSpec& spec_;
  Lengths& lengths_;
  const Searches& searches_;
  std::int64_t steps_ = 0;
  std::vector<Dim> atoms_;  // in the order in which they were found
  std::unordered_map<Dim, MadeDim> made_;
  std::vector<std::vector<Held>> frames_;
};

}  // namespace rcn
