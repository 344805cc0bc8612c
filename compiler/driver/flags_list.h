// `rcnc flags`: the mode flags of every module in the network, and what set them.
#pragma once

#include <string>

#include "compiler/driver/pipeline.h"

namespace rcn {

// One line a module instance, the network first, columns aligned: path, class, `train`, `search`, own flags; behind
// each value, in parentheses, what set it and which settings a lock kept away. Empty after errors.
std::string list_flags(Session& session);

}  // namespace rcn
