#include "compiler/sema/modules.h"

#include <algorithm>

namespace rcn {

using namespace ast;

bool is_private_name(Symbol name) { return name.str().size() > 1 && name.str()[0] == '_'; }

ModuleRef ModuleLookup::source_of(const Declared& d) const {
  ModuleRef m;
  if (d.import->file != ResolvedImport::kNone)
    m.file = &files_[d.import->file];
  else if (!d.import->stdlib_module.empty())
    m.stdlib = d.import->stdlib_module;
  else
    m.unknown = true;
  return m;
}

std::optional<ModuleRef> ModuleLookup::imported_module(const Declared& d) const {
  if (d.kind == NameKind::import) return source_of(d);
  if (d.kind != NameKind::imported) return {};
  return sub_module(source_of(d), d.original);
}

std::optional<ModuleRef> ModuleLookup::sub_module(const ModuleRef& m, Symbol name) const {
  if (m.stdlib.empty()) return {};
  ModuleRef inner;
  inner.stdlib = m.stdlib + "." + name.str();
  if (!stdlib_.has_module(inner.stdlib)) return {};
  return inner;
}

std::optional<KnownCallee> ModuleLookup::own_callee(Symbol name, const Declared& d) {
  if (d.kind == NameKind::fn) return KnownCallee{name.str(), d.span, as<FnStmt>(*d.statement).params, {}};
  if (d.kind == NameKind::module) return KnownCallee{name.str(), d.span, as<ModuleStmt>(*d.statement).params, {}};
  return {};
}

std::optional<KnownCallee> ModuleLookup::callee(const ModuleRef& m, Symbol name) const {
  if (m.file != nullptr) {
    const Declared* d = m.file->declared.find(name);
    return d == nullptr ? std::nullopt : own_callee(name, *d);
  }
  if (m.stdlib.empty()) return {};
  std::optional<std::vector<std::string>> parameters = stdlib_.parameters(m.stdlib, name.str());
  if (!parameters) return {};
  return KnownCallee{m.stdlib + "." + name.str(), Span(), {}, std::move(parameters)};
}

std::optional<KnownCallee> ModuleLookup::imported_callee(const Declared& d) const {
  if (d.kind != NameKind::imported) return {};
  return callee(source_of(d), d.original);
}

bool ModuleLookup::has_name(const ModuleRef& m, Symbol name) const {
  if (m.unknown) return true;
  if (m.file == nullptr) return stdlib_.has_name(m.stdlib, name.str()) || sub_module(m, name);
  if (m.file->open) return true;
  const Declared* d = m.file->declared.find(name);
  return d != nullptr && d->kind != NameKind::import && d->kind != NameKind::imported;
}

std::vector<std::string> ModuleLookup::names(const ModuleRef& m) const {
  if (m.unknown) return {};
  if (m.file == nullptr) return stdlib_.names(m.stdlib);
  std::vector<std::string> result;
  for (auto& [name, d] : m.file->declared.items())
    if (d.kind != NameKind::import && d.kind != NameKind::imported && !is_private_name(name))
      result.push_back(name.str());
  return result;
}

std::vector<std::string> ModuleLookup::flags() const {
  std::vector<std::string> result{"train", "search"};
  auto add = [&](const FileNames& file, ast::Stmt* module) {
    auto names = file.modules.find(module);
    if (names == file.modules.end()) return;
    for (auto& [name, d] : names->second->members.items())
      if (d.kind == NameKind::flag && std::find(result.begin(), result.end(), name.str()) == result.end()) result.push_back(name.str());
  };
  for (const FileNames& file : files_) {
    add(file, file.network);
    for (auto& [name, d] : file.declared.items())
      if (d.kind == NameKind::module) add(file, d.statement);
  }
  for (std::string& name : stdlib_.flags())
    if (std::find(result.begin(), result.end(), name) == result.end()) result.push_back(std::move(name));
  return result;
}

std::string ModuleLookup::shown(const ModuleRef& m) const { return m.file != nullptr ? m.file->file->path : m.stdlib; }

}  // namespace rcn
