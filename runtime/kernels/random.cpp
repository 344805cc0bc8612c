// Operations that draw random numbers.
#include "runtime/kernels/families.h"

namespace rcn {

namespace {

std::vector<Tensor> dropout(KernelCall& call) {
  const Named& x = call.tensor(0);
  if (!call.run.train && !call.node.boolean("always")) return {call.result(x)};
  Axes wanted = call.node.dims("axes");
  // In the order of the type, so that the memory order does not matter.
  Axes axes;
  for (Dim d : call.type(0).dims)
    if (contains(wanted, d)) axes.push_back(d);
  double keep = 1.0 - call.node.real("dropout");
  Random random = call.run.random_for("dropout");
  at::Tensor noise = at::empty(call.lengths.shape(axes), at::TensorOptions(at::kFloat));
  float* data = noise.data_ptr<float>();
  auto kept = static_cast<float>(1.0 / keep);
  for (std::int64_t i = 0; i < noise.numel(); ++i) data[i] = random.uniform() < keep ? kept : 0.0F;
  at::Tensor scale = noise.to(x.value.scalar_type());
  if (x.value.scalar_type() == at::kDouble) scale = noise.ne(0).to(at::kDouble).div(keep);
  return {call.result({x.value * aligned({scale, axes}, x.axes), x.axes})};
}

const KernelEntry kTable[] = {{"dropout", dropout}};

}  // namespace

std::span<const KernelEntry> random_kernels() { return kTable; }

}  // namespace rcn
