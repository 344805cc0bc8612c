#include "runtime/pass.h"

#include "runtime/debug/debug_backend.h"

namespace rcn {

Pass::Pass(const EagerOptions& options, DiagnosticSink& sink, const DimTable& dims, const DimLengths& known,
           const Changes& changes)
    : batch(dims.batch()),
      grad(changes.grad.value_or(options.grad)),
      run(dims.batch()),
      inputs(
          {options.data, options.batch, options.time, options.seed, options.sample_rate, options.quiet, changes.batch},
          dims.batch(), known, run.lengths, sink),
      params(options.seed, grad, options.quiet),
      backend(run, inputs, params, sink, grad) {
  run.train = options.train;
  run.step = options.step + changes.steps;
  run.seed = options.seed + static_cast<std::uint64_t>(changes.steps);
  run.loop_frames = options.loop_frames;
  if (changes.params) {
    params.give(*changes.params);
  } else if (!options.params.empty()) {
    params.open({options.params, options.rename_map, options.params_partial}, sink);
  }
}

ParamValues values_of(const Params& params) {
  ParamValues values;
  for (const LoadedParameter& p : params.all()) values[p.parameter.path] = eager(p.tensor).value.detach();
  return values;
}

namespace {

// A pass that failed once more, for the debugger to stop at its error.
void stop_at_error(const Anew& anew, const EagerOptions& options, const Changes& changes,
                   const std::function<void(Pass&)>& before) {
  anew([&](Evaluation& evaluation) {
    Pass pass(options, evaluation.sink, evaluation.dims, evaluation.known, changes);
    if (before) before(pass);
    options.debugger->start_again(evaluation.sink);
    options.debugger->attach(pass.run);
    DebugBackend debugged(pass.backend, *options.debugger, pass.run);
    evaluation.evaluate(
        debugged, [&](const std::vector<ExternInput>& externs) { return pass.declare(externs); }, options.debugger);
  });
}

}  // namespace

bool run_pass(const Anew& anew, const EagerOptions& options, const Changes& changes, const std::string& what,
              DiagnosticSink& sink, const std::function<void(Pass&)>& before, const std::function<void(Pass&)>& after) {
  if (options.debugger && options.debugger->end() != EagerDebugger::End::finished) return false;
  bool good = false;
  anew([&](Evaluation& evaluation) {
    Pass pass(options, evaluation.sink, evaluation.dims, evaluation.known, changes);
    if (before) before(pass);
    good = evaluation.evaluate(pass.backend,
                               [&](const std::vector<ExternInput>& externs) { return pass.declare(externs); }, nullptr) &&
           (changes.params || pass.params.check(evaluation.sink)) && !evaluation.sink.has_errors();
    if (good) {
      try {
        after(pass);
      } catch (const c10::Error& error) {
        evaluation.sink.report(Diag::eager_torch, Span{}, {"gradients", torch_reason(error)});
        good = false;
      }
    }
    if (good) return;
    for (const Diagnostic& d : evaluation.sink.items())
      if (diag_info(d.kind).severity == Severity::error) sink.add(d).note(Diag::note_more, Span{}, {what});
  });
  if (!good && options.debugger) stop_at_error(anew, options, changes, before);
  return good;
}

}  // namespace rcn
