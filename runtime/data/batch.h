// The data of a run, for further runs: as it is, with other padding, or one of its sequences alone.
//
// Each run has dims of its own; what they are declared as, and so their numbers, are the same in all of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/eval/backend.h"
#include "runtime/lengths.h"

namespace rcn {

struct Batch {
  struct DimLength {
    at::Tensor value;
    std::vector<std::uint32_t> over;  // numbers of the dims of its axes
  };
  std::int64_t size = 0;
  std::map<std::uint32_t, DimLength> lengths;  // of the atoms that the inputs bring along, by their number
  std::map<std::string, at::Tensor> values;    // by the extern's name, in its order of dims
  std::optional<double> poison;                // in the padding of floats; ints and bools get another legal value
  std::optional<std::int64_t> only;            // this sequence alone
};

// Gives the dims of `externs` the lengths that the batch says.
void set_lengths(const Batch& batch, const std::vector<ExternInput>& externs, Lengths& lengths);
// The extern's values, once all lengths are set.
at::Tensor batch_values(const Batch& batch, const ExternInput& input, Lengths& lengths);

}  // namespace rcn
