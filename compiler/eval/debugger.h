// What a debugger hears of a program that runs, and what it may ask and change while the program stands still.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/eval/value.h"
#include "compiler/syntax/ast.h"

namespace rcn {

struct UserFile;

// A call that has not returned yet; outside of calls the body of a module or a file.
struct CallFrame {
  std::string what;               // `main`, `Encoder`, `fn(...)`
  Span place;                     // of the statement that runs, or of the call that the next frame is
  ast::Stmt* at = nullptr;        // the statement that runs; null before the first
};

struct FrameVariable {
  Symbol name;
  Value value;
  bool argument = false;
};

struct Evaluated {
  std::optional<Value> value;
  std::vector<Diagnostic> problems;  // why there is none; empty: what it reads failed before
};

// What `set` gave a value.
struct Changed {
  enum class What { nothing, variable, option, input, parameter } what = What::nothing;
  std::string name;  // of a parameter its path
  Value value;
  std::vector<Diagnostic> problems;
};

// The program while it stands still. Frames are counted from the innermost, which is 0.
class Stopped {
 public:
  virtual ~Stopped() = default;

  virtual std::size_t depth() const = 0;
  virtual CallFrame frame(std::size_t i) const = 0;
  // Arguments, then the others in the order of their first assignment; those of inner blocks last.
  virtual std::vector<FrameVariable> variables(std::size_t i) const = 0;
  // The body of a loop or branch runs on types alone, before it runs on tensors.
  virtual bool on_types() const = 0;

  // `name` is what messages call the text. Null after errors.
  virtual ast::Expr* parse(const std::string& name, const std::string& text, std::vector<Diagnostic>& problems) = 0;
  // In frame `i`; there `max min mean sum any all` of a tensor are those of Debugger::reduce.
  virtual Evaluated evaluate(std::size_t i, ast::Expr& e) = 0;
  // `target`: a variable, a new name, an extern, an option or a parameter (`encoder.weight`).
  virtual Changed set(std::size_t i, ast::Expr& target, ast::Expr& value) = 0;
  // The names that mean something in frame `i`, or behind `object.`.
  virtual std::vector<std::string> names(std::size_t i) = 0;
  virtual std::vector<std::string> members(std::size_t i, ast::Expr& object) = 0;

  virtual const std::vector<UserFile>& files() const = 0;
  virtual const SourceMap& sources() const = 0;
};

// Each function may throw StopEvaluation: then nothing more is evaluated.
class Debugger {
 public:
  virtual ~Debugger() = default;

  // The program is loaded, and nothing of it has run. `at` lives as long as the run.
  virtual void begin(Stopped& at) = 0;
  // The statement of frame 0 is about to run, on tensors.
  virtual void statement(bool first_of_call) = 0;
  // It has run.
  virtual void done() = 0;
  // A call has returned to frame 0.
  virtual void returned(const Value& result) = 0;
  // The statement of frame 0 has failed, and was reported; what it assigns will have no value.
  virtual void failed() = 0;

  // `max`, `min`, `mean`, `sum`, `any` or `all` over all dims, of valid entries; none where it has no such value.
  virtual std::optional<Value> reduce(std::string_view name, const Tensor& tensor) = 0;
  // The parameter's tensor has these values from now on; both are of equal type.
  virtual void replace(const Tensor& parameter, const Tensor& value) = 0;
};

}  // namespace rcn
