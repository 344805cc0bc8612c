// The eager backend as a debugger watches it: what runs is told before, what was made after.
#pragma once

#include <string>
#include <vector>

#include "compiler/eval/forwarding_backend.h"
#include "runtime/debug/debugger.h"
#include "runtime/kernel.h"

namespace rcn {

class DebugBackend final : public ForwardingBackend {
 public:
  DebugBackend(Backend& inner, EagerDebugger& debugger, RunState& run)
      : ForwardingBackend(inner), debugger_(debugger), run_(run) {}

  std::vector<Tensor> apply(const OpNode& node) override;
  Tensor parameter(const Parameter& parameter) override;
  Tensor input(const ExternInput& input) override;
  LoopResult loop(const LoopSpec& spec, const LoopBody& body) override;
  std::vector<Tensor> cond(const CondSpec& spec, const CondBranch& then, const CondBranch& otherwise) override;
  std::vector<Tensor> masked(const MaskedSpec& spec, const CondBranch& body) override;

 private:
  std::string scoped(const std::string& name) const { return run_.scope.empty() ? name : run_.scope + "." + name; }

  EagerDebugger& debugger_;
  RunState& run_;
};

}  // namespace rcn
