// Operations that make tensors out of static values and lengths.
#include "runtime/kernels/families.h"

namespace rcn {

namespace {

void collect(const Value& value, std::vector<Value>& leaves) {
  if (value.is_list()) {
    for (const Value& v : value.list()) collect(v, leaves);
  } else {
    leaves.push_back(value);
  }
}

at::Scalar scalar_of(const Value& value) {
  if (value.is<bool>()) return value.get<bool>();
  if (value.is<std::int64_t>()) return value.get<std::int64_t>();
  return value.as_double();
}

std::vector<Tensor> constant(KernelCall& call) {
  const Value& value = call.node.attr("value");
  const TensorType& type = call.node.outputs[0];
  at::TensorOptions options(scalar_type(type.dtype));
  std::vector<std::int64_t> shape = call.lengths.shape(type.dims);
  if (!value.is_list()) return {call.result({at::full({}, scalar_of(value), options).expand(shape), type.dims})};
  std::vector<Value> leaves;
  collect(value, leaves);
  at::Tensor flat;
  if (is_float(type.dtype)) {
    flat = at::empty({static_cast<std::int64_t>(leaves.size())}, at::TensorOptions(at::kDouble));
    for (std::size_t i = 0; i < leaves.size(); ++i) flat.data_ptr<double>()[i] = leaves[i].as_double();
  } else {
    flat = at::empty({static_cast<std::int64_t>(leaves.size())}, at::TensorOptions(at::kLong));
    for (std::size_t i = 0; i < leaves.size(); ++i)
      flat.data_ptr<std::int64_t>()[i] = scalar_of(leaves[i]).to<std::int64_t>();
  }
  return {call.result({flat.to(options.dtype()).reshape(shape), type.dims})};
}

std::vector<Tensor> range_over_dim(KernelCall& call) {
  Dim dim = call.node.dim("dim");
  at::ScalarType dtype = scalar_type(call.node.outputs[0].dtype);
  return {call.result({at::arange(call.lengths.extent(dim), at::TensorOptions(at::kLong)).to(dtype), {dim}})};
}

std::vector<Tensor> range_from_length(KernelCall& call) {
  call.define_length(call.node.dim("dim"), call.tensor(0));
  return range_over_dim(call);
}

std::vector<Tensor> global_train_step(KernelCall& call) {
  return {call.result({at::scalar_tensor(call.run.step, at::kLong), {}})};
}

std::vector<Tensor> length(KernelCall& call) {
  Dim dim = call.node.dim("dim");
  Axes wanted = call.output_axes();
  Named value = call.lengths.seen_from(wanted, dim);
  // Lengths that turned out not to depend on a dim that they have by their type.
  if (value.axes.size() < wanted.size()) value = {aligned(value, wanted).expand(call.lengths.shape(wanted)), wanted};
  return {call.result(value)};
}

std::vector<Tensor> dim_value(KernelCall& call) {
  return {call.result({at::scalar_tensor(call.lengths.extent(call.node.dim("dim")), at::kLong), {}})};
}

std::vector<Tensor> train_flag(KernelCall& call) {
  return {call.result({at::scalar_tensor(call.run.train, at::kBool), {}})};
}

std::vector<Tensor> one_hot(KernelCall& call) {
  const Named& x = call.tensor(0);
  Dim axis = call.node.dim("axis");
  at::Tensor classes = at::arange(call.lengths.extent(axis), at::TensorOptions(at::kLong));
  Axes axes = x.axes;
  axes.push_back(axis);
  return {call.result({x.value.unsqueeze(-1).eq(classes), axes})};
}

const KernelEntry kTable[] = {
    {"constant", constant},
    {"range_over_dim", range_over_dim},
    {"length", length},
    {"range_from_length", range_from_length},
    {"global_train_step", global_train_step},
    {"dim_value", dim_value},
    {"train_flag", train_flag},
    {"one_hot", one_hot},
};

}  // namespace

std::span<const KernelEntry> generate_kernels() { return kTable; }

}  // namespace rcn
