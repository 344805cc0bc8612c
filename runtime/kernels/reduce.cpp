// Reductions and softmax: padding of dynamic axes does not take part.
#include <algorithm>
#include <functional>
#include <limits>
#include <stdexcept>

#include "runtime/kernels/extremes.h"
#include "runtime/kernels/families.h"

namespace rcn {

at::Scalar extreme(at::ScalarType dtype, bool lowest) {
  switch (dtype) {
    case at::kByte: return lowest ? 0 : 255;
    case at::kChar: return lowest ? -128 : 127;
    case at::kShort: return lowest ? -32768 : 32767;
    case at::kInt: return lowest ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max();
    case at::kLong: return lowest ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
    case at::kFloat: return lowest ? std::numeric_limits<float>::lowest() : std::numeric_limits<float>::max();
    default: return lowest ? std::numeric_limits<double>::lowest() : std::numeric_limits<double>::max();
  }
}

namespace {

// The dims whose padding a reduction over `axes` would mix into valid results: the dynamic ones among them, and those
// that are kept but whose lengths differ along them (over batch, frames that some sequences do not have).
Axes mixing(KernelCall& call, const Axes& all, const Axes& axes) {
  Axes result;
  for (Dim d : all) {
    bool mixes = contains(axes, d);
    if (!mixes && d->dynamic() && call.lengths.has(d))
      for (Dim l : call.lengths.of(d).axes) mixes = mixes || contains(axes, l);
    if (mixes) result.push_back(d);
  }
  return result;
}

// How many entries each result is made of: an int tensor that broadcasts against the result's axes.
at::Tensor counts(KernelCall& call, const Named& x, const Axes& axes, const Axes& by,
                  const std::vector<std::int64_t>& index) {
  at::Tensor mask = call.lengths.padding(x.axes, by);
  std::int64_t size = 1;
  for (Dim d : axes) size *= call.lengths.extent(d);
  if (!mask.defined()) return at::scalar_tensor(size, at::kLong);
  std::vector<std::int64_t> shape = mask.sizes().vec();
  for (std::size_t i = 0; i < axes.size(); ++i)
    shape[static_cast<std::size_t>(index[i])] = call.lengths.extent(axes[i]);
  return mask.expand(shape).logical_not().sum(index);
}

std::vector<Tensor> reduce(KernelCall& call) {
  const std::string& mode = call.node.str("mode");
  Axes axes = call.node.dims("axes");
  Named x = call.tensor(0);
  Axes by = mixing(call, x.axes, axes);
  std::vector<std::int64_t> index;
  for (Dim d : axes) index.push_back(x.index(d));
  Axes rest = without(x.axes, axes);
  at::ScalarType dtype = x.value.scalar_type();
  bool floating = at::isFloatingType(dtype);
  if (axes.empty() && (mode == "argmax" || mode == "argmin")) throw std::logic_error("arg reduction without axis");
  if (axes.empty()) return {call.result(x)};

  auto done = [&](at::Tensor value) { return std::vector<Tensor>{call.result({std::move(value), rest})}; };
  // For max, min and logsumexp: infinite in the padding, so that it never wins; what is made of padding alone gets
  // RETURNN's value, the lowest or highest finite number.
  at::Tensor nothing;
  auto fill = [&](bool lowest) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    at::Scalar neutral = floating ? at::Scalar(lowest ? -inf : inf) : extreme(dtype, lowest);
    if (call.lengths.padding(x.axes, by).defined()) nothing = counts(call, x, axes, by, index).eq(0);
    x = call.filled(x, neutral, by);
    for (std::int64_t i : index) {  // torch has no extreme value of nothing
      if (x.value.size(i) != 0) continue;
      std::vector<std::int64_t> shape = x.value.sizes().vec();
      shape[static_cast<std::size_t>(i)] = 1;
      x.value = at::cat({x.value, at::full(shape, neutral, x.value.options())}, i);
      nothing = at::ones({}, at::kBool);
    }
  };
  auto filled_done = [&](const at::Tensor& value, bool lowest) {
    return done(nothing.defined() ? value.masked_fill(nothing, extreme(dtype, lowest)) : value);
  };
  if (mode == "sum" || mode == "mean") {
    if (!floating && mode == "mean") throw std::logic_error("mean of ints");
    x = call.filled(x, 0, by);
    at::Tensor sum = x.value.sum(index, false, dtype);
    if (mode == "sum") return done(sum);
    return done(sum / counts(call, x, axes, by, index).clamp_min(1).to(dtype));
  }
  if (mode == "max" || mode == "argmax" || mode == "logsumexp") {
    fill(true);
    if (mode == "argmax") return done(x.value.argmax(index[0]));
    return filled_done(mode == "max" ? x.value.amax(index) : at::logsumexp(x.value, index), true);
  }
  if (mode == "min" || mode == "argmin") {
    fill(false);
    return mode == "argmin" ? done(x.value.argmin(index[0])) : filled_done(x.value.amin(index), false);
  }
  if (mode == "any" || mode == "all") {
    x = call.filled(x, mode == "all", by);
    std::sort(index.begin(), index.end(), std::greater<>());  // torch 1.13 has any and all over one axis only
    at::Tensor value = x.value;
    for (std::int64_t i : index) value = mode == "any" ? value.any(i) : value.all(i);
    return done(value);
  }
  throw std::logic_error("reduce mode " + mode);
}

std::vector<Tensor> any_softmax(KernelCall& call, bool log) {
  Dim axis = call.node.dim("axis");
  const Named& x = call.tensor(0);
  std::int64_t index = x.index(axis);
  at::Tensor mask = call.lengths.padding(x.axes, {axis});
  if (!mask.defined()) return {call.result({log ? x.value.log_softmax(index) : x.value.softmax(index), x.axes})};
  at::Tensor masked = x.value.masked_fill(mask, -std::numeric_limits<double>::infinity());
  // The outer fill also keeps the nan of an empty sequence away from the gradients.
  at::Tensor value = log ? masked.log_softmax(index) : masked.softmax(index);
  return {call.result({value.masked_fill(mask, 0), x.axes})};
}

std::vector<Tensor> softmax(KernelCall& call) { return any_softmax(call, false); }
std::vector<Tensor> log_softmax(KernelCall& call) { return any_softmax(call, true); }

const KernelEntry kTable[] = {{"reduce", reduce}, {"softmax", softmax}, {"log_softmax", log_softmax}};

}  // namespace

std::span<const KernelEntry> reduce_kernels() { return kTable; }

}  // namespace rcn
