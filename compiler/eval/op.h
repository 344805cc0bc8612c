// An operation on tensors: its signature as users see it, its type rule, and one application of it.
//
// The table of operations itself is in compiler/ops (with the lowering to RETURNN layers); kernels are in runtime/.
// Both backends run the same type rule, here, before they see the operation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/eval/value.h"

namespace rcn {

// What a parameter of an operation accepts (a set of bits).
using ArgTypes = std::uint32_t;
namespace arg {
inline constexpr ArgTypes tensor = 1 << 0, integer = 1 << 1, real = 1 << 2, boolean = 1 << 3, str = 1 << 4,
                          dim = 1 << 5, dims = 1 << 6 /* list of dims */, list = 1 << 7, dtype = 1 << 8,
                          none = 1 << 9, function = 1 << 10, record = 1 << 11,
                          history = 1 << 12 /* the state of cum_concat */;
inline constexpr ArgTypes number = integer | real;
inline constexpr ArgTypes operand = tensor | number | boolean;  // a tensor or a static number
inline constexpr ArgTypes axes = dim | dims;
}  // namespace arg

struct OpParam {
  std::string_view name;
  ArgTypes types;
  bool keyword_only = false;
  // Absent: required. `none`, a number, `true`, or a string in quotes, as the signature shows it.
  std::string_view default_text = {};
};

class OpCall;

struct OpInfo {
  std::string_view name;    // as users write it after `nn.`: `reduce`, `init.glorot`; operators too (`add`)
  std::span<const OpParam> params;
  std::string_view result;  // for documentation: `Tensor`, `(Tensor, Dim)`
  std::string_view doc;     // dims in and out, masking, formula, source
  void (*infer)(OpCall&);   // checks the arguments, fills node() or static_result()
};

// An input of an operation: a tensor, or a static number that takes the dtype of the tensors it meets.
using Operand = std::variant<Tensor, std::int64_t, double, bool>;
inline const Tensor* as_tensor(const Operand& o) { return std::get_if<Tensor>(&o); }

// A dim that an operation gives its length.
struct NewDim {
  Dim dim;        // a dynamic atom
  Dim computed;   // its length is that of this dim; null: the kernel or layer defines it
  std::vector<Dim> length_dims;  // what its lengths have: usually [batch]
};

// One application of an operation, checked. This is all that backends see.
struct OpNode {
  const OpInfo* op = nullptr;
  std::vector<Operand> inputs;
  std::vector<std::pair<std::string_view, Value>> attrs;  // what lowering and kernel read: static values only
  std::vector<TensorType> outputs;
  std::vector<NewDim> new_dims;
  std::string base_name;  // wanted name of its layer; empty: the operation's
  Span span;

  const Value* find(std::string_view name) const;
  // Attributes that the type rule always sets; a missing one is an internal error.
  const Value& attr(std::string_view name) const;
  Dim dim(std::string_view name) const { return attr(name).dim(); }
  std::vector<Dim> dims(std::string_view name) const;
  std::int64_t integer(std::string_view name) const { return attr(name).get<std::int64_t>(); }
  double real(std::string_view name) const { return attr(name).as_double(); }
  bool boolean(std::string_view name) const { return attr(name).get<bool>(); }
  const std::string& str(std::string_view name) const { return attr(name).str(); }
  const Tensor& tensor(std::size_t index) const;  // an input that the type rule made sure to be a tensor
};

// Thrown after a diagnostic was reported; unwinds to the statement.
struct EvalError {};
// Nothing more is evaluated: a limit was reached and reported, or a debugger ended the run.
struct StopEvaluation {};

// Which dynamic dims have a length, and what their lengths depend on.
class DimLengths {
 public:
  void define(Dim atom, std::vector<Dim> length_dims);
  bool defined(Dim d) const;                      // static dims always are; derived ones if all their atoms are
  std::vector<Dim> length_dims(Dim d) const;      // [] for static dims

  // A body that runs again finds the lengths as they were when it began: mark() before, rollback() each time.
  std::size_t mark() const { return log_.size(); }
  void rollback(std::size_t mark);
  std::vector<Dim> defined_since(std::size_t mark) const;
  // What is defined while this is true is not rolled back.
  bool keep = false;

 private:
  std::unordered_map<Dim, std::vector<Dim>> defined_;
  std::vector<std::pair<Dim, std::optional<std::vector<Dim>>>> log_;  // what was defined, and its value before
};

// What type rules may use of the compilation.
struct OpContext {
  DimTable& dims;
  DimLengths& lengths;
  DiagnosticSink& diagnostics;
  // The train flag that holds where the call stands: `false`, `true`, or none for dynamic.
  std::variant<bool, None> train = false;
};

// A call of an operation while its type rule runs: arguments are bound to the parameters, defaults filled in, and each
// is of an accepted type.
class OpCall {
 public:
  OpCall(OpContext& context, const OpInfo& info, std::vector<Value> args, std::vector<Span> arg_spans, Span span);

  OpContext& context() { return context_; }
  DimTable& dims() { return context_.dims; }
  const OpInfo& info() const { return info_; }
  Span span() const { return span_; }

  // ---- arguments, by position in info().params
  const Value& arg(std::size_t i) const { return args_[i]; }
  Span arg_span(std::size_t i) const { return arg_spans_[i]; }
  bool given(std::size_t i) const { return !args_[i].is_none(); }
  const Tensor& tensor(std::size_t i) const { return args_[i].tensor(); }
  const TensorType& type(std::size_t i) const { return args_[i].tensor()->type; }
  Operand operand(std::size_t i) const { return to_operand(args_[i]); }
  std::vector<Dim> dims_arg(std::size_t i) const;  // a dim or a list of dims; without repeats (else an error)
  static Operand to_operand(const Value& value);

  // ---- checks; they report and throw
  [[noreturn]] void fail(Diag kind, std::vector<std::string> args = {});
  [[noreturn]] void fail_at(Span where, Diag kind, std::vector<std::string> args = {});
  // At the argument: its parameter must be `wanted` (`at least 1`), and is `found`.
  [[noreturn]] void fail_argument(std::size_t i, std::string wanted, std::string found);
  void require_dim(std::size_t tensor_arg, Dim dim, std::size_t dim_arg);  // the tensor has the dim
  void require_length(Dim dim, std::size_t dim_arg);                        // the dim has a length

  // The dim that the operation makes, where its parameter `i` (out_dim) may name one: `computed` if none was given.
  // A given dim without a length gets that of `computed`; a given one with a length is a claim that both are equal:
  // static sizes are checked here, and a dynamic one makes the evaluator rename the result.
  Dim out_dim(std::size_t i, Dim computed);
  // The same for operations whose kernel or layer determines the length: a fresh dim if none was given.
  Dim out_dim_fresh(std::size_t i, std::string name, DimKind kind, std::vector<Dim> length_dims);

  // ---- result
  OpNode& node() { return node_; }
  void input(Operand operand) { node_.inputs.push_back(std::move(operand)); }
  void attr(std::string_view name, Value value) { node_.attrs.emplace_back(name, std::move(value)); }
  void output(TensorType type) { node_.outputs.push_back(std::move(type)); }
  // The call's value is static (or an argument itself): no operation is made.
  void static_result(Value value) { static_ = std::move(value); has_static_ = true; }
  // Values that follow the output tensors in the resulting tuple (out dims).
  void also_return(Value value) { extra_.push_back(std::move(value)); }
  // The same behind the first of them.
  void also_return_second(Value value) {
    extra_.push_back(std::move(value));
    extra_second_ = true;
  }

  // ---- for the evaluator
  struct Rename { Dim from; Dim to; };
  bool has_static() const { return has_static_; }
  const Value& static_value() const { return static_; }
  const std::vector<Value>& extra() const { return extra_; }
  bool extra_is_second() const { return extra_second_; }
  const std::vector<Rename>& renames() const { return renames_; }

 private:
  OpContext& context_;
  const OpInfo& info_;
  std::vector<Value> args_;
  std::vector<Span> arg_spans_;
  Span span_;
  OpNode node_;
  Value static_;
  bool has_static_ = false;
  std::vector<Value> extra_;
  bool extra_second_ = false;
  std::vector<Rename> renames_;
};

// Looks operations up by name; implemented by compiler/ops.
class OpLibrary {
 public:
  virtual ~OpLibrary() = default;
  virtual const OpInfo* find(std::string_view name) const = 0;
  virtual std::vector<std::string_view> names() const = 0;
};

}  // namespace rcn
