// `rcnc verify`: RETURNN runs the network dict on the inputs and parameters of an eager run, and both are compared.
#pragma once

#include <filesystem>

#include "compiler/driver/options.h"

namespace rcn {

// The program that runs models; it lies beside this one.
std::filesystem::path eager_program();

// The exit code: 0 if all is equal, 1 if something differs or the model has errors, 2 without a RETURNN.
int verify_model(const Options& options);

}  // namespace rcn
