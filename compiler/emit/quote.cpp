#include "compiler/emit/quote.h"

#include <algorithm>
#include <array>

namespace rcn {

namespace {

constexpr auto kSpecial = [] {  // bytes that do not stand for themselves
  std::array<bool, 256> special{};
  for (std::size_t i = 0; i < 0x20; ++i) special[i] = true;
  for (char c : {'"', '\\', '\x7f'}) special[static_cast<unsigned char>(c)] = true;
  return special;
}();

std::string quoted(std::string_view text, std::string_view control_escape) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string result = "\"";
  result.reserve(text.size() + 2);
  if (std::none_of(text.begin(), text.end(), [](char c) { return kSpecial[static_cast<unsigned char>(c)]; })) return result.append(text) + '"';
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"': result += "\\\""; break;
      case '\\': result += "\\\\"; break;
      case '\n': result += "\\n"; break;
      case '\r': result += "\\r"; break;
      case '\t': result += "\\t"; break;
      default:
        if (byte < 0x20 || byte == 0x7F) {
          result += control_escape;
          result += kHex[byte >> 4];
          result += kHex[byte & 15];
        } else {
          result += c;
        }
    }
  }
  return result + '"';
}

}  // namespace

std::string python_quoted(std::string_view text) { return quoted(text, "\\x"); }
std::string json_quoted(std::string_view text) { return quoted(text, "\\u00"); }

}  // namespace rcn
