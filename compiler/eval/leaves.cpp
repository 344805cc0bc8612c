#include "compiler/eval/leaves.h"

#include <algorithm>

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
  std::vector<Dim> x = a.dims, y = b.dims;
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  return x == y && a.dtype == b.dtype && a.sparse_dim == b.sparse_dim && a.history == b.history;
}

}  // namespace rcn
