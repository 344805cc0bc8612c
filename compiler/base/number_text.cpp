#include "compiler/base/number_text.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace rcn {

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";

  char buffer[64];
  char* last = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<std::size_t>(last - buffer));  // -d.ddde+XX
  std::string sign = text.front() == '-' ? "-" : "";
  text.remove_prefix(sign.size());
  std::size_t mark = text.find('e');
  std::string digits(text.substr(0, 1));
  if (mark > 2) digits += text.substr(2, mark - 2);
  int exponent = 0;
  const char* first = text.data() + mark + 1 + (text[mark + 1] == '+' ? 1 : 0);
  std::from_chars(first, text.data() + text.size(), exponent);

  // Python's repr writes an exponent below 1e-4 and from 1e16 on.
  if (exponent < -4 || exponent >= 16) {
    std::string result = sign + digits;
    if (digits.size() > 1) result.insert(sign.size() + 1, 1, '.');
    std::string power = std::to_string(exponent < 0 ? -exponent : exponent);
    result += exponent < 0 ? "e-" : "e+";
    if (power.size() < 2) result += '0';
    return result += power;
  }
  if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  std::size_t before_point = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= before_point) return sign + digits + std::string(before_point - digits.size(), '0') + ".0";
  return sign + digits.substr(0, before_point) + "." + digits.substr(before_point);
}

std::string number_text(std::int64_t value) { return std::to_string(value); }

}  // namespace rcn
