#include "compiler/eval/type_backend.h"

#include "compiler/dims/dim_list.h"

namespace rcn {

std::vector<Tensor> TypeBackend::tensors(const std::vector<TensorType>& types) {
  std::vector<Tensor> result;
  for (const TensorType& type : types) result.push_back(tensor(type));
  return result;
}

Tensor TypeBackend::frame(const Tensor& x, Dim axis, const Tensor&, Span) {
  TensorType type = x->type;
  type.dims = without(type.dims, {axis});
  return tensor(type);
}

TensorType last_type(const LoopSpec& spec, const LoopState& state) {
  TensorType type = state.type;
  type.dims = united(spec.length_dims, type.dims);
  return type;
}

TensorType stacked_type(const LoopSpec& spec, std::size_t i) {
  TensorType type = spec.stacked[i];
  type.dims.insert(type.dims.begin(), spec.axis);
  return type;
}

LoopResult TypeBackend::loop(const LoopSpec& spec, const LoopBody&) {
  LoopResult result;
  for (const LoopState& state : spec.state) result.last.push_back(state.type.history ? nullptr : tensor(last_type(spec, state)));
  for (std::size_t i = 0; i < spec.stacked.size(); ++i) result.stacked.push_back(tensor(stacked_type(spec, i)));
  return result;
}

std::vector<Tensor> TypeBackend::masked(const MaskedSpec& spec, const CondBranch&) {
  std::vector<Tensor> result;
  for (const Tensor& before : spec.before) result.push_back(tensor(before->type));
  return result;
}

}  // namespace rcn
