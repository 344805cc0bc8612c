// `--summary`: where the time of a run went, and how large it is.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/base/source.h"
#include "runtime/eager_backend.h"

namespace rcn {

// `1.5 KiB`.
std::string bytes_text(std::int64_t bytes);

class Summary {
 public:
  explicit Summary(const SourceMap& sources) : sources_(sources) {}

  void add(const Produced& made);
  // The slowest lines of the program with their operations, the parameters, and the peak of memory.
  void write(std::ostream& out, const std::vector<LoadedParameter>& params, std::int64_t peak_bytes) const;

 private:
  struct Line {
    std::string place;
    std::size_t order;
    std::int64_t calls = 0;
    double seconds = 0;
    std::unordered_map<std::string, double> operations;
  };
  const SourceMap& sources_;
  std::unordered_map<std::string, Line> lines_;
  std::int64_t calls_ = 0;
  double seconds_ = 0;
};

}  // namespace rcn
