#include "compiler/eval/numbering.h"

namespace rcn {

class NumberingBackend::Inside {
 public:
  explicit Inside(std::size_t& depth) : depth_(depth) { ++depth_; }
  ~Inside() { --depth_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  std::size_t& depth_;
};

namespace {

std::vector<std::string> counted(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(count == 1 ? "" : std::to_string(i));
  return names;
}

}  // namespace

void NumberingBackend::made(const std::string& operation, Span span, const std::vector<std::string>& names,
                            const std::vector<Tensor>& results) {
  if (depth_ > 0) return;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i] && !results[i]->type.history) made_({next_, operation, names[i], span, calls_, results[i]});
  ++next_;
}

std::vector<Tensor> NumberingBackend::apply(const OpNode& node) {
  std::vector<Tensor> results = inner_.apply(node);
  made(std::string(node.op->name), node.span, counted(results.size()), results);
  return results;
}

std::vector<Tensor> NumberingBackend::raw_layer(const Value& layer, const std::vector<TensorType>& outputs,
                                                const std::vector<std::string>& sub_layers, Span span) {
  std::vector<Tensor> results = inner_.raw_layer(layer, outputs, sub_layers, span);
  made("layer", span, counted(results.size()), results);
  return results;
}

void NumberingBackend::enter_scope(const std::string& base, bool at_root, Span call) {
  calls_.push_back(call);
  inner_.enter_scope(base, at_root, call);
}

void NumberingBackend::leave_scope() {
  inner_.leave_scope();
  calls_.pop_back();
}

LoopResult NumberingBackend::loop(const LoopSpec& spec, const LoopBody& body) {
  LoopResult result;
  {
    Inside inside(depth_);
    result = inner_.loop(spec, body);
  }
  std::vector<std::string> names;
  std::vector<Tensor> results = result.last;
  for (const LoopState& s : spec.state) names.push_back("last " + s.name);
  results.insert(results.end(), result.stacked.begin(), result.stacked.end());
  for (const std::string& name : spec.stacked_names) names.push_back("stacked " + name);
  made("loop", spec.span, names, results);
  return result;
}

std::vector<Tensor> NumberingBackend::cond(const CondSpec& spec, const CondBranch& then, const CondBranch& otherwise) {
  std::vector<Tensor> results;
  {
    Inside inside(depth_);
    results = inner_.cond(spec, then, otherwise);
  }
  made("cond", spec.span, spec.names, results);
  return results;
}

std::vector<Tensor> NumberingBackend::masked(const MaskedSpec& spec, const CondBranch& body) {
  std::vector<Tensor> results;
  {
    Inside inside(depth_);
    results = inner_.masked(spec, body);
  }
  made("masked", spec.span, spec.names, results);
  return results;
}

}  // namespace rcn
