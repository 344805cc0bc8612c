#include "runtime/data/batch.h"

namespace rcn {

namespace {

// `x` with the one sequence along its axis `batch`.
at::Tensor sequence(const at::Tensor& x, std::int64_t axis, const Batch& batch) {
  return batch.only ? x.narrow(axis, *batch.only, 1) : x;
}

// Another legal value: the next index, the other end of the range, the other truth.
at::Tensor other_values(const at::Tensor& x, const ExternInput& input, Lengths& lengths) {
  const TensorType& type = input.type;
  if (type.dtype == DType::bool_) return x.logical_not();
  if (input.range) return at::where(x.eq(input.range->second), input.range->first, input.range->second);
  if (type.sparse_dim && lengths.has(type.sparse_dim)) {
    std::int64_t classes = lengths.extent(type.sparse_dim);
    return classes > 1 ? (x + 1).remainder(classes) : x;
  }
  return at::where(x.eq(7), 5, 7);
}

}  // namespace

void set_lengths(const Batch& batch, const std::vector<ExternInput>& externs, Lengths& lengths) {
  lengths.set_batch(batch.only ? 1 : batch.size);
  std::map<std::uint32_t, Dim> dims;
  for (const ExternInput& e : externs)
    for (Dim d : e.type.dims)
      for (Dim a : atoms(d)) dims[a->id] = a;
  for (const auto& [id, length] : batch.lengths) {
    Named own{length.value, {}};
    for (std::uint32_t over : length.over) {
      own.axes.push_back(dims.at(over));
      if (own.axes.back() == lengths.batch_dim())
        own.value = sequence(own.value, static_cast<std::int64_t>(own.axes.size()) - 1, batch);
    }
    lengths.define(dims.at(id), std::move(own));
  }
}

at::Tensor batch_values(const Batch& batch, const ExternInput& input, Lengths& lengths) {
  const std::vector<Dim>& dims = input.type.dims;
  at::Tensor value = batch.values.at(input.name);
  std::vector<std::int64_t> shape = lengths.shape(dims);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    auto axis = static_cast<std::int64_t>(i);
    value = dims[i] == lengths.batch_dim() ? sequence(value, axis, batch) : value.narrow(axis, 0, shape[i]);
  }
  at::Tensor padding = lengths.padding(dims);
  if (!batch.poison || !padding.defined()) return value.contiguous();
  if (is_float(input.type.dtype)) return value.masked_fill(padding, *batch.poison);
  return at::where(padding, other_values(value, input, lengths), value).to(value.scalar_type());
}

}  // namespace rcn
