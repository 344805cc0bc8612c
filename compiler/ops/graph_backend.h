// Builds the layer graph: each operation through its lowering, parameters as variables, marks as named layers.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/eval/backend.h"
#include "compiler/graph/graph.h"
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"

namespace rcn {

class GraphBackend final : public Backend {
 public:
  GraphBackend(Graph& graph, const OpTable& table, OpContext& context);

  std::vector<Tensor> apply(const OpNode& node) override;
  Tensor parameter(const Parameter& parameter) override;
  // Inputs that no operation reads may be given too: they are where dims get their lengths from.
  Tensor input(const ExternInput& input) override;
  void mark(const Mark& mark, const Tensor& value) override;
  std::vector<Tensor> raw_layer(const Value& layer, const std::vector<TensorType>& outputs,
                                const std::vector<std::string>& sub_layers, Span span) override;
  void raw_entry(const std::string& key, const Value& value, Span span) override;
  void enter_scope(const std::string& base, bool at_root) override;
  void leave_scope() override;
  void check(const Tensor&, const std::string&, Span) override {}

  // What `nn.network_entry` puts into the dict, in program order.

 private:
  friend class Lowering;

  // ---- layers (graph_backend.cpp)
  Layer& add(std::string cls, OptionDict options, TensorType type, std::string base, Span span);
  Layer& add_at_root(std::string cls, OptionDict options, TensorType type, std::string base, Span span);
  LayerRef reinterpreted(LayerRef source, const TensorType& type, Dim from, Dim to, const std::string& base, Span span);
  // The layer expanded along `wanted`, dims that the tensor's type has and its layer may lack.
  LayerRef expanded(const GraphTensor& tensor, const std::vector<Dim>& wanted, const std::string& base, Span span);

  // ---- dims (graph_dims.cpp): made when first asked for, then shared
  void carries(LayerRef layer, const TensorType& type);
  LayerRef carrier(Dim d, Span span);
  LayerRef length(Dim d, Span span);
  LayerRef longest(Dim d, Span span);
  LayerRef range(Dim d, Span span);
  LayerRef valid(Dim d, Span span);
  LayerRef derived_length(Dim d, Span span);
  LayerRef sequence_dim(Dim d, LayerRef lengths, const std::string& base, Span span);
  OptionList shape_deps(const std::vector<Dim>& dims, Span span);

  // ---- marks (graph_marks.cpp)
  LayerRef loss_value(const Mark& mark, const GraphTensor& value);
  Option option_of(const Value& value, Span span);

  Graph& graph_;
  const OpTable& table_;
  OpContext& context_;
  std::vector<const NameScope*> scopes_;

  struct Carrier {
    LayerRef layer;
    bool inference = true;  // false: an input that is absent in inference, or what is made of one
  };
  std::unordered_map<Dim, Carrier> carriers_;
  std::unordered_map<Dim, LayerRef> lengths_, longest_, ranges_, valid_;
  std::unordered_set<const Layer*> training_only_;  // layers that depend on inputs which are absent in inference
};

// The option `set_dim_tags`: one dim under another name.
OptionList dim_tags(Dim from, Dim to);

// `time + 1` as part of a layer name: `time_1`.
std::string name_of(Dim d);

}  // namespace rcn
