// What the semantic pass may know of the standard library: the operations of the table, the .rcn declarations, and the
// names that the evaluator itself provides.
#pragma once

#include "compiler/eval/op.h"
#include "compiler/sema/stdlib_names.h"

namespace rcn {

class StdlibIndex final : public StdlibNames {
 public:
  explicit StdlibIndex(const OpLibrary& ops) : ops_(ops) {}
  bool has_module(std::string_view module) const override;
  std::vector<std::string> modules() const override;
  bool has_name(std::string_view module, std::string_view name) const override;
  std::vector<std::string> names(std::string_view module) const override;
  std::optional<std::vector<std::string>> parameters(std::string_view module, std::string_view name) const override;

  std::vector<std::string> flags() const override;

 private:
  const OpLibrary& ops_;
};

}  // namespace rcn
