// Source texts and positions in them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace rcn {

using FileId = std::uint32_t;  // 0 is "no file"

// A range of bytes in one file.
struct Span {
  FileId file = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool valid() const { return file != 0; }
  bool operator==(const Span&) const = default;
};

inline Span join(Span a, Span b) { return a.valid() ? Span{a.file, a.begin, b.end} : b; }

// One-based; columns count Unicode code points.
struct LineColumn {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

class SourceMap {
 public:
  // `name` is what diagnostics show. The text is kept for the life of the map.
  FileId add(std::string name, std::string text);
  // For text that outlives the map (the embedded standard library).
  FileId add_view(std::string name, std::string_view text);

  const std::string& name(FileId file) const;
  std::string_view text(FileId file) const;
  LineColumn locate(FileId file, std::uint32_t offset) const;
  // The text of a one-based line, without its end.
  std::string_view line(FileId file, std::uint32_t line) const;
  std::string_view text(Span span) const;
  std::size_t size() const { return files_.size(); }

 private:
  struct File {
    std::string name;
    std::string owned;
    std::string_view text;
    mutable std::vector<std::uint32_t> line_starts;  // made when first asked for
  };
  const File& get(FileId file) const;
  const std::vector<std::uint32_t>& line_starts(const File& file) const;
  std::deque<File> files_;
};

}  // namespace rcn
