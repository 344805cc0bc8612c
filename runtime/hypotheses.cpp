#include "runtime/hypotheses.h"

#include <algorithm>

#include "runtime/show/view.h"

namespace rcn {

std::vector<Hypothesis> hypotheses(const Beam& beam) {
  std::vector<Hypothesis> result;
  for (std::int64_t b = 0; b < beam.source.size(0); ++b)
    for (std::int64_t k = 0; k < beam.source.size(1); ++k) {
      Hypothesis h{b, k, beam.scores[b][k].item<double>(), {}, beam.ended.defined() && beam.ended[b][k].item<bool>()};
      std::int64_t place = k;
      for (const Beam* at = &beam; at; at = at->parent.get()) {
        // Of a sequence that has ended, the choice is of no label.
        if (!at->ended.defined() || !at->ended[b][place].item<bool>())
          h.labels.push_back(at->labels[b][place].item<std::int64_t>());
        place = at->source[b][place].item<std::int64_t>();
      }
      std::reverse(h.labels.begin(), h.labels.end());
      result.push_back(std::move(h));
    }
  return result;
}

std::string to_string(const Hypothesis& h) {
  std::string labels;
  for (std::int64_t label : h.labels) labels += (labels.empty() ? "" : ", ") + std::to_string(label);
  return "hypothesis batch=" + std::to_string(h.sequence) + " beam=" + std::to_string(h.place) +
         " score=" + short_number(h.score) + " labels=[" + labels + "]" + (h.ended ? " ended" : "");
}

}  // namespace rcn
