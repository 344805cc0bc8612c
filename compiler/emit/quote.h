// String literals. The text is valid UTF-8 and stays as it is, but for what would end or change the literal.
#pragma once

#include <string>
#include <string_view>

namespace rcn {

std::string python_quoted(std::string_view text);
std::string json_quoted(std::string_view text);

}  // namespace rcn
