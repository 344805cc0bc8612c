// Nearest valid names, for "did you mean".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rcn {

// The candidates at edit distance 2 or less from `name` (1 or less for names of up to three letters, none for single ones), best first, at
// most three; transpositions count as one, and so does a difference in case only.
std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& candidates);

// "`a`", "`a` or `b`", "`a`, `b` or `c`"; empty for no names.
std::string quoted_list(const std::vector<std::string>& names, std::string_view last_word = "or");

}  // namespace rcn
