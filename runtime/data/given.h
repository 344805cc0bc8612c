// What the user gives for one extern, before it is compared with others.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/eval/backend.h"
#include "runtime/tensor.h"

namespace rcn {

struct GivenArray {
  at::Tensor value;                        // padded, axes in the declared order
  std::unordered_map<Dim, Named> lengths;  // where they were said; otherwise every sequence is full
  bool literal = false;                    // numbers in a literal take the extern's dtype
};

// The extern that data is read for, and what a run says of all data.
struct DataRequest {
  const ExternInput& input;
  Dim batch;
  std::vector<Dim> dynamic;                               // its dynamic dims, each once
  std::unordered_map<Dim, std::vector<Dim>> length_dims;  // what their lengths depend on
  std::int64_t examples;                                  // sequences in examples that are made up
  std::uint64_t seed;
  std::optional<std::int64_t> sample_rate;  // that audio has to have
};

class HdfDataset;
struct HdfSource;

// By what was written behind `NAME=`: a literal, an example, or a file. Throws ArrayFileError.
GivenArray read_data(const DataRequest& request, const std::string& text);

// The sequences of `source.key` in an open dataset. Throws ArrayFileError.
GivenArray read_dataset(const DataRequest& request, const HdfDataset& dataset, const HdfSource& source);

// Nested lists of numbers or bools as an array of `dims`, ragged along dynamic dims; lengths are taken from the lists.
// Throws ArrayFileError.
GivenArray parse_literal(const std::string& text, const std::vector<Dim>& dims,
                         const std::unordered_map<Dim, std::vector<Dim>>& length_dims);

// A batch of sequences of their own lengths. The axes of a sequence are the extern's dims without the batch, dynamic
// ones first; static dims of size 1 at the end may be absent. Throws ArrayFileError.
GivenArray batch_of(const DataRequest& request, const std::vector<at::Tensor>& sequences);

}  // namespace rcn
