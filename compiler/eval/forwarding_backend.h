// A backend that hands everything to another one: base of those that only watch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/eval/backend.h"

namespace rcn {

class ForwardingBackend : public Backend {
 public:
  explicit ForwardingBackend(Backend& inner) : inner_(inner) {}

  std::vector<Tensor> apply(const OpNode& node) override { return inner_.apply(node); }
  Tensor parameter(const Parameter& parameter) override { return inner_.parameter(parameter); }
  Tensor input(const ExternInput& input) override { return inner_.input(input); }
  void mark(const Mark& mark, const Tensor& value) override { inner_.mark(mark, value); }
  std::vector<Tensor> raw_layer(const Value& layer, const std::vector<TensorType>& outputs,
                                const std::vector<std::string>& sub_layers, Span span) override {
    return inner_.raw_layer(layer, outputs, sub_layers, span);
  }
  void raw_entry(const std::string& key, const Value& value, Span span) override { inner_.raw_entry(key, value, span); }
  void enter_scope(const std::string& base, bool at_root, Span call) override { inner_.enter_scope(base, at_root, call); }
  void leave_scope() override { inner_.leave_scope(); }
  void bound(Symbol name, const Tensor& value, Span span) override { inner_.bound(name, value, span); }
  Tensor frame(const Tensor& x, Dim axis, const Tensor& index, Span span) override {
    return inner_.frame(x, axis, index, span);
  }
  LoopResult loop(const LoopSpec& spec, const LoopBody& body) override { return inner_.loop(spec, body); }
  std::vector<Tensor> cond(const CondSpec& spec, const CondBranch& then, const CondBranch& otherwise) override {
    return inner_.cond(spec, then, otherwise);
  }
  std::vector<Tensor> masked(const MaskedSpec& spec, const CondBranch& body) override { return inner_.masked(spec, body); }
  void outside(const std::function<void()>& make) override { inner_.outside(make); }
  void assign(const Parameter& parameter, const Tensor& current, const Tensor& value, Span span) override {
    inner_.assign(parameter, current, value, span);
  }
  void check(const Tensor& condition, const std::string& message, Span span) override {
    inner_.check(condition, message, span);
  }
  std::string describe(const Tensor& tensor) override { return inner_.describe(tensor); }
  std::vector<std::pair<Dim, std::int64_t>> running_loops() const override { return inner_.running_loops(); }

 protected:
  Backend& inner_;
};

}  // namespace rcn
