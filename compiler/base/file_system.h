// Files come in through this interface, so that tests and tools decide what there is.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace rcn {

// `dir/../a.rcn` is `a.rcn`; slashes only. Never asks the system.
std::string normal_path(std::string_view path);
// The folder of a path: `a/b.rcn` is in `a`, `b.rcn` in the empty path.
std::string folder_of(std::string_view path);
// `path` seen from `folder`; an absolute path stays what it is.
std::string join_path(std::string_view folder, std::string_view path);

struct FileRead {
  enum class Status : std::uint8_t { ok, missing, directory, unreadable, too_large };
  Status status = Status::missing;
  std::string text;
  std::string reason;  // of `unreadable`, in the system's words: `permission denied`
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // Reads at most `max_bytes`; a longer file is too_large and is not read.
  virtual FileRead read(const std::string& path, std::int64_t max_bytes) = 0;
  // Equal for two paths exactly if they name one file. Never shown.
  virtual std::string identity(const std::string& path) = 0;
};

class RealFileSystem final : public FileSystem {
 public:
  FileRead read(const std::string& path, std::int64_t max_bytes) override;
  std::string identity(const std::string& path) override;
};

// For tests: what was put in, and the folders that its paths imply.
class MemoryFileSystem final : public FileSystem {
 public:
  void add(std::string_view path, std::string text) { files_[normal_path(path)] = std::move(text); }
  void add_unreadable(std::string_view path, std::string reason) { unreadable_[normal_path(path)] = std::move(reason); }
  FileRead read(const std::string& path, std::int64_t max_bytes) override;
  std::string identity(const std::string& path) override { return normal_path(path); }

 private:
  std::map<std::string, std::string> files_;
  std::map<std::string, std::string> unreadable_;
};

}  // namespace rcn
