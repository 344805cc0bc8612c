// Contractions: dot, linear, layer_norm.
#include "runtime/kernels/families.h"

namespace rcn {

namespace {

std::int64_t product(const std::vector<std::int64_t>& sizes) {
  std::int64_t result = 1;
  for (std::int64_t s : sizes) result *= s;
  return result;
}

// Removes the first occurrences of `removed`.
Axes remaining(const Axes& axes, const Axes& removed) { return without(axes, removed); }

std::vector<Tensor> dot(KernelCall& call) {
  Axes reduced = call.node.dims("axes");
  // While no gradient is needed only what is summed must be clean.
  bool grad = at::GradMode::is_enabled();
  Named a = grad ? call.cleared_for_grad(call.tensor(0)) : call.filled(call.tensor(0), 0, reduced);
  Named b = grad ? call.cleared_for_grad(call.tensor(1)) : call.filled(call.tensor(1), 0, reduced);

  Axes a_rest = remaining(a.axes, reduced), b_rest = remaining(b.axes, reduced);
  Axes shared, a_only, b_only = b_rest;
  for (Dim d : a_rest) {
    auto it = std::find(b_only.begin(), b_only.end(), d);
    if (it == b_only.end()) {
      a_only.push_back(d);
    } else {
      shared.push_back(d);
      b_only.erase(it);
    }
  }
  // with_last moves first occurrences: the reduced ones first, then shared ones among what remains.
  auto arranged = [&](const Named& x, const Axes& own, bool reduced_last) {
    Axes order = shared;
    const Axes& second = reduced_last ? own : reduced;
    const Axes& third = reduced_last ? reduced : own;
    order.insert(order.end(), second.begin(), second.end());
    order.insert(order.end(), third.begin(), third.end());
    // A dim that occurs twice: its first occurrence is the reduced one.
    std::vector<bool> used(x.axes.size(), false);
    std::unordered_map<Dim, std::int64_t> reduced_index;
    for (Dim d : reduced) {
      std::int64_t i = x.index(d);
      reduced_index[d] = i;
      used[static_cast<std::size_t>(i)] = true;
    }
    std::vector<std::int64_t> permutation(order.size());
    std::size_t reduced_begin = shared.size() + (reduced_last ? own.size() : 0);
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k >= reduced_begin && k < reduced_begin + reduced.size()) {
        permutation[k] = reduced_index.at(order[k]);
        continue;
      }
      std::size_t i = 0;
      while (used[i] || x.axes[i] != order[k]) ++i;
      used[i] = true;
      permutation[k] = static_cast<std::int64_t>(i);
    }
    return x.value.permute(permutation);
  };
  std::int64_t s = product(call.lengths.shape(shared)), m = product(call.lengths.shape(a_only));
  std::int64_t n = product(call.lengths.shape(b_only)), k = product(call.lengths.shape(reduced));
  at::Tensor left = arranged(a, a_only, true), right = arranged(b, b_only, false);

  at::ScalarType dtype = left.scalar_type();
  at::Tensor value;
  if (shared.empty()) {
    value = left.reshape({m, k}).mm(right.reshape({k, n}));
  } else {
    value = left.reshape({s, m, k}).bmm(right.reshape({s, k, n}));
  }
  if (value.scalar_type() != dtype) throw std::logic_error("dtype of dot");
  Axes axes = shared;
  axes.insert(axes.end(), a_only.begin(), a_only.end());
  axes.insert(axes.end(), b_only.begin(), b_only.end());
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
