// The tensors in a value: lists, tuples and records are trees, with tensors and static values at their leaves.
#pragma once

#include <functional>
#include <string>

#include "compiler/eval/value.h"

namespace rcn {

// Calls f(path, leaf) for every leaf in order; `path` is `name`, `name.field`, `name[2]`.
void for_each_leaf(const Value& value, const std::string& name,
                   const std::function<void(const std::string&, const Value&)>& f);

// The same tree with f(leaf) in the place of each leaf, in order.
Value map_leaves(const Value& value, const std::function<Value(const Value&)>& f);

// The trees have the same form: lists of equal length, records with the same fields in the same order.
bool same_form(const Value& a, const Value& b);

// Where two trees of different form first differ: the path, and the values there.
struct FormDifference {
  std::string path;
  const Value* first = nullptr;
  const Value* second = nullptr;
};
FormDifference form_difference(const Value& a, const Value& b, const std::string& name);

// Equal dims in any order, dtype and sparse dim.
bool same_type(const TensorType& a, const TensorType& b);

}  // namespace rcn
