// Which tensors `--trace`, `--print` and `--save` are to show: by name, by variable or by place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/source.h"
#include "runtime/eager_backend.h"

namespace rcn {

// `*` any characters, `?` one; the whole name must fit. `/` and `.` are the same.
bool glob_match(std::string_view pattern, std::string_view name);

class Selector {
 public:
  // `12`, `12-20` (of the model's own file), `blocks.rcn:12`, `model.rcn:12:9` are places; all else is a glob.
  explicit Selector(std::string pattern);

  const std::string& pattern() const { return pattern_; }
  // By its name, or by its place: that of the operation, or of a call around it.
  bool fits(const Produced& made, const SourceMap& sources) const;
  bool fits(const Bound& bound, const SourceMap& sources) const;
  bool fits(const Event& event, const SourceMap& sources) const;
  bool fits_name(std::string_view name) const;

 private:
  bool fits_place(Span span, const std::vector<Span>& calls, const SourceMap& sources) const;
  bool at(Span span, const SourceMap& sources) const;

  std::string pattern_;
  bool place_ = false;
  std::string file_;  // empty: the model's
  std::uint32_t first_ = 0, last_ = 0;
  std::uint32_t column_ = 0;  // 0: any
};

}  // namespace rcn
