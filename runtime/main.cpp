// rcnc-eager: what `rcnc --eager` replaces itself with. The same command line, front end and evaluator as rcnc; the
// backend computes tensors.
#include <iostream>

#include "compiler/driver/driver.h"
#include "runtime/debug/debugger.h"
#include "runtime/eager.h"
#include "runtime/interrupt.h"

namespace rcn {

namespace {

EagerOptions eager_options(const Options& options) {
  const EagerFlags& flags = options.eager;
  EagerOptions o;
  o.data = flags.data;
  o.batch = flags.batch;
  o.time = flags.time;
  o.seed = flags.seed;
  o.sample_rate = flags.sample_rate;
  o.params = flags.params_file;
  o.rename_map = flags.rename_map_file;
  o.params_partial = flags.params_partial;
  o.save_params = flags.save_params_file;
  o.trace = flags.trace;
  o.trace_json = flags.trace_json;
  o.print = flags.print;
  o.padding = flags.padding;
  o.full = flags.full;
  o.save = flags.save;
  o.record = flags.record_folder;
  o.html = flags.html_file;
  o.summary = flags.summary;
  o.check_finite = flags.check_finite;
  o.check_padding = flags.check_padding;
  o.grad_check = flags.grad_check;
  o.fit = flags.fit;
  o.learning_rate = flags.learning_rate;
  o.json = flags.json;
  o.quiet = options.quiet;
  o.grad = flags.grad;
  o.train = flags.train;
  o.step = flags.step;
  if (flags.threads > 0) o.threads = flags.threads;
  o.loop_frames = options.limits.loop_frames;
  return o;
}

// The parsed files are shared, everything else is its own.
void evaluate_anew(const Session& loaded, const std::function<void(Evaluation&)>& use) {
  DiagnosticSink sink;
  Session session(loaded.options, loaded.sources, sink);
  session.files = loaded.files;
  Evaluation evaluation{sink, session.dims, session.lengths, [&](Backend& backend, auto declare_inputs, Debugger* debugger) {
                          return run(session, backend, std::move(declare_inputs), debugger).ok;
                        }};
  use(evaluation);
}

// Prints those that were not printed before.
void print_new_diagnostics(const Messages& messages, const Options& options, std::size_t& printed) {
  std::cout.flush();
  const std::vector<Diagnostic>& items = messages.diagnostics.items();
  if (printed == 0 || items.size() > printed) {
    DiagnosticSink fresh;
    for (std::size_t i = printed; i < items.size(); ++i) fresh.add(items[i]);
    print_diagnostics(fresh, messages.sources, options);
  }
  printed = items.size();
}

int run_model(const Options& options, EagerDebugger* debugger) {
  Messages messages;
  std::size_t printed = 0;
  Session session(options, messages);
  int result = static_cast<int>(ExitCode::model_error);
  if (debugger) debugger->start(session.diagnostics, [&] { print_new_diagnostics(messages, options, printed); });
  if (load(session, options.models[0])) {
    EagerOptions how = eager_options(options);
    how.debugger = debugger;
    EagerRun eager(how, session.sources, session.diagnostics, session.dims, session.lengths, std::cout, std::cerr);
    eager.set_anew([&](const std::function<void(Evaluation&)>& use) { evaluate_anew(session, use); });
    if (eager.prepare()) {
      EvalResult evaluated = run(
          session, eager.backend(), [&](const std::vector<ExternInput>& inputs) { return eager.declare_inputs(inputs); }, debugger);
      if (!evaluated.ok) eager.failed();
      if (evaluated.ok && !(debugger && debugger->end() != EagerDebugger::End::finished)) {
        result = eager.finish();
        if (debugger) debugger->finished();
      }
    }
    if (debugger && debugger->end() != EagerDebugger::End::finished)
      result = static_cast<int>(debugger->interrupted() ? ExitCode::interrupted : ExitCode::ok);
  }
  print_new_diagnostics(messages, options, printed);
  if (!std::cout) {
    std::cerr << "rcnc: error: cannot write standard output\n";
    return static_cast<int>(ExitCode::model_error);
  }
  return messages.diagnostics.has_errors() && result == 0 ? static_cast<int>(ExitCode::model_error) : result;
}

// With a debugger, again for each restart.
int run_debugged(Options options) {
  Messages usage;
  EagerDebugger debugger(options.eager.breaks, usage.diagnostics, options.eager.json ? std::cerr : std::cout);
  if (usage.diagnostics.has_errors()) {
    print_diagnostics(usage, options);
    return static_cast<int>(ExitCode::usage);
  }
  auto defines = options.defines;
  for (;;) {
    int result = run_model(options, &debugger);
    if (debugger.end() != EagerDebugger::End::restart) return result;
    options.defines = defines;
    options.defines.insert(options.defines.end(), debugger.defines().begin(), debugger.defines().end());
  }
}

}  // namespace

}  // namespace rcn

int main(int argc, char** argv) {
  using namespace rcn;
  ParsedOptions parsed = parse_options(argc, argv);
  if (parsed.exit) return static_cast<int>(*parsed.exit);
  if (parsed.options.command != Command::run) {
    std::cerr << "rcnc-eager: error: this program only runs models; `rcnc` does the rest\n";
    return static_cast<int>(ExitCode::usage);
  }
  bool debug = parsed.options.eager.debug;
  handle_interrupts(debug);
  return guarded("`" + parsed.options.models[0] + "`", [&] {
    return debug ? run_debugged(parsed.options) : run_model(parsed.options, nullptr);
  });
}
