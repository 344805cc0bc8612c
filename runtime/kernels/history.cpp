// The state of attention to all frames so far, and its growth.
#include "runtime/kernels/families.h"

namespace rcn {

namespace {

std::vector<Tensor> empty_history(KernelCall& call) {
  const TensorType& type = call.node.outputs[0];
  std::vector<std::int64_t> shape = call.lengths.shape(type.dims);
  shape.insert(shape.begin(), 0);
  return {call.result({at::zeros(shape, at::TensorOptions(scalar_type(type.dtype))), type.dims})};
}

std::vector<Tensor> cum_concat(KernelCall& call) {
  Dim spatial = call.node.dim("spatial_dim"), out = call.node.dim("out_spatial_dim");
  const Named &x = call.tensor(0), &before = call.tensor(1);
  Axes axes = before.axes;
  axes.insert(axes.begin(), out);
  if (spatial->marker) {
    at::Tensor frame = aligned(x, before.axes).expand(call.lengths.shape(before.axes));
    at::Tensor frames = at::cat({before.value, frame.to(before.value.scalar_type()).unsqueeze(0)});
    call.define_length(out, {at::scalar_tensor(frames.size(0), at::kLong), {}});
    return {call.result({frames, axes}), call.result({frames, before.axes}, 1)};
  }
  if (before.value.size(0) != 0) throw std::logic_error("cum_concat over a whole sequence after other frames");
  // Of short sequences the frames behind the end are no padding in a tensor that has not their dim.
  Named source = call.filled(x, 0, {spatial});
  source.axes[static_cast<std::size_t>(source.index(spatial))] = out;
  at::Tensor frames = aligned(source, axes);
  call.define_length(out, {at::arange(1, frames.size(0) + 1, at::TensorOptions(at::kLong)), {spatial}});
  return {call.result({frames, axes}), call.result({frames, before.axes}, 1)};
}

const KernelEntry kTable[] = {{"empty_history", empty_history}, {"cum_concat", cum_concat}};

}  // namespace

std::span<const KernelEntry> history_kernels() { return kTable; }

}  // namespace rcn
