#include "runtime/data/hdf.h"

#include <hdf5.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "runtime/data/array_file.h"

namespace rcn {

namespace {

// An object of HDF5, closed at the end.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

std::vector<hsize_t> shape_of(hid_t space) {
  int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> shape(rank > 0 ? static_cast<std::size_t>(rank) : 0);
  if (rank > 0) H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  return shape;
}

// What values of a type become, and the type in memory that HDF5 converts them to; none for texts and records.
struct MemoryType {
  at::ScalarType scalar;
  hid_t native;
};
std::optional<MemoryType> memory_type(hid_t type) {
  std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return size > 4 ? MemoryType{at::kDouble, H5T_NATIVE_DOUBLE} : MemoryType{at::kFloat, H5T_NATIVE_FLOAT};
    case H5T_INTEGER: {
      bool is_signed = H5Tget_sign(type) != H5T_SGN_NONE;
      if (size == 1)
        return is_signed ? MemoryType{at::kChar, H5T_NATIVE_INT8} : MemoryType{at::kByte, H5T_NATIVE_UINT8};
      if (size == 2 && is_signed) return MemoryType{at::kShort, H5T_NATIVE_INT16};
      if (size == 2 || (size == 4 && is_signed)) return MemoryType{at::kInt, H5T_NATIVE_INT32};
      return MemoryType{at::kLong, H5T_NATIVE_INT64};
    }
    default: return std::nullopt;
  }
}

bool exists(hid_t file, const std::string& name) {
  for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1))
    if (H5Lexists(file, name.substr(0, at).c_str(), H5P_DEFAULT) <= 0) return false;
  return H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> member_names(hid_t group) {
  std::vector<std::string> names;
  auto add = [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
    static_cast<std::vector<std::string>*>(data)->push_back(name);
    return 0;
  };
  H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names);
  return names;
}

std::vector<std::string> attribute_names(hid_t object) {
  std::vector<std::string> names;
  auto add = [](hid_t, const char* name, const H5A_info_t*, void* data) -> herr_t {
    static_cast<std::vector<std::string>*>(data)->push_back(name);
    return 0;
  };
  H5Aiterate(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names);
  return names;
}

// The ints of an attribute; empty where there is none.
std::vector<std::int64_t> attribute(hid_t object, const std::string& name) {
  if (H5Aexists(object, name.c_str()) <= 0) return {};
  Handle attr(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  Handle type(H5Aget_type(attr), H5Tclose), space(H5Aget_space(attr), H5Sclose);
  if (H5Tget_class(type) != H5T_INTEGER) return {};
  std::vector<std::int64_t> values(
      static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space), 0)));
  if (H5Aread(attr, H5T_NATIVE_INT64, values.data()) < 0) return {};
  return values;
}

std::optional<SequenceRange> parse_range(std::string_view text) {
  SequenceRange range{};
  const char* end = text.data() + text.size();
  auto first = std::from_chars(text.data(), end, range.first);
  if (first.ec != std::errc() || range.first < 0) return std::nullopt;
  range.last = range.first;
  if (first.ptr == end) return range;
  if (*first.ptr != '-') return std::nullopt;
  auto last = std::from_chars(first.ptr + 1, end, range.last);
  if (last.ec != std::errc() || last.ptr != end || range.last < range.first) return std::nullopt;
  return range;
}

bool begins_like_hdf(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && read_part(path, 0, 8) == "\x89HDF\r\n\x1a\n";
}

bool is_hdf(const std::string& path) {
  return path.ends_with(".hdf") || path.ends_with(".hdf5") || path.ends_with(".h5") || begins_like_hdf(path);
}

}  // namespace

std::optional<HdfSource> hdf_source(const std::string& text) {
  if (is_hdf(text)) return HdfSource{text, {}, {}};
  std::size_t at = text.rfind(':');
  if (at == std::string::npos) return std::nullopt;
  HdfSource source{text.substr(0, at), {}, parse_range(std::string_view(text).substr(at + 1))};
  if (!source.range) source.key = text.substr(at + 1);
  if (is_hdf(source.path)) return source;
  std::size_t before = source.path.rfind(':');
  if (!source.range || before == std::string::npos) return std::nullopt;
  source.key = source.path.substr(before + 1);
  source.path.resize(before);
  if (is_hdf(source.path)) return source;
  return std::nullopt;
}

struct HdfDataset::File {
  std::string path;
  hid_t id = -1;
  std::vector<std::string> keys;      // `data` first
  std::vector<std::string> columns;   // those of `lengths`: the keys, and what has a size and no data
  std::vector<std::int64_t> lengths;  // [sequences, columns]
  std::int64_t sequences = 0;

  ~File() {
    if (id >= 0) H5Fclose(id);
  }
  [[noreturn]] void fail(const std::string& why) const { file_error(path, why); }
  static std::string place(const std::string& key) { return key == "data" ? "inputs" : "targets/data/" + key; }

  void find_keys() {
    std::set<std::string> targets;
    if (exists(id, "inputs")) keys.push_back("data");
    if (exists(id, "targets/data")) {
      Handle group(H5Gopen(id, "targets/data", H5P_DEFAULT), H5Gclose);
      for (std::string& name : member_names(group)) targets.insert(std::move(name));
    }
    keys.insert(keys.end(), targets.begin(), targets.end());
    if (exists(id, "targets/size")) {
      Handle sizes(H5Oopen(id, "targets/size", H5P_DEFAULT), H5Oclose);
      for (std::string& name : attribute_names(sizes)) targets.insert(std::move(name));
    }
    if (exists(id, "inputs")) columns.push_back("data");
    columns.insert(columns.end(), targets.begin(), targets.end());
  }

  void read_lengths() {
    if (!exists(id, "seqLengths")) fail("this is no dataset of RETURNN: it has no `seqLengths`");
    Handle set(H5Dopen(id, "seqLengths", H5P_DEFAULT), H5Dclose), space(H5Dget_space(set), H5Sclose);
    std::vector<hsize_t> shape = shape_of(space);
    std::size_t width = shape.size() == 2 ? static_cast<std::size_t>(shape[1]) : 1;
    if (shape.empty() || shape.size() > 2 || (shape.size() == 2 && width < columns.size()))
      fail("it is damaged: `seqLengths` does not fit its keys");
    sequences = static_cast<std::int64_t>(shape[0]);
    std::vector<std::int64_t> stored(static_cast<std::size_t>(shape[0]) * width);
    if (H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, stored.data()) < 0)
      fail("`seqLengths` cannot be read");
    // Of a single column, all keys have its lengths.
    for (std::size_t i = 0; i < static_cast<std::size_t>(sequences); ++i)
      for (std::size_t k = 0; k < columns.size(); ++k)
        lengths.push_back(stored[i * width + (shape.size() == 2 ? k : 0)]);
  }

  std::size_t column(const std::string& key) const {
    return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), key) - columns.begin());
  }
  std::int64_t length(std::int64_t sequence, std::size_t column) const {
    return lengths[static_cast<std::size_t>(sequence) * columns.size() + column];
  }
};

HdfDataset::HdfDataset(const std::string& path) : file_(std::make_unique<File>()) {
  check_readable(path);
  H5Eset_auto(H5E_DEFAULT, nullptr, nullptr);  // it would print its own messages
  file_->path = path;
  file_->id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file_->id < 0) file_->fail(begins_like_hdf(path) ? "the file is cut off or damaged" : "this is no HDF5 file");
  file_->find_keys();
  file_->read_lengths();
}

HdfDataset::~HdfDataset() = default;

const std::vector<std::string>& HdfDataset::keys() const { return file_->keys; }
bool HdfDataset::has(const std::string& key) const {
  return std::find(keys().begin(), keys().end(), key) != keys().end();
}

std::vector<at::Tensor> HdfDataset::read(const std::string& key, std::optional<SequenceRange> range) const {
  const File& file = *file_;
  if (range && range->last >= file.sequences)
    file.fail("there is no sequence " + std::to_string(range->last) + ": it has " + std::to_string(file.sequences) +
              ", counted from 0");
  Handle set(H5Dopen(file.id, File::place(key).c_str(), H5P_DEFAULT), H5Dclose), type(H5Dget_type(set), H5Tclose),
      space(H5Dget_space(set), H5Sclose);
  std::optional<MemoryType> memory = memory_type(type);
  std::vector<hsize_t> shape = shape_of(space);
  if (!memory || shape.empty()) file.fail("`" + key + "` has no sequences of numbers");
  std::size_t column = file.column(key);
  SequenceRange wanted = range.value_or(SequenceRange{0, file.sequences - 1});
  std::vector<hsize_t> start(shape.size(), 0);
  for (std::int64_t i = 0; i < wanted.first; ++i) start[0] += static_cast<hsize_t>(file.length(i, column));

  std::vector<at::Tensor> axes;
  if (key == "data" && has("sizes")) axes = read("sizes", range);
  std::vector<at::Tensor> sequences;
  for (std::int64_t i = wanted.first; i <= wanted.last; ++i) {
    std::vector<hsize_t> count = shape;
    count[0] = static_cast<hsize_t>(file.length(i, column));
    if (file.length(i, column) < 0 || start[0] + count[0] > shape[0])
      file.fail("it is damaged: `" + key + "` has fewer frames than its sequences");
    std::vector<std::int64_t> sizes(count.begin(), count.end());
    at::Tensor sequence = at::empty(sizes, at::TensorOptions(memory->scalar));
    if (sequence.numel() > 0) {
      Handle part(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
      if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
          H5Dread(set, memory->native, part, space, H5P_DEFAULT, sequence.data_ptr()) < 0)
        file.fail("`" + key + "` cannot be read: the file is cut off or damaged");
    }
    start[0] += count[0];
    if (!axes.empty()) {
      at::Tensor own = axes[sequences.size()].to(at::kLong);
      std::vector<std::int64_t> whole(own.data_ptr<std::int64_t>(), own.data_ptr<std::int64_t>() + own.numel());
      whole.insert(whole.end(), sizes.begin() + 1, sizes.end());
      if (at::prod(own).item<std::int64_t>() != sizes[0]) file.fail("it is damaged: `sizes` does not fit `data`");
      sequence = sequence.reshape(whole);
    }
    sequences.push_back(sequence);
  }
  return sequences;
}

std::optional<std::int64_t> HdfDataset::classes(const std::string& key) const {
  std::vector<std::int64_t> size;  // and the number of dims
  if (key == "data") {
    Handle set(H5Dopen(file_->id, "inputs", H5P_DEFAULT), H5Dclose), space(H5Dget_space(set), H5Sclose);
    if (shape_of(space).size() == 1) size = attribute(file_->id, "inputPattSize");
  } else if (exists(file_->id, "targets/size")) {
    Handle group(H5Oopen(file_->id, "targets/size", H5P_DEFAULT), H5Oclose);
    size = attribute(group, key);
    if (size.size() == 2 && size[1] != 1) size.clear();
  }
  if (size.empty() || size[0] <= 1) return std::nullopt;  // 1 stands for an unknown number
  return size[0];
}

}  // namespace rcn
