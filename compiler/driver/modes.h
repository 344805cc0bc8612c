// Several modes of one model in one run (--modes).
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/pipeline.h"

namespace rcn {

// The config text of the loaded model for each of options.modes. The parameters of each mode must be among those of the
// first, equal in dims and dtype. Empty after errors in any mode; an error that not all modes have says which do.
std::vector<std::string> compile_modes(Session& session);

}  // namespace rcn
