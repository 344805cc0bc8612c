// Runs a body on types alone: what the evaluator must know of loops and branches before a backend sees them.
#pragma once

#include <string>
#include <vector>

#include "compiler/eval/backend.h"

namespace rcn {

// Its tensors are types. Parameters and inputs are made once in a run, whoever asks first, so they never come here.
class TypeBackend final : public Backend {
 public:
  static Tensor tensor(const TensorType& type) { return std::make_shared<const TensorData>(type); }
  static std::vector<Tensor> tensors(const std::vector<TensorType>& types);

  std::vector<Tensor> apply(const OpNode& node) override { return tensors(node.outputs); }
  Tensor parameter(const Parameter& parameter) override { return tensor(parameter.type); }
  Tensor input(const ExternInput& input) override { return tensor(input.type); }
  void mark(const Mark&, const Tensor&) override {}
  std::vector<Tensor> raw_layer(const Value&, const std::vector<TensorType>& outputs, const std::vector<std::string>&, Span) override {
    return tensors(outputs);
  }
  void raw_entry(const std::string&, const Value&, Span) override {}
  void enter_scope(const std::string&, bool, Span) override {}
  void leave_scope() override {}
  Tensor frame(const Tensor& x, Dim axis, const Tensor& index, Span span) override;
  LoopResult loop(const LoopSpec& spec, const LoopBody& body) override;
  std::vector<Tensor> cond(const CondSpec& spec, const CondBranch&, const CondBranch&) override { return tensors(spec.results); }
  std::vector<Tensor> masked(const MaskedSpec& spec, const CondBranch& body) override;
  void outside(const std::function<void()>& make) override { make(); }
  void assign(const Parameter&, const Tensor&, const Tensor&, Span) override {}
  void check(const Tensor&, const std::string&, Span) override {}
};

// The types that a loop gives, as backends must make them.
TensorType last_type(const LoopSpec& spec, const LoopState& state);
TensorType stacked_type(const LoopSpec& spec, std::size_t i);

}  // namespace rcn
