// `--check-finite`: stops where a NaN or infinity first appears.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "runtime/eager_backend.h"

namespace rcn {

// Reports an operation that makes a NaN in a valid frame out of inputs without one, or an infinity out of finite
// inputs, and an input or parameter with either: then false. An infinity that the program writes down itself, as in
// `nn.where(mask, x, float("-inf"))`, is meant.
bool check_finite(const Produced& made, Lengths& lengths, DiagnosticSink& sink);

// The same on the way back, with --grad: the first tensor whose gradient is not finite in a valid frame. What is
// computed from it makes that.
class FiniteGradients {
 public:
  // Must outlive the tensor's gradient.
  void follow(const Produced& made, Lengths& lengths);
  // After the gradients were computed. False if one was not finite, which is reported.
  bool check(DiagnosticSink& sink) const;

 private:
  struct Use {
    std::string name;
    Span span;
  };
  struct Followed {
    at::Tensor value;
    std::vector<Use> uses;
  };
  struct First {
    Use made;
    const c10::TensorImpl* tensor;
    std::string counts;  // of its entries that are not finite
    std::int64_t valid;
    std::string where;
  };
  std::unordered_map<const c10::TensorImpl*, Followed> followed_;
  std::optional<First> first_;
};

}  // namespace rcn
