// What sema may know of the standard library: operations are in a C++ table, the rest in .rcn; sema sees names only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rcn {

class StdlibNames {
 public:
  virtual ~StdlibNames() = default;
  virtual bool has_module(std::string_view module) const = 0;  // `nn`, `nn.init`
  virtual std::vector<std::string> modules() const = 0;
  // Public names of a module: operations, functions, classes, constants. Sub-modules (`init` of `nn`) may be left out.
  virtual bool has_name(std::string_view module, std::string_view name) const = 0;
  virtual std::vector<std::string> names(std::string_view module) const = 0;
  // The parameters of a function, operation or class that a call may name; nothing where they are not known.
  virtual std::optional<std::vector<std::string>> parameters(std::string_view module, std::string_view name) const = 0;
  virtual std::vector<std::string> flags() const = 0;  // mode flags that its classes declare
};

}  // namespace rcn
