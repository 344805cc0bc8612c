// What a file, a module and a function declare.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/base/symbol.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/sema/loader.h"
#include "compiler/syntax/ast.h"

namespace rcn {

struct FileNames;

enum class NameKind : std::uint8_t {
  import,
  imported,
  option,
  extern_,
  dim,
  constant,
  fn,
  module,
  param,
  flag,
  parameter
};

struct Declared {
  NameKind kind;
  Span span;                               // of the name
  ast::Stmt* statement = nullptr;          // null: a parameter
  const ResolvedImport* import = nullptr;  // of `import` and `imported`
  Symbol original;                         // the name that `from ... import` gives another
  bool only_loop_variable = false;         // the target of a `for` and nothing else
};

// Names in the order of their first declaration.
class NameTable {
 public:
  const Declared* find(Symbol name) const {
    auto it = index_.find(name);
    return it == index_.end() ? nullptr : &items_[it->second].second;
  }
  Declared* find(Symbol name) {
    auto it = index_.find(name);
    return it == index_.end() ? nullptr : &items_[it->second].second;
  }
  // False if there is one already, which stays.
  bool add(Symbol name, const Declared& declared) {
    if (!index_.try_emplace(name, items_.size()).second) return false;
    items_.emplace_back(name, declared);
    return true;
  }
  const std::vector<std::pair<Symbol, Declared>>& items() const { return items_; }

 private:
  std::vector<std::pair<Symbol, Declared>> items_;
  std::unordered_map<Symbol, std::size_t> index_;
};

struct ModuleNames {
  ast::Stmt* statement = nullptr;  // ModuleStmt or NetworkStmt
  NameTable members;
  bool is_network() const { return statement->kind == ast::StmtKind::network; }
};

struct FileNames {
  const LoadedFile* file = nullptr;
  NameTable declared;
  std::unordered_map<ast::Stmt*, std::unique_ptr<ModuleNames>> modules;  // looked up only
  std::unordered_set<Symbol> private_names;  // `_x` of members and record fields, anywhere in the file
  ast::Stmt* network = nullptr;
  bool open = false;  // has a syntax error: more may be declared than is known
};

// Collects the names of a file and of its modules. Reports those declared twice, with both places.
FileNames collect_names(const LoadedFile& file, DiagnosticSink& diagnostics);

// All names that the statements of a function assign, at any depth (not in lambdas and comprehensions), with the place
// of the first.
NameTable assigned_names(ast::Block body);
void add_target_names(const ast::Target& target, NameTable& names, ast::Stmt* statement, bool loop_variable);

}  // namespace rcn
