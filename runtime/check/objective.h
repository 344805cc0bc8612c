// What RETURNN minimises, and its gradients.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/eager_backend.h"

namespace rcn {

// A loss or error over a batch.
struct Score {
  Mark mark;
  Tensor tensor;
  double sum = 0;     // over valid frames (and over all other dims)
  double mean = 0;    // sum / frames, or by custom_inv_norm_factor: what RETURNN shows
  double frames = 0;  // entries of the batch, each as long as its first dynamic dim says
};

struct Gradient {
  std::string name;
  at::Tensor value;  // undefined where the objective does not depend on the parameter
  at::Tensor parameter;
  Span span;  // of the parameter
};

struct InputGradient {
  std::string name;
  Tensor gradient;  // of the input's type
};

struct Objective {
  std::vector<Score> losses;
  std::vector<Score> errors;
  double total = 0;                 // sum over losses of scale * sum (use_normalized_loss: * mean), and the constraints
  double constraints = 0;           // sum over trainable parameters of weight_decay * sum(w * w)
  std::vector<Gradient> gradients;  // of the total, for each trainable parameter; only if asked for
  std::vector<InputGradient> input_gradients;  // zeros where the objective does not depend on the input
};

// `inputs`: those whose gradients are wanted besides.
Objective compute_objective(const std::vector<MarkedTensor>& marks, const std::vector<LoadedParameter>& params,
                            Lengths& lengths, Dim batch, bool with_grad,
                            const std::vector<std::pair<std::string, Tensor>>& inputs = {});

}  // namespace rcn
