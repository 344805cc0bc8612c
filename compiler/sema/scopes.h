// Where a bare name is looked up: local, member, declaration of the file, builtin.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/sema/builtins.h"
#include "compiler/sema/names.h"

namespace rcn {

enum class Scoped : std::uint8_t { function, lambda, comprehension };

struct Found {
  enum class Where : std::uint8_t { nowhere, local, member, file, builtin };
  Where where = Where::nowhere;
  const Declared* declared = nullptr;
};

class Scopes {
 public:
  explicit Scopes(const FileNames& file) : file_(file) {}

  const ModuleNames* module = nullptr;  // whose body or function this is

  void push(NameTable names, Scoped kind) { scopes_.push_back({std::move(names), kind}); }
  void pop() { scopes_.pop_back(); }
  NameTable& innermost() { return scopes_.back().names; }

  Found find(Symbol name) const {
    for (auto it = scopes_.rbegin(); it != scopes_.rend(); ++it)
      if (const Declared* d = it->names.find(name)) return {Found::Where::local, d};
    if (module != nullptr)
      if (const Declared* d = module->members.find(name)) return {Found::Where::member, d};
    if (const Declared* d = file_.declared.find(name)) return {Found::Where::file, d};
    if (is_builtin(name.str())) return {Found::Where::builtin, nullptr};
    return {};
  }

  // In a function or lambda, so not while the body of a module or file is run.
  bool runs_later() const {
    return std::any_of(scopes_.begin(), scopes_.end(), [](const Scope& s) { return s.kind != Scoped::comprehension; });
  }

  // All names that could have been meant.
  std::vector<std::string> visible() const {
    std::vector<std::string> result;
    auto add = [&](const NameTable& table) {
      for (auto& [name, d] : table.items()) result.push_back(name.str());
    };
    for (const Scope& s : scopes_) add(s.names);
    if (module != nullptr) add(module->members);
    add(file_.declared);
    for (auto list : {builtin_functions(), dtype_names(), type_names()})
      result.insert(result.end(), list.begin(), list.end());
    return result;
  }

 private:
  struct Scope {
    NameTable names;
    Scoped kind;
  };
  const FileNames& file_;
  std::vector<Scope> scopes_;
};

}  // namespace rcn
