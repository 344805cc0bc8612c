// Text in columns.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace rcn {

// Columns of at least the given widths, two spaces between them; a long entry moves the rest of its line.
std::string columns(const std::vector<std::pair<std::string, std::size_t>>& cells);

// A table whose columns are as wide as their widest entry.
void write_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows);

}  // namespace rcn
