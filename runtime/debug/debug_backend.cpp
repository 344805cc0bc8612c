#include "runtime/debug/debug_backend.h"

#include <cmath>

#include "runtime/debug/debug_view.h"

namespace rcn {

namespace {

// The operation made a NaN where there was none, or an infinite value where all was finite. What is written as infinite
// is meant so.
bool made_non_finite(const OpNode& node, const std::vector<Tensor>& results, Lengths& lengths) {
  bool finite = true, nan = false;
  for (const Tensor& t : results) {
    finite = finite && all_finite(t, lengths);
    nan = nan || has_nan(t, lengths);
  }
  if (finite) return false;
  bool finite_before = true, nan_before = false;
  auto number = [&](double x) {
    finite_before = finite_before && std::isfinite(x);
    nan_before = nan_before || std::isnan(x);
  };
  for (const Operand& input : node.inputs) {
    if (const Tensor* t = as_tensor(input)) {
      finite_before = finite_before && all_finite(*t, lengths);
      nan_before = nan_before || has_nan(*t, lengths);
    } else if (const double* x = std::get_if<double>(&input)) {
      number(*x);
    }
  }
  for (const auto& [name, value] : node.attrs)
    if (value.is_number()) number(value.as_double());
  return nan ? !nan_before : finite_before;
}

}  // namespace

std::vector<Tensor> DebugBackend::apply(const OpNode& node) {
  debugger_.operation(node);
  std::vector<Tensor> results = inner_.apply(node);
  if (!debugger_.watches()) return results;
  std::string name = scoped(node.base_name.empty() ? std::string(node.op->name) : node.base_name);
  if (debugger_.watches_nan() && made_non_finite(node, results, run_.lengths)) {
    debugger_.made_nan(name, node, results);
  } else {
    debugger_.made(name, !node.base_name.empty());
  }
  return results;
}

Tensor DebugBackend::parameter(const Parameter& parameter) {
  Tensor tensor = inner_.parameter(parameter);
  debugger_.loaded(parameter, tensor);
  if (debugger_.watches()) debugger_.made(parameter.path, false);
  return tensor;
}

Tensor DebugBackend::input(const ExternInput& input) { return debugger_.given(input, inner_.input(input)); }

LoopResult DebugBackend::loop(const LoopSpec& spec, const LoopBody& body) {
  std::int64_t step = 0;
  LoopResult result = inner_.loop(spec, [&](const LoopStep& at) {
    EagerDebugger::Region region(debugger_,
                                 "step " + std::to_string(step++) + " of the loop over `" + to_string(spec.axis) + "`");
    return body(at);
  });
  std::string name = scoped(spec.name);
  if (!debugger_.watches()) return result;
  for (const LoopState& s : spec.state) debugger_.made(name + "." + s.name, false);
  for (const std::string& s : spec.stacked_names) debugger_.made(name + "." + s, false);
  return result;
}

std::vector<Tensor> DebugBackend::cond(const CondSpec& spec, const CondBranch& then, const CondBranch& otherwise) {
  auto branch = [&](const CondBranch& body, const char* value) {
    return [&, value] {
      EagerDebugger::Region region(debugger_, "`" + debugger_.text(spec.span) + "` is " + value);
      return body();
    };
  };
  return inner_.cond(spec, branch(then, "true"), branch(otherwise, "false"));
}

std::vector<Tensor> DebugBackend::masked(const MaskedSpec& spec, const CondBranch& body) {
  return inner_.masked(spec, [&] {
    EagerDebugger::Region region(debugger_, "a masked part");
    return body();
  });
}

}  // namespace rcn
