// The results of a run on stdout and in files.
#pragma once

#include <array>
#include <iosfwd>
#include <string>
#include <vector>

#include "compiler/base/source.h"
#include "runtime/eager_backend.h"
#include "runtime/objective.h"

namespace rcn {

// `*` any characters, `?` one; the whole name must fit.
bool glob_match(std::string_view pattern, std::string_view name);

// One line for each tensor as it is made: position, name, dims with sizes, dtype, min, mean, max and number of nans
// over valid frames.
class Trace {
 public:
  Trace(std::ostream& out, const SourceMap& sources) : out_(out), sources_(sources) {}
  void write(const Produced& produced, Lengths& lengths);

 private:
  std::ostream& out_;
  const SourceMap& sources_;
  std::array<std::size_t, 4> widths_{20, 28, 36, 7};
};

// A whole tensor after a line with its name and type.
void write_printed(std::ostream& out, const std::string& name, const Tensor& tensor, Lengths& lengths, bool padding);

void write_text_report(std::ostream& out, const std::vector<MarkedTensor>& marks, const Objective& objective,
                       const std::vector<LoadedParameter>& params, Lengths& lengths, bool with_grad);

struct PrintedTensor {
  std::string name;
  std::string json;  // from when it was made: the lengths of its dims may change in the next step of a loop
};
std::string json_tensor(const Tensor& tensor, Lengths& lengths, bool padding);
void write_json_report(std::ostream& out, const std::vector<MarkedTensor>& marks, const Objective& objective,
                       const std::vector<LoadedParameter>& params, const std::vector<PrintedTensor>& printed,
                       Lengths& lengths, bool with_grad, bool padding);

// `NAME` and `NAME/length/DIM` of outputs, losses and errors. Throws ArrayFileError.
void save_results(const std::string& path, const std::vector<MarkedTensor>& marks, Lengths& lengths);

}  // namespace rcn
