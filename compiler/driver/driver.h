// The two programs: rcnc compiles; rcnc-eager runs the same pipeline on tensors.
#pragma once

#include "compiler/driver/options.h"
#include "compiler/driver/pipeline.h"

namespace rcn {

int rcnc_main(int argc, char** argv);

// Runs `body` with internal errors turned into exit code 3 and on a stack that fits every legal nesting.
int guarded(const std::string& what, const std::function<int()>& body);

}  // namespace rcn
