// The names that every file knows without an import.
#pragma once

#include <span>
#include <string_view>

namespace rcn {

std::span<const std::string_view> builtin_functions();  // `len` ... and `batch`, `train`, `search`, `dynamic`
std::span<const std::string_view> dtype_names();        // `float32` ...
std::span<const std::string_view> type_names();         // `int` ... `Function`

bool is_builtin(std::string_view name);  // any of them
bool is_dtype(std::string_view name);
bool is_type_name(std::string_view name);

}  // namespace rcn
