#include "runtime/check/objective.h"

namespace rcn {

namespace {

// What RETURNN counts as frames: entries of the batch, each as long as its first dynamic dim says. Static dims are
// summed over.
Axes frame_axes(const std::vector<Dim>& dims, Dim batch) {
  Axes result;
  if (contains(dims, batch)) result.push_back(batch);
  for (Dim d : dims)
    if (d != batch && d->dynamic()) {
      result.push_back(d);
      break;
    }
  return result;
}

at::Tensor valid_sum(const Named& x, Lengths& lengths) {
  at::Tensor value = x.value;
  if (value.scalar_type() != at::kDouble) value = value.to(at::kFloat);
  at::Tensor padding = lengths.padding(x.axes);
  if (padding.defined()) value = value.masked_fill(padding, 0);
  return value.sum();
}

}  // namespace

Objective compute_objective(const std::vector<MarkedTensor>& marks, const std::vector<LoadedParameter>& params,
                            Lengths& lengths, Dim batch, bool with_grad,
                            const std::vector<std::pair<std::string, Tensor>>& inputs) {
  at::AutoGradMode grad_mode(with_grad);
  Objective result;
  at::Tensor total = at::zeros({}, at::TensorOptions(at::kFloat));
  for (const MarkedTensor& m : marks) {
    if (m.mark.role == MarkRole::output) continue;
    at::Tensor sum = valid_sum(eager(m.tensor), lengths);
    Score score{m.mark, m.tensor, sum.item<double>(), 0, 0};
    score.frames = static_cast<double>(lengths.count_valid(frame_axes(m.tensor->type.dims, batch)));
    double norm = score.frames;
    if (m.mark.custom_inv_norm_factor) norm = valid_sum(eager(m.mark.custom_inv_norm_factor), lengths).item<double>();
    score.mean = score.sum / norm;
    if (m.mark.role == MarkRole::error) {
      result.errors.push_back(std::move(score));
      continue;
    }
    total = total + sum * (m.mark.use_normalized_loss ? m.mark.scale / norm : m.mark.scale);
    result.losses.push_back(std::move(score));
  }
  for (const LoadedParameter& p : params) {
    if (!p.parameter.trainable || !p.parameter.weight_decay || *p.parameter.weight_decay == 0.0) continue;
    const at::Tensor& w = eager(p.tensor).value;
    at::Tensor decay = w.mul(w).sum() * *p.parameter.weight_decay;
    result.constraints += decay.item<double>();
    total = total + decay;
  }
  result.total = total.item<double>();
  if (!with_grad) return result;

  std::vector<at::Tensor> values;
  for (const LoadedParameter& p : params) {
    const at::Tensor& value = eager(p.tensor).value;
    if (!value.requires_grad()) continue;
    values.push_back(value);
    result.gradients.push_back({p.parameter.path, {}, value, p.parameter.span});
  }
  for (const auto& [name, input] : inputs) values.push_back(eager(input).value);
  std::vector<at::Tensor> grads(values.size());
  if (!values.empty() && total.requires_grad()) grads = torch::autograd::grad({total}, values, {}, {}, false, true);
  for (std::size_t i = 0; i < result.gradients.size(); ++i) result.gradients[i].value = grads[i];
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& [name, input] = inputs[i];
    const at::Tensor& grad = grads[result.gradients.size() + i];
    Held held{{grad.defined() ? grad : at::zeros_like(eager(input).value), eager(input).axes}, nullptr};
    result.input_gradients.push_back({name, std::make_shared<EagerTensor>(input->type, std::move(held))});
  }
  return result;
}

}  // namespace rcn
