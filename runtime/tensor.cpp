#include "runtime/tensor.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace rcn {

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

Tensor retyped(const Tensor& tensor, const TensorType& type) {
  const EagerTensor& x = eager(tensor);
  return std::make_shared<const EagerTensor>(type, x, x.region);
}

std::string torch_reason(const c10::Error& error) {
  std::string text = error.what_without_backtrace();
  text.resize(std::min(text.find('\n'), text.size()));
  static constexpr std::string_view kBefore = "you tried to allocate ";
  if (std::size_t at = text.find(kBefore); at != std::string::npos) {
    at += kBefore.size();
    return "there is no memory for " + text.substr(at, text.find(' ', at) - at) + " bytes";
  }
  if (text.find("overflow") != std::string::npos) return "its result is too large";
  return text;
}

namespace {

bool double_precision = false;

}  // namespace

DoublePrecision::DoublePrecision() { double_precision = true; }
DoublePrecision::~DoublePrecision() { double_precision = false; }

at::ScalarType scalar_type(DType dtype) {
  if (double_precision && is_float(dtype)) return at::kDouble;
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

std::int64_t AxisTaker::take(Dim d) {
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (!used_[i] && axes_[i] == d) {
      used_[i] = true;
      return static_cast<std::int64_t>(i);
    }
  return -1;
}

std::vector<std::int64_t> AxisTaker::take_all(const Axes& dims) {
  std::vector<std::int64_t> result;
  for (Dim d : dims) {
    result.push_back(take(d));
    if (result.back() < 0)
      throw std::logic_error("[" + dims_text(axes_) + "] has not all of [" + dims_text(dims) + "]");
  }
  return result;
}

std::vector<std::int64_t> AxisTaker::rest() const {
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (!used_[i]) result.push_back(static_cast<std::int64_t>(i));
  return result;
}

namespace {

at::Tensor permuted(const at::Tensor& value, const std::vector<std::int64_t>& order) {
  return std::is_sorted(order.begin(), order.end()) ? value : value.permute(order);
}

}  // namespace

at::Tensor aligned(const Named& x, const Axes& target) {
  if (x.axes == target) return x.value;
  AxisTaker taker(x.axes);
  std::vector<std::int64_t> order, missing;
  for (std::size_t i = 0; i < target.size(); ++i) {
    std::int64_t axis = taker.take(target[i]);
    if (axis >= 0) {
      order.push_back(axis);
    } else {
      missing.push_back(static_cast<std::int64_t>(i));
    }
  }
  if (order.size() != x.axes.size())
    throw std::logic_error("[" + dims_text(x.axes) + "] does not fit into [" + dims_text(target) + "]");
  at::Tensor value = permuted(x.value, order);
  for (std::int64_t i : missing) value = value.unsqueeze(i);
  return value;
}

Named with_last(const Named& x, const Axes& last) {
  AxisTaker taker(x.axes);
  std::vector<std::int64_t> behind = taker.take_all(last), order = taker.rest();
  order.insert(order.end(), behind.begin(), behind.end());
  Axes axes;
  for (std::int64_t i : order) axes.push_back(x.axes[static_cast<std::size_t>(i)]);
  return {permuted(x.value, order), std::move(axes)};
}

}  // namespace rcn
