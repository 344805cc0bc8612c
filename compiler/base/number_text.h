// Numbers as Python prints them: the shortest digits that read back as the same value, whatever the locale.
#pragma once

#include <cstdint>
#include <string>

namespace rcn {

// `0.05`, `100.0`, `1e-06`, `1e+22`, `-0.0`; always told from an int by `.` or an exponent. `inf`, `-inf` and `nan`
// are words that each output format has to spell in its own way.
std::string number_text(double value);
std::string number_text(std::int64_t value);

}  // namespace rcn
