// What looks at the tensors of a run while they are made: the trace, what is printed and saved, checks, and the page.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/check/finite.h"
#include "runtime/check/padding_check.h"
#include "runtime/eager.h"
#include "runtime/memory.h"
#include "runtime/show/page.h"
#include "runtime/show/report.h"
#include "runtime/show/selector.h"
#include "runtime/show/summary.h"
#include "runtime/show/trace.h"

namespace rcn {

// Tensors that were shown under a name that was asked for, so that another name does not show them again.
class ShownOnce {
 public:
  bool has(const at::Tensor& x) const;
  void add(const at::Tensor& x);

 private:
  using Weak = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  std::unordered_map<const c10::TensorImpl*, Weak> shown_;
};

// The patterns of one option.
class Selection {
 public:
  Selection(std::string option, const std::string& patterns);  // `A,B`

  // May this tensor be shown? Notes which patterns fit something.
  template <class Thing>
  bool fits(const Thing& thing, const SourceMap& sources) {
    bool any = false;
    for (Pattern& p : patterns_)
      if (p.selector.fits(thing, sources)) any = p.used = true;
    return any;
  }
  bool fits_name(const std::string& name);
  // An error for each pattern that fits nothing; `names` are those that there are.
  void report_unused(DiagnosticSink& sink, const std::vector<std::string>& names) const;

  ShownOnce shown;

 private:
  struct Pattern {
    Selector selector;
    bool used = false;
  };
  std::string option_;
  std::vector<Pattern> patterns_;
};

class Watch {
 public:
  // Results go to `out`; what tells of the run to `log`.
  Watch(const EagerOptions& options, const SourceMap& sources, DiagnosticSink& sink, Lengths& lengths,
        std::ostream& out, std::ostream& log);

  // Nothing is added to a backend whose tensors nobody looks at.
  void attach(EagerBackend& backend, RunState& run);

  // The run begins, of which the peak of memory is told.
  void begin();
  // The run is over: shows what was marked, and reports patterns that fit nothing.
  void finish(const std::vector<MarkedTensor>& marks);
  // After the gradients; false after errors.
  bool check_gradients() const { return gradients_.check(sink_); }
  // After the results. Throws ArrayFileError.
  void save(const std::vector<MarkedTensor>& marks);
  // The page of a run that failed, with what was computed up to there. Throws ArrayFileError.
  void save_failed(const std::string& errors) const;
  void write_summary(const std::vector<LoadedParameter>& params);

  const std::vector<PrintedTensor>& printed() const { return printed_; }
  const Recorded& recorded() const { return recorded_; }
  const Noise& noise() const { return noise_; }

 private:
  struct SavedFile {
    std::string path;
    std::vector<Selection> selections;
    std::vector<SavedTensor> tensors;
    std::unordered_map<std::string, int> names;
  };
  void produced(const Produced& made);
  void bound(const Bound& bound);
  void happened(const Event& event);
  template <class Thing>
  bool wanted(std::vector<Selection>& selections, const Thing& thing, const at::Tensor& value, bool once) const;
  template <class Thing>
  void show(const Thing& thing, const at::Tensor& value, bool once);
  void print(const std::string& name, const Tensor& tensor);
  void add_save(const std::string& option);

  const EagerOptions& options_;
  const SourceMap& sources_;
  DiagnosticSink& sink_;
  Lengths& lengths_;
  std::ostream &out_, &log_;
  Trace trace_;
  std::optional<Selection> traced_;
  std::vector<Selection> prints_;
  std::vector<SavedFile> saves_;
  std::unordered_map<std::string, int> print_names_;
  std::vector<PrintedTensor> printed_;
  FiniteGradients gradients_;
  bool stopped_ = false;                   // by --check-finite
  std::unordered_set<std::string> names_;  // of all tensors and variables, where patterns were given
  std::optional<TensorMemory> memory_;
  Summary summary_;
  std::unique_ptr<Page> page_;
  Recorded recorded_;
  Noise noise_;
};

}  // namespace rcn
