#include "compiler/sema/builtins.h"

#include <algorithm>

namespace rcn {

namespace {
constexpr std::string_view kFunctions[] = {"len", "range",   "enumerate", "zip",    "reversed", "sorted",     "min",
                                           "max", "sum",     "abs",       "any",    "all",      "int",        "float",
                                           "str", "copy",    "locked",    "end",    "batch",    "isinstance", "params",
                                           "Dim", "dynamic", "train",     "search", "ceildiv"};
constexpr std::string_view kDtypes[] = {"float16", "float32", "float64", "int8", "int16",
                                        "int32",   "int64",   "uint8",   "bool"};
constexpr std::string_view kTypes[] = {"int",    "float", "bool",   "str",    "list",    "tuple",
                                       "record", "Dim",   "Tensor", "Module", "Function"};

bool among(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
}  // namespace

std::span<const std::string_view> builtin_functions() { return kFunctions; }
std::span<const std::string_view> dtype_names() { return kDtypes; }
std::span<const std::string_view> type_names() { return kTypes; }

bool is_dtype(std::string_view name) { return among(kDtypes, name); }
bool is_type_name(std::string_view name) { return among(kTypes, name); }
bool is_builtin(std::string_view name) { return among(kFunctions, name) || is_dtype(name) || is_type_name(name); }

}  // namespace rcn
