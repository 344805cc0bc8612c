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
  noise = call.run.drawn(noise, axes);
  at::Tensor scale = noise.to(x.value.scalar_type());
  if (x.value.scalar_type() == at::kDouble) scale = noise.ne(0).to(at::kDouble).div(keep);
  return {call.result({x.value * aligned({scale, axes}, x.axes), x.axes})};
}

std::vector<Tensor> random(KernelCall& call) {
  const TensorType& type = call.node.outputs[0];
  const std::string& distribution = call.node.str("distribution");
  const Value &a = call.node.attr("a"), &b = call.node.attr("b");
  Random random = call.run.random_for("random");
  std::vector<std::int64_t> shape = call.lengths.shape(type.dims);
  if (a.is<std::int64_t>()) {
    std::int64_t low = a.get<std::int64_t>(), count = b.get<std::int64_t>() - low;
    at::Tensor numbers = at::empty(shape, at::TensorOptions(at::kLong));
    for (std::int64_t i = 0; i < numbers.numel(); ++i) numbers.data_ptr<std::int64_t>()[i] = low + random.below(count);
    return {call.result({call.run.drawn(numbers, type.dims), type.dims})};
  }
  double low = a.as_double(), high = b.as_double();
  at::Tensor numbers = at::empty(shape, at::TensorOptions(at::kDouble));
  for (std::int64_t i = 0; i < numbers.numel(); ++i)
    numbers.data_ptr<double>()[i] = distribution == "uniform"  ? low + (high - low) * random.uniform()
                                    : distribution == "normal" ? low + high * random.normal()
                                                               : low + high * random.truncated_normal();
  return {call.result({call.run.drawn(numbers, type.dims), type.dims})};
}

const KernelEntry kTable[] = {{"dropout", dropout}, {"random", random}};

}  // namespace

std::span<const KernelEntry> random_kernels() { return kTable; }

}  // namespace rcn
