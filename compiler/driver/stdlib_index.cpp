#include "compiler/driver/stdlib_index.h"

#include <algorithm>

#include "compiler/eval/nn_names.h"
#include "compiler/syntax/ast_image.h"

namespace rcn {

namespace {

// Operations carry the rest of their module in the name: `init.glorot` belongs to `nn.init`.
std::string op_prefix(std::string_view module) { return module == "nn" ? "" : std::string(module.substr(3)) + "."; }

bool operations_in(std::string_view module) { return module == "nn" || module == "nn.init"; }

}  // namespace

std::vector<std::string> StdlibIndex::modules() const {
  std::vector<std::string> result = {"nn", "nn.init"};
  for (const ImageFile& file : stdlib_image())
    if (std::find(result.begin(), result.end(), file.module) == result.end()) result.emplace_back(file.module);
  return result;
}

bool StdlibIndex::has_module(std::string_view module) const {
  std::vector<std::string> all = modules();
  return std::find(all.begin(), all.end(), module) != all.end();
}

bool StdlibIndex::has_name(std::string_view module, std::string_view name) const {
  if (name.empty() || name[0] == '_') return false;
  if (operations_in(module)) {
    if (ops_.find(op_prefix(module) + std::string(name)) && name.find('.') == std::string_view::npos) return true;
    if (module == "nn")
      for (const EvaluatorName& own : kEvaluatorNames)
        if (own.name == name) return true;
  }
  for (const ImageFile& file : stdlib_image())
    if (file.module == module)
      for (const ImageEntry& entry : file.entries)
        if (entry.name == name) return true;
  return false;
}

std::vector<std::string> StdlibIndex::names(std::string_view module) const {
  std::vector<std::string> result;
  if (operations_in(module)) {
    std::string prefix = op_prefix(module);
    for (std::string_view op : ops_.names())
      if (op.substr(0, prefix.size()) == prefix && op.find('.', prefix.size()) == std::string_view::npos)
        result.emplace_back(op.substr(prefix.size()));
    if (module == "nn")
      for (const EvaluatorName& own : kEvaluatorNames) result.emplace_back(own.name);
  }
  for (const ImageFile& file : stdlib_image())
    if (file.module == module)
      for (const ImageEntry& entry : file.entries)
        if (!entry.name.empty() && entry.name[0] != '_') result.emplace_back(entry.name);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::optional<std::vector<std::string>> StdlibIndex::parameters(std::string_view module, std::string_view name) const {
  if (!operations_in(module)) return std::nullopt;
  // A declaration in .rcn hides an operation of its name; its parameters would have to be decoded, and evaluation
  // checks them anyway.
  for (const ImageFile& file : stdlib_image())
    if (file.module == module)
      for (const ImageEntry& entry : file.entries)
        if (entry.name == name) return std::nullopt;
  const OpInfo* op = ops_.find(op_prefix(module) + std::string(name));
  if (!op) return std::nullopt;
  std::vector<std::string> result;
  for (const OpParam& p : op->params) result.emplace_back(p.name);
  return result;
}

std::vector<std::string> StdlibIndex::flags() const {
  std::vector<std::string> result;
  Arena arena;
  for (const ImageFile& file : stdlib_image())
    for (const ImageEntry& entry : file.entries) {
      if (entry.kind != ast::StmtKind::module) continue;
      for (ast::Stmt* s : ast::as<ast::ModuleStmt>(*decode_statement(file, entry.offset, 0, arena)).body)
        if (s->kind == ast::StmtKind::flag) result.push_back(ast::as<ast::FlagStmt>(*s).name.str());
    }
  return result;
}

}  // namespace rcn
