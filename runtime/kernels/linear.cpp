// Contractions: dot, linear, layer_norm.
#include <algorithm>
#include <array>

#include "runtime/kernels/families.h"

namespace rcn {

namespace {

std::int64_t product(const std::vector<std::int64_t>& sizes) {
  std::int64_t result = 1;
  for (std::int64_t s : sizes) result *= s;
  return result;
}

Axes joined(Axes axes, const Axes& more) {
  axes.insert(axes.end(), more.begin(), more.end());
  return axes;
}

// `x` as [shared, own, reduced], or [shared, reduced, own] for the right factor. Reduced dims are taken first: of a dim
// that occurs twice the first occurrence is reduced.
at::Tensor factor(const Named& x, const Axes& shared, const Axes& own, const Axes& reduced, bool right) {
  AxisTaker taker(x.axes);
  std::vector<std::int64_t> inner = taker.take_all(reduced), order = taker.take_all(shared),
                            outer = taker.take_all(own);
  for (const auto& part : right ? std::array{inner, outer} : std::array{outer, inner})
    order.insert(order.end(), part.begin(), part.end());
  return x.value.permute(order);
}

std::vector<Tensor> dot(KernelCall& call) {
  Axes reduced = call.node.dims("axes");
  // While no gradient is needed only what is summed must be clean.
  bool grad = at::GradMode::is_enabled();
  Named a = grad ? call.cleared_for_grad(call.tensor(0)) : call.filled(call.tensor(0), 0, reduced);
  Named b = grad ? call.cleared_for_grad(call.tensor(1)) : call.filled(call.tensor(1), 0, reduced);

  Axes shared, a_only, b_only = without(b.axes, reduced);
  for (Dim d : without(a.axes, reduced)) {
    auto it = std::find(b_only.begin(), b_only.end(), d);
    if (it == b_only.end()) {
      a_only.push_back(d);
    } else {
      shared.push_back(d);
      b_only.erase(it);
    }
  }
  std::int64_t s = product(call.lengths.shape(shared)), m = product(call.lengths.shape(a_only));
  std::int64_t n = product(call.lengths.shape(b_only)), k = product(call.lengths.shape(reduced));
  at::Tensor left = factor(a, shared, a_only, reduced, false), right = factor(b, shared, b_only, reduced, true);
  at::Tensor value = shared.empty() ? left.reshape({m, k}).mm(right.reshape({k, n}))
                                    : left.reshape({s, m, k}).bmm(right.reshape({s, k, n}));
  Axes axes = joined(joined(shared, a_only), b_only);
  value = value.reshape(call.lengths.shape(axes));
  call.gate(value, axes);
  return {call.result({value, axes})};
}

// The weight as [in, out]; the two may be one dim, then its first occurrence is in.
at::Tensor matrix(const Named& w, Dim in_dim, Dim out_dim) {
  if (in_dim == out_dim) return w.value;
  return aligned(w, {in_dim, out_dim});
}

std::vector<Tensor> linear(KernelCall& call) {
  Dim in_dim = call.node.dim("in_dim"), out_dim = call.node.dim("out_dim");
  at::Tensor w = matrix(call.tensor(1), in_dim, out_dim);
  bool with_bias = call.node.inputs.size() > 2;
  const Named& source = call.tensor(0);
  at::Tensor value;
  Axes axes;
  if (call.type(0).sparse_dim == in_dim && !source.has(in_dim)) {
    axes = source.axes;
    std::int64_t size = call.lengths.extent(in_dim);
    at::Tensor bad = source.value.lt(0).logical_or(source.value.ge(size));
    at::Tensor index = source.value;
    if (bad.any().item<bool>()) {
      call.fail_where(bad, axes, Diag::eager_index_range, {to_string(in_dim), std::to_string(size)}, source.value);
      index = index.masked_fill(bad, 0);  // in the padding
    }
    value = w.index_select(0, index.reshape({-1}).to(at::kLong));
    if (with_bias) value = value + call.tensor(2).value;
  } else {
    Named x = with_last(call.cleared_for_grad(source), {in_dim});
    axes = without(x.axes, {in_dim});
    at::Tensor rows = x.value.reshape({-1, call.lengths.extent(in_dim)});
    value = with_bias ? at::addmm(call.tensor(2).value, rows, w) : rows.mm(w);
  }
  axes.push_back(out_dim);
  value = value.reshape(call.lengths.shape(axes));
  call.gate(value, axes);
  return {call.result({value, axes})};
}

std::vector<Tensor> layer_norm(KernelCall& call) {
  Dim in_dim = call.node.dim("in_dim");
  Named x = with_last(call.cleared_for_grad(call.tensor(0)), {in_dim});
  at::Tensor value = at::layer_norm(x.value.contiguous(), {call.lengths.extent(in_dim)}, call.tensor(1).value,
                                    call.tensor(2).value, call.node.real("eps"));
  call.gate(value, x.axes);
  return {call.result({value, x.axes})};
}

const KernelEntry kTable[] = {{"dot", dot}, {"linear", linear}, {"layer_norm", layer_norm}};

}  // namespace

std::span<const KernelEntry> linear_kernels() { return kTable; }

}  // namespace rcn
