// spdlog is compiled into this file alone: loading it as a library would cost every compilation a millisecond.
#include "compiler/driver/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace rcn {

void log_info(const std::string& message) {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = spdlog::stderr_logger_st("rcnc");
    made->set_pattern("rcnc: %v");
    return made;
  }();
  logger->info(message);
}

}  // namespace rcn
