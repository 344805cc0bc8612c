#include "runtime/eager.h"

#include <ostream>
#include <set>
#include <unordered_map>

#include "compiler/base/suggest.h"
#include "runtime/blas.h"
#include "runtime/debug_backend.h"
#include "runtime/eager_backend.h"
#include "runtime/objective.h"
#include "runtime/report.h"

namespace rcn {

struct EagerRun::State {
  EagerOptions options;
  DiagnosticSink& sink;
  Dim batch;
  std::ostream& out;
  Trace trace;
  RunState run;
  Inputs inputs;
  Params params;
  EagerBackend backend;
  std::optional<DebugBackend> debugged;  // around `backend`
  std::vector<PrintedTensor> printed;
  std::unordered_map<std::string, int> names;
  struct Glob {
    std::string option, pattern;
    bool used;
  };
  static constexpr std::size_t kShownNames = 12;
  std::vector<Glob> globs;     // of --print and --trace
  std::set<std::string> seen;  // the names of tensors, where globs were given

  State(EagerOptions o, const SourceMap& s, DiagnosticSink& d, const DimTable& dims, const DimLengths& known,
        std::ostream& out_stream, std::ostream& err_stream)
      : options(std::move(o)),
        sink(d),
        batch(dims.batch()),
        out(out_stream),
        trace(options.json ? err_stream : out_stream, s),
        run(dims.batch()),
        inputs({options.data, options.batch, options.time, options.seed, options.sample_rate, options.quiet},
               dims.batch(), known, run.lengths, d),
        params(options.seed, options.grad, options.quiet),
        backend(run, inputs, params, d, options.grad) {
    run.train = options.train;
    run.step = options.step;
    run.seed = options.seed;
    run.loop_frames = options.loop_frames;
    if (options.debugger) {
      options.debugger->attach(run);
      debugged.emplace(backend, *options.debugger, run);
    }
    for (const std::string& glob : options.print) globs.push_back({"--print", glob, false});
    if (options.trace) globs.push_back({"--trace", *options.trace, false});
    if (!globs.empty()) backend.observer = [this](const Produced& p) { observe(p); };
  }

  void observe(const Produced& p) {
    if (options.debugger && options.debugger->busy()) return;  // made by its prompt
    note_name(p.name);
    if (options.trace && glob_match(*options.trace, p.name)) trace.write(p, run.lengths);
    for (const std::string& glob : options.print) {
      if (!glob_match(glob, p.name)) continue;
      print(p.name, p.tensor);
      break;
    }
  }

  void print(const std::string& name, const Tensor& tensor) {
    int count = names[name]++;
    std::string shown = count == 0 ? name : name + "_" + std::to_string(count);
    if (options.json) {
      printed.push_back({shown, json_tensor(tensor, run.lengths, options.padding)});
    } else {
      write_printed(out, shown, tensor, run.lengths, options.padding);
    }
  }

  void note_name(const std::string& name) {
    seen.insert(name);
    for (Glob& g : globs) g.used = g.used || glob_match(g.pattern, name);
  }

  void check_globs() {
    for (const MarkedTensor& m : backend.marks())
      if (!globs.empty()) note_name(m.mark.name);
    for (const Glob& g : globs) {
      if (g.used) continue;
      auto report = sink.report(Diag::eager_glob_fits_nothing, Span{}, {g.option, g.pattern});
      std::vector<std::string> there(seen.begin(), seen.end());
      if (std::vector<std::string> near = nearest_names(g.pattern, there); !near.empty()) {
        report.help(Diag::help_did_you_mean, {quoted_list(near)});
        continue;
      }
      std::string text;
      for (std::size_t i = 0; i < there.size() && i < kShownNames; ++i) text += (i ? ", `" : "`") + there[i] + "`";
      report.help(Diag::help_text, {"the tensors are " + text + (there.size() > kShownNames ? ", ..." : "")});
    }
  }

  int finish() {
    if (sink.has_errors() || !params.check(sink)) return 1;
    check_globs();
    if (sink.has_errors()) return 1;
    for (const MarkedTensor& m : backend.marks())
      for (const std::string& glob : options.print)
        if (!names.contains(m.mark.name) && glob_match(glob, m.mark.name)) print(m.mark.name, m.tensor);
    try {
      Objective objective = compute_objective(backend.marks(), params.all(), run.lengths, batch, options.grad);
      if (!options.save.empty()) save_results(options.save, backend.marks(), run.lengths);
      if (!options.save_params.empty()) params.save(options.save_params);
      if (options.json) {
        write_json_report(out, backend.marks(), objective, params.all(), printed, run.lengths, options.grad,
                          options.padding);
      } else {
        write_text_report(out, backend.marks(), objective, params.all(), run.lengths, options.grad);
      }
    } catch (const ArrayFileError& error) {
      sink.report(Diag::eager_file, Span{}, {error.what()});
      return 1;
    } catch (const c10::Error& error) {
      sink.report(Diag::eager_torch, Span{}, {"gradients", torch_reason(error)});
      return 1;
    }
    return 0;
  }
};

EagerRun::EagerRun(EagerOptions options, const SourceMap& sources, DiagnosticSink& sink, const DimTable& dims,
                   const DimLengths& known, std::ostream& out, std::ostream& err) {
  if (options.threads) at::set_num_threads(*options.threads);
  state_ = std::make_unique<State>(std::move(options), sources, sink, dims, known, out, err);
  if (std::optional<std::string> file = slow_blas())
    sink.report(Diag::eager_slow_blas, Span{}, {*file}).help(Diag::help_text, {"install libopenblas0-openmp"});
  if (const EagerOptions& o = state_->options; !o.params.empty())
    state_->params.open({o.params, o.rename_map, o.params_partial}, sink);
}

EagerRun::~EagerRun() = default;

bool EagerRun::declare_inputs(const std::vector<ExternInput>& externs) { return state_->inputs.declare(externs); }
Backend& EagerRun::backend() {
  if (state_->debugged) return *state_->debugged;
  return state_->backend;
}
int EagerRun::finish() { return state_->finish(); }

}  // namespace rcn
