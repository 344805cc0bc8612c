// Which BLAS libtorch computes with.
#pragma once

#include <optional>
#include <string>

namespace rcn {

// The file of the reference BLAS if that is what matrix products run on.
std::optional<std::string> slow_blas();

}  // namespace rcn
