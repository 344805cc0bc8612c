// Parameters of a run: from a file, or their first values.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/eval/backend.h"
#include "runtime/data/array_file.h"
#include "runtime/tensor.h"

namespace rcn {

struct LoadedParameter {
  Parameter parameter;
  Tensor tensor;
  std::string name_in_file;  // empty: not from a file
  at::Tensor next = {};  // its value for the next run, if the program assigned one
};

struct ParamsFile {
  std::string path;
  std::string rename_map = {};  // a file; empty: names are those of the model
  bool partial = false;         // what is missing keeps its first value
};

class Params {
 public:
  // With `quiet` nothing is said but errors.
  Params(std::uint64_t seed, bool with_grad, bool quiet = false) : seed_(seed), with_grad_(with_grad), quiet_(quiet) {}

  // From now on values come from this file; reports what is wrong with it, and what of it is ignored.
  bool open(const ParamsFile& from, DiagnosticSink& sink);
  // These values come before those of a file.
  void give(std::map<std::string, at::Tensor> values) { given_ = std::move(values); }
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
  struct Problem {
    std::string text;
    Span span;
    std::string missing = {};  // the path of a parameter that the file lacks
  };
  void rename();
  at::Tensor stored(const Parameter& parameter, std::string& in_file);
  std::vector<std::string> left_over() const;

  std::uint64_t seed_;
  bool with_grad_, quiet_;
  ParamsFile from_;
  std::unique_ptr<ArrayFile> file_;
  std::map<std::string, std::string> names_;  // in the file, by what they are called here
  std::map<std::string, at::Tensor> given_;  // by path
  std::vector<LoadedParameter> loaded_;
  std::vector<std::string> used_;  // keys of `names_`
  std::vector<Problem> problems_;
};

}  // namespace rcn
