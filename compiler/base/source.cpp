#include "compiler/base/source.h"

#include <algorithm>
#include <stdexcept>

namespace rcn {

FileId SourceMap::add(std::string name, std::string text) {
  File& file = files_.emplace_back();
  file.name = std::move(name);
  file.owned = std::move(text);
  file.text = file.owned;
  return static_cast<FileId>(files_.size());
}

FileId SourceMap::add_view(std::string name, std::string_view text) {
  File& file = files_.emplace_back();
  file.name = std::move(name);
  file.text = text;
  return static_cast<FileId>(files_.size());
}

const SourceMap::File& SourceMap::get(FileId file) const {
  if (file == 0 || file > files_.size()) throw std::out_of_range("SourceMap: no such file");
  return files_[file - 1];
}

const std::string& SourceMap::name(FileId file) const { return get(file).name; }
std::string_view SourceMap::text(FileId file) const { return get(file).text; }

const std::vector<std::uint32_t>& SourceMap::line_starts(const File& file) const {
  if (file.line_starts.empty()) {
    file.line_starts.push_back(0);
    for (std::size_t i = 0; i < file.text.size(); ++i)
      if (file.text[i] == '\n') file.line_starts.push_back(static_cast<std::uint32_t>(i + 1));
  }
  return file.line_starts;
}

LineColumn SourceMap::locate(FileId id, std::uint32_t offset) const {
  const File& file = get(id);
  const auto& starts = line_starts(file);
  offset = std::min<std::uint32_t>(offset, static_cast<std::uint32_t>(file.text.size()));
  auto it = std::upper_bound(starts.begin(), starts.end(), offset);
  LineColumn result;
  result.line = static_cast<std::uint32_t>(it - starts.begin());
  result.column = 1;
  for (std::uint32_t i = *(it - 1); i < offset; ++i)
    if ((static_cast<unsigned char>(file.text[i]) & 0xC0) != 0x80) ++result.column;
  return result;
}

std::string_view SourceMap::line(FileId id, std::uint32_t line) const {
  const File& file = get(id);
  const auto& starts = line_starts(file);
  if (line == 0 || line > starts.size()) return {};
  std::size_t begin = starts[line - 1];
  std::size_t end = line < starts.size() ? starts[line] : file.text.size();
  while (end > begin && (file.text[end - 1] == '\n' || file.text[end - 1] == '\r')) --end;
  return file.text.substr(begin, end - begin);
}

std::string_view SourceMap::text(Span span) const {
  return get(span.file).text.substr(span.begin, span.end - span.begin);
}

}  // namespace rcn
