#include "compiler/driver/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace rcn {

namespace {

std::string write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return std::strerror(errno);
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

bool same_content(const std::string& path, std::string_view text) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  std::stringstream old;
  old << in.rdbuf();
  return old.str() == text;
}

}  // namespace

std::string write_stdout(std::string_view text) { return write_all(STDOUT_FILENO, text); }

std::string write_file(const std::string& path, std::string_view text) {
  struct stat info {};
  bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return "it is a folder";
  if (exists && !S_ISREG(info.st_mode)) {  // a device or pipe: there is nothing to replace
    int fd = ::open(path.c_str(), O_WRONLY);
    if (fd < 0) return std::strerror(errno);
    std::string error = write_all(fd, text);
    if (::close(fd) != 0 && error.empty()) error = std::strerror(errno);
    return error;
  }
  if (exists && same_content(path, text)) return {};
  std::string target = path;
  if (exists) {  // a link stays a link
    std::error_code ignored;
    std::filesystem::path real = std::filesystem::canonical(path, ignored);
    if (!ignored) target = real.string();
  }
  std::string temporary = target + ".tmp" + std::to_string(::getpid());
  int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? info.st_mode & 07777 : 0666);
  if (fd < 0) return std::strerror(errno);
  std::string error = write_all(fd, text);
  if (::close(fd) != 0 && error.empty()) error = std::strerror(errno);
  if (error.empty() && ::rename(temporary.c_str(), target.c_str()) != 0) error = std::strerror(errno);
  if (!error.empty()) ::unlink(temporary.c_str());
  return error;
}

}  // namespace rcn
