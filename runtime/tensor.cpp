#include "runtime/tensor.h"

#include <algorithm>
#include <stdexcept>

namespace rcn {

bool contains(const Axes& axes, Dim d) { return std::find(axes.begin(), axes.end(), d) != axes.end(); }

bool Named::has(Dim d) const { return contains(axes, d); }

std::int64_t Named::index(Dim d) const {
  auto it = std::find(axes.begin(), axes.end(), d);
  if (it == axes.end()) throw std::logic_error("tensor [" + dims_text(axes) + "] has no axis " + to_string(d));
  return it - axes.begin();
}

const EagerTensor& eager(const Tensor& tensor) {
  const auto* data = dynamic_cast<const EagerTensor*>(tensor.get());
  if (!data) throw std::logic_error("tensor of another backend");
  return *data;
}

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::bool_: return at::kBool;
    case DType::uint8: return at::kByte;
    case DType::int8: return at::kChar;
    case DType::int16: return at::kShort;
    case DType::int32: return at::kInt;
    case DType::int64: return at::kLong;
    case DType::float16: return at::kHalf;
    case DType::float32: return at::kFloat;
    case DType::float64: return at::kDouble;
  }
  throw std::logic_error("dtype");
}

Axes united(Axes axes, const Axes& more) {
  for (Dim d : more) {
    auto wanted = std::count(more.begin(), more.end(), d);
    while (std::count(axes.begin(), axes.end(), d) < wanted) axes.push_back(d);
  }
  return axes;
}

Axes without(Axes axes, const Axes& removed) {
  for (Dim d : removed) {
    auto it = std::find(axes.begin(), axes.end(), d);
    if (it == axes.end()) throw std::logic_error("no axis " + to_string(d) + " in [" + dims_text(axes) + "]");
    axes.erase(it);
  }
  return axes;
}

at::Tensor aligned(const Named& x, const Axes& target) {
  if (x.axes == target) return x.value;
  std::vector<bool> used(x.axes.size(), false);
  std::vector<std::int64_t> order;
  std::vector<bool> missing;
  for (Dim d : target) {
    std::size_t i = 0;
    while (i < x.axes.size() && (used[i] || x.axes[i] != d)) ++i;
    missing.push_back(i == x.axes.size());
    if (i == x.axes.size()) continue;
    used[i] = true;
    order.push_back(static_cast<std::int64_t>(i));
  }
  if (order.size() != x.axes.size())
    throw std::logic_error("[" + dims_text(x.axes) + "] does not fit into [" + dims_text(target) + "]");
  at::Tensor value = x.value;
  if (!std::is_sorted(order.begin(), order.end())) value = value.permute(order);
  for (std::size_t i = 0; i < target.size(); ++i)
    if (missing[i]) value = value.unsqueeze(static_cast<std::int64_t>(i));
  return value;
}

Named with_last(const Named& x, const Axes& last) {
  Axes axes = without(x.axes, last);
  // `without` removes first occurrences, and the remaining ones must stay behind: a dim twice is asked for once only by
  // callers that treat that axis themselves.
  axes.insert(axes.end(), last.begin(), last.end());
  std::vector<std::int64_t> order;
  std::vector<bool> used(x.axes.size(), false);
  for (Dim d : last) {
    std::size_t i = 0;
    while (used[i] || x.axes[i] != d) ++i;
    used[i] = true;
    order.push_back(static_cast<std::int64_t>(i));
  }
  std::vector<std::int64_t> front;
  for (std::size_t i = 0; i < x.axes.size(); ++i)
    if (!used[i]) front.push_back(static_cast<std::int64_t>(i));
  front.insert(front.end(), order.begin(), order.end());
  if (std::is_sorted(front.begin(), front.end())) return {x.value, std::move(axes)};
  return {x.value.permute(front), std::move(axes)};
}

}  // namespace rcn
