#include "runtime/eager_backend.h"

#include <chrono>

#include "runtime/debug/debug_view.h"
#include "runtime/hypotheses.h"

namespace rcn {

std::string_view to_string(MadeBy by) {
  static constexpr std::string_view kNames[] = {"operation", "input", "parameter", "loop"};
  return kNames[static_cast<std::size_t>(by)];
}

std::vector<Tensor> EagerBackend::apply(const OpNode& node) {
  std::string op(node.op->name);
  Kernel kernel = find_kernel(op);
  if (!kernel) {
    sink_.report(Diag::eager_no_kernel, node.span, {op});
    throw EvalError{};
  }
  if (starting) starting();
  using Clock = std::chrono::steady_clock;
  Clock::time_point began = observer ? Clock::now() : Clock::time_point();
  at::AutoGradMode grad_mode(with_grad_);
  std::vector<Tensor> results;
  try {
    if (is_search_op(op)) {
      results = apply_search(node);
    } else {
      BeamPtr beam = beam_of(node);
      for (const NewDim& d : node.new_dims)
        if (d.computed)
          run_.lengths.define(d.dim, beam ? run_.lengths.of(d.computed) : run_.lengths.decided(d.computed));
      results = beam ? run_kernel(kernel, node, beam) : run_kernel(kernel, node);
    }
  } catch (const c10::Error& error) {  // sizes beyond memory, and what the type rules let through
    sink_.report(Diag::eager_torch, node.span, {op, torch_reason(error)});
    throw EvalError{};
  }
  if (observer) {
    std::chrono::duration<double> took = Clock::now() - began;
    std::string name = scoped(node.base_name.empty() ? op : node.base_name);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (const Tensor& t = results[i]; !t->type.history)
        observer({name, shown(t), t, node.span, calls_, MadeBy::operation, &node, i, took.count()});
  }
  if (event_observer && op == "choice")
    for (const Hypothesis& h : hypotheses(*search_->latest)) happened(scoped(op), to_string(h), node.span);
  return results;
}

std::vector<Tensor> EagerBackend::run_kernel(Kernel kernel, const OpNode& node) {
  KernelCall one_call(node, run_, sink_);
  return kernel(one_call);
}

void EagerBackend::produced(std::string name, const Tensor& tensor, Span span, MadeBy by) {
  if (starting) starting();
  if (observer) observer({std::move(name), shown(tensor), tensor, span, calls_, by});
}

void EagerBackend::happened(std::string name, std::string text, Span span) {
  if (event_observer) event_observer({std::move(name), std::move(text), span, calls_});
}

void EagerBackend::bound(Symbol name, const Tensor& value, Span span) {
  if (bound_observer && !value->type.history)
    bound_observer({scoped(name.str()), name.str(), shown(value), value, span, calls_});
}

std::string EagerBackend::scoped(const std::string& name) const {
  return run_.scope.empty() ? name : run_.scope + "." + name;
}

Tensor EagerBackend::parameter(const Parameter& parameter) {
  Tensor tensor = params_.get(parameter);
  produced(parameter.path, tensor, parameter.span, MadeBy::parameter);
  return tensor;
}

Tensor EagerBackend::input(const ExternInput& input) {
  Tensor tensor = inputs_.get(input);
  if (input_gradients && is_float(input.type.dtype)) {
    Held held = eager(tensor);
    held.value = held.value.detach().requires_grad_();
    tensor = std::make_shared<EagerTensor>(tensor->type, std::move(held));
    float_inputs_.emplace_back(input.name, tensor);
  }
  produced(input.name, tensor, input.span, MadeBy::input);
  return tensor;
}

std::vector<Tensor> EagerBackend::raw_layer(const Value& layer, const std::vector<TensorType>&,
                                            const std::vector<std::string>&, Span span) {
  std::string name = "?";
  if (layer.is_record())
    if (const Value* v = layer.record().find(Symbol("class")); v && v->is_str()) name = v->str();
  sink_.report(Diag::eager_raw_layer, span, {name});
  throw EvalError{};
}

void EagerBackend::enter_scope(const std::string& base, bool at_root, Span call) {
  calls_.push_back(call);
  outer_scopes_.push_back(run_.scope);
  run_.scope = at_root ? steps_ + base : scoped(base);
}

void EagerBackend::leave_scope() {
  run_.scope = std::move(outer_scopes_.back());
  outer_scopes_.pop_back();
  calls_.pop_back();
}

std::string EagerBackend::describe(const Tensor& tensor) { return described(tensor, run_.lengths); }

void EagerBackend::check(const Tensor& condition, const std::string& message, Span span) {
  Held x = latest(eager(condition));
  at::Tensor bad = x.value.logical_not();
  at::Tensor padding = run_.lengths.padding(x.axes);
  if (padding.defined()) bad = bad.logical_and(padding.logical_not());
  std::string where = first_index(bad, x.axes);
  if (where.empty()) return;
  sink_.report(Diag::eager_assert, span, {where, message});
  throw EvalError{};
}

}  // namespace rcn
