#include "runtime/data/raw_array.h"

#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "runtime/data/array_file.h"

namespace rcn {

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are read and written as they lie in memory");

struct Format {
  Element element;
  at::ScalarType type;  // of the tensor
  std::size_t bytes;
  std::string_view name;
};
constexpr Format kFormats[] = {
    {Element::bool_, at::kBool, 1, "bool"},        {Element::int8, at::kChar, 1, "int8"},
    {Element::uint8, at::kByte, 1, "uint8"},       {Element::int16, at::kShort, 2, "int16"},
    {Element::uint16, at::kInt, 2, "uint16"},      {Element::int32, at::kInt, 4, "int32"},
    {Element::uint32, at::kLong, 4, "uint32"},     {Element::int64, at::kLong, 8, "int64"},
    {Element::uint64, at::kLong, 8, "uint64"},     {Element::float16, at::kHalf, 2, "float16"},
    {Element::bfloat16, at::kBFloat16, 2, "bfloat16"}, {Element::float32, at::kFloat, 4, "float32"},
    {Element::float64, at::kDouble, 8, "float64"},
};

const Format& format_of(Element element) { return kFormats[static_cast<std::size_t>(element)]; }

// How tensors of this type are written; null: they are not.
const Format* format_of(at::ScalarType type) {
  for (const Format& f : kFormats)
    if (f.type == type && f.bytes == c10::elementSize(type)) return &f;
  return nullptr;
}

template <class From, class To>
void widen(const char* from, void* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + static_cast<std::size_t>(i) * sizeof(From), sizeof(From));
    if constexpr (std::is_same_v<From, std::uint64_t>)
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        throw ArrayFileError("the value " + std::to_string(value) + " does not fit into int64");
    static_cast<To*>(to)[i] = static_cast<To>(value);
  }
}

}  // namespace

std::size_t bytes_of(Element element) { return format_of(element).bytes; }

Element element_of(at::ScalarType type) {
  if (const Format* format = format_of(type)) return format->element;
  throw std::logic_error(std::string("arrays of ") + c10::toString(type) + " are not written");
}

std::string dtype_text(at::ScalarType type) {
  const Format* format = format_of(type);
  return format ? std::string(format->name) : c10::toString(type);
}

at::Tensor tensor_of(Element element, const std::vector<std::int64_t>& shape, std::string_view bytes) {
  const Format& format = format_of(element);
  std::size_t count = 1;
  for (std::int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, static_cast<std::size_t>(size), &count))
      throw ArrayFileError("the array is too large");
  if (count > bytes.size() / format.bytes) throw ArrayFileError("the array is cut off");

  at::Tensor tensor = at::empty(shape, at::TensorOptions(format.type));
  auto n = static_cast<std::int64_t>(count);
  if (element == Element::uint16) {
    widen<std::uint16_t, std::int32_t>(bytes.data(), tensor.data_ptr(), n);
  } else if (element == Element::uint32) {
    widen<std::uint32_t, std::int64_t>(bytes.data(), tensor.data_ptr(), n);
  } else if (element == Element::uint64) {
    widen<std::uint64_t, std::int64_t>(bytes.data(), tensor.data_ptr(), n);
  } else if (count > 0) {
    std::memcpy(tensor.data_ptr(), bytes.data(), count * format.bytes);
  }
  return tensor;
}

std::string_view raw_bytes(const at::Tensor& contiguous) {
  return {static_cast<const char*>(contiguous.data_ptr()), static_cast<std::size_t>(contiguous.nbytes())};
}

}  // namespace rcn
