// Functions of each entry alone: unary, arithmetic, comparisons, where, cast.
#include <cmath>

#include "runtime/kernels/families.h"
#include "runtime/kernels/straight_through.h"

namespace rcn {

namespace {

using T = at::Tensor;

template <auto F>
std::vector<Tensor> unary(KernelCall& call) {
  const Named& x = call.tensor(0);
  return {call.result({F(x.value), x.axes})};
}

// The axes of the result, in the memory order of the input that has them all, if one does.
Axes common_axes(KernelCall& call) {
  Axes wanted = call.output_axes();
  for (std::size_t i = 0; i < call.node.inputs.size(); ++i)
    if (call.is_tensor(i) && call.tensor(i).axes.size() == wanted.size()) return call.tensor(i).axes;
  return wanted;
}

// A broadcast result of the full size: an input that has all axes is not needed for it.
Tensor full_result(KernelCall& call, const T& value, const Axes& axes) {
  return call.result({value.expand(call.lengths.shape(axes)), axes});
}

template <auto F>
std::vector<Tensor> binary(KernelCall& call) {
  Axes axes = common_axes(call);
  T a = call.operand(0, axes, call.dtype());
  T b = call.operand(1, axes, call.dtype());
  return {full_result(call, F(a, b), axes)};
}

// `//` and `%`: a divisor of 0 is an error for ints, but not in the padding.
template <auto F>
std::vector<Tensor> division(KernelCall& call) {
  Axes axes = common_axes(call);
  T a = call.operand(0, axes, call.dtype());
  T b = call.operand(1, axes, call.dtype());
  if (!at::isFloatingType(b.scalar_type())) {
    T zero = b.eq(0);
    if (zero.any().item<bool>()) {
      call.fail_where(zero, axes, Diag::eager_division_by_zero, {});
      b = b.masked_fill(zero, 1);
    }
  }
  return {full_result(call, F(a, b), axes)};
}

// A negative exponent is an error for ints, but not in the padding.
std::vector<Tensor> pow(KernelCall& call) {
  Axes axes = common_axes(call);
  T a = call.operand(0, axes, call.dtype());
  T b = call.operand(1, axes, call.dtype());
  if (!at::isFloatingType(b.scalar_type())) {
    T negative = b.lt(0);
    if (negative.any().item<bool>()) {
      call.fail_where(negative, axes, Diag::eager_negative_power, {}, b);
      b = b.masked_fill(negative, 0);
    }
  }
  return {full_result(call, at::pow(a, b), axes)};
}

// At ties the whole gradient goes to the first operand, as in TensorFlow.
T maximum(const T& a, const T& b) { return at::where(a.ge(b).logical_or(a.ne(a)), a, b); }
T minimum(const T& a, const T& b) { return at::where(a.le(b).logical_or(a.ne(a)), a, b); }

std::vector<Tensor> where(KernelCall& call) {
  Axes axes = common_axes(call);
  at::ScalarType dtype = scalar_type(call.node.outputs[0].dtype);
  if (dtype == at::kHalf) dtype = at::kFloat;
  T cond = call.operand(0, axes, at::kBool);
  return {full_result(call, at::where(cond, call.operand(1, axes, dtype), call.operand(2, axes, dtype)), axes)};
}

std::vector<Tensor> clip_by_value(KernelCall& call) {
  Axes axes = common_axes(call);
  T x = call.operand(0, axes, call.dtype());
  T low = call.operand(1, axes, call.dtype()), high = call.operand(2, axes, call.dtype());
  return {full_result(call, at::clamp(x, low, high), axes)};
}

std::vector<Tensor> cast(KernelCall& call) {
  const Named& x = call.tensor(0);
  return {call.result({x.value.to(scalar_type(call.node.outputs[0].dtype)), x.axes})};
}

std::vector<Tensor> identity(KernelCall& call) { return {call.result(call.tensor(0))}; }

std::vector<Tensor> stop_gradient(KernelCall& call) {
  return {call.result({call.tensor(0).value.detach(), call.tensor(0).axes})};
}

std::vector<Tensor> scaled_gradient(KernelCall& call) {
  const Named& x = call.tensor(0);
  at::ScalarType dtype = x.value.scalar_type();
  bool shifts = call.node.inputs.size() > 2;
  at::Tensor scale = call.operand(1, x.axes, dtype).detach(),
             shift = shifts ? call.operand(2, x.axes, dtype).detach() : at::Tensor();
  if (at::Tensor padding = call.lengths.padding(x.axes); shifts && padding.defined())
    shift = shift.expand(x.value.sizes()).masked_fill(padding, 0);
  auto axis = [&](std::string_view name) {
    const Value& v = call.node.attr(name);
    return v.is_none() ? -1 : x.index(v.dim());
  };
  std::int64_t sum_axis = axis("sum_axis"), clip_axis = axis("clip_axis");
  at::Tensor y = x.value.view_as(x.value);
  if (y.requires_grad() && at::GradMode::is_enabled())
    y.register_hook([=](const at::Tensor& grad) {
      at::Tensor back = grad * scale;
      if (shift.defined()) back = back + (sum_axis < 0 ? shift : shift * grad.abs().sum(sum_axis, true));
      if (clip_axis < 0) return back;
      at::Tensor most = grad.abs().amax(clip_axis, true);
      return back.maximum(-most).minimum(most);
    });
  return {call.result({y, x.axes})};
}

std::vector<Tensor> safe_log(KernelCall& call) {
  const Named& x = call.tensor(0);
  T clipped = x.value.detach().clamp_min(call.node.real("eps"));
  return {call.result({straight_through(x.value, clipped).log(), x.axes})};
}

std::vector<Tensor> safe_exp(KernelCall& call) {
  const Named& x = call.tensor(0);
  double bound = -std::log(call.node.real("eps"));
  return {call.result({x.value.clamp(-bound, bound).exp(), x.axes})};
}

const KernelEntry kTable[] = {
    {"abs", unary<[](const T& x) { return x.abs(); }>},
    {"neg", unary<[](const T& x) { return x.neg(); }>},
    {"sign", unary<[](const T& x) { return x.sign(); }>},
    {"ceil", unary<[](const T& x) { return x.ceil(); }>},
    {"floor", unary<[](const T& x) { return x.floor(); }>},
    {"rint", unary<[](const T& x) { return x.round(); }>},
    {"relu", unary<[](const T& x) { return x.relu(); }>},
    {"elu", unary<[](const T& x) { return at::elu(x); }>},
    {"selu", unary<[](const T& x) { return at::selu(x); }>},
    {"gelu", unary<[](const T& x) { return at::gelu(x); }>},
    {"exp", unary<[](const T& x) { return x.exp(); }>},
    {"expm1", unary<[](const T& x) { return x.expm1(); }>},
    {"log", unary<[](const T& x) { return x.log(); }>},
    {"log1p", unary<[](const T& x) { return x.log1p(); }>},
    {"sin", unary<[](const T& x) { return x.sin(); }>},
    {"cos", unary<[](const T& x) { return x.cos(); }>},
    {"tan", unary<[](const T& x) { return x.tan(); }>},
    {"tanh", unary<[](const T& x) { return x.tanh(); }>},
    {"sigmoid", unary<[](const T& x) { return x.sigmoid(); }>},
    {"log_sigmoid", unary<[](const T& x) { return at::log_sigmoid(x); }>},
    {"sqrt", unary<[](const T& x) { return x.sqrt(); }>},
    {"rsqrt", unary<[](const T& x) { return x.rsqrt(); }>},
    {"swish", unary<[](const T& x) { return at::silu(x); }>},
    {"square", unary<[](const T& x) { return x.mul(x); }>},
    // at::softplus is linear from 20 on, which is not exact in float64.
    {"softplus", unary<[](const T& x) { return at::logaddexp(x, at::zeros_like(x)); }>},
    {"reciprocal", unary<[](const T& x) { return x.reciprocal(); }>},
    {"logical_not", unary<[](const T& x) { return x.logical_not(); }>},
    {"erf", unary<[](const T& x) { return x.erf(); }>},
    {"safe_log", safe_log},
    {"safe_exp", safe_exp},
    {"add", binary<[](const T& a, const T& b) { return a.add(b); }>},
    {"sub", binary<[](const T& a, const T& b) { return a.sub(b); }>},
    {"mul", binary<[](const T& a, const T& b) { return a.mul(b); }>},
    {"truediv", binary<[](const T& a, const T& b) { return a.div(b); }>},
    {"floordiv", division<[](const T& a, const T& b) { return at::div(a, b, "floor"); }>},
    {"mod", division<[](const T& a, const T& b) { return at::remainder(a, b); }>},
    {"pow", pow},
    {"maximum", binary<maximum>},
    {"minimum", binary<minimum>},
    {"squared_difference", binary<[](const T& a, const T& b) {
       T d = a.sub(b);
       return d.mul(d);
     }>},
    {"logical_and", binary<[](const T& a, const T& b) { return a.logical_and(b); }>},
    {"logical_or", binary<[](const T& a, const T& b) { return a.logical_or(b); }>},
    {"logical_xor", binary<[](const T& a, const T& b) { return a.logical_xor(b); }>},
    {"equal", binary<[](const T& a, const T& b) { return a.eq(b); }>},
    {"not_equal", binary<[](const T& a, const T& b) { return a.ne(b); }>},
    {"less", binary<[](const T& a, const T& b) { return a.lt(b); }>},
    {"less_equal", binary<[](const T& a, const T& b) { return a.le(b); }>},
    {"greater", binary<[](const T& a, const T& b) { return a.gt(b); }>},
    {"greater_equal", binary<[](const T& a, const T& b) { return a.ge(b); }>},
    {"clip_by_value", clip_by_value},
    {"where", where},
    {"cast", cast},
    {"set_sparse_dim", identity},
    {"stop_gradient", stop_gradient},
    {"scaled_gradient", scaled_gradient},
};

}  // namespace

std::span<const KernelEntry> elementwise_kernels() { return kTable; }

}  // namespace rcn
