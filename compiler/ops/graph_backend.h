// Builds the layer graph: each operation through its lowering, parameters as variables, marks as named layers.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
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
  void enter_scope(const std::string& base, bool at_root, Span call) override;
  void leave_scope() override;
  Tensor frame(const Tensor& x, Dim axis, const Tensor& index, Span span) override;
  LoopResult loop(const LoopSpec& spec, const LoopBody& body) override;
  std::vector<Tensor> cond(const CondSpec& spec, const CondBranch& then, const CondBranch& otherwise) override;
  std::vector<Tensor> masked(const MaskedSpec& spec, const CondBranch& body) override;
  void outside(const std::function<void()>& make) override;
  void assign(const Parameter& parameter, const Tensor& current, const Tensor& value, Span span) override;
  void check(const Tensor&, const std::string&, Span) override {}

  // Once the program has run: makes RETURNN run the assignments of parameters, after what reads their old values.
  void finish();

 private:
  friend class Lowering;

  // The dict that is being filled, and those around it.
  struct Carrier {
    LayerRef layer;
    bool inference = true;  // false: an input that is absent in inference, or what is made of one
  };
  struct Open {
    Region* region = nullptr;
    bool loop = false;
    bool chooses = false;      // a loop: that has a choice
    Dim axis = nullptr;        // of a loop
    Dim over = nullptr;        // what the program goes over; a static dim has a dynamic one as its axis
    Dim inner = nullptr;       // what the axis is called inside of the loop: RETURNN must not take the two for one
    const Layer* index = nullptr;
    LayerRef live;             // of a loop: where its steps belong to the sequence
    std::uint64_t stays = 0;   // loops around, as bits, which RETURNN must not move this dict out of
    LayerRef search_live;      // of a search with a `max` for each sequence: the same, as far as the choice has to know
    // Where dims get what they need, made when first asked for.
    std::unordered_map<Dim, Carrier> carriers;
    std::unordered_map<Dim, LayerRef> lengths, longest, ranges, valid, lstm_masks;
    std::map<std::pair<const Layer*, std::string>, LayerRef> imported;  // outer layers with the axis renamed
    std::map<std::pair<const Layer*, std::string>, LayerRef> each_step;  // what is the same in all steps, as inner loops can read it
    std::unordered_map<const Layer*, LayerRef> before;                  // states of the step before, as inner loops can read them
    std::vector<LayerRef> assigns;  // what must run when this dict runs
  };
  // A part where only some sequences count.
  struct Mask {
    LayerRef mask;
    TensorType type;
    LayerRef given;  // without the padded frames, which a state that all sequences share does not know
    TensorType given_type;
    std::map<std::tuple<const Region*, const Layer*, std::string>, LayerRef> guarded;
  };

  // ---- layers (graph_backend.cpp)
  Layer& add(std::string cls, OptionDict options, TensorType type, std::string base, Span span);
  // In the outermost dict that sees all it refers to, outside of all calls.
  Layer& add_shared(std::string cls, OptionDict options, TensorType type, std::string base, Span span);
  Layer& add_in(std::size_t open, std::string cls, OptionDict options, TensorType type, std::string base, Span span, bool as_it_is = false);
  bool may_be_reordered(const Layer& layer) const;
  bool one_has_all(const std::vector<LayerRef>& sources) const;
  void allow_loop_axis(std::string& cls, OptionDict& options, const TensorType& type) const;
  const TensorType& type_of(const LayerRef& ref) const;
  std::size_t open_of(const Layer& layer) const;  // index of the dict that sees the layer
  LayerRef reinterpreted(LayerRef source, const TensorType& type, Dim from, Dim to, const std::string& base, Span span);
  // The layer expanded along `wanted`, dims that the tensor's type has and its layer may lack.
  LayerRef expanded(const GraphTensor& tensor, const std::vector<Dim>& wanted, const std::string& base, Span span);

  // ---- dicts in layers (graph_regions.cpp, graph_branches.cpp)
  // Leaves the dicts and masks that a body was in when it failed.
  class Unwind {
   public:
    explicit Unwind(GraphBackend& backend)
        : backend_(backend), open_(backend.open_.size()), scopes_(backend.scopes_.size()), masks_(backend.masks_.size()), joined_(backend.joined_) {}
    ~Unwind() {
      while (backend_.open_.size() > open_) backend_.open_.pop_back();
      while (backend_.scopes_.size() > scopes_) backend_.scopes_.pop_back();
      while (backend_.masks_.size() > masks_) backend_.masks_.pop_back();
      backend_.joined_ = joined_;
    }
    Unwind(const Unwind&) = delete;
    Unwind& operator=(const Unwind&) = delete;

   private:
    GraphBackend& backend_;
    std::size_t open_, scopes_, masks_;
    std::unordered_map<Dim, Dim>* joined_;
  };
  Open& open_region(bool loop);
  Tensor made(const TensorType& type, LayerRef layer, std::vector<Dim> missing, bool wild_padding) const;  // where we are now
  const Region* close_region();
  LayerRef imported(const LayerRef& ref, std::size_t open);
  static std::uint64_t bit(std::size_t open) { return std::uint64_t{1} << open; }
  std::uint64_t variation(const LayerRef& ref) const;
  LayerRef before_outside(const LayerRef& ref, std::size_t open);
  bool move_out(const Layer& layer, std::size_t open);
  LayerRef in_each_step(const LayerRef& ref, std::size_t open);
  LayerRef varying(const LayerRef& ref, std::size_t open, const TensorType& type, const std::string& base, Span span);
  LayerRef varying(const LayerRef& ref, const TensorType& type, const std::string& base, Span span);
  LayerRef depending(const LayerRef& ref, const LayerRef& on, std::size_t open, const TensorType& type, const std::string& base, Span span,
                     bool before = false);
  LayerRef neutral(const std::vector<Dim>& dims, DType dtype, const std::string& base, Span span);
  LayerRef batch_major(const LayerRef& ref, TensorType type, const std::string& base, Span span);
  void stay_inside(OptionDict& options, std::uint64_t loops, Span span);
  const Layer* anchor(std::size_t open, Span span);
  GraphTensor guarded(const GraphTensor& tensor, Span span);
  GraphTensor along_mask(const GraphTensor& tensor, Span span);
  LayerRef search_live(Span span);
  LayerRef step() const;
  std::optional<Mask> live(std::size_t open, Span span);
  LayerRef guarded_value(LayerRef ref, const TensorType& type, const Operand& value, const std::string& base, Span span);
  LayerRef chosen(LayerRef mask, LayerRef ref, const TensorType& type, const Operand& value, const std::string& base, Span span);
  Layer& add_state(const Layer* before, const LayerRef& value, const LayerRef& initial, const std::string& base, Span span);
  std::size_t loops() const;  // how many are open
  std::uint64_t open_loops() const;  // as bits
  std::uint64_t choosing_loops() const;  // those of them that have a choice
  Dim inner_dim(Open& open);

  // ---- dims (graph_dims.cpp): made when first asked for, then shared
  template <class Map> const typename Map::mapped_type* known(Map Open::*map, Dim d) const;
  void keep(std::unordered_map<Dim, LayerRef> Open::*map, Dim d, LayerRef ref);
  void carries(LayerRef layer, const TensorType& type);
  LayerRef carrier(Dim d, Span span);
  LayerRef length(Dim d, Span span);
  LayerRef longest(Dim d, Span span);
  LayerRef range(Dim d, Span span);
  LayerRef valid(Dim d, Span span);
  LayerRef behind_lstm_mask(LayerRef source, const TensorType& type, Dim axis, const std::string& base, Span span);
  LayerRef derived_length(Dim d, Span span);
  bool of_history(Dim d) const;  // whether its length grows with what a history in a loop has
  [[noreturn]] void refuse_lengths_of_hypotheses(Span span);
  LayerRef sequence_dim(Dim d, LayerRef lengths, const std::string& base, Span span);
  OptionList shape_deps(const std::vector<Dim>& dims, Span span);

  // ---- marks (graph_marks.cpp)
  LayerRef loss_value(const Mark& mark, const GraphTensor& value);
  Option option_of(const Value& value, Span span);

  Graph& graph_;
  const OpTable& table_;
  OpContext& context_;
  std::vector<const NameScope*> scopes_;

  const OpInfo* running_ = nullptr;  // the operation that is lowered
  std::deque<Open> open_;    // the root first
  std::deque<Mask> masks_;
  std::unordered_set<Dim> searched_;  // dims made by a search: once something is decided, they have its lengths
  std::unordered_set<Dim> histories_;  // dims of what histories in loops have so far
  std::set<std::pair<const Layer*, std::string>> dropped_;  // what dropouts read
  std::map<std::pair<const Layer*, std::string>, TensorType> sub_types_;  // of further outputs
  std::unordered_map<const Layer*, TensorType> frames_types_;  // of what a loop hands out, with its axis
  std::unordered_map<const Layer*, std::uint64_t> varying_;  // the open dicts of loops from step to step of which a layer differs, as bits
  std::unordered_set<const Layer*> by_lengths_;  // layers that vary by the lengths of their dims only: moved out they lack the loop's axis
  std::unordered_set<const Layer*> permuted_;  // layers whose batch axis may not be the first in RETURNN
  std::unordered_set<const Layer*> reordered_;  // layers in loops whose axes may have another order where RETURNN moves them out
  std::unordered_map<const Layer*, std::string> assigned_;  // `variable_assign` layers, with the parameter
  std::unordered_map<std::string, const Layer*> variables_;
  std::unordered_map<Dim, Dim>* joined_ = nullptr;  // in a branch: what the declared dims that it gives a length are made of
  std::unordered_set<const Layer*> training_only_;  // layers that depend on inputs which are absent in inference
};

// The option `set_dim_tags`: one dim under another name.
OptionList dim_tags(Dim from, Dim to);

// The option `out_type` of a layer that computes something else than what it reads: dtype and sparse dim.
OptionDict out_type(const TensorType& type);

// `time + 1` as part of a layer name: `time_1`.
std::string name_of(Dim d);

// `field.x[2]`, the path of a part of a record or list, as part of a layer name: `field_x_2`.
std::string part_name(const std::string& path);

}  // namespace rcn
