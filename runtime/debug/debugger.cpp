#include "runtime/debug/debugger.h"

#include <algorithm>
#include <ostream>

#include "runtime/debug/debug_view.h"
#include "runtime/debug/prompt.h"
#include "runtime/interrupt.h"
#include "runtime/kernel.h"

namespace rcn {

struct EagerDebugger::Kept {
  struct Values {
    std::string type;
    at::Tensor value;  // the axes in the order of the type
  };
  std::map<std::string, Values> inputs, params;

  static Values of(const Tensor& t) { return {to_string(t->type), aligned(eager(t), t->type.dims).detach().clone()}; }
  static bool fits(const Values& kept, const Tensor& t, Lengths& lengths) {
    return kept.type == to_string(t->type) && kept.value.sizes() == at::IntArrayRef(lengths.shape(t->type.dims));
  }
};

EagerDebugger::EagerDebugger(const std::vector<std::string>& breaks, DiagnosticSink& usage, std::ostream& out)
    : out_(out),
      prompt_(std::make_unique<Prompt>(*this, out)),
      kept_(std::make_unique<Kept>()),
      stop_at_first_(breaks.empty()) {
  for (const std::string& where : breaks) {
    Breakpoint b;
    std::string error;
    if (parse_breakpoint(where, b, error)) {
      b.number = ++last_number_;
      breakpoints_.push_back(std::move(b));
    } else {
      usage.report(Diag::break_where, Span{}, {where, error});
    }
  }
}

EagerDebugger::~EagerDebugger() = default;

void EagerDebugger::start(DiagnosticSink& sink, std::function<void()> show_errors) {
  sink_ = &sink;
  show_errors_ = std::move(show_errors);
  end_ = End::finished;
  errors_ = 0;
  first_ = true;
  interrupted_ = false;
  going_ = Going::run;
  regions_.clear();
  muted_ = false;
}

void EagerDebugger::start_again(DiagnosticSink& sink) {
  start(sink, std::move(show_errors_));
  muted_ = true;
}

void EagerDebugger::finished() {
  for (const Breakpoint& b : breakpoints_) {
    if (b.hits > 0 || b.kind == Breakpoint::Kind::error) continue;
    out_ << "breakpoint " << b.number << " (" << b.where << ") was not reached";
    if (!b.trouble.empty()) out_ << "; its condition had no value: " << b.trouble;
    out_ << '\n';
  }
}

void EagerDebugger::begin(Stopped& at) {
  program_ = &at;
  std::size_t before = sink_->error_count();
  for (Breakpoint& b : breakpoints_) {
    std::string error;
    if (!resolve_breakpoint(b, at, error)) sink_->report(Diag::break_where, Span{}, {b.where, error});
  }
  if (sink_->error_count() > before) throw StopEvaluation{};
  note_watches();
}

void EagerDebugger::note_watches() {
  watches_nan_ = std::any_of(breakpoints_.begin(), breakpoints_.end(),
                             [](const Breakpoint& b) { return b.kind == Breakpoint::Kind::nan; });
  watches_ = watches_nan_ || std::any_of(breakpoints_.begin(), breakpoints_.end(),
                                         [](const Breakpoint& b) { return b.kind == Breakpoint::Kind::name; });
}

bool EagerDebugger::holds(Breakpoint& b) {
  if (!b.when) return true;
  busy_ = true;
  Evaluated result = program_->evaluate(0, *b.when);
  busy_ = false;
  b.trouble.clear();
  if (!result.value) {
    b.trouble = problem_text(result.problems);
    return false;
  }
  const Value& value = *result.value;
  if (value.is<bool>()) return value.get<bool>();
  bool scalar = value.is_tensor() && value.tensor()->type.dtype == DType::bool_ && value.tensor()->type.dims.empty();
  if (scalar)
    if (std::optional<Value> truth = reduced("all", value.tensor(), run_->lengths)) return truth->get<bool>();
  b.trouble = "it is neither true nor false, but " + kind_text(value);
  return false;
}

// Conditions that were to be looked at after this statement.
bool EagerDebugger::armed_holds(Breakpoint& b, std::size_t depth) {
  bool result = false;
  for (std::size_t i = 0; i < b.armed.size() && !result;) {
    if (b.armed[i].depth != depth) {
      ++i;
      continue;
    }
    result = holds(b);
    if (result || !b.armed[i].whole_call) {
      b.armed.erase(b.armed.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return result;
}

void EagerDebugger::statement(bool first_of_call) {
  if (busy_) return;
  std::size_t depth = program_->depth();
  ast::Stmt* now = program_->frame(0).at;
  std::string call = run_->scope.empty() ? "main" : run_->scope;
  if (take_interrupt()) return stop_interrupted();
  if (muted_) return;
  for (Breakpoint& b : breakpoints_) {
    // Calls that have returned since.
    std::erase_if(b.armed,
                  [&](const Breakpoint::Armed& a) { return a.depth > depth || (first_of_call && a.depth == depth); });
    if (b.kind == Breakpoint::Kind::line && b.at == now->span && holds(b)) return hit(b);
    if (b.kind != Breakpoint::Kind::name) continue;
    if (b.last == now->span) b.last = {};
    if (!first_of_call || !name_fits(b, call)) continue;
    if (holds(b)) return hit(b, "call of " + call);
    b.armed.push_back({depth, true});
  }
  if (going_ == Going::step || (going_ == Going::next && depth <= going_depth_)) stop({});
}

void EagerDebugger::done() {
  if (busy_ || muted_) return;
  std::size_t depth = program_->depth();
  for (Breakpoint& b : breakpoints_) {
    if (b.kind != Breakpoint::Kind::name) continue;
    if (armed_holds(b, depth)) return hit(b, "after this statement");
    if (assigned(b, *program_->frame(0).at) && holds(b)) return hit(b, "after this statement");
  }
}

// The statement gave a variable of its name a value, and did not stop yet.
bool EagerDebugger::assigned(const Breakpoint& b, ast::Stmt& s) const {
  if (s.kind != ast::StmtKind::assign || s.span == b.last) return false;
  auto fits = [&](const ast::Target& t) {
    return t.name && name_fits(b, (run_->scope.empty() ? "" : run_->scope + ".") + t.name.str());
  };
  const ast::Target& target = *ast::as<ast::AssignStmt>(s).target;
  return fits(target) || std::any_of(target.items.begin(), target.items.end(), fits);
}

void EagerDebugger::returned(const Value& result) {
  std::size_t depth = program_->depth();
  if (busy_ || going_ != Going::finish || depth == 0 || depth + 1 != going_depth_) return;
  show_value(out_, "returned", result, run_->lengths);
  stop({});
}

void EagerDebugger::failed() {
  if (busy_ || sink_->error_count() == errors_ || end_ != End::finished) return;
  errors_ = sink_->error_count();
  show_errors_();
  if (program_->depth() == 0) return;
  muted_ = false;
  for (Breakpoint& b : breakpoints_)
    if (b.kind == Breakpoint::Kind::error) ++b.hits;
  stop(program_->on_types() ? "error, before any step has run on tensors" : "error");
}

std::optional<Value> EagerDebugger::reduce(std::string_view name, const Tensor& tensor) {
  return reduced(name, tensor, run_->lengths);
}

void EagerDebugger::replace(const Tensor& parameter, const Tensor& value) {
  at::NoGradGuard no_grad;
  const EagerTensor& p = eager(parameter);
  p.value.set_data(aligned(eager(value), p.axes).detach().clone(at::MemoryFormat::Contiguous));
}

void EagerDebugger::operation(const OpNode& node) {
  if (busy_ || program_->depth() == 0) return;
  bool first = std::exchange(first_, false);
  if (take_interrupt()) return stop_interrupted();
  if (!first || muted_) return;
  for (Breakpoint& b : breakpoints_)
    if (b.kind == Breakpoint::Kind::first) return hit(b, "before " + std::string(node.op->name));
  if (stop_at_first_) stop("before the first operation, " + std::string(node.op->name));
}

void EagerDebugger::made(const std::string& name, bool assigned) {
  std::size_t depth = program_->depth();
  for (Breakpoint& b : breakpoints_) {
    if (b.kind != Breakpoint::Kind::name || !name_fits(b, name)) continue;
    if (depth > 0 && !assigned && holds(b)) return hit(b, name + " was made");
    b.armed.push_back({depth, false});
  }
}

void EagerDebugger::made_nan(const std::string& name, const OpNode& node, const std::vector<Tensor>& results) {
  for (Breakpoint& b : breakpoints_) {
    if (b.kind != Breakpoint::Kind::nan) continue;
    ++b.hits;
    std::string why = "breakpoint " + std::to_string(b.number) + ", " + name + " made a NaN or Inf";
    for (const Operand& input : node.inputs)
      if (const Tensor* t = as_tensor(input)) why += "\n  from " + described(*t, run_->lengths);
    for (const Tensor& t : results) why += "\n  made " + described(t, run_->lengths);
    return stop(why);
  }
}

void EagerDebugger::loaded(const Parameter& parameter, const Tensor& tensor) {
  auto it = kept_->params.find(parameter.path);
  if (muted_ || it == kept_->params.end()) return;
  if (!Kept::fits(it->second, tensor, run_->lengths)) {
    out_ << "the changed values of `" << parameter.path << "` do not fit any more\n";
    kept_->params.erase(it);
    return;
  }
  at::NoGradGuard no_grad;
  const EagerTensor& p = eager(tensor);
  p.value.set_data(aligned(Named{it->second.value, tensor->type.dims}, p.axes).clone(at::MemoryFormat::Contiguous));
}

Tensor EagerDebugger::given(const ExternInput& input, Tensor tensor) {
  auto it = kept_->inputs.find(input.name);
  if (muted_ || it == kept_->inputs.end()) return tensor;
  if (Kept::fits(it->second, tensor, run_->lengths))
    return std::make_shared<const EagerTensor>(tensor->type, Held(Named{it->second.value, tensor->type.dims}));
  out_ << "the changed values of `" << input.name << "` do not fit any more\n";
  kept_->inputs.erase(it);
  return tensor;
}

EagerDebugger::Region::Region(EagerDebugger& debugger, std::string text) : debugger_(debugger) {
  debugger.regions_.emplace_back(debugger.program_->depth(), std::move(text));
}

std::vector<std::string> EagerDebugger::regions(std::size_t frame) const {
  std::size_t number = program_->depth() - frame;
  std::vector<std::string> result;
  for (const auto& [depth, text] : regions_)
    if (depth == number) result.push_back(text);
  return result;
}

bool EagerDebugger::add_breakpoint(const std::string& where, std::string& error) {
  Breakpoint b;
  if (!parse_breakpoint(where, b, error) || !resolve_breakpoint(b, *program_, error)) return false;
  b.number = ++last_number_;
  breakpoints_.push_back(std::move(b));
  note_watches();
  return true;
}

bool EagerDebugger::remove_breakpoint(int number) {
  bool found = std::erase_if(breakpoints_, [&](const Breakpoint& b) { return b.number == number; }) > 0;
  note_watches();
  return found;
}

void EagerDebugger::remember(const Changed& changed) {
  if (changed.what == Changed::What::input) kept_->inputs[changed.name] = Kept::of(changed.value.tensor());
  if (changed.what == Changed::What::parameter) kept_->params[changed.name] = Kept::of(changed.value.tensor());
  if (changed.what != Changed::What::option) return;
  std::erase_if(defines_, [&](const auto& d) { return d.first == changed.name; });
  defines_.emplace_back(changed.name,
                        changed.value.is_str() ? "\"" + changed.value.str() + "\"" : to_text(changed.value));
}

void EagerDebugger::go(Going going, std::size_t frame) {
  going_ = going;
  going_depth_ = program_->depth() - frame;
}

void EagerDebugger::leave(End end) {
  end_ = end;
  busy_ = false;
  throw StopEvaluation{};
}

void EagerDebugger::hit(Breakpoint& b, const std::string& what) {
  ++b.hits;
  b.last = program_->frame(0).at->span;
  stop("breakpoint " + std::to_string(b.number) + (what.empty() ? "" : ", " + what));
}

void EagerDebugger::stop_interrupted() {
  interrupted_ = true;
  stop("interrupted");
}

void EagerDebugger::stop(const std::string& why) {
  going_ = Going::run;
  // Random numbers of the program do not depend on what the prompt computes.
  auto draws = run_->draws;
  std::string scope = run_->scope;
  busy_ = true;
  prompt_->open(why);
  busy_ = false;
  interrupted_ = false;
  run_->draws = std::move(draws);
  run_->scope = std::move(scope);
}

}  // namespace rcn
