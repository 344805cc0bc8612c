// What the evaluator asks of a backend. There are two: one builds the layer graph, one computes tensors.
#pragma once

#include <functional>
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

// ---- control flow over tensors
//
// The evaluator has run each body on types alone before a backend sees it, so all types and names are known. A backend
// runs the body as often as it needs to: once to record it, or once for each step.

struct LoopState {
  std::string name;       // `h`; `state.h` for a part of a record
  Tensor initial;         // of the type below; of a history only a mark of its type
  TensorType type;        // at the begin of a step and at its end
  Span span;
  bool hypotheses = false;  // it differs between those of a search
};

struct LoopSpec {
  std::string name;                // wanted name of its layer
  Dim axis = nullptr;
  bool axis_known = true;          // has lengths; else the loop gives it them
  std::vector<Dim> length_dims;    // what the lengths of the axis depend on: [batch] or none
  Tensor max;                      // at most so many frames: int, a scalar or [batch]; null where none is given or the axis is known
  bool has_end = false;            // the body calls `end`
  bool search = false;             // what it computes differs between the hypotheses of a search
  bool chooses = false;            // the body has a choice
  bool include_eos = true;         // the frame in which a sequence ends counts
  std::vector<LoopState> state;
  std::vector<std::string> stacked_names;
  std::vector<TensorType> stacked;  // of one frame
  Span span;
};
struct LoopStep {
  Tensor index;               // int32 scalar
  std::vector<Tensor> state;  // from the step before
};
struct LoopNext {
  std::vector<Tensor> state;
  std::vector<Tensor> stacked;
  Tensor end;  // bool; null without `end`
};
struct LoopResult {
  std::vector<Tensor> last;     // state after each sequence's own last frame: its type and length_dims; null for a history
  std::vector<Tensor> stacked;  // the type of a frame with the axis in front
};
using LoopBody = std::function<LoopNext(const LoopStep&)>;

struct CondSpec {
  std::string name;
  Tensor condition;                  // bool scalar
  std::vector<std::string> names;    // of the results
  std::vector<TensorType> results;
  std::vector<Dim> joined;           // declared without length before; each branch gives them one
  bool hypotheses = false;           // a result differs between those of a search
  Span span;
};
using CondBranch = std::function<std::vector<Tensor>()>;

struct MaskedSpec {
  std::string name;
  Tensor mask;                      // bool, scalar or with batch
  std::vector<std::string> names;
  std::vector<Tensor> before;       // what the results are where the mask is false; of equal types
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
  // is a whole module path (`encoder.layers.0`) and does not belong to the call around it. `call`: where it stands.
  virtual void enter_scope(const std::string& base, bool at_root, Span call) = 0;
  virtual void leave_scope() = 0;
  // The program calls the tensor so from here on.
  virtual void bound(Symbol, const Tensor&, Span) {}
  // The step's frame of `x` inside of a loop over `axis`, whose index this is: `x` without that axis.
  virtual Tensor frame(const Tensor& x, Dim axis, const Tensor& index, Span span) = 0;
  virtual LoopResult loop(const LoopSpec& spec, const LoopBody& body) = 0;
  virtual std::vector<Tensor> cond(const CondSpec& spec, const CondBranch& then, const CondBranch& otherwise) = 0;
  // An `if` for each sequence.
  virtual std::vector<Tensor> masked(const MaskedSpec& spec, const CondBranch& body) = 0;
  // Runs `make` outside of all loops, branches and masked parts: what is computed once in a run.
  virtual void outside(const std::function<void()>& make) = 0;
  // The value of a parameter for the next run; `value` has its type.
  virtual void assign(const Parameter& parameter, const Tensor& current, const Tensor& value, Span span) = 0;
  // `assert` on a tensor: checked in eager runs, left out of the network.
  virtual void check(const Tensor& condition, const std::string& message, Span span) = 0;
  // The values in a tensor in a few words, for messages; empty where there are none.
  virtual std::string describe(const Tensor&) { return {}; }
  // The loops that run, from the outermost, and their steps, for messages; none where loops have no steps.
  virtual std::vector<std::pair<Dim, std::int64_t>> running_loops() const { return {}; }
};

}  // namespace rcn
