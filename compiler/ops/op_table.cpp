#include "compiler/ops/op_table.h"

#include <stdexcept>

namespace rcn {

OpTable::OpTable() {
  for (std::span<const OpDef> family :
       {unary_ops(),    binary_ops(), select_ops(),    constant_ops(), reduce_ops(), product_ops(), normalize_ops(),
        conv_ops(),     join_ops(),   index_ops(),     order_ops(),    extent_ops(), reshape_ops(), dim_ops(),
        training_ops(), random_ops(), recurrent_ops(), history_ops(),  search_ops(), loss_ops(),    init_ops()}) {
    for (const OpDef& op : family) {
      ordered_.push_back(&op);
      if (!by_name_.emplace(op.info.name, &op).second)
        throw std::logic_error("operation `" + std::string(op.info.name) + "` is twice in the table");
    }
  }
}

const OpDef* OpTable::definition(std::string_view name) const {
  auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

const OpInfo* OpTable::find(std::string_view name) const {
  const OpDef* op = definition(name);
  return op ? &op->info : nullptr;
}

std::vector<std::string_view> OpTable::names() const {
  std::vector<std::string_view> result;
  for (const OpDef* op : ordered_) result.push_back(op->info.name);
  return result;
}

}  // namespace rcn
