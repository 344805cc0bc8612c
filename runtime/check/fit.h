// `--fit`: training on the one batch. A model that cannot learn it is broken.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

#include "runtime/check/objective.h"
#include "runtime/pass.h"

namespace rcn {

// Adam, as in Kingma and Ba (2015), with beta1 = 0.9, beta2 = 0.999 and epsilon = 1e-8.
class Adam {
 public:
  explicit Adam(double learning_rate) : rate_(learning_rate) {}
  // Changes the values of those parameters that have a gradient.
  void step(ParamValues& values, const std::vector<Gradient>& gradients);

 private:
  struct Moments {
    at::Tensor first, second;
  };
  double rate_;
  std::int64_t steps_ = 0;
  std::map<std::string, Moments> moments_;
};

// The values after `steps` steps, which minimise the objective; lines about the loss go to `out`. Nothing after errors,
// and those are also a loss that does not fall or is not finite.
std::optional<ParamValues> fit(const Anew& anew, const EagerOptions& options, DiagnosticSink& sink, std::ostream& out);

}  // namespace rcn
