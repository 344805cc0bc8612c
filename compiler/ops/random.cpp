// Random numbers.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

#include <cmath>

namespace rcn {

namespace {

constexpr std::size_t kShape = 0, kDistribution = 1, kMean = 2, kStddev = 3, kBound = 4, kMinval = 5, kMaxval = 6,
                      kDtype = 7;

// What says how a uniform distribution lies: its ends, its bound, or its mean and standard deviation.
std::pair<Value, Value> uniform_ends(OpCall& call) {
  auto given = [&](std::size_t i) { return call.given(i); };
  auto wrong = [&](std::size_t i, const std::string& wanted) {
    call.fail_argument(i, wanted, to_text(call.arg(i)));
  };
  if (given(kMinval) || given(kMaxval)) {
    if (!given(kMaxval)) wrong(kMaxval, "a number where `minval` is given");
    for (std::size_t i : {kMean, kStddev, kBound})
      if (given(i)) wrong(i, "`none` where `maxval` is given");
    return {given(kMinval) ? call.arg(kMinval) : Value(0), call.arg(kMaxval)};
  }
  if (given(kBound)) {
    for (std::size_t i : {kMean, kStddev})
      if (given(i)) wrong(i, "`none` where `bound` is given");
    double bound = call.arg(kBound).as_double();
    return {-bound, bound};
  }
  if (!given(kStddev)) wrong(kMaxval, "a number where neither `bound` nor `stddev` is given");
  double mean = given(kMean) ? call.arg(kMean).as_double() : 0, half = std::sqrt(3.0) * call.arg(kStddev).as_double();
  return {mean - half, mean + half};
}

void infer_random(OpCall& call) {
  std::vector<Dim> dims = call.dims_arg(kShape);
  require_lengths(call, kShape);
  require_one_of(call, kDistribution, {"uniform", "normal", "truncated_normal"});
  DType dtype = call.arg(kDtype).get<DType>();
  auto wrong = [&](std::size_t i, const std::string& wanted) {
    call.fail_argument(i, wanted, to_text(call.arg(i)));
  };
  bool uniform = call.arg(kDistribution).str() == "uniform";
  if (dtype == DType::bool_ || (!uniform && !is_float(dtype)))
    call.fail_argument(kDtype, uniform ? "a dtype of numbers" : "a float dtype", "`" + std::string(to_string(dtype)) + "`");
  Value a, b;  // ends, or mean and standard deviation
  if (uniform) {
    std::tie(a, b) = uniform_ends(call);
    if (is_int(dtype) && (a.is<double>() || b.is<double>()))
      wrong(a.is<double>() ? kMinval : kMaxval, "an int, as the dtype is");
    if (!(a.as_double() < b.as_double())) wrong(kMaxval, "above " + to_text(a));
    for (std::size_t i : {kMinval, kMaxval}) require_fits(call, i, dtype);
  } else {
    for (std::size_t i : {kBound, kMinval, kMaxval})
      if (call.given(i)) wrong(i, "`none` for this distribution");
    a = call.given(kMean) ? Value(call.arg(kMean).as_double()) : Value(0.0);
    b = call.given(kStddev) ? Value(call.arg(kStddev).as_double()) : Value(1.0);
    if (!(b.as_double() >= 0)) wrong(kStddev, "at least 0");
  }
  call.attr("distribution", call.arg(kDistribution));
  call.attr("a", is_float(dtype) ? Value(a.as_double()) : a);
  call.attr("b", is_float(dtype) ? Value(b.as_double()) : b);
  call.output({dims, dtype, nullptr});
}

// RETURNN's own layer has a state, a variable of the model; this draws as its dropout does.
void lower_random(Lowering& l) {
  const std::string& distribution = l.node().str("distribution");
  TensorType type = l.out();
  DType dtype = is_float(type.dtype) || type.dtype == DType::int64 ? type.dtype : DType::int32;
  TensorType drawn = type_of(type.dims, dtype);
  LayerRef shape = l.constant(Operand(std::int64_t{0}), type_of(type.dims, DType::int32), "shape");
  if (l.in_loop()) shape = l.varying(shape, type_of(type.dims, DType::int32));  // each step draws anew
  std::string a = python_number(OpCall::to_operand(l.node().attr("a")), dtype),
              b = python_number(OpCall::to_operand(l.node().attr("b")), dtype);
  std::string text = "tf.random." + distribution + "(tf.shape(source(0)), " + a + ", " + b + ", dtype='" +
                     std::string(to_string(dtype)) + "')";
  if (distribution == "uniform") l.bounds({l.node().real("a"), l.node().real("b")});
  LayerRef numbers = l.eval({shape}, text, drawn, dtype == type.dtype ? "" : "numbers");
  l.result(dtype == type.dtype ? numbers : l.cast(numbers, type, ""));
}

constexpr ArgTypes kOptional = arg::number | arg::none;
constexpr OpParam kRandom[] = {{"shape", arg::dims, true},          {"distribution", arg::str, true},
                               {"mean", kOptional, true, "none"},   {"stddev", kOptional, true, "none"},
                               {"bound", kOptional, true, "none"},  {"minval", kOptional, true, "none"},
                               {"maxval", kOptional, true, "none"}, {"dtype", arg::dtype, true, "float32"}};

constexpr OpDef kOps[] = {
    {{"random", kRandom, "Tensor",
      "Random numbers with the dims `shape`, drawn anew in each run and each step of a loop. `distribution` uniform: "
      "from `minval` (0) to below `maxval`, from `-bound` "
      "to `bound`, or with `mean` (0) and `stddev`; normal: `mean` (0), `stddev` (1); truncated_normal: the same, "
      "drawn again beyond two standard deviations.",
      infer_random},
     lower_random},
};

}  // namespace

std::span<const OpDef> random_ops() { return kOps; }

}  // namespace rcn
