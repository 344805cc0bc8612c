// Numbers as they lie in files, in the order of C and little endian.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/torch.h"

namespace rcn {

enum class Element : std::uint8_t {
  bool_,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  bfloat16,
  float32,
  float64
};

std::size_t bytes_of(Element element);
Element element_of(at::ScalarType type);
std::string dtype_text(at::ScalarType type);  // NumPy's name

// The first bytes as an array of its own. uint16 and uint32 become the next larger int type, uint64 int64. Throws
// ArrayFileError where bytes are missing or a value does not fit.
at::Tensor tensor_of(Element element, const std::vector<std::int64_t>& shape, std::string_view bytes);

std::string_view raw_bytes(const at::Tensor& contiguous);

// An element by the name that a format has for it.
struct ElementName {
  std::string_view name;
  Element element;
};
template <std::size_t N>
std::optional<Element> element_named(const ElementName (&table)[N], std::string_view name) {
  for (const ElementName& e : table)
    if (e.name == name) return e.element;
  return std::nullopt;
}
template <std::size_t N>
std::string_view name_of(const ElementName (&table)[N], Element element) {
  for (const ElementName& e : table)
    if (e.element == element) return e.name;
  return {};
}

}  // namespace rcn
