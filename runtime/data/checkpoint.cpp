#include "runtime/data/checkpoint.h"

#include <leveldb/env.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/table.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "runtime/data/raw_array.h"
#include "runtime/data/wire.h"

namespace rcn {

namespace {

// TensorFlow's DataType (types.proto).
struct DataType {
  std::uint64_t number;
  Element element;
};
constexpr DataType kDataTypes[] = {
    {1, Element::float32},   {2, Element::float64}, {3, Element::int32},    {4, Element::uint8},
    {5, Element::int16},     {6, Element::int8},    {9, Element::int64},    {10, Element::bool_},
    {14, Element::bfloat16}, {17, Element::uint16}, {19, Element::float16}, {22, Element::uint32},
    {23, Element::uint64},
};
constexpr std::uint64_t kString = 7;

const Element* element_of_type(std::uint64_t number) {
  for (const DataType& t : kDataTypes)
    if (t.number == number) return &t.element;
  return nullptr;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

// The state of an optimizer that does not lie below a variable.
bool is_global_state(const std::string& name) {
  std::string last = name.substr(name.rfind('/') + 1);
  return name == "global_step" || last == "beta1_power" || last == "beta2_power";
}

std::vector<std::int64_t> parse_shape(std::string_view message, bool& good) {
  std::vector<std::int64_t> shape;
  WireReader dims(message);
  while (dims.next()) {
    if (dims.field != 2) continue;
    std::int64_t size = 0;
    WireReader dim(dims.bytes);
    while (dim.next())
      if (dim.field == 1) size = dim.signed_number();
    good = good && !dim.damaged() && size >= 0;
    shape.push_back(size);
  }
  good = good && !dims.damaged();
  return shape;
}

}  // namespace

std::optional<std::string> checkpoint_prefix(const std::string& path) {
  std::string prefix = path;
  for (const char* ending : {".index", ".meta"})
    if (path.ends_with(ending)) prefix = path.substr(0, path.size() - std::string_view(ending).size());
  if (std::size_t at = path.rfind(".data-"); at != std::string::npos && path.find("-of-", at) != std::string::npos)
    prefix = path.substr(0, at);
  if (exists(prefix + ".index")) return prefix;
  return std::nullopt;
}

Checkpoint::Checkpoint(const std::string& prefix) : prefix_(prefix), index_(prefix + ".index") {
  check_readable(index_);
  read_index();
  for (const auto& [name, entry] : entries_) {
    check_size(name, entry);
    bool other = entry.dtype == kString || is_global_state(name);
    for (std::size_t at = name.find('/'); at != std::string::npos && !other; at = name.find('/', at + 1))
      other = entries_.contains(name.substr(0, at));
    (other ? others_ : names_).push_back(name);
  }
}

std::string Checkpoint::shard_path(std::int64_t shard) const {
  char ending[48];
  std::snprintf(ending, sizeof ending, ".data-%05lld-of-%05lld", static_cast<long long>(shard),
                static_cast<long long>(shards_));
  return prefix_ + ending;
}

// That its bytes are there.
void Checkpoint::check_size(const std::string& name, const Entry& entry) const {
  if (entry.sliced) return;
  std::string path = shard_path(entry.shard);
  check_readable(path);
  std::int64_t size = file_size(path);
  if (size < entry.offset || size - entry.offset < entry.size)
    file_error(path, "the file is cut off: it ends before `" + name + "` does");
}

void Checkpoint::read_index() {
  leveldb::Env* env = leveldb::Env::Default();
  leveldb::RandomAccessFile* opened = nullptr;
  leveldb::Status status = env->NewRandomAccessFile(index_, &opened);
  std::unique_ptr<leveldb::RandomAccessFile> file(opened);
  leveldb::Options options;
  options.env = env;
  options.paranoid_checks = true;
  leveldb::Table* made = nullptr;
  if (status.ok())
    status = leveldb::Table::Open(options, file.get(), static_cast<std::uint64_t>(file_size(index_)), &made);
  std::unique_ptr<leveldb::Table> table(made);
  if (!status.ok()) file_error(index_, "this is no index of a checkpoint, or it is cut off");

  leveldb::ReadOptions reading;
  reading.verify_checksums = true;
  std::unique_ptr<leveldb::Iterator> it(table->NewIterator(reading));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    std::string_view value(it->value().data(), it->value().size());
    if (it->key().empty()) {
      set_header(value);
      continue;
    }
    std::string name = it->key().ToString();
    if (name[0] == '\0') continue;  // a slice of a partitioned variable, which has an entry of its own
    std::optional<Entry> entry = parse_entry(value);
    if (!entry) file_error(index_, "it is damaged at `" + name + "`");
    entries_[name] = std::move(*entry);
  }
  if (!it->status().ok()) file_error(index_, "it is damaged");
  if (shards_ == 0) file_error(index_, "this is no index of a checkpoint: it has no header");
}

// BundleHeaderProto: 1 num_shards, 2 endianness (0 is little).
void Checkpoint::set_header(std::string_view message) {
  bool big_endian = false;
  WireReader header(message);
  while (header.next()) {
    if (header.field == 1) shards_ = header.signed_number();
    if (header.field == 2) big_endian = header.number != 0;
  }
  if (header.damaged() || shards_ < 1 || shards_ > 99999) file_error(index_, "its header is damaged");
  if (big_endian) file_error(index_, "the checkpoint is big endian");
}

// BundleEntryProto: 1 dtype, 2 shape, 3 shard_id, 4 offset, 5 size, 7 slices.
std::optional<Checkpoint::Entry> Checkpoint::parse_entry(std::string_view message) {
  Entry entry;
  bool good = true;
  WireReader fields(message);
  while (fields.next()) {
    switch (fields.field) {
      case 1: entry.dtype = fields.number; break;
      case 2: entry.shape = parse_shape(fields.bytes, good); break;
      case 3: entry.shard = fields.signed_number(); break;
      case 4: entry.offset = fields.signed_number(); break;
      case 5: entry.size = fields.signed_number(); break;
      case 7: entry.sliced = true; break;
      default: break;
    }
  }
  if (fields.damaged() || !good || entry.offset < 0 || entry.size < 0 || entry.shard < 0) return std::nullopt;
  return entry;
}

at::Tensor Checkpoint::read(const std::string& name) const {
  auto it = entries_.find(name);
  if (it == entries_.end()) file_error(prefix_, "there is no array `" + name + "`");
  const Entry& entry = it->second;
  const Element* element = element_of_type(entry.dtype);
  if (!element)
    file_error(prefix_,
               "`" + name + "` is of TensorFlow's dtype " + std::to_string(entry.dtype) + ", which is not read");
  if (entry.sliced) file_error(prefix_, "`" + name + "` is a partitioned variable; such are not read");
  std::string path = shard_path(entry.shard);
  try {
    return tensor_of(*element, entry.shape, read_part(path, entry.offset, entry.size));
  } catch (const ArrayFileError& error) {
    file_error(path, "`" + name + "`: " + error.what());
  }
}

}  // namespace rcn
