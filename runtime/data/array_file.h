// Arrays by name, from a file of any of the kinds that hold them.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/torch.h"

namespace rcn {

// Something about a file of arrays that a user can mend. Where a file is known, the text begins with its name.
struct ArrayFileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] void file_error(const std::string& path, const std::string& why);

// All members, and the constructors of the kinds, throw ArrayFileError.
class ArrayFile {
 public:
  virtual ~ArrayFile() = default;

  virtual const std::vector<std::string>& names() const = 0;  // in the order of the file
  virtual at::Tensor read(const std::string& name) const = 0;
  // What else the file holds and is never asked for by name: the step and the optimizer's state of a checkpoint.
  virtual std::vector<std::string> others() const { return {}; }
  bool has(const std::string& name) const;
};

// .npz, safetensors, or a checkpoint of TensorFlow; what it is shows in its content.
std::unique_ptr<ArrayFile> open_arrays(const std::string& path);

using NamedArrays = std::vector<std::pair<std::string, at::Tensor>>;
// FILE.npz or FILE.safetensors. The bytes depend on arrays and names only.
void write_arrays(const std::string& path, const NamedArrays& arrays);

// ---- for the kinds
// That there is a file which may be read.
void check_readable(const std::string& path);
std::int64_t file_size(const std::string& path);
// That part of the file; less where it ends earlier.
std::string read_part(const std::string& path, std::int64_t offset, std::int64_t size);
// The file appears as a whole or not at all.
void write_whole(const std::string& path, const std::string& bytes);

}  // namespace rcn
