// Archives of arrays, as numpy.savez writes them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/data/array_file.h"

namespace rcn {

class NpzFile : public ArrayFile {
 public:
  explicit NpzFile(const std::string& path);
  ~NpzFile() override;

  const std::vector<std::string>& names() const override;  // without `.npy`
  at::Tensor read(const std::string& name) const override;

 private:
  struct Archive;
  std::unique_ptr<Archive> archive_;
};

at::Tensor read_npy(const std::string& path);

// An archive; `path` is for messages.
std::string npz_bytes(const std::string& path, const NamedArrays& arrays);

}  // namespace rcn
