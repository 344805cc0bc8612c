// Data that is made up, to try a model that takes speech: sounds like speech, and the labels of the sounds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/data/given.h"

namespace rcn {

inline constexpr std::string_view kExample = "example:";

// `audio` or `transcripts`: a sequence for each of `request.examples`. Both depend on the seed in the same way, so they
// belong together. Throws ArrayFileError.
std::vector<at::Tensor> example_data(const DataRequest& request, const std::string& name);

}  // namespace rcn
