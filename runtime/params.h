// Parameters of a run: from a file, or their first values.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/eval/backend.h"
#include "runtime/npz.h"
#include "runtime/tensor.h"

namespace rcn {

struct LoadedParameter {
  Parameter parameter;
  Tensor tensor;
  at::Tensor next = {};  // its value for the next run, if the program assigned one
};

class Params {
 public:
  Params(std::uint64_t seed, bool with_grad) : seed_(seed), with_grad_(with_grad) {}

  // From now on values come from this file; reports what is wrong with it.
  bool open(const std::string& path, DiagnosticSink& sink);
  // The parameter's tensor. What the file lacks or has in another shape is noted and gets its first value.
  Tensor get(const Parameter& parameter);
  // Once all have been asked for: reports what is missing, left over or of another shape, all at once.
  bool check(DiagnosticSink& sink) const;
  // The value for the next run, of the parameter's shape; a later one counts.
  void assign(const Parameter& parameter, at::Tensor value);
  // As the next run is to find them.
  void save(const std::string& path) const;

  const std::vector<LoadedParameter>& all() const { return loaded_; }

 private:
  std::uint64_t seed_;
  bool with_grad_;
  std::string path_;
  std::unique_ptr<NpzFile> file_;
  std::vector<LoadedParameter> loaded_;
  std::vector<std::string> used_;  // names in the file
  struct Problem {
    std::string text;
    Span span;
  };
  std::vector<Problem> problems_;
};

}  // namespace rcn
