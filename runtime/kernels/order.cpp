// Operations along one axis, in its order: cumsum, top_k, search_sorted.
#include <algorithm>
#include <limits>

#include "runtime/kernels/extremes.h"
#include "runtime/kernels/families.h"

namespace rcn {

namespace {

std::vector<Tensor> cumsum(KernelCall& call) {
  Dim axis = call.node.dim("axis");
  Named x = call.tensor(0);
  const Value& summand = call.node.attr("summand");
  if (!summand.is_none()) x.value = x.value + summand.as_double();
  std::int64_t index = x.index(axis);
  at::ScalarType dtype = call.tensor(0).value.scalar_type();
  at::Tensor value;
  if (call.node.boolean("reverse")) {
    value = call.filled(x, 0, {axis}).value.flip(index).cumsum(index, dtype).flip(index);
  } else {
    value = x.value.cumsum(index, dtype);
  }
  call.gate(value, x.axes);
  return {call.result({value, x.axes})};
}

std::vector<Tensor> top_k(KernelCall& call) {
  Axes searched = call.node.dims("axes");
  Dim out_dim = call.node.dim("k_dim"), first = searched[0];
  if (call.is_tensor(1)) call.define_length(out_dim, call.tensor(1));
  std::int64_t k = call.lengths.extent(out_dim);
  Named x = with_last(call.tensor(0), searched);
  at::Scalar least = extreme(x.value.scalar_type(), true);
  x = call.filled(x, least, searched);
  Axes axes(x.axes.begin(), x.axes.end() - static_cast<std::ptrdiff_t>(searched.size()));
  std::vector<std::int64_t> shape = call.lengths.shape(axes);
  shape.push_back(1);
  for (Dim d : searched) shape.back() *= call.lengths.extent(d);
  at::Tensor entries = x.value.reshape(shape);
  if (first->dynamic()) {  // a sequence may have fewer than k
    shape.back() = k;
    entries = at::cat({entries, at::full(shape, least, entries.options())}, -1);
  }
  auto [sorted, order] = entries.sort(/*stable=*/true, -1, /*descending=*/true);
  at::Tensor values = sorted.narrow(-1, 0, k), indices = order.narrow(-1, 0, k);
  if (first->dynamic()) indices = indices.masked_fill(indices.ge(call.lengths.over(first, axes).unsqueeze(-1)), 0);
  Axes result = axes;
  result.push_back(out_dim);
  call.gate(values, result);
  std::vector<Tensor> results(searched.size() + 1);
  results[0] = call.result({values, result});
  for (std::size_t i = searched.size(); i > 0; --i) {
    std::int64_t size =
        searched.size() == 1 ? std::max<std::int64_t>(entries.size(-1), 1) : call.lengths.extent(searched[i - 1]);
    results[i] = call.result({indices.remainder(size), result}, i);
    indices = at::div(indices, size, "floor");
  }
  return results;
}

std::vector<Tensor> search_sorted(KernelCall& call) {
  Dim axis = call.node.dim("axis");
  Named sequence =
      with_last(call.filled(call.tensor(0), extreme(call.tensor(0).value.scalar_type(), false), {axis}), {axis});
  Axes shared(sequence.axes.begin(), sequence.axes.end() - 1);
  const Named& values = call.tensor(1);
  Axes axes = shared, more = without(values.axes, shared);
  axes.insert(axes.end(), more.begin(), more.end());
  std::vector<std::int64_t> shape = call.lengths.shape(shared);
  shape.push_back(1);
  for (std::int64_t size : call.lengths.shape(more)) shape.back() *= size;
  at::Tensor wanted = aligned(values, axes).reshape(shape).contiguous();
  at::Tensor found = at::searchsorted(sequence.value.contiguous(), wanted, /*out_int32=*/false,
                                      /*right=*/call.node.str("side") == "right");
  found = found.minimum(call.lengths.over(axis, shared).unsqueeze(-1));
  return {call.result({found.reshape(call.lengths.shape(axes)), axes})};
}

const KernelEntry kTable[] = {{"cumsum", cumsum}, {"top_k", top_k}, {"search_sorted", search_sorted}};

}  // namespace

std::span<const KernelEntry> order_kernels() { return kTable; }

}  // namespace rcn
