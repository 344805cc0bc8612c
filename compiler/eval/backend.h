// What the evaluator asks of a backend. There are two: one builds the layer graph, one computes tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/eval/op.h"
#include "compiler/eval/value.h"

namespace rcn {

// A parameter of a module instance with everything that decides what it is.
struct Parameter {
  std::string path;                    // `encoder/layers/0/ff/weight`; final once all module bodies have run
  TensorType type;
  Value initial;                       // a number, nested lists of numbers, or an Initializer
  bool trainable = true;
  bool auxiliary = false;
  std::optional<double> weight_decay;  // adds weight_decay * sum(w * w)
  Value updater_opts = None{};
  Span span;
};

struct ExternInput {
  std::string name;
  std::string key;                     // RETURNN's data key
  TensorType type;
  bool available_for_inference = true;
  std::optional<std::pair<std::int64_t, std::int64_t>> range;  // of random ints in eager runs, inclusive
  Span span;
};

enum class MarkRole : std::uint8_t { loss, error, output };

struct Mark {
  MarkRole role;
  std::string name;
  double scale = 1.0;
  bool use_normalized_loss = false;
  bool use_flatten_frames = true;
  Tensor custom_inv_norm_factor;       // may be null
  bool first_output = false;           // also the layer `output`
  Span span;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Runs or records one operation; one tensor for each of node.outputs.
  virtual std::vector<Tensor> apply(const OpNode& node) = 0;
  // The parameter's tensor; asked once for each parameter that the program uses.
  virtual Tensor parameter(const Parameter& parameter) = 0;
  virtual Tensor input(const ExternInput& input) = 0;
  virtual void mark(const Mark& mark, const Tensor& value) = 0;
  // `nn.make_layer`: `layer` is a record of RETURNN's options, in which tensors and dims stand for references.
  virtual std::vector<Tensor> raw_layer(const Value& layer, const std::vector<TensorType>& outputs, const std::vector<std::string>& sub_layers, Span span) = 0;
  // `nn.network_entry`.
  virtual void raw_entry(const std::string& key, const Value& value, Span span) = 0;
  // A call of a module or function begins and ends: names of what is made in between belong to it. `at_root`: the base
  // is a whole module path (`encoder.layers.0`) and does not belong to the call around it.
  virtual void enter_scope(const std::string& base, bool at_root) = 0;
  virtual void leave_scope() = 0;
  // `assert` on a tensor: checked in eager runs, left out of the network.
  virtual void check(const Tensor& condition, const std::string& message, Span span) = 0;
};

}  // namespace rcn
