// rcnc-eager: what `rcnc --eager` replaces itself with. The same command line, front end and evaluator as rcnc; the
// backend computes tensors.
#include <iostream>

#include "compiler/driver/driver.h"
#include "runtime/eager.h"

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
  Evaluation evaluation{sink, session.dims, session.lengths, [&](Backend& backend, auto declare_inputs) {
                          return run(session, backend, std::move(declare_inputs)).ok;
                        }};
  use(evaluation);
}

int run_model(const Options& options) {
  Messages messages;
  Session session(options, messages);
  int result = static_cast<int>(ExitCode::model_error);
  if (load(session, options.models[0])) {
    EagerRun eager(eager_options(options), session.sources, session.diagnostics, session.dims, session.lengths,
                   std::cout, std::cerr);
    eager.set_anew([&](const std::function<void(Evaluation&)>& use) { evaluate_anew(session, use); });
    if (eager.prepare()) {
      EvalResult evaluated = run(session, eager.backend(), [&](const std::vector<ExternInput>& inputs) { return eager.declare_inputs(inputs); });
      if (evaluated.ok) result = eager.finish();
    }
  }
  std::cout.flush();
  print_diagnostics(messages, options);
  if (!std::cout) {
    std::cerr << "rcnc: error: cannot write standard output\n";
    return static_cast<int>(ExitCode::model_error);
  }
  return messages.diagnostics.has_errors() ? static_cast<int>(ExitCode::model_error) : result;
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
  return guarded("`" + parsed.options.models[0] + "`", [&] { return run_model(parsed.options); });
}
