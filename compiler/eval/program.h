// What a program consists of while it is evaluated: files, functions, module classes and instances.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/eval/backend.h"
#include "compiler/eval/flags.h"
#include "compiler/eval/value.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/ast_image.h"

namespace rcn {

enum class Builtin : std::uint8_t;
struct Unit;

// `nn`, `common`: what `import` binds.
struct Namespace {
  std::string name;        // as it is imported: `nn`, `nn.init`, `blocks/common.rcn`
  Unit* unit = nullptr;
  std::string op_prefix;   // where operations of the table belong to it: "" for nn, "init." for nn.init
  bool has_ops = false;
};

// One file of the program, or one module of the standard library (several files).
struct Unit {
  std::string name;
  bool stdlib = false;
  bool main = false;                                      // options take -D; externs and the network count
  FileId file = 0;
  ast::File ast;                                          // user files
  const ast::NetworkStmt* network = nullptr;
  std::unordered_map<Symbol, Value> values;               // evaluated declarations
  std::unordered_map<Symbol, const ast::Stmt*> functions;  // fn and module: may be used before they stand
  std::unordered_map<Symbol, const ast::ExternStmt*> externs;
  std::unordered_map<Symbol, Span> declared;              // for notes
  std::unordered_map<std::string, Unit*> paths;           // imports: what a source text stands for

  // standard library: declarations not yet decoded, by name
  struct Pending { const ImageFile* image; const ImageEntry* entry; };
  std::unordered_map<Symbol, Pending> pending;
  Namespace space;
};

enum class FunctionKind : std::uint8_t { declared, lambda, op, builtin, named_builtin };

struct Function {
  FunctionKind kind = FunctionKind::declared;
  Unit* unit = nullptr;
  const ast::FnStmt* decl = nullptr;       // declared
  const ast::LambdaExpr* lambda = nullptr;
  Instance* self = nullptr;                // whose members it sees
  std::vector<std::pair<Symbol, Value>> captured;  // lambda: the values of its outer names
  const OpInfo* op = nullptr;
  Builtin builtin{};                       // `len`, or of nn: `make_layer`
  std::string builtin_name;

  std::string display_name() const;
};

struct ModuleClass {
  Symbol name;
  Unit* unit = nullptr;
  const ast::ModuleStmt* decl = nullptr;    // null for the network and for Sequential
  const ast::NetworkStmt* network = nullptr;
  bool sequential = false;
  std::unordered_map<Symbol, const ast::FnStmt*> functions;
  std::span<ast::Param> params() const { return decl ? decl->params : std::span<ast::Param>{}; }
  ast::Block body() const { return decl ? decl->body : network ? network->body : ast::Block{}; }
};

// A parameter of an instance, with what is decided after its declaration.
struct ParamState {
  Parameter info;
  Instance* owner = nullptr;
  struct Transform { Value function; Span span; };
  std::vector<Transform> transforms;
  Span place;    // in the user's files, once used
  Tensor raw;    // once used
  Tensor shown;  // after the transforms
};

enum class MemberKind : std::uint8_t { argument, assigned, function, parameter, flag };

struct Member {
  Symbol name;
  MemberKind kind;
  Value value;
  bool weak = false;            // `body = inner`: yields the name of what it holds to any other holder
  ParamState* param = nullptr;
  Span span;
};

struct Instance {
  const ModuleClass* cls = nullptr;
  std::vector<Member> members;  // in the order of their first assignment
  std::unordered_map<Symbol, std::size_t> index;
  std::string path;             // `encoder/layers/0`; empty for the network
  bool named = false;           // has an owner
  bool network = false;
  Span made;                    // the call that made it

  // What `params(...)` in the body asked for; applied at the end of the body.
  struct Directive {
    std::string pattern;
    std::vector<std::pair<Symbol, Value>> options;
    std::vector<Span> option_spans;
    Span span;
  };
  std::vector<Directive> directives;

  // Once the network has its names; empty for an instance that is not in it.
  std::vector<FlagState> flags;
  std::vector<FlagLock> locks;

  const Member* find(Symbol name) const;
  void set(Member member);
  FlagState* flag(Symbol name);
  const FlagLock* lock(Symbol flag) const;
};

}  // namespace rcn
