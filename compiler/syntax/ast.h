// The syntax tree: one struct per kind of node, owned by an Arena, immutable once built.
//
// Every struct lists its fields once, in each_field(); the encoder and the decoder of the embedded standard library
// (ast_image.h) and the walkers are written over that list. Long operator chains are flat, so that no input makes a
// walk recurse deeper than its nesting.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/base/source.h"
#include "compiler/base/symbol.h"

namespace rcn::ast {

// ---- expressions ---------------------------------------------------------------------------------------------------

enum class ExprKind : std::uint8_t {
  error, name, int_literal, float_literal, string_literal, bool_literal, none_literal,
  tuple, list, record, comprehension, lambda, conditional, logical, not_, compare, binary, negate,
  call, index, slice, member,
};

struct Expr {
  ExprKind kind;
  Span span;
};

// What could not be parsed; a diagnostic was reported.
struct ErrorExpr : Expr {
  template <class F> void each_field(F&&) {}
};
struct NameExpr : Expr {
  Symbol name;
  template <class F> void each_field(F&& f) { f(name); }
};
struct IntExpr : Expr {
  std::int64_t value;
  template <class F> void each_field(F&& f) { f(value); }
};
struct FloatExpr : Expr {
  double value;
  template <class F> void each_field(F&& f) { f(value); }
};
struct StringExpr : Expr {
  std::string_view value;  // escapes resolved
  template <class F> void each_field(F&& f) { f(value); }
};
struct BoolExpr : Expr {
  bool value;
  template <class F> void each_field(F&& f) { f(value); }
};
struct NoneExpr : Expr {
  template <class F> void each_field(F&&) {}
};
struct TupleExpr : Expr {  // (a, b) or a, b
  std::span<Expr*> items;
  template <class F> void each_field(F&& f) { f(items); }
};
struct ListExpr : Expr {
  std::span<Expr*> items;
  template <class F> void each_field(F&& f) { f(items); }
};
struct RecordField {
  Symbol name;
  Span span;
  Expr* value;
  template <class F> void each_field(F&& f) { f(name); f(span); f(value); }
};
struct RecordExpr : Expr {
  std::span<RecordField> fields;
  template <class F> void each_field(F&& f) { f(fields); }
};

struct Target;
struct ComprehensionExpr : Expr {  // [item for targets in source if condition]
  Expr* item;
  Target* target;
  Expr* source;
  Expr* condition;  // may be null
  template <class F> void each_field(F&& f) { f(item); f(target); f(source); f(condition); }
};
struct Param;
struct LambdaExpr : Expr {  // fn(params) => body
  std::span<Param> params;
  Expr* body;
  template <class F> void each_field(F&& f) { f(params); f(body); }
};
struct ConditionalExpr : Expr {  // then if condition else otherwise
  Expr* condition;
  Expr* then;
  Expr* otherwise;
  template <class F> void each_field(F&& f) { f(condition); f(then); f(otherwise); }
};
enum class LogicalOp : std::uint8_t { and_, or_ };
struct LogicalExpr : Expr {
  LogicalOp op;
  std::span<Expr*> operands;  // two or more
  template <class F> void each_field(F&& f) { f(op); f(operands); }
};
struct NotExpr : Expr {
  Expr* operand;
  template <class F> void each_field(F&& f) { f(operand); }
};
enum class CompareOp : std::uint8_t { eq, ne, lt, le, gt, ge, in, not_in };
struct CompareLink {
  CompareOp op;
  Span op_span;
  Expr* operand;
  template <class F> void each_field(F&& f) { f(op); f(op_span); f(operand); }
};
struct CompareExpr : Expr {  // first op operand op operand ... (chains as in Python)
  Expr* first;
  std::span<CompareLink> rest;  // one or more
  template <class F> void each_field(F&& f) { f(first); f(rest); }
};
enum class BinaryOp : std::uint8_t { add, sub, mul, div, floordiv, mod, pow };
struct BinaryLink {
  BinaryOp op;
  Span op_span;
  Expr* operand;
  template <class F> void each_field(F&& f) { f(op); f(op_span); f(operand); }
};
struct BinaryExpr : Expr {  // ((first op operand) op operand) ...; `pow` has one link
  Expr* first;
  std::span<BinaryLink> rest;  // one or more
  template <class F> void each_field(F&& f) { f(first); f(rest); }
};
struct NegateExpr : Expr {
  Expr* operand;
  template <class F> void each_field(F&& f) { f(operand); }
};
struct Arg {
  Symbol name;  // empty: positional
  Span name_span;
  Expr* value;
  template <class F> void each_field(F&& f) { f(name); f(name_span); f(value); }
};
struct CallExpr : Expr {
  Expr* callee;
  std::span<Arg> args;
  template <class F> void each_field(F&& f) { f(callee); f(args); }
};
struct IndexExpr : Expr {
  Expr* object;
  Expr* index;
  template <class F> void each_field(F&& f) { f(object); f(index); }
};
struct SliceExpr : Expr {
  Expr* object;
  Expr* start;  // each may be null
  Expr* stop;
  Expr* step;
  template <class F> void each_field(F&& f) { f(object); f(start); f(stop); f(step); }
};
struct MemberExpr : Expr {
  Expr* object;
  Symbol name;
  Span name_span;
  template <class F> void each_field(F&& f) { f(object); f(name); f(name_span); }
};

// ---- types, targets, parameters ------------------------------------------------------------------------------------

struct TypeExpr {
  Span span;
  bool optional;           // T?
  bool tensor;             // has [...]
  std::span<Symbol> path;  // `float32`, `nn.Linear`; `index`; empty for a bare [...]
  Expr* index_dim;         // index(dim)[...], else null
  bool any_dims;           // has `...`
  std::span<Expr*> dims;   // without `...`
  template <class F> void each_field(F&& f) { f(span); f(optional); f(tensor); f(path); f(index_dim); f(any_dims); f(dims); }
};

// What stands left of `=`, after `for`, in `with`.
struct Target {
  Span span;
  Symbol name;             // `_` drops the value; empty: a nested list of targets
  std::span<Target> items;
  Expr* flag_owner;        // `m` of `m.flag = e` in a mode block, else null; name is the flag
  template <class F> void each_field(F&& f) { f(span); f(name); f(items); f(flag_owner); }
};

struct Param {
  Symbol name;
  Span span;
  TypeExpr* type;          // may be null
  Expr* default_value;     // may be null
  bool keyword_only;       // stands after `*`
  std::string_view doc;
  template <class F> void each_field(F&& f) { f(name); f(span); f(type); f(default_value); f(keyword_only); f(doc); }
};

// ---- statements ----------------------------------------------------------------------------------------------------

enum class StmtKind : std::uint8_t {
  error, import, from_import, option, extern_, dim, param, flag, fn, module, network, mode, mark, stack,
  if_, for_, loop, masked, return_, assert_, assign, update, expr,
};

struct Stmt {
  StmtKind kind;
  Span span;
};
using Block = std::span<Stmt*>;

struct ErrorStmt : Stmt {
  template <class F> void each_field(F&&) {}
};
struct Source {  // what stands after `import` or `from`
  Span span;
  std::string_view text;  // `nn`, `nn.init` or the string of a path
  bool is_path;           // was a string
  template <class F> void each_field(F&& f) { f(span); f(text); f(is_path); }
};
struct ImportStmt : Stmt {
  Source source;
  Symbol alias;  // empty: the source's own name
  Span alias_span;
  template <class F> void each_field(F&& f) { f(source); f(alias); f(alias_span); }
};
struct ImportedName {
  Symbol name;
  Span span;
  Symbol alias;  // equal to name where none was given
  template <class F> void each_field(F&& f) { f(name); f(span); f(alias); }
};
struct FromImportStmt : Stmt {
  Source source;
  std::span<ImportedName> names;
  template <class F> void each_field(F&& f) { f(source); f(names); }
};
struct OptionStmt : Stmt {
  Symbol name;
  Span name_span;
  TypeExpr* type;
  Expr* value;
  std::string_view doc;
  template <class F> void each_field(F&& f) { f(name); f(name_span); f(type); f(value); f(doc); }
};
struct ExternStmt : Stmt {
  Symbol name;
  Span name_span;
  std::span<Arg> options;
  TypeExpr* type;
  std::string_view doc;
  template <class F> void each_field(F&& f) { f(name); f(name_span); f(options); f(type); f(doc); }
};
struct DimStmt : Stmt {
  Symbol name;
  Span name_span;
  Symbol dim_kind;  // `spatial`, `feature`
  Span kind_span;
  Expr* size;       // null: dynamic
  std::string_view doc;
  template <class F> void each_field(F&& f) { f(name); f(name_span); f(dim_kind); f(kind_span); f(size); f(doc); }
};
struct ParamStmt : Stmt {
  Symbol name;
  Span name_span;
  std::span<Arg> options;
  TypeExpr* type;
  Expr* initial;
  std::string_view doc;
  template <class F> void each_field(F&& f) { f(name); f(name_span); f(options); f(type); f(initial); f(doc); }
};
struct FlagStmt : Stmt {
  Symbol name;
  Span name_span;
  Expr* value;
  std::string_view doc;
  template <class F> void each_field(F&& f) { f(name); f(name_span); f(value); f(doc); }
};
struct FnStmt : Stmt {
  Symbol name;
  Span name_span;
  std::span<Param> params;
  std::span<TypeExpr*> results;  // empty: not declared
  Block body;
  std::string_view doc;
  template <class F> void each_field(F&& f) { f(name); f(name_span); f(params); f(results); f(body); f(doc); }
};
struct ModuleStmt : Stmt {
  Symbol name;
  Span name_span;
  std::span<Param> params;
  Block body;
  std::string_view doc;
  template <class F> void each_field(F&& f) { f(name); f(name_span); f(params); f(body); f(doc); }
};
struct NetworkStmt : Stmt {
  Block body;
  std::string_view doc;
  template <class F> void each_field(F&& f) { f(body); f(doc); }
};
struct ModeStmt : Stmt {
  Symbol name;
  Span name_span;
  Block body;
  template <class F> void each_field(F&& f) { f(name); f(name_span); f(body); }
};
enum class MarkKind : std::uint8_t { loss, error, output };
struct MarkStmt : Stmt {
  MarkKind mark;
  Symbol name;
  Span name_span;
  Expr* index;  // `loss ctc[i]`, else null
  std::span<Arg> options;
  Expr* value;  // null: the variable of that name
  template <class F> void each_field(F&& f) { f(mark); f(name); f(name_span); f(index); f(options); f(value); }
};
struct StackStmt : Stmt {
  Symbol name;
  Span name_span;
  Expr* value;
  template <class F> void each_field(F&& f) { f(name); f(name_span); f(value); }
};
struct IfBranch {
  Expr* condition;
  Block body;
  template <class F> void each_field(F&& f) { f(condition); f(body); }
};
struct IfStmt : Stmt {
  std::span<IfBranch> branches;  // if, elif, ...
  bool has_else;
  Block otherwise;
  template <class F> void each_field(F&& f) { f(branches); f(has_else); f(otherwise); }
};
struct ForStmt : Stmt {
  Target* target;
  Expr* source;
  Block body;
  template <class F> void each_field(F&& f) { f(target); f(source); f(body); }
};
struct LoopState {
  Symbol name;
  Span name_span;
  TypeExpr* type;  // may be null
  Expr* initial;
  template <class F> void each_field(F&& f) { f(name); f(name_span); f(type); f(initial); }
};
struct LoopStmt : Stmt {
  Symbol index;
  Span index_span;
  Expr* over;
  Expr* max;  // may be null
  std::span<LoopState> state;
  Block body;
  template <class F> void each_field(F&& f) { f(index); f(index_span); f(over); f(max); f(state); f(body); }
};
struct MaskedStmt : Stmt {
  Expr* mask;
  Block body;
  template <class F> void each_field(F&& f) { f(mask); f(body); }
};
struct ReturnStmt : Stmt {
  Expr* value;  // null: none; several values are a TupleExpr
  template <class F> void each_field(F&& f) { f(value); }
};
struct AssertStmt : Stmt {
  Expr* condition;
  Expr* message;  // may be null
  template <class F> void each_field(F&& f) { f(condition); f(message); }
};
struct AssignStmt : Stmt {
  Target* target;  // several targets: one nested Target
  TypeExpr* type;  // may be null
  Expr* value;
  std::string_view doc;
  template <class F> void each_field(F&& f) { f(target); f(type); f(value); f(doc); }
};
struct UpdateStmt : Stmt {  // x += e
  Symbol name;
  Span name_span;
  BinaryOp op;
  Expr* value;
  template <class F> void each_field(F&& f) { f(name); f(name_span); f(op); f(value); }
};
struct ExprStmt : Stmt {  // a call
  Expr* value;
  template <class F> void each_field(F&& f) { f(value); }
};

struct File {
  FileId file = 0;
  Block body;
  std::string_view doc;  // the `##` lines at the top
  bool blocks_unsure = false;  // an error was reported after which it is a guess what stands in which block
};

// ---- dispatch ------------------------------------------------------------------------------------------------------

// Calls f(NodeOfItsKind&).
template <class F>
decltype(auto) visit(Expr& e, F&& f) {
  switch (e.kind) {
    case ExprKind::error: return f(static_cast<ErrorExpr&>(e));
    case ExprKind::name: return f(static_cast<NameExpr&>(e));
    case ExprKind::int_literal: return f(static_cast<IntExpr&>(e));
    case ExprKind::float_literal: return f(static_cast<FloatExpr&>(e));
    case ExprKind::string_literal: return f(static_cast<StringExpr&>(e));
    case ExprKind::bool_literal: return f(static_cast<BoolExpr&>(e));
    case ExprKind::none_literal: return f(static_cast<NoneExpr&>(e));
    case ExprKind::tuple: return f(static_cast<TupleExpr&>(e));
    case ExprKind::list: return f(static_cast<ListExpr&>(e));
    case ExprKind::record: return f(static_cast<RecordExpr&>(e));
    case ExprKind::comprehension: return f(static_cast<ComprehensionExpr&>(e));
    case ExprKind::lambda: return f(static_cast<LambdaExpr&>(e));
    case ExprKind::conditional: return f(static_cast<ConditionalExpr&>(e));
    case ExprKind::logical: return f(static_cast<LogicalExpr&>(e));
    case ExprKind::not_: return f(static_cast<NotExpr&>(e));
    case ExprKind::compare: return f(static_cast<CompareExpr&>(e));
    case ExprKind::binary: return f(static_cast<BinaryExpr&>(e));
    case ExprKind::negate: return f(static_cast<NegateExpr&>(e));
    case ExprKind::call: return f(static_cast<CallExpr&>(e));
    case ExprKind::index: return f(static_cast<IndexExpr&>(e));
    case ExprKind::slice: return f(static_cast<SliceExpr&>(e));
    case ExprKind::member: return f(static_cast<MemberExpr&>(e));
  }
  __builtin_unreachable();
}

template <class F>
decltype(auto) visit(Stmt& s, F&& f) {
  switch (s.kind) {
    case StmtKind::error: return f(static_cast<ErrorStmt&>(s));
    case StmtKind::import: return f(static_cast<ImportStmt&>(s));
    case StmtKind::from_import: return f(static_cast<FromImportStmt&>(s));
    case StmtKind::option: return f(static_cast<OptionStmt&>(s));
    case StmtKind::extern_: return f(static_cast<ExternStmt&>(s));
    case StmtKind::dim: return f(static_cast<DimStmt&>(s));
    case StmtKind::param: return f(static_cast<ParamStmt&>(s));
    case StmtKind::flag: return f(static_cast<FlagStmt&>(s));
    case StmtKind::fn: return f(static_cast<FnStmt&>(s));
    case StmtKind::module: return f(static_cast<ModuleStmt&>(s));
    case StmtKind::network: return f(static_cast<NetworkStmt&>(s));
    case StmtKind::mode: return f(static_cast<ModeStmt&>(s));
    case StmtKind::mark: return f(static_cast<MarkStmt&>(s));
    case StmtKind::stack: return f(static_cast<StackStmt&>(s));
    case StmtKind::if_: return f(static_cast<IfStmt&>(s));
    case StmtKind::for_: return f(static_cast<ForStmt&>(s));
    case StmtKind::loop: return f(static_cast<LoopStmt&>(s));
    case StmtKind::masked: return f(static_cast<MaskedStmt&>(s));
    case StmtKind::return_: return f(static_cast<ReturnStmt&>(s));
    case StmtKind::assert_: return f(static_cast<AssertStmt&>(s));
    case StmtKind::assign: return f(static_cast<AssignStmt&>(s));
    case StmtKind::update: return f(static_cast<UpdateStmt&>(s));
    case StmtKind::expr: return f(static_cast<ExprStmt&>(s));
  }
  __builtin_unreachable();
}

template <class T>
T& as(Expr& e) { return static_cast<T&>(e); }
template <class T>
T& as(Stmt& s) { return static_cast<T&>(s); }

}  // namespace rcn::ast
