// Logging to standard error (-v).
#pragma once

#include <string>

namespace rcn {

void log_info(const std::string& message);

}  // namespace rcn
