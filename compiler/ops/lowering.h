// What a lowering works with: the node, its inputs as layers, and ways to make layers.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/eval/op.h"
#include "compiler/graph/graph.h"
#include "compiler/ops/bounds.h"

namespace rcn {

class GraphBackend;

// A tensor in the graph: a layer, or one of its further outputs.
struct GraphTensor final : TensorData {
  LayerRef layer;
  TensorType layer_type;      // what the layer has; the order of its dims says nothing
  std::vector<Dim> missing;   // dims of the type that the layer lacks (`nn.expand_dims`): the value is the same along them
  bool wild_padding = false;  // its padding may hold inf or nan
  std::vector<Dim> zero_padding;  // dims in whose padding all is 0, whatever the other padding is
  Bounds bounds;              // of its numbers, unless its padding is wild
  mutable std::size_t masks = 0;  // how many masked parts were around it when it was made

  GraphTensor(TensorType t, LayerRef ref, std::vector<Dim> absent);
};

const GraphTensor& graph_tensor(const Tensor& tensor);

// A static number as Python, as the dtype wants it: `2`, `2.0`, `float('inf')`, `True`; negative ones in parentheses.
std::string python_number(const Operand& number, DType dtype);
std::string python_nested(const Value& value, DType dtype);  // the same of nested lists
std::string python_float(double value);  // shortest text that reads back as this
Option number_option(const Operand& number, DType dtype);
// Whether RETURNN's layers take a number for a tensor of the dtype; they make float32 and int32 of it.
bool takes_numbers(DType dtype);
OptionDict reuse_params(std::vector<std::pair<std::string, LayerRef>> map);

// Helpers are methods so that each lowering reads like the dict that it makes.
class Lowering {
 public:
  Lowering(GraphBackend& backend, const OpNode& node);

  const OpNode& node() const { return node_; }
  const TensorType& out(std::size_t i = 0) const { return node_.outputs[i]; }
  DimTable& dims();
  const DimLengths& lengths();

  // ---- inputs
  bool is_tensor(std::size_t i) const { return as_tensor(node_.inputs[i]) != nullptr; }
  const TensorType& type(std::size_t i) const { return node_.tensor(i)->type; }
  const GraphTensor& raw(std::size_t i) const { return graph_tensor(std::get<Tensor>(inputs_[i])); }
  Bounds bounds(std::size_t i) const;  // of a number too
  // With all dims of its type in the layer.
  LayerRef full(std::size_t i);
  LayerRef full(const GraphTensor& tensor);
  // With at least these dims of its type in the layer.
  LayerRef with_dims(std::size_t i, const std::vector<Dim>& dims);
  // The dims that with_dims() leaves out of the layer.
  std::vector<Dim> absent(std::size_t i, const std::vector<Dim>& dims) const;
  // Both at once: the layer with at least these dims, what it has, and what it lacks.
  struct Source {
    LayerRef layer;
    TensorType type;
    std::vector<Dim> missing;
  };
  Source source(std::size_t i, const std::vector<Dim>& dims);
  bool sparse(std::size_t i) const { return is_tensor(i) && type(i).sparse_dim; }

  // The dims of input `i` that a sum over `axes` must see in its layer: the axes, what their lengths depend on, and the
  // dims that have frames only in some places of the axes.
  std::vector<Dim> dims_for(std::size_t i, const std::vector<Dim>& axes);
  // Dims that such a sum leaves, with lengths that depend on an axis: frame t is over the sequences that have it.
  std::vector<Dim> ragged(const TensorType& type, const std::vector<Dim>& axes);

  // Puts a value where input `i` does not count, that is in its padding; all that reads the input from now on sees it.
  //
  // A function that is not finite everywhere needs it in front of itself. Behind a mask that stands behind the function,
  // inf or nan in the padding would still come back: the gradient there is 0, and 0 times inf is nan, in the gradient of
  // each parameter in front of the function or multiplied with its result.
  void guard(std::size_t i, const Operand& value);
  // The same for the operand of such a function, unless its numbers all are where the function is finite.
  // (Guards do not ask whether a gradient flows: what reads the result is not known yet, and few operands need one.)
  void guard(std::size_t i, Domain domain);

  // ---- layers
  LayerRef layer(std::string cls, OptionDict options, TensorType type, std::string_view suffix = {});
  // What reads these and differs between steps of loops around it stays there, though RETURNN could move it out.
  void stay_inside(OptionDict& options, const std::vector<LayerRef>& reads);
  // A dim of what a history has so far, in a loop.
  void made_history(Dim d);
  // What `make` makes stands in the outermost dict that sees what it reads, for it is the same for many operations.
  LayerRef shared(const std::function<LayerRef()>& make);
  // The node's next output.
  void result(LayerRef layer, std::vector<Dim> missing = {});
  // The same, one layer from a source; what the source lacks the result lacks too.
  void result_of(const Source& source, std::string cls, OptionDict options);
  // Whether the padding of the result may hold inf or nan; else it is as the inputs'.
  void padding(bool wild) { wild_ = wild; }
  // Dims in whose padding the result is 0; else none are known.
  void zeros(std::vector<Dim> dims) { zeros_ = std::move(dims); }
  // Bounds of the results; else nothing is known of them.
  void bounds(Bounds known) { bounds_ = known; }

  // ---- steps that many lowerings need
  LayerRef eval(const std::vector<LayerRef>& from, std::string text, TensorType type, std::string_view suffix = {}, bool broadcast = false);
  LayerRef dense(LayerRef source, TensorType type);  // int values without their sparse dim
  LayerRef cast(LayerRef source, TensorType type, std::string_view suffix = "cast");
  LayerRef constant(Operand value, TensorType type, std::string_view suffix);
  LayerRef carrier(Dim d);              // a layer that has the dim
  LayerRef behind_lstm_mask(LayerRef source, const TensorType& type, Dim axis, std::string_view suffix);
  LayerRef length(Dim d);               // int32, over the dims that lengths depend on; a scalar for static dims and batch
  LayerRef longest(Dim d);              // int32 scalar
  LayerRef range(Dim d);                // int32 [d]
  LayerRef valid(Dim d);                // bool [d, its length dims]: true inside of each sequence
  bool in_loop() const { return loops() > 0; }
  void put_in_order(const LayerRef& first);  // it, and what is made since, so that each comes behind what it reads
  bool dropped_before(const LayerRef& source);  // whether another dropout reads it
  std::size_t loops() const;            // how many are around
  LayerRef varying(LayerRef source, const TensorType& type);  // different from step to step, as far as RETURNN knows
  bool may_be_permuted(LayerRef source) const;  // the batch may not be the first axis in RETURNN
  LayerRef batch_major(LayerRef source, const TensorType& type);
  LayerRef depending(LayerRef source, LayerRef on, const TensorType& type);  // on ints from 0, which change nothing
  LayerRef step();                      // int32 scalar: the index of the innermost loop
  LayerRef search_live();               // in a search: where a sequence has not ended by itself; none where RETURNN knows
  std::vector<Dim> padded(const TensorType& type) const;  // dims of a layer along which it has padding
  // The layer with a value on what lies outside of the sequences.
  LayerRef masked(LayerRef source, const TensorType& type, Dim d, const Operand& value, std::string_view suffix = "masked");
  // The source without `axes`, reduced by RETURNN's mode of that name; what lies outside of the sequences does not count.
  LayerRef reduce(LayerRef source, const TensorType& type, std::string_view mode, const std::vector<Dim>& axes, DType dtype,
                  std::string_view suffix, Dim sparse_dim = nullptr);
  // Indices that no padded frame makes invalid: 0 outside of the sequences, unless they come straight from the data.
  LayerRef safe_indices(std::size_t i);
  LayerRef sequence_dim(Dim d, LayerRef lengths);  // range over a dim that gets its lengths here

  // Elementwise: the layer of these options from the tensor inputs, with broadcasting; inputs' missing dims stay so.
  void elementwise(std::string cls, OptionDict options, const std::vector<std::size_t>& inputs);

 private:
  friend class GraphBackend;
  GraphBackend& backend_;
  const OpNode& node_;
  std::vector<Operand> inputs_;  // the node's, guarded ones in their place
  std::string base_;
  std::vector<Tensor> results_;
  bool shared_ = false;
  std::optional<bool> wild_;
  std::vector<Dim> zeros_;
  Bounds bounds_;
};

// Type of a helper layer.
inline TensorType type_of(std::vector<Dim> dims, DType dtype = DType::float32, Dim sparse_dim = nullptr) {
  return TensorType{std::move(dims), dtype, sparse_dim};
}

}  // namespace rcn
