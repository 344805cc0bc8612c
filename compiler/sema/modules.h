// What stands left of a point where that is an imported file or a module of the standard library.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/sema/names.h"
#include "compiler/sema/stdlib_names.h"

namespace rcn {

struct ModuleRef {
  const FileNames* file = nullptr;  // else a module of the standard library
  std::string stdlib;
  bool unknown = false;  // the import was not found: nothing is known, and that was reported
};

// A callee whose parameters are known.
struct KnownCallee {
  std::string name;
  Span declared;                                  // invalid for the standard library
  std::span<ast::Param> params;                   // of our own declarations
  std::optional<std::vector<std::string>> names;  // of the standard library: only the names are known
};

// Looks through imports.
class ModuleLookup {
 public:
  ModuleLookup(const std::vector<FileNames>& files, const StdlibNames& stdlib) : files_(files), stdlib_(stdlib) {}

  std::optional<ModuleRef> imported_module(const Declared& d) const;  // of `import m`, `from nn import init`
  std::optional<ModuleRef> sub_module(const ModuleRef& m, Symbol name) const;
  std::optional<KnownCallee> callee(const ModuleRef& m, Symbol name) const;
  std::optional<KnownCallee> imported_callee(const Declared& d) const;  // of `from m import f`
  ModuleRef source_of(const Declared& d) const;                         // where an import takes from

  bool has_name(const ModuleRef& m, Symbol name) const;
  std::vector<std::string> names(const ModuleRef& m) const;  // public ones
  std::vector<std::string> flags() const;  // `train`, `search`, and those that any module declares
  std::string shown(const ModuleRef& m) const;
  const StdlibNames& stdlib() const { return stdlib_; }

  static std::optional<KnownCallee> own_callee(Symbol name, const Declared& d);

 private:
  const std::vector<FileNames>& files_;
  const StdlibNames& stdlib_;
};

bool is_private_name(Symbol name);  // `_x`; `_` alone is no name

}  // namespace rcn
