// The one table of operations. An entry has the signature as users see it, the type rule, and the lowering to RETURNN
// layers. To add an operation: an entry in the file of its family, a kernel in runtime/kernels, a conformance case.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/eval/op.h"

namespace rcn {

class Lowering;

struct OpDef {
  OpInfo info;
  void (*lower)(Lowering&);  // one result() for each of the node's outputs
};

class OpTable final : public OpLibrary {
 public:
  OpTable();
  const OpInfo* find(std::string_view name) const override;
  std::vector<std::string_view> names() const override;  // in the order of the table

  const OpDef* definition(std::string_view name) const;
  const std::vector<const OpDef*>& definitions() const { return ordered_; }

 private:
  std::vector<const OpDef*> ordered_;
  std::unordered_map<std::string_view, const OpDef*> by_name_;
};

// The families, one file each.
std::span<const OpDef> unary_ops();
std::span<const OpDef> binary_ops();
std::span<const OpDef> select_ops();
std::span<const OpDef> constant_ops();
std::span<const OpDef> reduce_ops();
std::span<const OpDef> product_ops();
std::span<const OpDef> normalize_ops();
std::span<const OpDef> conv_ops();
std::span<const OpDef> join_ops();
std::span<const OpDef> index_ops();
std::span<const OpDef> order_ops();
std::span<const OpDef> extent_ops();
std::span<const OpDef> reshape_ops();
std::span<const OpDef> dim_ops();
std::span<const OpDef> training_ops();
std::span<const OpDef> random_ops();
std::span<const OpDef> recurrent_ops();
std::span<const OpDef> history_ops();
std::span<const OpDef> search_ops();
std::span<const OpDef> loss_ops();
std::span<const OpDef> init_ops();

}  // namespace rcn
