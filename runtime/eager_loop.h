// What a loop keeps while it runs step by step.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/eval/backend.h"
#include "runtime/lengths.h"
#include "runtime/tensor.h"

namespace rcn {

// Which sequences take part in a step, and how many frames each has so far. All is over the dims that the lengths of
// the loop's axis depend on.
class LoopProgress {
 public:
  LoopProgress(const LoopSpec& spec, Lengths& lengths);

  // False once no sequence has a frame `t`.
  bool begin_step(std::int64_t t);
  // `end` may be null. What counts as a frame of the step that ends.
  Named end_step(const Named* end);

  Named active() const { return {active_, axes_}; }
  bool all_active() const { return active_.all().item<bool>(); }
  Named frames() const { return {frames_, axes_}; }

 private:
  const LoopSpec& spec_;
  Axes axes_;
  at::Tensor limit_;  // frames at most; undefined: no limit
  at::Tensor active_, frames_;
};

// A part of the state as the last frame of each sequence leaves it.
class LastState {
 public:
  explicit LastState(const LoopState& state) : state_(state), value_(eager(state.initial)) {}

  void update(const Named& value, const Named& counts);
  Tensor finish(const LoopSpec& spec, Lengths& lengths) const;

 private:
  const LoopState& state_;
  Named value_;
};

// Frames that are stacked along the loop's axis, and the lengths of the dims that the body makes for them.
class LoopFrames {
 public:
  LoopFrames(const LoopSpec& spec, Lengths& lengths);

  void add(const std::vector<Tensor>& frames);
  // The axis has its lengths by now. A dim that the body made keeps the lengths it had in all steps; where they differ,
  // they come to depend on the axis.
  std::vector<Tensor> finish();

 private:
  struct MadeDim {
    at::Tensor before;           // its lengths before the loop, undefined if it had none
    std::vector<Named> lengths;  // after each step
    bool settled = false;
  };
  void watch(Dim dim);
  void settle(Dim atom, MadeDim& made);
  std::int64_t count() const;

  const LoopSpec& spec_;
  Lengths& lengths_;
  std::int64_t steps_ = 0;
  std::vector<Dim> atoms_;  // in the order in which they were found
  std::unordered_map<Dim, MadeDim> made_;
  std::vector<std::vector<at::Tensor>> frames_;
};

}  // namespace rcn
