// Arrays written on the command line: `[[1, 2], [3]]`.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/data/array_file.h"
#include "runtime/data/given.h"

namespace rcn {

namespace {

using Json = nlohmann::json;

bool holds_number(const Json& json) {
  if (json.is_array()) return std::any_of(json.begin(), json.end(), holds_number);
  return json.is_number_float();
}
bool holds_bool(const Json& json) {
  if (json.is_array()) return std::any_of(json.begin(), json.end(), holds_bool);
  return json.is_boolean();
}

struct Filler {
  const std::vector<Dim>& dims;
  std::vector<std::int64_t> extents;

  // Longest list at each level, and that the nesting is as deep as there are dims.
  void measure(const Json& json, std::size_t level) {
    if (level == dims.size()) {
      if (json.is_array()) throw ArrayFileError("the lists are nested deeper than the dims [" + dims_text(dims) + "]");
      if (!json.is_number() && !json.is_boolean())
        throw ArrayFileError("`" + json.dump() + "` is no number and no bool");
      if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
        throw ArrayFileError("the value " + json.dump() + " does not fit into int64");
      return;
    }
    if (!json.is_array())
      throw ArrayFileError("the lists are not nested as deep as the dims [" + dims_text(dims) + "]");
    extents[level] = std::max(extents[level], static_cast<std::int64_t>(json.size()));
    for (const Json& item : json) measure(item, level + 1);
  }

  template <class T>
  void fill(const Json& json, std::size_t level, T* data) const {
    if (level == dims.size()) {
      *data = json.is_boolean() ? static_cast<T>(json.get<bool>()) : json.get<T>();
      return;
    }
    std::int64_t stride = 1;
    for (std::size_t i = level + 1; i < dims.size(); ++i) stride *= extents[i];
    for (std::size_t i = 0; i < json.size(); ++i)
      fill(json[i], level + 1, data + static_cast<std::int64_t>(i) * stride);
  }

  // Length of each list at `level`, over the dims before it; -1 where there is no such list.
  void sizes(const Json& json, std::size_t at, std::size_t level, std::int64_t* data) const {
    if (at == level) {
      *data = static_cast<std::int64_t>(json.size());
      return;
    }
    std::int64_t stride = 1;
    for (std::size_t i = at + 1; i < level; ++i) stride *= extents[i];
    for (std::size_t i = 0; i < json.size(); ++i)
      sizes(json[i], at + 1, level, data + static_cast<std::int64_t>(i) * stride);
  }
};

}  // namespace

GivenArray parse_literal(const std::string& text, const std::vector<Dim>& dims,
                         const std::unordered_map<Dim, std::vector<Dim>>& length_dims) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error&) {
    throw ArrayFileError("`" + text + "` is no nested list of numbers");
  }
  Filler filler{dims, std::vector<std::int64_t>(dims.size(), 0)};
  filler.measure(json, 0);

  GivenArray given;
  given.literal = true;
  if (holds_number(json)) {
    given.value = at::zeros(filler.extents, at::TensorOptions(at::kDouble));
    filler.fill(json, 0, given.value.data_ptr<double>());
  } else {
    given.value = at::zeros(filler.extents, at::TensorOptions(at::kLong));
    filler.fill(json, 0, given.value.data_ptr<std::int64_t>());
    if (holds_bool(json)) given.value = given.value.to(at::kBool);
  }

  for (std::size_t level = 0; level < dims.size(); ++level) {
    std::vector<std::int64_t> shape(filler.extents.begin(),
                                    filler.extents.begin() + static_cast<std::ptrdiff_t>(level));
    at::Tensor sizes = at::full(shape, -1, at::TensorOptions(at::kLong));
    filler.sizes(json, 0, level, sizes.data_ptr<std::int64_t>());
    // Along dims that the length does not depend on all lists must be equally long, also where it is static.
    auto over = length_dims.find(dims[level]);
    Axes axes(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(level));
    for (std::size_t i = level; i-- > 0;) {
      if (over != length_dims.end() && contains(over->second, axes[i])) continue;
      auto index = static_cast<std::int64_t>(i);
      if (sizes.size(index) == 0) {
        sizes = sizes.sum(index);
      } else {
        at::Tensor longest = sizes.amax(index, true);
        if (sizes.ne(longest).logical_and(sizes.ge(0)).any().item<bool>())
          throw ArrayFileError("the lists along `" + to_string(dims[level]) + "` are not equally long");
        sizes = longest.squeeze(index);
      }
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (over != length_dims.end() && axes.size() == over->second.size())
      given.lengths[dims[level]] = {sizes.clamp_min(0), axes};
  }
  return given;
}

}  // namespace rcn
