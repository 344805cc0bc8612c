// nn.init: how parameters get their first values.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/base/suggest.h"

namespace rcn {

namespace {

using Kind = Initializer::Kind;

void scaling(OpCall& call, double scale, std::string mode, std::string distribution) {
  call.static_result(Initializer{Kind::variance_scaling, scale, 0, std::move(mode), std::move(distribution)});
}

void infer_glorot(OpCall& call) { scaling(call, 1, "fan_avg", "uniform"); }
void infer_he_normal(OpCall& call) { scaling(call, 2, "fan_in", "untruncated_normal"); }
void infer_he_uniform(OpCall& call) { scaling(call, 2, "fan_in", "uniform"); }

void infer_variance_scaling(OpCall& call) {
  if (!(call.arg(0).as_double() > 0))
    call.fail_argument(0, "above 0", to_text(call.arg(0)));
  require_one_of(call, 1, {"fan_in", "fan_out", "fan_avg"});
  require_one_of(call, 2, {"uniform", "truncated_normal", "untruncated_normal"});
  scaling(call, call.arg(0).as_double(), call.arg(1).str(), call.arg(2).str());
}

void infer_uniform(OpCall& call) {
  double low = call.arg(0).as_double(), high = call.given(1) ? call.arg(1).as_double() : low;
  if (!call.given(1)) low = -high;
  if (!(low < high))
    call.fail_argument(1, "above `minval`", to_text(Value(high)));
  call.static_result(Initializer{Kind::uniform, low, high, {}, {}});
}

template <Kind kind>
void infer_normal(OpCall& call) {
  if (!(call.arg(1).as_double() >= 0))
    call.fail_argument(1, "at least 0", to_text(call.arg(1)));
  call.static_result(Initializer{kind, call.arg(0).as_double(), call.arg(1).as_double(), {}, {}});
}

void infer_gammatone(OpCall& call) {
  double rate = call.arg(0).as_double(), low = call.arg(1).as_double(), high = call.arg(2).as_double();
  if (!(0 <= low && low < high && high <= rate / 2))
    call.fail_argument(2, "above `freq_min` and at most half of `sample_rate`", to_text(Value(high)));
  call.static_result(Initializer{Kind::gammatone, low, high, {}, {}, rate});
}

void infer_orthogonal(OpCall& call) { call.static_result(Initializer{Kind::orthogonal, 0, 0, {}, {}}); }

void lower_static(Lowering& l) { throw std::logic_error("`" + std::string(l.node().op->name) + "` is static and makes no layer"); }

constexpr OpParam kScaling[] = {{"scale", arg::real, false, "1.0"}, {"mode", arg::str, false, "\"fan_in\""}, {"distribution", arg::str, false, "\"truncated_normal\""}};
constexpr OpParam kUniform[] = {{"minval", arg::real}, {"maxval", arg::real | arg::none, false, "none"}};
constexpr OpParam kNormal[] = {{"mean", arg::real, false, "0.0"}, {"stddev", arg::real, false, "1.0"}};

constexpr OpParam kGammatone[] = {{"sample_rate", arg::real, false, "16000.0"}, {"freq_min", arg::real, false, "100.0"}, {"freq_max", arg::real, false, "7500.0"}};

constexpr OpDef kOps[] = {
    {{"init.glorot", {}, "Initializer", "Uniform in `±sqrt(6 / (fan_in + fan_out))` (Glorot and Bengio 2010).", infer_glorot}, lower_static},
    {{"init.he", {}, "Initializer", "Normal with the standard deviation `sqrt(2 / fan_in)` (He et al. 2015).", infer_he_normal}, lower_static},
    {{"init.he_normal", {}, "Initializer", "The same as `init.he`.", infer_he_normal}, lower_static},
    {{"init.he_uniform", {}, "Initializer", "Uniform in `±sqrt(6 / fan_in)`.", infer_he_uniform}, lower_static},
    {{"init.variance_scaling", kScaling, "Initializer",
      "With the variance `scale / fan`, where `mode` says which fan: `fan_in`, `fan_out` or `fan_avg`; `distribution` is `uniform`, "
      "`truncated_normal` (at two standard deviations, corrected to have this variance) or `untruncated_normal`. Fans: of a matrix "
      "its rows and columns; of more dims the last two times all others; of a vector its size.",
      infer_variance_scaling},
     lower_static},
    {{"init.uniform", kUniform, "Initializer", "Uniform from `minval` to `maxval`; with one number `a`, from `-a` to `a`.", infer_uniform},
     lower_static},
    {{"init.normal", kNormal, "Initializer", "Normal.", infer_normal<Kind::normal>}, lower_static},
    {{"init.truncated_normal", kNormal, "Initializer", "Normal, drawn again where it is more than two standard deviations off.",
      infer_normal<Kind::truncated_normal>},
     lower_static},
    {{"init.orthogonal", {}, "Initializer", "A random matrix with orthonormal rows or columns; dims before the last count as rows.", infer_orthogonal},
     lower_static},
    {{"init.gammatone", kGammatone, "Initializer",
      "Gammatone filters of order 4, of which the first dim has the samples and the last one the channels (Schlueter et al. 2007): "
      "`t**3 exp(-2 pi b t) cos(2 pi f t)` with the centre frequencies evenly on the Greenwood scale from `freq_min` to `freq_max` (Hz), the "
      "bandwidth `b = 24.7 + f / 9.264`, and a greatest response of 1.",
      infer_gammatone},
     lower_static},
};

}  // namespace

std::span<const OpDef> init_ops() { return kOps; }

}  // namespace rcn
