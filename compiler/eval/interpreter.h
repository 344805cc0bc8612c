// The evaluator's inside; users see evaluator.h.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/eval/evaluator.h"
#include "compiler/eval/leaves.h"
#include "compiler/eval/program.h"
#include "compiler/eval/type_backend.h"

namespace rcn {

enum class Builtin : std::uint8_t {
  len, range, enumerate, zip, reversed, sorted, min, max, sum, abs, any, all, int_, float_, str, isinstance, copy, locked,
  end, params, dim, ceildiv,
  make_layer, network_entry,  // of nn
  assign,
  reduce,  // of the debugger's prompt: over all dims of a tensor
};

class Interpreter {
 public:
  Interpreter(const EvalInput& input, const EvalOptions& options, Backend& backend);
  EvalResult run();

 private:
  // ---- activation records
  enum class ScopeKind : std::uint8_t {
    plain,   // a function, comprehension or lambda
    branch,  // of a dynamic `if`, or a masked part: what it assigns is merged with the values before
    loop,    // a body: what it assigns is gone after the step, but for state
  };
  struct Scope {
    Scope* parent = nullptr;
    std::vector<std::pair<Symbol, Value>> vars;
    ScopeKind kind = ScopeKind::plain;
    std::vector<std::pair<Symbol, Span>> assigned;     // loop, branch: where a name got its value last
    std::vector<std::pair<Symbol, Span>> only_branch;  // names that only one branch of an `if` gives a value
    Value* find(Symbol name);
  };
  // What surrounds the place of evaluation.
  enum class RegionKind : std::uint8_t { loop, branch, masked };
  // The body of a loop while it runs.
  struct Frame;
  struct LoopRun {
    Frame* frame = nullptr;
    const ast::LoopStmt* loop = nullptr;
    Dim axis = nullptr;
    bool known = true;
    Symbol index_name;
    Tensor index;
    std::vector<Tensor> state;  // as the step found it
    std::vector<std::pair<Symbol, Value>> stacked;
    std::vector<Span> stacked_spans;
    std::vector<std::pair<Tensor, Tensor>> histories;  // states of cum_concat and what it made of them
    Tensor end;
    bool include_eos = true;
    Span end_span;
    std::optional<std::int64_t> beam_size;  // of a choice in it
    bool normalized = false;                // its choices want `length_normalization`
    int* search = nullptr;                  // of its choices, in all rounds; 0: none so far
  };
  enum class FrameKind : std::uint8_t { file, module_body, function, mode };
  struct Frame {
    FrameKind kind = FrameKind::function;
    Unit* unit = nullptr;
    Instance* self = nullptr;   // whose members are visible
    Instance* flags = nullptr;  // whose mode flags are visible
    Scope* scope = nullptr;     // innermost
    Scope locals;
    Value result = None{};
    Frame* caller = nullptr;
    std::size_t calls = 0;               // how many calls there are, with the one that it belongs to
    ast::Stmt* at = nullptr;             // the statement that runs
    std::span<ast::Param> params;        // of a function
  };
  enum class Flow : std::uint8_t { next, returned };
  struct CallArgs {
    std::vector<Value> positional;
    std::vector<Span> spans;
    struct Keyword { Symbol name; Span name_span; Value value; Span span; };
    std::vector<Keyword> keywords;
    Span span;  // of the whole call
  };
  struct CallSite { Span span; std::string what; bool makes_instance; };
  // While one lives, `inner` is the frame.
  class Entered {
   public:
    Entered(Interpreter& in, Frame& inner) : in_(in), outer_(in.frame_) {
      inner.caller = outer_;
      inner.calls = in.call_stack_.size();
      in.frame_ = &inner;
    }
    ~Entered() { in_.frame_ = outer_; }
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;

   private:
    Interpreter& in_;
    Frame* outer_;
  };
  class Halt;            // what a debugger sees (debugging.cpp)
  class LoopEvaluation;  // one `loop` (loop_statement.cpp)

  // ---- program (program.cpp)
  void make_units();
  Unit* stdlib_module(const std::string& name);
  void evaluate_file(Unit& unit);
  void exec_import(const ast::ImportStmt& s);
  void exec_from_import(const ast::FromImportStmt& s);
  void exec_option(const ast::OptionStmt& s);
  void evaluate_network(Unit& main);
  void check_defines(Unit& main);
  void exec_extern(const ast::ExternStmt& s);
  Value option_from_define(const ast::OptionStmt& s, const std::string& text);
  const Value* unit_value(Unit& unit, Symbol name, Span use);     // null: not declared
  const Value* namespace_member(const Namespace& space, Symbol name, Span use);
  std::vector<std::string> namespace_names(const Namespace& space);
  const ModuleClass* class_of(const ast::ModuleStmt& decl, Unit& unit);
  Value function_value(const ast::FnStmt& decl, Unit& unit, Instance* self);
  Value declared_dim(const ast::DimStmt& s);

  // ---- statements (statements.cpp)
  Flow exec_block(ast::Block block);
  Flow exec(ast::Stmt& s);
  void exec_assign(const ast::AssignStmt& s);
  void exec_update(const ast::UpdateStmt& s);
  Flow exec_if(const ast::IfStmt& s);
  Flow exec_for(const ast::ForStmt& s);
  void exec_assert(const ast::AssertStmt& s);
  void exec_mark(const ast::MarkStmt& s);
  void reserve_name(const std::string& name, Span span);
  // The items of a list or tuple, one for each of the targets; reports anything else.
  const std::vector<Value>& unpacked(const ast::Target& target, const Value& value, Span value_span);
  void bind(const ast::Target& target, const Value& value, Span value_span, bool weak = false);
  void assign(Symbol name, const Value& value, Span span, bool weak = false);
  void poison_targets(ast::Stmt& s);
  void poison(const ast::Target& target);

  // ---- control flow over tensors (loop_statement.cpp, loops.cpp, branches.cpp)
  void exec_loop(const ast::LoopStmt& s);
  void exec_stack(const ast::StackStmt& s);
  void builtin_end(CallArgs& args);
  Value frame_of(const Value& value, const Tensor& index, const ast::IndexExpr& e);
  LoopRun* loop_of_index(const Value& index);
  Tensor leaf_tensor(const Value& leaf, const TensorType& type, Span span);
  std::string changed_dims(const TensorType& before, const TensorType& after) const;
  Flow exec_dynamic_if(const ast::IfStmt& s, std::size_t branch, const Tensor& condition);
  Tensor condition_tensor(const Value& value, Span span, const char* what);
  void check_state(Symbol name, Span span);
  Value dynamic_conditional(const ast::ConditionalExpr& e, const Tensor& condition);
  // What a branch assigns.
  struct Names {
    std::vector<std::pair<Symbol, Value>> values;
    std::vector<std::pair<Symbol, Span>> places;
    std::vector<std::pair<Symbol, Span>> only_branch;  // as in a Scope; these are not among the values
    const Value* find(Symbol name) const;
    const Span* place(Symbol name) const;
  };
  // What an assigned name is in the scopes around a branch; null: nothing.
  const Value* outer_value(Symbol name) const;
  // The tensors among the leaves of `now`, each at the place of its result.
  void collect_results(const ResultTree& tree, const Value& now, const std::vector<TensorType>& types, Span span,
                       std::vector<Tensor>& results);
  void run_cond(const Tensor& condition, Span span, const std::function<void()>& then, const std::function<void()>& otherwise,
                const std::string& name);
  Names run_branch(const std::function<void()>& body);
  void exec_masked(const ast::MaskedStmt& s);
  void builtin_assign(CallArgs& args);
  static std::string region_text(RegionKind kind);
  void require_plain_region(Span span, const std::string& word);
  [[noreturn]] void fail_in_region(Span span, const std::string& word);
  void require_one_sequence(const OpNode& node, Span span);
  void prepare_choice(std::vector<Value>& values, const std::vector<Span>& spans, Span span);
  void find_training_dims();
  void set_traits(const OpNode& node, int search, const std::vector<Tensor>& results);
  bool merge_traits(Traits& traits, const Traits& other, Span span);
  int joined_search(int a, int b, Span span);
  int search_of(Dim d) const;
  bool is_decided(Dim d) const;
  int choice_search(OpNode& node, Span span);
  std::shared_ptr<const Origin> dims_origin(const std::vector<Dim>& dims) const;  // null: inference has all their lengths
  void set_training_dim(Dim d, const std::shared_ptr<const Origin>& origin);      // whose length has this origin, or none
  void require_available(const Mark& mark, const Tensor& value);
  int require_search(OpNode& node, Span span);
  Value score(const Tensor& sums, int search, Span span);
  void require_history_step(const OpNode& node, Span span);
  void throw_if_errors_since(std::size_t before);

  // ---- expressions (expressions.cpp)
  Value eval(ast::Expr& e);
  Value eval_name(const ast::NameExpr& e);
  const Value& value_of(Symbol name, Span use, Value& storage);  // reports a name without a value
  const Value* lookup(Symbol name, Span use, Value& storage);  // null: unknown
  Value read_member(Instance& owner, const Member& member, Span use);
  Value eval_member(const ast::MemberExpr& e);
  Value member_of(const Value& object, Symbol name, Span span);
  Value eval_index(const ast::IndexExpr& e);
  Value eval_slice(const ast::SliceExpr& e);
  Value eval_comprehension(const ast::ComprehensionExpr& e);
  Value eval_lambda(const ast::LambdaExpr& e);
  Value eval_conditional(const ast::ConditionalExpr& e);
  Value eval_logical(const ast::LogicalExpr& e);
  Value eval_compare(const ast::CompareExpr& e);
  Value eval_binary(const ast::BinaryExpr& e, const std::string& name);
  Value eval_named(ast::Expr& e, const std::string& name);  // an operator's layer is named after the variable
  bool condition(const Value& value, Span span, const char* what);  // static bool; else reports
  std::vector<Value> iterate(const Value& value, Span span);

  // ---- operators (operators.cpp)
  Value binary(ast::BinaryOp op, const Value& a, const Value& b, Span span, const std::string& name);
  Value number_binary(ast::BinaryOp op, const Value& a, const Value& b, Span span);
  Value dim_binary(ast::BinaryOp op, const Value& a, const Value& b, Span span);
  Value compare(ast::CompareOp op, const Value& a, const Value& b, Span span, const std::string& name);
  Value negate(const Value& a, Span span, const std::string& name);
  Dim to_dim_operand(const Value& v);

  // ---- calls (calls.cpp)
  Value eval_call(const ast::CallExpr& e);
  CallArgs eval_args(const ast::CallExpr& e);
  Value call(const Value& callee, CallArgs& args, Span callee_span);
  void check_call_depth(Span span);
  Value call_declared(const Function& f, CallArgs& args);
  Value call_lambda(const Function& f, CallArgs& args);
  Value call_op(const OpInfo& info, CallArgs& args);
  Value call_method(Instance& instance, Symbol method, CallArgs& args);
  Value call_sequential(Instance& instance, CallArgs& args);
  Value apply(const OpInfo& info, std::vector<Value> args, std::vector<Span> spans, Span span, const std::string& name);
  Value apply(std::string_view op, std::vector<Value> args, Span span, const std::string& name);
  void bind_params(std::span<ast::Param> params, CallArgs& args, const std::string& what, Span declared, Frame& frame);
  std::pair<std::string, bool> scope_name(const Function& f) const;
  std::pair<std::string, bool> scope_name(const Instance& self, const std::string& fn) const;

  // ---- modules (modules.cpp, ownership.cpp)
  Value instantiate(const ModuleClass& cls, CallArgs& args);
  Instance* make_sequential(CallArgs& args);
  Value copy_value(const Value& value, Span span);
  void declare_param(const ast::ParamStmt& s);
  void declare_flag(const ast::FlagStmt& s);
  void set_param_option(ParamState& param, Symbol option, const Value& value, Span span);
  void builtin_params(CallArgs& args);
  void apply_directives(Instance& instance);
  struct Named { Instance* instance; std::string path; };
  std::vector<Named> name_tree(Instance& root) const;
  void name_network();
  void check_parameter_names();
  Value parameter_value(ParamState& param, Span use);

  // ---- mode flags (modes.cpp)
  void declare_mode(const ast::ModeStmt& s);
  void set_all_flags();
  void run_mode();
  void apply_set_options();
  void set_flag(Instance& named, Symbol flag, FlagSetting setting, const FlagSource& source, Span where, Span flag_span);
  void exec_flag_setting(const ast::AssignStmt& s);
  FlagSetting to_flag_setting(const Value& value, const std::string& flag, Span span);
  Value flag_value(Instance* instance, Symbol name, Span use);
  void require_mode(std::string_view what, Span use);

  // ---- types (types.cpp)
  Value check_type(const Value& value, const ast::TypeExpr& type, Span where, const std::string& what);
  TensorType tensor_type(const ast::TypeExpr& type);  // of an extern or parameter: all dims given
  void note_type(DiagnosticSink::Builder& builder, const ast::TypeExpr& type, Span where);
  std::vector<Dim> dims_of_item(ast::Expr& e);
  std::string type_text(const ast::TypeExpr& type) const;
  std::string meant_type(const ast::TypeExpr& type);

  // ---- builtins (builtins.cpp)
  static const Value* builtin_value(Symbol name);
  Value call_builtin(const Function& f, CallArgs& args);
  Value make_dim(CallArgs& args);
  Value make_layer(CallArgs& args);
  Value is_instance(const Value& value, const Value& type, Span span);

  // ---- reporting
  DiagnosticSink::Builder report(Diag kind, Span span, std::vector<std::string> args = {});
  [[noreturn]] void fail(Diag kind, Span span, std::vector<std::string> args = {});
  [[noreturn]] void fail_unknown(Diag kind, Span span, std::vector<std::string> args, std::string_view name,
                                 const std::vector<std::string>& candidates);
  bool in_stdlib(Span span) const;
  Span user_place(Span span) const;  // of a place in the standard library: where the user's file called it
  void add_call_trace(Diagnostic& d);
  void count_step(Span span);
  [[noreturn]] void stop_evaluation();
  // Behind the last error: the tensors that the expression reads.
  void note_values();
  // What a backend computes; its errors show the values.
  template <class F>
  auto with_values(F&& compute) {
    std::size_t before = diag_.size();
    try {
      return compute();
    } catch (const EvalError&) {
      if (diag_.size() > before) note_values();
      throw;
    }
  }

  // ---- debugging (debugging.cpp)
  void begin_debugging();
  void announce(ast::Stmt& s);
  void conclude(ast::Stmt& s);
  Value reduce_all(const Function& f, CallArgs& args);
  Frame& frame() { return *frame_; }

  const EvalInput& in_;
  const EvalOptions& options_;
  Backend& real_;                // the backend of the run
  TypeBackend types_;
  Backend* backend_;             // one of the two
  DiagnosticSink& diag_;
  const std::size_t errors_before_;
  Debugger* debugger_ = nullptr;  // null: none, or what runs now is no part of the program
  std::unique_ptr<Stopped> halt_;

  std::vector<std::unique_ptr<Unit>> units_;        // user files, in the order of the input
  std::unordered_map<std::string, std::unique_ptr<Unit>> stdlib_;
  std::deque<Instance> instances_;
  std::deque<ParamState> params_;
  std::vector<ParamState*> used_params_;
  std::unordered_map<const void*, std::unique_ptr<ModuleClass>> classes_;
  ModuleClass network_class_;
  std::unique_ptr<ModuleClass> sequential_;
  Instance* network_ = nullptr;
  std::vector<Instance*> modules_;                   // those in the network, once they have names
  std::vector<const ast::ModeStmt*> modes_;          // those that the network declares
  Frame* frame_ = nullptr;
  std::vector<CallSite> call_stack_;
  std::unordered_map<std::string, Span> marks_;
  std::vector<ExternInput> externs_;
  std::vector<std::pair<Dim, std::shared_ptr<const Origin>>> training_dims_;  // whose lengths only training has
  std::unordered_map<Symbol, Tensor> inputs_;
  std::string dim_name_;                             // what a `Dim(...)` expression is assigned to
  bool main_running_ = false;
  bool any_output_ = false;
  std::int64_t steps_ = 0;
  std::vector<LoopRun*> loops_;                      // the bodies that run, innermost last
  std::vector<RegionKind> regions_;                  // what surrounds the place of evaluation, innermost last
  int masked_ = 0;                                   // masked parts around it whose mask has batch
  std::vector<std::pair<const ParamState*, Span>> assigned_params_;  // by nn.assign, with the place
  struct SearchInfo {
    Span loop;                  // what it goes over
    Dim divided_by = nullptr;   // scores are divided by these lengths
  };
  std::vector<SearchInfo> searches_;                 // search 1 is the first of them
  std::unordered_map<Dim, int> search_dims_;         // made by a search: each hypothesis has lengths of its own
  std::vector<Dim> decided_dims_;                    // those of them that `nn.decide` has seen
};

// How deep calls nest is a limit of its own; this keeps C++ frames small.
template <class T>
class Restore {
 public:
  Restore(T& place, T value) : place_(place), old_(std::move(place)) { place_ = std::move(value); }
  ~Restore() { place_ = std::move(old_); }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& place_;
  T old_;
};

// The last item of a vector, for as long as this lives.
template <class T>
class Pushed {
 public:
  Pushed(std::vector<T>& items, T item) : items_(items) { items_.push_back(std::move(item)); }
  ~Pushed() { items_.pop_back(); }
  Pushed(const Pushed&) = delete;
  Pushed& operator=(const Pushed&) = delete;

 private:
  std::vector<T>& items_;
};

}  // namespace rcn
