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

std::vector<Tensor> random(KernelCall& call) {
  const std::string& distribution = call.node.str("distribution");
  const Axes& dims = call.node.outputs[0].dims;
  Random random = call.run.random_for("random");
  double (Random::*draw)() = distribution == "uniform"  ? &Random::uniform
                             : distribution == "normal" ? &Random::normal
                                                        : &Random::truncated_normal;
  at::Tensor noise = at::empty(call.lengths.shape(dims), at::TensorOptions(at::kFloat));
  float* data = noise.data_ptr<float>();
  for (std::int64_t i = 0; i < noise.numel(); ++i) data[i] = static_cast<float>((random.*draw)());
  if (distribution == "uniform") noise.clamp_max_(1.0F - 0x1p-24F);  // what was rounded to 1
  return {call.result({noise, dims})};
}

std::vector<Tensor> global_train_step(KernelCall& call) {
  return {call.result({at::scalar_tensor(call.run.step, at::kLong), {}})};
}

const KernelEntry kTable[] = {{"dropout", dropout}, {"random", random}, {"global_train_step", global_train_step}};

}  // namespace

std::span<const KernelEntry> random_kernels() { return kTable; }

}  // namespace rcn
