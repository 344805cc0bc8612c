// What the beam of a search holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/beam.h"

namespace rcn {

struct Hypothesis {
  std::int64_t sequence = 0;  // of the batch
  std::int64_t place = 0;     // in the beam; the best first
  double score = 0;
  std::vector<std::int64_t> labels;  // of all choices so far, until its end
  bool ended = false;
};

// Of all sequences of the batch.
std::vector<Hypothesis> hypotheses(const Beam& beam);

// `hypothesis batch=0 beam=1 score=-2.5 labels=[3, 1] ended`.
std::string to_string(const Hypothesis& hypothesis);

}  // namespace rcn
