// Python names for dims.
#pragma once

#include <string>
#include <vector>

#include "compiler/dims/dim.h"

namespace rcn {

// `time_dim`, `time_plus_1_dim`; a second dim of the same name is `time_dim_1`. RETURNN's own dims keep its names.
std::vector<std::string> dim_names(const std::vector<Dim>& dims);

}  // namespace rcn
