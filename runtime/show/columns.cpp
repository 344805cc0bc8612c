#include "runtime/show/columns.h"

#include <algorithm>
#include <ostream>

namespace rcn {

std::string columns(const std::vector<std::pair<std::string, std::size_t>>& cells) {
  std::string line;
  std::size_t end = 0;
  for (const auto& [text, width] : cells) {
    if (!line.empty()) line.append(end > line.size() ? end - line.size() : 0, ' ').append("  ");
    end = std::max(end, line.size()) + width;
    line += text;
  }
  return line;
}

void write_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  for (const auto& row : rows) {
    std::vector<std::pair<std::string, std::size_t>> cells;
    for (std::size_t i = 0; i < row.size(); ++i) cells.emplace_back(row[i], widths[i]);
    std::string line = columns(cells);
    while (line.ends_with(' ')) line.pop_back();
    out << line << '\n';
  }
}

}  // namespace rcn
