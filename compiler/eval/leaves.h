// The tensors in a value: lists, tuples and records are trees, with tensors and static values at their leaves.
#pragma once

#include <functional>
#include <string>

#include "compiler/eval/value.h"

namespace rcn {

// Calls f(path, leaf) for every leaf in order; `path` is `name`, `name.field`, `name[2]`.
void for_each_leaf(const Value& value, const std::string& name,
                   const std::function<void(const std::string&, const Value&)>& f);

// Calls f(path, leaf of a, leaf of b) for every leaf of two trees of the same form.
void for_each_pair(const Value& a, const Value& b, const std::string& name,
                   const std::function<void(const std::string&, const Value&, const Value&)>& f);

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

// Numbers and bools: they become constants where a tensor is wanted.
bool is_number_leaf(const Value& v);
TensorType number_type(const Value& v);  // of a number alone
// The number or bool can stand for a tensor of the type.
bool number_fits(const Value& v, const TensorType& type);

// A tree of values of which a region gives some leaves anew.
struct ResultTree {
  Symbol name;
  Value form;
  std::vector<int> result;  // for each leaf: which result of the region; -1: static, it stays
};
// The tree with the region's results in place, which get their traits.
Value with_results(const ResultTree& tree, const std::vector<Tensor>& results, const std::vector<Traits>& traits);

}  // namespace rcn
