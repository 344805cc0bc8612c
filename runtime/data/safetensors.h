// Files of arrays in the safetensors format: the length of a header, the header in JSON, the arrays in a row.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/data/array_file.h"
#include "runtime/data/raw_array.h"

namespace rcn {

class SafetensorsFile : public ArrayFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  const std::vector<std::string>& names() const override { return names_; }
  at::Tensor read(const std::string& name) const override;

 private:
  struct Entry {
    std::string dtype;  // as the format names it
    std::vector<std::int64_t> shape;
    std::int64_t begin, end;  // bytes in the file
  };
  std::string path_;
  std::vector<std::string> names_;
  std::map<std::string, Entry> entries_;
};

// In the given order, without gaps.
std::string safetensors_bytes(const NamedArrays& arrays);

}  // namespace rcn
