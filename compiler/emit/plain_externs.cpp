#include "compiler/emit/plain_externs.h"

#include <algorithm>

namespace rcn {

namespace {

std::vector<Dim> dynamic_dims(const Extern& source) {
  std::vector<Dim> result;
  for (Dim d : source.type.dims)
    if (!is_batch(d) && d->dynamic()) result.push_back(d);
  return result;
}

Option axis_index(const std::vector<Dim>& dims, Dim d) {
  if (!d) return {};
  return static_cast<std::int64_t>(std::find(dims.begin(), dims.end(), d) - dims.begin());
}

}  // namespace

std::string plain_extern_fault(const Extern& source, const std::deque<Extern>& all) {
  const std::vector<Dim>& dims = source.type.dims;
  for (Dim d : dims)
    if (std::count(dims.begin(), dims.end(), d) > 1) return "it has the dim `" + to_string(d) + "` twice";
  std::vector<Dim> dynamic = dynamic_dims(source);
  bool has_batch = std::any_of(dims.begin(), dims.end(), is_batch);
  if (!dynamic.empty() && !has_batch) return "`" + to_string(dynamic[0]) + "` has no length without a batch dim";
  if (source.type.sparse_dim && !source.type.sparse_dim->size)
    return "`" + to_string(source.type.sparse_dim) + "` has no static size";
  if (dynamic.size() < 2) return "";
  for (const Extern& other : all)
    for (Dim d : dynamic)
      if (&other != &source && other.type.has(d))
        return "it has several dims of dynamic size and shares `" + to_string(d) + "` with `" + other.name + "`";
  return "";
}

PlainTensor plain_extern_tensor(const Extern& source) {
  PlainTensor tensor{source.type.dims, source.type.sparse_dim, nullptr, nullptr};
  std::vector<Dim> dynamic = dynamic_dims(source);
  if (!dynamic.empty()) tensor.time = dynamic.front();
  if (!source.type.sparse_dim && !tensor.dims.empty() && tensor.dims.back()->size) tensor.feature = tensor.dims.back();
  return tensor;
}

Option plain_extern_entry(const Extern& source) {
  PlainTensor tensor = plain_extern_tensor(source);
  const std::vector<Dim>& dims = tensor.dims;
  OptionDict entry;
  if (dims.empty()) {
    entry.emplace_back("dim_tags", OptionList{});
  } else {
    OptionList shape;
    for (Dim d : dims)
      if (!is_batch(d)) shape.push_back(d->size ? Option(*d->size) : Option());
    entry.emplace_back("shape", std::move(shape));
  }
  if (source.type.sparse_dim) {
    entry.emplace_back("dim", *source.type.sparse_dim->size);
    entry.emplace_back("sparse", true);
  } else if (*tensor.feature) {
    entry.emplace_back("dim", *(*tensor.feature)->size);
  }
  entry.emplace_back("dtype", to_string(source.type.dtype));
  if (!dims.empty()) {
    Dim batch = nullptr;
    for (Dim d : dims)
      if (is_batch(d)) batch = d;
    // RETURNN's own guess is batch first, then time.
    if (dims.front() != batch) entry.emplace_back("batch_dim_axis", axis_index(dims, batch));
    if (dims.size() < 2 || dims[1] != *tensor.time) entry.emplace_back("time_dim_axis", axis_index(dims, *tensor.time));
    if (!source.type.sparse_dim && !*tensor.feature) entry.emplace_back("feature_dim_axis", Option());
  }
  entry.emplace_back("available_for_inference", source.available_for_inference);
  return entry;
}

const Extern* plain_lengths_base(const Extern& source, const std::deque<Extern>& all) {
  std::vector<Dim> dynamic = dynamic_dims(source);
  if (dynamic.size() != 1) return nullptr;
  // One that is there in inference is preferred: what reads it must not depend on another that is not.
  const Extern* base = nullptr;
  for (const Extern& other : all) {
    if (!other.type.has(dynamic[0])) continue;
    if (!base || (other.available_for_inference && !base->available_for_inference)) base = &other;
  }
  return base == &source ? nullptr : base;
}

}  // namespace rcn
