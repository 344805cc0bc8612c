#include "runtime/data/given.h"

#include <algorithm>
#include <filesystem>

#include "compiler/base/suggest.h"
#include "runtime/data/audio.h"
#include "runtime/data/example_data.h"
#include "runtime/data/hdf.h"
#include "runtime/data/npz.h"

namespace rcn {

namespace {

bool is_literal(const std::string& text) {
  return text.starts_with('[') || text == "true" || text == "false" ||
         (!text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) &&
          text.find_first_not_of("0123456789.eE+-") == std::string::npos);
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// `NAME`, and `NAME/length/DIM` for its dynamic dims.
GivenArray read_named(const DataRequest& request, const ArrayFile& file, const std::string& path,
                      const std::string& key) {
  const std::vector<Dim>& dims = request.input.type.dims;
  if (!file.has(key)) {
    std::vector<std::string> near = nearest_names(key, file.names());
    file_error(path,
               "there is no array `" + key + "`" + (near.empty() ? "" : "; did you mean " + quoted_list(near) + "?"));
  }
  GivenArray given;
  given.value = file.read(key);
  std::string prefix = key + "/length/";
  for (const std::string& name : file.names()) {
    if (!name.starts_with(prefix)) continue;
    auto d = std::find_if(request.dynamic.begin(), request.dynamic.end(),
                          [&](Dim x) { return to_string(x) == name.substr(prefix.size()); });
    if (d == request.dynamic.end()) file_error(path, "`" + name + "` fits no dynamic dim of [" + dims_text(dims) + "]");
    at::Tensor lengths = file.read(name);
    if (at::isFloatingType(lengths.scalar_type()) || lengths.scalar_type() == at::kBool)
      file_error(path, "`" + name + "` has no ints");
    const std::vector<Dim>& over = request.length_dims.at(*d);
    if (lengths.dim() != static_cast<std::int64_t>(over.size()))
      file_error(path, "`" + name + "` should have the dims [" + dims_text(over) + "]");
    given.lengths[*d] = {lengths.to(at::kLong), over};
  }
  return given;
}

}  // namespace

GivenArray read_data(const DataRequest& request, const std::string& text) {
  if (is_literal(text)) return parse_literal(text, request.input.type.dims, request.length_dims);
  if (text.starts_with(kExample)) return batch_of(request, example_data(request, text.substr(kExample.size())));
  if (std::vector<std::string> files = audio_files(text); !files.empty())
    return batch_of(request, read_audio(files, request.sample_rate));
  if (std::optional<HdfSource> source = hdf_source(text)) {
    if (!source->key) source->key = request.input.key;
    return read_dataset(request, HdfDataset(source->path), *source);
  }

  std::string path = text, key = request.input.name;
  if (std::size_t at = text.rfind(':'); at != std::string::npos && at > 0 && !exists(text)) {
    path = text.substr(0, at);
    key = text.substr(at + 1);
  }
  GivenArray given;
  if (read_part(path, 0, 6) == "\x93NUMPY") {
    given.value = read_npy(path);
    return given;
  }
  return read_named(request, *open_arrays(path), path, key);
}

GivenArray read_dataset(const DataRequest& request, const HdfDataset& dataset, const HdfSource& source) {
  if (!dataset.has(*source.key))
    file_error(source.path, "it has no `" + *source.key + "`, only " + quoted_list(dataset.keys(), "and"));
  Dim sparse = request.input.type.sparse_dim;
  std::optional<std::int64_t> classes = dataset.classes(*source.key);
  if (sparse && sparse->size && classes && *classes != *sparse->size)
    file_error(source.path, "`" + *source.key + "` has " + std::to_string(*classes) + " classes, `" +
                                to_string(sparse) + "` has size " + std::to_string(*sparse->size));
  return batch_of(request, dataset.read(*source.key, source.range));
}

GivenArray batch_of(const DataRequest& request, const std::vector<at::Tensor>& sequences) {
  const std::vector<Dim>& dims = request.input.type.dims;
  std::vector<Dim> axes;
  for (Dim d : dims)
    if (d != request.batch) axes.push_back(d);
  if (axes.size() + 1 != dims.size())
    throw ArrayFileError("a batch of sequences has the dim `batch`, declared are [" + dims_text(dims) + "]");
  std::stable_partition(axes.begin(), axes.end(), [](Dim d) { return d->dynamic(); });

  // One value for each sequence is stored as a sequence of one.
  bool single = axes.empty();
  std::vector<at::Tensor> items = sequences;
  for (at::Tensor& item : items) {
    if (single && item.dim() == 1 && item.size(0) == 1) item = item.squeeze(0);
    while (item.dim() < static_cast<std::int64_t>(axes.size()) && axes[static_cast<std::size_t>(item.dim())]->size == 1)
      item = item.unsqueeze(-1);
    if (item.dim() != static_cast<std::int64_t>(axes.size()))
      throw ArrayFileError("each sequence has " + std::to_string(item.dim()) + " dims, declared are [" +
                           dims_text(axes) + "] beside `batch`");
  }
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(items.size())};
  GivenArray given;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::vector<std::int64_t> sizes;
    for (const at::Tensor& item : items) sizes.push_back(item.size(static_cast<std::int64_t>(i)));
    std::int64_t longest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
    shape.push_back(longest);
    if (auto over = request.length_dims.find(axes[i]);
        over != request.length_dims.end() && over->second == std::vector<Dim>{request.batch}) {
      given.lengths[axes[i]] = {at::tensor(at::ArrayRef<std::int64_t>(sizes), at::kLong), {request.batch}};
      continue;
    }
    for (std::int64_t size : sizes)
      if (size != longest)
        throw ArrayFileError("`" + to_string(axes[i]) + "` has one size for all sequences, in the data " +
                             std::to_string(size) + " and " + std::to_string(longest));
  }
  at::Tensor value = at::zeros(shape, items.empty() ? at::TensorOptions(at::kFloat) : items[0].options());
  for (std::size_t i = 0; i < items.size(); ++i) {
    at::Tensor part = value[static_cast<std::int64_t>(i)];
    for (std::int64_t axis = 0; axis < items[i].dim(); ++axis) part = part.narrow(axis, 0, items[i].size(axis));
    part.copy_(items[i]);
  }
  axes.insert(axes.begin(), request.batch);
  std::vector<std::int64_t> order;  // of the declared dims; of one that stands there twice first the first
  std::vector<bool> used(axes.size(), false);
  for (Dim d : dims)
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i] == d && !used[i]) {
        used[i] = true;
        order.push_back(static_cast<std::int64_t>(i));
        break;
      }
  given.value = value.permute(order);
  return given;
}

}  // namespace rcn
