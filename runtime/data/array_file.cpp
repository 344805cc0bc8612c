#include "runtime/data/array_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/data/checkpoint.h"
#include "runtime/data/npz.h"
#include "runtime/data/safetensors.h"

namespace rcn {

void file_error(const std::string& path, const std::string& why) { throw ArrayFileError("`" + path + "`: " + why); }

bool ArrayFile::has(const std::string& name) const {
  return std::find(names().begin(), names().end(), name) != names().end();
}

std::unique_ptr<ArrayFile> open_arrays(const std::string& path) {
  if (std::optional<std::string> prefix = checkpoint_prefix(path)) return std::make_unique<Checkpoint>(*prefix);
  check_readable(path);
  std::string begin = read_part(path, 0, 9);
  if (begin.starts_with("PK")) return std::make_unique<NpzFile>(path);
  if (path.ends_with(".safetensors") || begin.ends_with("{")) return std::make_unique<SafetensorsFile>(path);
  file_error(path, "this is no .npz, no .safetensors and no checkpoint of TensorFlow");
}

void write_arrays(const std::string& path, const NamedArrays& arrays) {
  write_whole(path, path.ends_with(".safetensors") ? safetensors_bytes(arrays) : npz_bytes(path, arrays));
}

void check_readable(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) file_error(path, "this is a folder");
  if (access(path.c_str(), R_OK) != 0) file_error(path, std::strerror(errno));
}

std::int64_t file_size(const std::string& path) {
  std::error_code error;
  auto size = std::filesystem::file_size(path, error);
  if (error) file_error(path, error.message());
  return static_cast<std::int64_t>(size);
}

std::string read_part(const std::string& path, std::int64_t offset, std::int64_t size) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  in.seekg(offset);
  in.read(bytes.data(), size);
  if (in.bad()) file_error(path, "it cannot be read");
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

void write_whole(const std::string& path, const std::string& bytes) {
  std::string temporary = path + ".tmp" + std::to_string(getpid());
  std::string why;
  {
    errno = 0;
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) why = errno != 0 ? std::strerror(errno) : "it cannot be written";
  }
  if (why.empty() && std::rename(temporary.c_str(), path.c_str()) != 0) why = std::strerror(errno);
  if (why.empty()) return;
  std::remove(temporary.c_str());
  file_error(path, why);
}

}  // namespace rcn
