// Evaluates a program on tensors: each operation runs its kernel at once.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/eval/backend.h"
#include "runtime/beam.h"
#include "runtime/data/inputs.h"
#include "runtime/data/params.h"
#include "runtime/kernel.h"

namespace rcn {

enum class MadeBy : std::uint8_t { operation, input, parameter, loop };
std::string_view to_string(MadeBy by);

// A tensor at the moment it was made.
struct Produced {
  // Path of the calls and the steps of loops around it and the operation's name, joined by dots: `loop[3].lstm.dot`.
  // Inputs, parameters: their own.
  std::string name;
  Tensor tensor;  // as users see it
  Tensor source;  // as the program has it
  Span span;
  const std::vector<Span>& calls;  // where the calls around it stand, outermost first
  MadeBy by = MadeBy::operation;
  const OpNode* node = nullptr;  // of an operation
  std::size_t result = 0;        // which of its results
  double seconds = -1;           // that it took; negative for what is none
};

// The program calls a tensor so from here on.
struct Bound {
  std::string name;      // with its path: `loop[3].energy`
  std::string variable;  // `energy`
  Tensor tensor, source;
  Span span;
  const std::vector<Span>& calls;
};

// What control flow does.
struct Event {
  std::string name;  // of the branch, masked part or choice, with its path
  std::string text;
  Span span;
  const std::vector<Span>& calls;
};

struct MarkedTensor {
  Mark mark;
  Tensor tensor;
};

class EagerBackend : public Backend {
 public:
  EagerBackend(RunState& run, Inputs& inputs, Params& params, DiagnosticSink& sink, bool with_grad)
      : run_(run),
        inputs_(inputs),
        params_(params),
        sink_(sink),
        with_grad_(with_grad),
        searches_(run.lengths.batch_dim()) {}

  std::vector<Tensor> apply(const OpNode& node) override;
  Tensor parameter(const Parameter& parameter) override;
  Tensor input(const ExternInput& input) override;
  void mark(const Mark& mark, const Tensor& value) override { marks_.push_back({mark, shown(value)}); }
  std::vector<Tensor> raw_layer(const Value& layer, const std::vector<TensorType>& outputs,
                                const std::vector<std::string>& sub_layers, Span span) override;
  void raw_entry(const std::string&, const Value&, Span) override {}  // only says something to RETURNN
  void enter_scope(const std::string& base, bool at_root, Span call) override;
  void leave_scope() override;
  void bound(Symbol name, const Tensor& value, Span span) override;
  Tensor frame(const Tensor& x, Dim axis, const Tensor& index, Span span) override;
  LoopResult loop(const LoopSpec& spec, const LoopBody& body) override;
  std::vector<Tensor> cond(const CondSpec& spec, const CondBranch& then, const CondBranch& otherwise) override;
  std::vector<Tensor> masked(const MaskedSpec& spec, const CondBranch& body) override;
  void outside(const std::function<void()>& make) override;
  void assign(const Parameter& parameter, const Tensor& current, const Tensor& value, Span span) override;
  void check(const Tensor& condition, const std::string& message, Span span) override;
  std::string describe(const Tensor& tensor) override;
  std::vector<std::pair<Dim, std::int64_t>> running_loops() const override { return running_loops_; }

  const std::vector<MarkedTensor>& marks() const { return marks_; }
  // The inputs of floats that were read, if gradients of inputs are wanted.
  const std::vector<std::pair<std::string, Tensor>>& float_inputs() const { return float_inputs_; }

  bool input_gradients = false;  // are wanted: they cost time and memory

  // Called for each tensor as soon as it exists.
  std::function<void(const Produced&)> observer;
  std::function<void()> starting;  // before what makes a tensor begins
  std::function<void(const Bound&)> bound_observer;
  std::function<void(const Event&)> event_observer;

 private:
  class Names;      // of what one step of a loop makes
  class Searching;  // a loop

  std::vector<Tensor> run_kernel(Kernel kernel, const OpNode& node);
  // One run for each hypothesis.
  std::vector<Tensor> run_kernel(Kernel kernel, const OpNode& node, const BeamPtr& beam);
  // The beam that the results have; null: none.
  BeamPtr beam_of(const OpNode& node) const;

  std::vector<Tensor> apply_search(const OpNode& node);
  Tensor choice(const OpNode& node);
  Tensor decide(const Tensor& x);
  Tensor beam_scores(const Tensor& x);

  void produced(std::string name, const Tensor& tensor, Span span, MadeBy by);
  void happened(std::string name, std::string text, Span span);
  std::string scoped(const std::string& name) const;

  RunState& run_;
  Inputs& inputs_;
  Params& params_;
  DiagnosticSink& sink_;
  bool with_grad_;
  Searches searches_;
  Search* search_ = nullptr;      // of the outermost loop that runs and has a choice
  std::int64_t search_step_ = 0;  // of that loop
  std::vector<std::string> outer_scopes_;
  std::vector<Span> calls_;
  std::string steps_;         // `loop[3].inner[0].`: the steps of the loops that run; before scopes at the root too
  std::string around_loops_;  // the scope that the outermost one stands in
  std::vector<std::pair<Dim, std::int64_t>> running_loops_;
  std::vector<MarkedTensor> marks_;
  std::vector<std::pair<std::string, Tensor>> float_inputs_;
};

}  // namespace rcn
