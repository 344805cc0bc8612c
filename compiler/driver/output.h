// Writing results: to standard output, or to a file atomically and only when its content changes.
#pragma once

#include <string>
#include <string_view>

namespace rcn {

// Both return an empty text, or why it did not work ("No space left on device").
std::string write_stdout(std::string_view text);
std::string write_file(const std::string& path, std::string_view text);

}  // namespace rcn
