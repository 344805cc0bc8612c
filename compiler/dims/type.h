// What is known of a tensor while compiling: dims, dtype, and the dim that its values index (sparse).
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/dims/dim.h"

namespace rcn {

enum class DType : std::uint8_t { bool_, uint8, int8, int16, int32, int64, float16, float32, float64 };

std::string_view to_string(DType dtype);  // as RETURNN and numpy name them
std::optional<DType> dtype_of(std::string_view name);
inline bool is_float(DType t) { return t >= DType::float16; }
inline bool is_int(DType t) { return t >= DType::uint8 && t <= DType::int64; }

struct TensorType {
  std::vector<Dim> dims;  // the order is that of the type rule; it has no meaning for operations
  DType dtype = DType::float32;
  Dim sparse_dim = nullptr;
  // The state of `nn.cum_concat`: no tensor yet, but the frames before, each with these dims.
  bool history = false;

  bool has(Dim d) const { return std::find(dims.begin(), dims.end(), d) != dims.end(); }
  bool operator==(const TensorType& other) const = default;
};

// `float32[batch, time, input=9]`, `index(classes)[batch, time]`.
std::string to_string(const TensorType& type);

}  // namespace rcn
