#include "runtime/data/rename_map.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "runtime/data/array_file.h"

namespace rcn {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kParam = "/param";

// What `*` stands for in `pattern` where it fits `name`; an empty text where there is no `*`.
std::optional<std::string> fit(std::string_view pattern, std::string_view name) {
  std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name ? std::optional<std::string>("") : std::nullopt;
  std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  if (name.size() < head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) return std::nullopt;
  return std::string(name.substr(head.size(), name.size() - head.size() - tail.size()));
}

}  // namespace

RenameMap RenameMap::read(const std::string& path) {
  check_readable(path);
  std::string text = read_part(path, 0, file_size(path));
  RenameMap map;
  if (std::size_t first = text.find_first_not_of(" \t\r\n"); first != std::string::npos && text[first] == '{') {
    try {
      const Json json = Json::parse(text);
      for (const auto& [from, to] : json.items()) {
        if (!to.is_string()) file_error(path, "the new name of `" + from + "` is no text");
        map.add(path, from, to.get<std::string>());
      }
    } catch (const Json::parse_error& error) {
      file_error(path, "it begins like JSON and is none, at byte " + std::to_string(error.byte));
    }
    return map;
  }
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string from, to, more;
    words >> from >> to >> more;
    if (from.empty()) continue;
    if (to.empty() || !more.empty())
      file_error(path, "line " + std::to_string(number) + " should be `OLD NEW`, two names");
    map.add(path, from, to);
  }
  return map;
}

void RenameMap::add(const std::string& path, const std::string& from, const std::string& to) {
  auto stars = [](const std::string& text) { return std::count(text.begin(), text.end(), '*'); };
  if (from.empty() || to.empty()) file_error(path, "a name is empty");
  if (stars(from) > 1 || stars(from) != stars(to))
    file_error(path, "`" + from + "` and `" + to + "`: there is one `*` in both, or none");
  for (const Rule& rule : rules_)
    if (rule.from == from) file_error(path, "`" + from + "` is renamed twice");
  rules_.push_back({from, to});
}

std::string RenameMap::operator()(const std::string& name) {
  std::string bare = name.ends_with(kParam) ? name.substr(0, name.size() - kParam.size()) : name;
  for (bool globs : {false, true})
    for (Rule& rule : rules_) {
      if ((rule.from.find('*') != std::string::npos) != globs) continue;
      std::optional<std::string> middle = fit(rule.from, name);
      if (!middle) middle = fit(rule.from, bare);
      if (!middle) continue;
      rule.used = true;
      std::string result = rule.to;
      if (globs) result.replace(result.find('*'), 1, *middle);
      return result;
    }
  return name;
}

std::vector<std::string> RenameMap::unused() const {
  std::vector<std::string> names;
  for (const Rule& rule : rules_)
    if (!rule.used) names.push_back(rule.from);
  return names;
}

}  // namespace rcn
