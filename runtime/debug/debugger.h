// The debugger of eager runs (--break, --debug): decides where a run stops, and opens the prompt there.
//
// It outlives a restart: breakpoints, options, inputs and parameters that the prompt changed carry over.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/eval/backend.h"
#include "compiler/eval/debugger.h"
#include "runtime/debug/breakpoints.h"

namespace rcn {

struct RunState;
class Prompt;

class EagerDebugger final : public Debugger {
 public:
  // `breaks`: those of the command line; without any, the run stops at its first operation. The prompt writes to `out`.
  EagerDebugger(const std::vector<std::string>& breaks, DiagnosticSink& usage, std::ostream& out);
  ~EagerDebugger() override;
  EagerDebugger(const EagerDebugger&) = delete;
  EagerDebugger& operator=(const EagerDebugger&) = delete;

  // ---- for the program around it: one run after the other
  enum class End : std::uint8_t { finished, quit, restart };
  // `show_errors` is called at an error, before the prompt opens.
  void start(DiagnosticSink& sink, std::function<void()> show_errors);
  // The same program again, which is known to fail: it stops at the error alone.
  void start_again(DiagnosticSink& sink);
  void attach(RunState& run) { run_ = &run; }  // of this run, before it begins
  End end() const { return end_; }
  bool interrupted() const { return interrupted_; }  // and not gone on since
  void finished();                                   // says which breakpoints were not reached
  // What the prompt set: as on the command line, behind what that says.
  const std::vector<std::pair<std::string, std::string>>& defines() const { return defines_; }

  // ---- Debugger
  void begin(Stopped& at) override;
  void statement(bool first_of_call) override;
  void done() override;
  void returned(const Value& result) override;
  void failed() override;
  std::optional<Value> reduce(std::string_view name, const Tensor& tensor) override;
  void replace(const Tensor& parameter, const Tensor& value) override;

  // ---- what the backend does
  void operation(const OpNode& node);  // is about to run
  bool watches() const { return !busy_ && !muted_ && watches_; }
  bool busy() const { return busy_; }  // what runs belongs to the prompt
  bool watches_nan() const { return watches_nan_; }
  // `assigned`: the statement gives the variable of that name this value.
  void made(const std::string& name, bool assigned);
  void made_nan(const std::string& name, const OpNode& node, const std::vector<Tensor>& results);
  void loaded(const Parameter& parameter, const Tensor& tensor);
  Tensor given(const ExternInput& input, Tensor tensor);
  // While one lives, the innermost call runs a step of a loop, or a branch.
  class Region {
   public:
    Region(EagerDebugger& debugger, std::string text);
    ~Region() { debugger_.regions_.pop_back(); }
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;

   private:
    EagerDebugger& debugger_;
  };
  std::string text(Span span) const { return std::string(program_->sources().text(span)); }

  // ---- for the prompt
  Stopped& program() { return *program_; }
  RunState& run() { return *run_; }
  const std::vector<Breakpoint>& breakpoints() const { return breakpoints_; }
  bool add_breakpoint(const std::string& where, std::string& error);
  bool remove_breakpoint(int number);
  // Of the frame's place: `step 3 of the loop over ...`, outermost first.
  std::vector<std::string> regions(std::size_t frame) const;
  void remember(const Changed& changed);
  enum class Going : std::uint8_t { run, step, next, finish };
  void go(Going going, std::size_t frame);  // once the prompt has closed; `finish`: until that frame has returned
  [[noreturn]] void leave(End end);

 private:
  struct Kept;  // tensors that carry over

  bool holds(Breakpoint& breakpoint);  // its condition, in the innermost frame
  bool armed_holds(Breakpoint& breakpoint, std::size_t depth);
  bool assigned(const Breakpoint& breakpoint, ast::Stmt& s) const;
  void hit(Breakpoint& breakpoint, const std::string& what = {});
  void stop(const std::string& why);
  void stop_interrupted();
  void note_watches();

  std::ostream& out_;
  std::unique_ptr<Prompt> prompt_;
  std::unique_ptr<Kept> kept_;
  std::vector<std::pair<std::string, std::string>> defines_;
  std::vector<Breakpoint> breakpoints_;
  int last_number_ = 0;
  bool stop_at_first_;

  // ---- of the run
  DiagnosticSink* sink_ = nullptr;
  std::function<void()> show_errors_;
  RunState* run_ = nullptr;
  Stopped* program_ = nullptr;
  End end_ = End::finished;
  std::size_t errors_ = 0;  // that were shown
  bool busy_ = false;       // what runs now belongs to the prompt or a condition
  bool muted_ = false;      // it stops at errors only
  bool watches_ = false, watches_nan_ = false;
  bool first_ = true;  // no operation has run
  bool interrupted_ = false;
  Going going_ = Going::run;
  std::size_t going_depth_ = 0;
  std::vector<std::pair<std::size_t, std::string>> regions_;  // with the number of frames around
};

}  // namespace rcn
