// The results of a run on stdout and in files.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "runtime/check/objective.h"
#include "runtime/eager_backend.h"

namespace rcn {

// A tensor after a line with its name and type. A large one gets statistics, and only the ends of its lists are shown,
// unless it is to be shown in full.
void write_printed(std::ostream& out, const std::string& name, const Tensor& tensor, Lengths& lengths, bool padding,
                   bool full);

void write_text_report(std::ostream& out, const std::vector<MarkedTensor>& marks, const Objective& objective,
                       const std::vector<LoadedParameter>& params, Lengths& lengths, const SourceMap& sources, bool with_grad);

struct PrintedTensor {
  std::string name;
  std::string json;  // from when it was made: the lengths of its dims may change in the next step of a loop
};
std::string json_tensor(const Tensor& tensor, Lengths& lengths, bool padding);
std::string json_description(const Tensor& tensor, Lengths& lengths);  // without values
void write_json_report(std::ostream& out, const std::vector<MarkedTensor>& marks, const Objective& objective,
                       const std::vector<LoadedParameter>& params, const std::vector<PrintedTensor>& printed,
                       Lengths& lengths, bool with_grad, bool padding);

// `NAME` and `NAME/length/DIM` of a tensor, from when it was made.
struct SavedTensor {
  std::string name;
  NamedArrays arrays;  // by what follows the name
};
SavedTensor saved_tensor(const std::string& name, const Tensor& tensor, Lengths& lengths);
// Outputs, losses and errors, and further tensors. Throws ArrayFileError.
void save_results(const std::string& path, const std::vector<MarkedTensor>& marks,
                  const std::vector<SavedTensor>& others, Lengths& lengths);

}  // namespace rcn
