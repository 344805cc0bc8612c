#include "compiler/base/suggest.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace rcn {

namespace {

// Optimal string alignment distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& candidates) {
  std::size_t limit = name.size() <= 3 ? 1 : 2;
  bool one_letter = name.size() <= 1;  // all others would be near
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& candidate : candidates) {
    if (candidate == name) continue;
    std::size_t gap = candidate.size() > name.size() ? candidate.size() - name.size() : name.size() - candidate.size();
    if (gap > limit) continue;
    bool same_letters = lower(candidate) == lower(name);
    if (one_letter && !same_letters) continue;
    std::size_t d = same_letters ? 1 : distance(name, candidate);
    if (d <= limit) found.emplace_back(d, candidate);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<std::string> result;
  for (auto& [d, text] : found)
    if (result.size() < 3) result.push_back(text);
  return result;
}

std::string quoted_list(const std::vector<std::string>& names, std::string_view last_word) {
  std::string result;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) result += i + 1 == names.size() ? " " + std::string(last_word) + " " : ", ";
    result += "`" + names[i] + "`";
  }
  return result;
}

}  // namespace rcn
