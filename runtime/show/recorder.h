// `--record DIR`: what a run computed with and what it made, for `rcnc verify` to compare.
#pragma once

#include <string>
#include <vector>

#include "compiler/eval/numbering.h"
#include "runtime/data/params.h"
#include "runtime/show/report.h"

namespace rcn {

// Inputs, parameters and the numbered tensors; of those of a search only what is decided.
class Recorder final : public NumberingBackend {
 public:
  Recorder(Backend& inner, Lengths& lengths)
      : NumberingBackend(inner, [this](const NumberedTensor& made) { add(made); }), lengths_(lengths) {}

  Tensor input(const ExternInput& input) override;

  // DIR/record.json and the values in DIR/record.npz. Throws ArrayFileError.
  void write(const std::string& folder, const std::vector<LoadedParameter>& params) const;

 private:
  void add(const NumberedTensor& made);
  std::string described(const std::string& key, const Tensor& tensor);

  Lengths& lengths_;
  NamedArrays arrays_;
  std::vector<std::string> inputs_, operations_;  // JSON
};

}  // namespace rcn
