// Archives of arrays, as numpy.savez writes them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/npy.h"

namespace rcn {

// All throw ArrayFileError; its text begins with the file's name.
class NpzFile {
 public:
  explicit NpzFile(const std::string& path);
  ~NpzFile();
  NpzFile(const NpzFile&) = delete;
  NpzFile& operator=(const NpzFile&) = delete;

  const std::vector<std::string>& names() const;  // without `.npy`, in the order of the archive
  bool has(const std::string& name) const;
  at::Tensor read(const std::string& name) const;

 private:
  struct Archive;
  std::unique_ptr<Archive> archive_;
};

at::Tensor read_npy(const std::string& path);

// The bytes depend on the arrays and names only. The file appears as a whole or not at all.
void write_npz(const std::string& path, const std::vector<std::pair<std::string, at::Tensor>>& arrays);

}  // namespace rcn
