#include "runtime/eager.h"

#include <ostream>

#include "compiler/diag/render.h"
#include "runtime/blas.h"
#include "runtime/check/fit.h"
#include "runtime/check/grad_check.h"
#include "runtime/check/objective.h"
#include "runtime/check/padding_check.h"
#include "runtime/debug/debug_backend.h"
#include "runtime/pass.h"
#include "runtime/show/recorder.h"
#include "runtime/show/report.h"
#include "runtime/show/watch.h"

namespace rcn {

struct EagerRun::State : Pass {
  EagerOptions options;
  const SourceMap& sources;
  DiagnosticSink& sink;
  std::ostream& out;
  std::ostream& log;  // what tells of the run
  Watch watch;
  Anew anew;
  std::optional<DebugBackend> debugged;  // around `backend`
  std::optional<Recorder> recorder;      // around both

  State(EagerOptions o, const SourceMap& s, DiagnosticSink& d, const DimTable& dims, const DimLengths& known,
        std::ostream& out_stream, std::ostream& err_stream)
      : Pass(o, d, dims, known),
        options(std::move(o)),
        sources(s),
        sink(d),
        out(out_stream),
        log(options.json ? err_stream : out_stream),
        watch(options, s, d, run.lengths, out, log) {
    backend.input_gradients = options.grad && options.json;
    watch.attach(backend, run);
    debug();
    if (!options.record.empty()) recorder.emplace(seen(), run.lengths);
  }

  void debug() {
    if (!options.debugger) return;
    options.debugger->attach(run);
    debugged.emplace(backend, *options.debugger, run);
    silence(backend.observer);
    silence(backend.starting);
    silence(backend.bound_observer);
    silence(backend.event_observer);
  }

  // Nobody looks at what the debugger's prompt computes.
  template <class... Args>
  void silence(std::function<void(Args...)>& observer) {
    if (!observer) return;
    observer = [debugger = options.debugger, inner = std::move(observer)](Args... args) {
      if (!debugger->busy()) inner(std::forward<Args>(args)...);
    };
  }

  // The outermost one.
  Backend& seen() {
    if (recorder) return *recorder;
    if (debugged) return *debugged;
    return backend;
  }

  bool prepare() {
    if (!options.fit) return true;
    std::optional<ParamValues> trained = fit(anew, options, sink, log);
    if (trained) params.give(std::move(*trained));
    return trained.has_value();
  }

  bool declare_inputs(const std::vector<ExternInput>& externs) {
    watch.begin();
    return inputs.declare(externs);
  }

  // After errors. 1: the exit code.
  int failed() {
    try {
      if (sink.has_errors()) watch.save_failed(render_text(sink, sources));
    } catch (const ArrayFileError& error) {
      sink.report(Diag::eager_file, Span{}, {error.what()});
    }
    return 1;
  }

  int finish() {
    if (sink.has_errors() || !params.check(sink)) return failed();
    watch.finish(backend.marks());
    if (sink.has_errors()) return failed();
    try {
      Objective objective = compute_objective(backend.marks(), params.all(), run.lengths, batch, options.grad,
                                              backend.float_inputs());
      watch.save(backend.marks());
      if (recorder) recorder->write(options.record, params.all());
      if (!options.save_params.empty()) params.save(options.save_params);
      if (options.json) {
        write_json_report(out, backend.marks(), objective, params.all(), watch.printed(), run.lengths, options.grad,
                          options.padding);
      } else {
        write_text_report(out, backend.marks(), objective, params.all(), run.lengths, sources, options.grad);
      }
      watch.write_summary(params.all());
      bool good = watch.check_gradients();
      return check() && good ? 0 : 1;
    } catch (const ArrayFileError& error) {
      sink.report(Diag::eager_file, Span{}, {error.what()});
    } catch (const c10::Error& error) {
      sink.report(Diag::eager_torch, Span{}, {"gradients", torch_reason(error)});
    }
    return 1;
  }

  // What runs the program again.
  bool check() {
    if (!options.check_padding && !options.grad_check) return true;
    Batch data = inputs.batch();
    ParamValues values = values_of(params);
    std::ostream* told = options.quiet ? nullptr : &log;
    bool good = true;
    if (options.check_padding)
      good = check_padding(anew, options, data, values, watch.recorded(), watch.noise(), sink, told);
    if (options.grad_check) good = check_gradients(anew, options, data, values, sink, told) && good;
    return good;
  }
};

EagerRun::EagerRun(EagerOptions options, const SourceMap& sources, DiagnosticSink& sink, const DimTable& dims,
                   const DimLengths& known, std::ostream& out, std::ostream& err) {
  if (options.threads) at::set_num_threads(*options.threads);
  state_ = std::make_unique<State>(std::move(options), sources, sink, dims, known, out, err);
  if (std::optional<std::string> file = slow_blas())
    sink.report(Diag::eager_slow_blas, Span{}, {*file}).help(Diag::help_text, {"install libopenblas0-openmp"});
}

EagerRun::~EagerRun() = default;

void EagerRun::set_anew(Anew anew) { state_->anew = std::move(anew); }
bool EagerRun::prepare() { return state_->prepare(); }
bool EagerRun::declare_inputs(const std::vector<ExternInput>& externs) { return state_->declare_inputs(externs); }
Backend& EagerRun::backend() { return state_->seen(); }
void EagerRun::failed() { state_->failed(); }
int EagerRun::finish() { return state_->finish(); }

}  // namespace rcn
