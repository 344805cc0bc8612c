// What a kernel gets and gives: one operation on tensors that the type rule has checked.
//
// To add one: the entry in compiler/ops, a function here in the file of its family, its line in that file's table.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/base/limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/eval/op.h"
#include "runtime/lengths.h"
#include "runtime/random.h"
#include "runtime/tensor.h"

namespace rcn {

// What outlives one operation of a run.
struct RunState {
  explicit RunState(Dim batch) : lengths(batch) {}

  Lengths lengths;
  bool train = false;     // what the dynamic train flag is
  std::int64_t step = 0;  // training steps before this run
  std::uint64_t seed = 0;
  std::int64_t loop_frames = Limits{}.loop_frames;
  std::string scope;                                     // path of the calls around the operation
  std::unordered_map<std::string, std::uint64_t> draws;  // random operations so far, by scope and operation

  // Numbers that belong to this operation: they depend on the seed, on the calls around it, and on how often such an
  // operation ran there before; not on what the program does elsewhere.
  Random random_for(std::string_view op);

  // The numbers that were drawn from the last `random_for`, or what is to stand for them: `noise` may give those of
  // another run.
  at::Tensor drawn(const at::Tensor& numbers, const Axes& axes) const {
    return noise ? noise(last_draw, {numbers, axes}) : numbers;
  }
  std::function<at::Tensor(const std::string& draw, const Named& numbers)> noise;
  std::string last_draw;
};

// `x`, through which no gradient goes back where `stopped` (may be undefined) is true.
at::Tensor gated(const at::Tensor& x, const at::Tensor& stopped);

class KernelCall {
 public:
  KernelCall(const OpNode& op_node, RunState& run_state, DiagnosticSink& sink);

  const OpNode& node;
  RunState& run;
  Lengths& lengths;

  // ---- inputs. Half precision comes as float32 where the device cannot compute in it. What was made around a loop or
  // masked part gets no gradient from entries that take no part in it.
  const Named& tensor(std::size_t i) const { return tensors_[i]; }
  const TensorType& type(std::size_t i) const { return node.tensor(i)->type; }
  bool is_tensor(std::size_t i) const { return as_tensor(node.inputs[i]) != nullptr; }
  // Tensor or static number, aligned to `axes`; a number gets `dtype`. The gradient that comes back for axes that the
  // input does not have is summed over valid entries only.
  at::Tensor operand(std::size_t i, const Axes& axes, at::ScalarType dtype);
  // The dtype to compute in: that of the first tensor, or of output 0 if all are numbers.
  at::ScalarType dtype() const;

  // ---- padding
  // `x` with `fill` where it is padding because of one of `by`.
  Named filled(const Named& x, const at::Scalar& fill, const Axes& by);
  // For operations that mix frames: their gradients are sums of products, in which what is NaN or infinite in the
  // padding would stay. While gradients are needed, inputs are cleared, and what comes back in the padding is dropped.
  Named cleared_for_grad(const Named& x);
  void gate(const at::Tensor& value, const Axes& axes);

  // ---- results
  Tensor result(Named value, std::size_t output = 0);
  Axes output_axes(std::size_t output = 0) const { return node.outputs[output].dims; }
  void define_length(Dim dim, Named value) { lengths.define(dim, std::move(value)); }

  // ---- errors
  [[noreturn]] void fail(Diag kind, std::vector<std::string> args);
  // Reports `kind` if `bad` (aligned to `axes`) is true on a valid frame. Its arguments: the first such entry, as
  // `batch=1, time=3`; `value` there, if given; `args`; `limit` there, if given (both aligned too, of ints).
  void fail_where(const at::Tensor& bad, const Axes& axes, Diag kind, std::vector<std::string> args,
                  const at::Tensor& value = {}, const at::Tensor& limit = {});

 private:
  std::vector<Named> tensors_;
  DiagnosticSink& sink_;
};

// `batch=1, time=3` for the first true entry of `bad`, which may have size 1 for axes of `axes`; empty if there is
// none.
std::string first_index(const at::Tensor& bad, const Axes& axes, std::vector<std::int64_t>* index = nullptr);

using Kernel = std::vector<Tensor> (*)(KernelCall&);
struct KernelEntry {
  std::string_view name;
  Kernel run;
};

// What a search is made of is no work of a kernel alone: `choice`, `decide`, `beam_scores`.
bool is_search_op(std::string_view name);

// Null if there is none.
Kernel find_kernel(std::string_view name);
std::vector<std::string_view> kernel_names();

}  // namespace rcn
