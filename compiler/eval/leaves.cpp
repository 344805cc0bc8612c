#include "compiler/eval/leaves.h"

#include <algorithm>

#include "compiler/dims/dim_list.h"

namespace rcn {

void for_each_leaf(const Value& value, const std::string& name,
                   const std::function<void(const std::string&, const Value&)>& f) {
  if (value.is_list() || value.is_tuple()) {
    const std::vector<Value>& items = value.is_list() ? value.list() : value.tuple().items;
    for (std::size_t i = 0; i < items.size(); ++i) for_each_leaf(items[i], name + "[" + std::to_string(i) + "]", f);
  } else if (value.is_record()) {
    for (const auto& [field, item] : value.record().fields) for_each_leaf(item, name + "." + field.str(), f);
  } else {
    f(name, value);
  }
}

void for_each_pair(const Value& a, const Value& b, const std::string& name,
                   const std::function<void(const std::string&, const Value&, const Value&)>& f) {
  std::vector<const Value*> others;
  for_each_leaf(b, {}, [&](const std::string&, const Value& leaf) { others.push_back(&leaf); });
  std::size_t i = 0;
  for_each_leaf(a, name, [&](const std::string& path, const Value& leaf) { f(path, leaf, *others[i++]); });
}

Value map_leaves(const Value& value, const std::function<Value(const Value&)>& f) {
  if (value.is_list()) {
    List items;
    for (const Value& item : value.list()) items.push_back(map_leaves(item, f));
    return items;
  }
  if (value.is_tuple()) {
    Tuple tuple;
    for (const Value& item : value.tuple().items) tuple.items.push_back(map_leaves(item, f));
    return tuple;
  }
  if (value.is_record()) {
    Record record;
    for (const auto& [field, item] : value.record().fields) record.fields.emplace_back(field, map_leaves(item, f));
    return record;
  }
  return f(value);
}

bool same_form(const Value& a, const Value& b) {
  if (a.is_record() || b.is_record()) {
    if (!a.is_record() || !b.is_record() || a.record().fields.size() != b.record().fields.size()) return false;
    for (std::size_t i = 0; i < a.record().fields.size(); ++i) {
      const auto& [name, value] = a.record().fields[i];
      if (name != b.record().fields[i].first || !same_form(value, b.record().fields[i].second)) return false;
    }
    return true;
  }
  auto items = [](const Value& v) -> const std::vector<Value>* {
    return v.is_list() ? &v.list() : v.is_tuple() ? &v.tuple().items : nullptr;
  };
  if (a.is_list() != b.is_list() || a.is_tuple() != b.is_tuple()) return false;
  const std::vector<Value>*x = items(a), *y = items(b);
  if (!x) return true;
  return x->size() == y->size() && std::equal(x->begin(), x->end(), y->begin(), same_form);
}

FormDifference form_difference(const Value& a, const Value& b, const std::string& name) {
  if (a.is_record() && b.is_record() && a.record().fields.size() == b.record().fields.size()) {
    const auto &x = a.record().fields, &y = b.record().fields;
    if (std::equal(x.begin(), x.end(), y.begin(), [](const auto& p, const auto& q) { return p.first == q.first; }))
      for (std::size_t i = 0; i < x.size(); ++i)
        if (!same_form(x[i].second, y[i].second)) return form_difference(x[i].second, y[i].second, name + "." + x[i].first.str());
  } else if ((a.is_list() && b.is_list()) || (a.is_tuple() && b.is_tuple())) {
    const auto &x = a.is_list() ? a.list() : a.tuple().items, &y = b.is_list() ? b.list() : b.tuple().items;
    for (std::size_t i = 0; x.size() == y.size() && i < x.size(); ++i)
      if (!same_form(x[i], y[i])) return form_difference(x[i], y[i], name + "[" + std::to_string(i) + "]");
  }
  return {name, &a, &b};
}

bool same_type(const TensorType& a, const TensorType& b) {
  return same_dims(a.dims, b.dims) && a.dtype == b.dtype && a.sparse_dim == b.sparse_dim && a.history == b.history;
}

bool is_number_leaf(const Value& v) { return v.is_number() || v.is<bool>(); }

TensorType number_type(const Value& v) {
  return {{}, v.is<bool>() ? DType::bool_ : v.is<std::int64_t>() ? DType::int32 : DType::float32, nullptr};
}

bool number_fits(const Value& v, const TensorType& type) {
  if (type.history || !is_number_leaf(v)) return false;
  if (v.is<bool>()) return type.dtype == DType::bool_;
  return type.dtype != DType::bool_ && (v.is<std::int64_t>() || is_float(type.dtype));
}

Value with_results(const ResultTree& tree, const std::vector<Tensor>& results, const std::vector<Traits>& traits) {
  std::size_t k = 0;
  return map_leaves(tree.form, [&](const Value& leaf) -> Value {
    int i = tree.result[k++];
    if (i < 0) return leaf;
    const Tensor& tensor = results[static_cast<std::size_t>(i)];
    tensor->traits = traits[static_cast<std::size_t>(i)];
    return tensor;
  });
}

}  // namespace rcn
