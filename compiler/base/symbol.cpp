#include "compiler/base/symbol.h"

#include <unordered_set>

namespace rcn {

Symbol::Symbol(std::string_view text) {
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  static std::unordered_set<std::string, Hash, std::equal_to<>> table;
  auto it = table.find(text);
  if (it == table.end()) it = table.emplace(text).first;
  text_ = &*it;
}

const std::string& Symbol::empty() {
  static const std::string text;
  return text;
}

}  // namespace rcn
