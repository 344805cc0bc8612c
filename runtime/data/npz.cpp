#include "runtime/data/npz.h"

#include <zip.h>

#include <fstream>
#include <unordered_map>

#include "runtime/data/npy.h"

namespace rcn {

namespace {

std::string zip_text(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

}  // namespace

struct NpzFile::Archive {
  std::string path;
  zip_t* zip = nullptr;
  std::vector<std::string> names;
  std::unordered_map<std::string, zip_uint64_t> index;
  ~Archive() {
    if (zip) zip_discard(zip);
  }
};

NpzFile::NpzFile(const std::string& path) : archive_(std::make_unique<Archive>()) {
  archive_->path = path;
  check_readable(path);
  int code = 0;
  archive_->zip = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (!archive_->zip) file_error(path, code == ZIP_ER_NOZIP ? "this is no .npz archive" : zip_text(code));
  zip_int64_t count = zip_get_num_entries(archive_->zip, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* raw = zip_get_name(archive_->zip, static_cast<zip_uint64_t>(i), 0);
    if (!raw) file_error(path, "the archive is damaged");
    std::string name = raw;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    archive_->names.push_back(name);
    archive_->index.emplace(name, static_cast<zip_uint64_t>(i));
  }
}

NpzFile::~NpzFile() = default;

const std::vector<std::string>& NpzFile::names() const { return archive_->names; }

at::Tensor NpzFile::read(const std::string& name) const {
  auto it = archive_->index.find(name);
  if (it == archive_->index.end()) file_error(archive_->path, "there is no array `" + name + "`");
  zip_stat_t stat;
  if (zip_stat_index(archive_->zip, it->second, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE))
    file_error(archive_->path, "the archive is damaged at `" + name + "`");
  zip_file_t* file = zip_fopen_index(archive_->zip, it->second, 0);
  if (!file) file_error(archive_->path, "`" + name + "`: " + zip_strerror(archive_->zip));
  std::string bytes(stat.size, '\0');
  zip_int64_t read = zip_fread(file, bytes.data(), stat.size);
  zip_fclose(file);
  if (read < 0 || static_cast<zip_uint64_t>(read) != stat.size)
    file_error(archive_->path, "the archive is damaged at `" + name + "`");
  try {
    return parse_npy(bytes);
  } catch (const ArrayFileError& error) {
    file_error(archive_->path, "`" + name + "`: " + error.what());
  }
}

at::Tensor read_npy(const std::string& path) {
  check_readable(path);
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in && !in.eof()) file_error(path, "it cannot be read");
  try {
    return parse_npy(bytes);
  } catch (const ArrayFileError& error) {
    file_error(path, error.what());
  }
}

std::string npz_bytes(const std::string& path, const NamedArrays& arrays) {
  std::vector<std::string> contents;  // read by libzip when the archive is closed
  contents.reserve(arrays.size());
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* target = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_t* zip = target ? zip_open_from_source(target, ZIP_CREATE | ZIP_TRUNCATE, &error) : nullptr;
  if (!zip) file_error(path, zip_error_strerror(&error));
  zip_source_keep(target);  // the buffer outlives the archive
  for (const auto& [name, tensor] : arrays) {
    contents.push_back(npy_bytes(tensor));
    zip_source_t* source = zip_source_buffer(zip, contents.back().data(), contents.back().size(), 0);
    zip_int64_t index = source ? zip_file_add(zip, (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
      std::string why = zip_strerror(zip);
      if (source) zip_source_free(source);
      zip_discard(zip);
      zip_source_free(target);
      file_error(path, why);
    }
    auto entry = static_cast<zip_uint64_t>(index);
    zip_set_file_compression(zip, entry, ZIP_CM_STORE, 0);
    zip_file_set_dostime(zip, entry, 0, (1 << 5) | 1, 0);  // 1980-01-01, the first that the format has
  }
  std::string bytes;
  std::string why;
  if (zip_close(zip) != 0) {
    why = zip_strerror(zip);
    zip_discard(zip);
  } else {
    zip_stat_t stat;
    if (zip_source_stat(target, &stat) == 0 && zip_source_open(target) == 0) {
      bytes.resize(stat.size);
      if (zip_source_read(target, bytes.data(), stat.size) != static_cast<zip_int64_t>(stat.size))
        why = "out of memory";
      zip_source_close(target);
    } else {
      why = zip_error_strerror(zip_source_error(target));
    }
  }
  zip_source_free(target);
  if (!why.empty()) file_error(path, why);
  return bytes;
}

}  // namespace rcn
