#include "compiler/dims/type.h"

#include <array>

namespace rcn {

namespace {
constexpr std::array<std::string_view, 9> kNames = {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"};
}

std::string_view to_string(DType dtype) { return kNames[static_cast<std::size_t>(dtype)]; }

std::optional<DType> dtype_of(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<DType>(i);
  return std::nullopt;
}

std::string to_string(const TensorType& type) {
  std::string head = type.sparse_dim ? "index(" + to_string(type.sparse_dim) + ")" : std::string(to_string(type.dtype));
  return (type.history ? "history of " : "") + head + "[" + dims_text(type.dims) + "]";
}

}  // namespace rcn
