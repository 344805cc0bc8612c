#include "runtime/data/safetensors.h"

#include <cstring>
#include <nlohmann/json.hpp>

namespace rcn {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kLargestHeader = 100'000'000;  // the format's own limit

constexpr ElementName kDtypes[] = {
    {"BOOL", Element::bool_},  {"I8", Element::int8},     {"U8", Element::uint8},      {"I16", Element::int16},
    {"U16", Element::uint16},  {"I32", Element::int32},   {"U32", Element::uint32},    {"I64", Element::int64},
    {"U64", Element::uint64},  {"F16", Element::float16}, {"BF16", Element::bfloat16}, {"F32", Element::float32},
    {"F64", Element::float64},
};

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
  check_readable(path);
  std::int64_t size = file_size(path), length = 0;
  std::string begin = read_part(path, 0, 8);
  if (begin.size() == 8) std::memcpy(&length, begin.data(), 8);
  if (length < 2 || length > kLargestHeader || begin.size() < 8) file_error(path, "this is no safetensors file");
  if (length > size - 8) file_error(path, "the file is cut off");
  try {
    Json header = Json::parse(read_part(path, 8, length));
    if (!header.is_object()) file_error(path, "this is no safetensors file");
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") continue;
      auto offsets = entry.at("data_offsets").get<std::pair<std::int64_t, std::int64_t>>();
      if (offsets.first < 0 || offsets.second < offsets.first)
        file_error(path, "the header is damaged at `" + name + "`");
      if (offsets.second > size - 8 - length) file_error(path, "the file is cut off at `" + name + "`");
      names_.push_back(name);
      entries_[name] = {entry.at("dtype").get<std::string>(), entry.at("shape").get<std::vector<std::int64_t>>(),
                        8 + length + offsets.first, 8 + length + offsets.second};
    }
  } catch (const Json::parse_error&) {
    file_error(path, "this is no safetensors file");
  } catch (const Json::exception&) {
    file_error(path, "the header is damaged");
  }
}

at::Tensor SafetensorsFile::read(const std::string& name) const {
  auto it = entries_.find(name);
  if (it == entries_.end()) file_error(path_, "there is no array `" + name + "`");
  const Entry& entry = it->second;
  std::optional<Element> element = element_named(kDtypes, entry.dtype);
  if (!element) file_error(path_, "`" + name + "`: arrays of dtype `" + entry.dtype + "` are not read");
  try {
    at::Tensor tensor = tensor_of(*element, entry.shape, read_part(path_, entry.begin, entry.end - entry.begin));
    if (tensor.numel() * static_cast<std::int64_t>(bytes_of(*element)) != entry.end - entry.begin)
      throw ArrayFileError("the array is larger than its shape");
    return tensor;
  } catch (const ArrayFileError& error) {
    file_error(path_, "`" + name + "`: " + error.what());
  }
}

std::string safetensors_bytes(const NamedArrays& arrays) {
  Json header = Json::object();
  std::string data;
  for (const auto& [name, tensor] : arrays) {
    at::Tensor t = tensor.detach().cpu().contiguous();
    std::size_t begin = data.size();
    data += raw_bytes(t);
    header[name] = {{"dtype", name_of(kDtypes, element_of(t.scalar_type()))},
                    {"shape", t.sizes().vec()},
                    {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the arrays are aligned
  auto length = static_cast<std::int64_t>(text.size());
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + text + data;
}

}  // namespace rcn
