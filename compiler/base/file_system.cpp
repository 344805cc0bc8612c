#include "compiler/base/file_system.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace rcn {

namespace fs = std::filesystem;

std::string normal_path(std::string_view path) {
  std::string result = fs::path(path).lexically_normal().generic_string();
  return result;
}

std::string folder_of(std::string_view path) { return fs::path(path).parent_path().generic_string(); }

std::string join_path(std::string_view folder, std::string_view path) {
  return normal_path((fs::path(folder) / fs::path(path)).generic_string());
}

FileRead RealFileSystem::read(const std::string& path, std::int64_t max_bytes) {
  FileRead result;
  auto fail = [&](int error) {
    result.status = error == ENOENT || error == ENOTDIR ? FileRead::Status::missing : FileRead::Status::unreadable;
    result.reason = std::strerror(error);
    if (!result.reason.empty() && result.reason[0] >= 'A' && result.reason[0] <= 'Z')
      result.reason[0] = static_cast<char>(result.reason[0] + 32);
    return result;
  };
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return fail(errno);
  if (S_ISDIR(info.st_mode)) {
    result.status = FileRead::Status::directory;
    return result;
  }
  if (S_ISREG(info.st_mode) && info.st_size > max_bytes) {
    result.status = FileRead::Status::too_large;
    return result;
  }
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return fail(errno);
  if (S_ISREG(info.st_mode)) result.text.reserve(static_cast<std::size_t>(info.st_size) + 1);
  char buffer[16384];
  std::size_t count = 0;
  bool too_large = false;
  while (!too_large && (count = std::fread(buffer, 1, sizeof buffer, file)) > 0) {
    result.text.append(buffer, count);
    // A pipe does not say its size.
    too_large = result.text.size() > static_cast<std::size_t>(max_bytes);
  }
  int error = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  if (error != 0) return fail(error);
  result.status = too_large ? FileRead::Status::too_large : FileRead::Status::ok;
  return result;
}

std::string RealFileSystem::identity(const std::string& path) {
  std::error_code error;
  fs::path canonical = fs::weakly_canonical(path, error);
  return error ? normal_path(path) : canonical.generic_string();
}

FileRead MemoryFileSystem::read(const std::string& path, std::int64_t max_bytes) {
  FileRead result;
  std::string key = normal_path(path);
  if (auto it = unreadable_.find(key); it != unreadable_.end()) {
    result.status = FileRead::Status::unreadable;
    result.reason = it->second;
  } else if (auto found = files_.find(key); found != files_.end()) {
    bool fits = found->second.size() <= static_cast<std::size_t>(max_bytes);
    result.status = fits ? FileRead::Status::ok : FileRead::Status::too_large;
    if (fits) result.text = found->second;
  } else {
    auto inside = files_.lower_bound(key + "/");
    if (inside != files_.end() && inside->first.starts_with(key + "/")) result.status = FileRead::Status::directory;
  }
  return result;
}

}  // namespace rcn
