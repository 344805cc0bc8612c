// `rcnc params`: the parameters that the network uses.
#pragma once

#include <string>

#include "compiler/driver/pipeline.h"

namespace rcn {

// One line a parameter, columns aligned: path, dims, dtype, options; then their number and that of all values. Empty
// after errors.
std::string list_parameters(Session& session);

}  // namespace rcn
