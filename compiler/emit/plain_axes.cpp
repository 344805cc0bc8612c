#include "compiler/emit/plain_axes.h"

#include <algorithm>

namespace rcn {

bool PlainTensor::has(Dim d) const { return std::find(dims.begin(), dims.end(), d) != dims.end(); }

Dim PlainTensor::only_dynamic() const {
  Dim found = nullptr;
  for (Dim d : dims) {
    if (is_batch(d) || !d->dynamic()) continue;
    if (found) return nullptr;
    found = d;
  }
  return found;
}

AxisName axis_name(const PlainTensor& tensor, Dim dim) {
  auto count = std::count(tensor.dims.begin(), tensor.dims.end(), dim);
  if (count == 0) return {"", "the tensor has no such dim"};
  if (count > 1) return {"", "the tensor has it twice"};
  if (is_batch(dim)) return {"B", ""};
  if (tensor.time == Mark(dim)) return {"T", ""};
  if (tensor.feature == Mark(dim)) return {"F", ""};
  if (dim->dynamic()) {
    if (tensor.only_dynamic() == dim) return {"dyn", ""};
    return {"", "there are several dims of dynamic size"};
  }
  for (Dim other : tensor.dims)
    if (other != dim && other->size == dim->size) return {"", "`" + to_string(other) + "` has the same size"};
  return {"dim:" + std::to_string(*dim->size), ""};
}

std::optional<AlikeDims> find_alike(const std::vector<const PlainTensor*>& tensors, Dim except) {
  std::vector<Dim> all;
  for (const PlainTensor* tensor : tensors) {
    for (Dim d : tensor->dims) {
      if (d == except) continue;
      if (std::count(tensor->dims.begin(), tensor->dims.end(), d) > 1)
        return AlikeDims{d, d, "one tensor has the dim twice"};
      if (std::find(all.begin(), all.end(), d) == all.end()) all.push_back(d);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      Dim a = all[i], b = all[j];
      if (is_batch(a) || is_batch(b)) continue;
      if (a->dynamic() && b->dynamic()) return AlikeDims{a, b, "both are of dynamic size"};
      if (a->size == b->size) return AlikeDims{a, b, "both have size " + std::to_string(*a->size)};
    }
  }
  // A dim of size 1 is broadcast to what it meets.
  for (Dim d : all) {
    if (d->size != 1 || all.size() < 2) continue;
    bool everywhere = std::all_of(tensors.begin(), tensors.end(), [&](const PlainTensor* t) { return t->has(d); });
    if (everywhere) continue;
    auto other = std::find_if(all.begin(), all.end(), [&](Dim e) { return e != d && !is_batch(e); });
    if (other != all.end()) return AlikeDims{d, *other, "a dim of size 1 matches any other there"};
  }
  return std::nullopt;
}

PlainTensor combined(const std::vector<const PlainTensor*>& tensors) {
  PlainTensor result;
  if (tensors.empty()) return result;
  // RETURNN takes the first tensor with the most dims, and adds what that lacks.
  const PlainTensor* base = tensors.front();
  for (const PlainTensor* tensor : tensors)
    if (tensor->dims.size() > base->dims.size()) base = tensor;
  result = *base;
  bool added = false;
  for (const PlainTensor* tensor : tensors) {
    for (Dim d : tensor->dims) {
      if (result.has(d)) continue;
      result.dims.push_back(d);
      added = true;
    }
  }
  if (added) {
    if (result.time == Mark(nullptr)) result.time = std::nullopt;
    if (result.feature == Mark(nullptr)) result.feature = std::nullopt;
  }
  return result;
}

}  // namespace rcn
