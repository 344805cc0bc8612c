// `--check-padding`: no valid frame may depend on what lies behind the ends of sequences, or on the other sequences of
// the batch.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/pass.h"

namespace rcn {

// All tensors of a run, as they were made, and what of another run differs from them.
class Recorded {
 public:
  void add(const Produced& made, Lengths& lengths);

  // A tensor of the run that differs in a valid frame from the one of another run.
  struct Difference {
    std::string name;
    Span span;
    std::string what;  // `at batch=1, time=3: 0.5, was 0.25`
  };
  // Follows another run of the same program, tensor by tensor.
  class Comparison {
   public:
    // `only`: the other run has this sequence of the batch alone. Tensors without a batch may differ then.
    Comparison(const Recorded& recorded, std::optional<std::int64_t> only) : recorded_(recorded), only_(only) {}
    void add(const Produced& made, Lengths& lengths);
    const std::optional<Difference>& first() const { return first_; }
    std::size_t compared() const { return compared_; }

   private:
    const Recorded& recorded_;
    std::optional<std::int64_t> only_;
    std::map<std::string, std::size_t> counts_;
    std::optional<Difference> first_;
    std::size_t compared_ = 0;
  };

 private:
  struct Ends {
    at::Tensor lengths;       // of a dim; undefined for static dims and batch
    std::int64_t batch = -1;  // index of the batch's axis
  };
  struct Entry {
    at::Tensor value;         // axes in the order of the type
    at::Tensor valid;         // bool, of the same shape
    std::int64_t batch = -1;  // index of its axis
    std::vector<Ends> ends;   // of its axes
  };
  static Entry entry(const Produced& made, Lengths& lengths);
  static bool comparable(const Entry& was, const Entry& is);
  // What differs where both have valid frames; empty: nothing. `only` as in a comparison: lengths that belong to no
  // sequence may differ then.
  static std::string difference(Entry was, const Entry& is, const Axes& axes, std::optional<std::int64_t> only);

  std::map<std::string, std::vector<Entry>> entries_;  // by name, in the order of making
};

// The numbers that the random operations of a run drew, so that another run gets the same for its sequences.
class Noise {
 public:
  void record(RunState& run);
  void replay(RunState& run, std::optional<std::int64_t> only) const;

 private:
  std::map<std::string, Named> drawn_;
};

// Runs again with NaN and with 1000 in the padding, and each sequence alone. Errors name the operation where a run
// first differs. What was compared is said on `out`, if given.
bool check_padding(const Anew& anew, const EagerOptions& options, const Batch& batch, const ParamValues& params,
                   const Recorded& recorded, const Noise& noise, DiagnosticSink& sink, std::ostream* out);

}  // namespace rcn
