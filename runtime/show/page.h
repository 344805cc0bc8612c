// `--html`: a run as one page that needs nothing else: modules, source, tensors and pictures of their values.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "compiler/base/source.h"
#include "runtime/eager_backend.h"

namespace rcn {

class Page {
 public:
  explicit Page(const SourceMap& sources);
  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  void add(const Produced& made, Lengths& lengths);
  // The program calls a tensor so, which may be one of the last that were made.
  void name(const Bound& bound);
  // Writes the page; `errors` of a run that failed stand above it. Throws ArrayFileError.
  void write(const std::string& path, const std::string& errors = {}) const;

 private:
  nlohmann::ordered_json place(Span span);
  nlohmann::ordered_json values(const Tensor& tensor, Lengths& lengths);

  struct State;
  const SourceMap& sources_;
  std::unique_ptr<State> state_;
};

}  // namespace rcn
