// Numbers the operations that run once in a run, equally for every backend: so that what two backends make of the same
// operation can be compared.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/eval/forwarding_backend.h"

namespace rcn {

// A result of an operation, or of a whole loop, branch or masked part. What is inside of these has no number.
struct NumberedTensor {
  std::size_t number;     // of the operation: 0, 1, ... as the program runs
  std::string operation;  // `linear`; `loop`, `cond`, `masked`, `layer`
  std::string result;     // which of several: `1`, `last h`, `stacked y`; empty: the only one
  Span span;
  std::vector<Span> calls;  // around it, outermost first
  Tensor tensor;
};

class NumberingBackend : public ForwardingBackend {
 public:
  NumberingBackend(Backend& inner, std::function<void(const NumberedTensor&)> made)
      : ForwardingBackend(inner), made_(std::move(made)) {}

  std::vector<Tensor> apply(const OpNode& node) override;
  std::vector<Tensor> raw_layer(const Value& layer, const std::vector<TensorType>& outputs,
                                const std::vector<std::string>& sub_layers, Span span) override;
  void enter_scope(const std::string& base, bool at_root, Span call) override;
  void leave_scope() override;
  LoopResult loop(const LoopSpec& spec, const LoopBody& body) override;
  std::vector<Tensor> cond(const CondSpec& spec, const CondBranch& then, const CondBranch& otherwise) override;
  std::vector<Tensor> masked(const MaskedSpec& spec, const CondBranch& body) override;

 private:
  class Inside;
  void made(const std::string& operation, Span span, const std::vector<std::string>& names,
            const std::vector<Tensor>& results);

  std::function<void(const NumberedTensor&)> made_;
  std::vector<Span> calls_;
  std::size_t next_ = 0;
  std::size_t depth_ = 0;  // dicts and masked parts around
};

}  // namespace rcn
