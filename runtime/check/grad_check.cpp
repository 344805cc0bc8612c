#include "runtime/check/grad_check.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "runtime/check/objective.h"
#include "runtime/random.h"
#include "runtime/show/columns.h"
#include "runtime/show/view.h"

namespace rcn {

namespace {

constexpr std::int64_t kEntries = 4;  // of a parameter
// Half the distance of the two points, relative to the entry. Where a function has a kink nearby (relu), only the
// smaller one may be right.
constexpr double kSteps[] = {1e-5, 1e-8};
constexpr double kTolerance = 1e-4;
// Differences of the objective have about this error, relative to its size.
constexpr double kRounding = 1e-14;

struct Checked {
  std::string name;
  Span span;
  std::vector<std::string> dims;  // as shown
  at::Tensor gradient;
};

std::vector<std::int64_t> sample(const at::Tensor& gradient, const std::string& name, std::uint64_t seed) {
  std::int64_t count = gradient.numel();
  std::vector<std::int64_t> entries;
  if (count == 0) return entries;
  entries.push_back(gradient.abs().argmax().item<std::int64_t>());
  Random random(seed, "grad-check/" + name);
  while (static_cast<std::int64_t>(entries.size()) < std::min(kEntries, count)) {
    std::int64_t next = random.below(count);
    while (std::find(entries.begin(), entries.end(), next) != entries.end()) next = (next + 1) % count;
    entries.push_back(next);
  }
  return entries;
}

// `in=1, out=0` for an entry of a flat tensor.
std::string index_text(std::int64_t entry, const at::Tensor& x, const std::vector<std::string>& dims) {
  std::string text;
  for (std::size_t i = dims.size(); i-- > 0;) {
    std::int64_t size = x.size(static_cast<std::int64_t>(i));
    text = dims[i] + "=" + std::to_string(entry % size) + (text.empty() ? "" : ", ") + text;
    entry /= size;
  }
  return text.empty() ? "" : " at " + text;
}

}  // namespace

bool check_gradients(const Anew& anew, const EagerOptions& options, const Batch& batch, const ParamValues& params,
                     DiagnosticSink& sink, std::ostream* out) {
  DoublePrecision precise;
  ParamValues values;
  for (const auto& [name, value] : params)
    values[name] = at::isFloatingType(value.scalar_type()) ? value.to(at::kDouble) : value;
  const std::string what = "in float64, for --grad-check";

  std::vector<Checked> checked;
  double objective = 0;
  bool any_loss = true;
  bool good = run_pass(anew, options, {&batch, &values, true}, what, sink, {}, [&](Pass& pass) {
    Objective o = compute_objective(pass.backend.marks(), pass.params.all(), pass.run.lengths, pass.batch, true);
    objective = o.total;
    any_loss = !o.losses.empty();
    for (const Gradient& g : o.gradients) {
      const auto& all = pass.params.all();
      auto p =
          std::find_if(all.begin(), all.end(), [&](const LoadedParameter& q) { return q.parameter.path == g.name; });
      at::Tensor gradient = g.value.defined() ? g.value : at::zeros_like(g.parameter);
      checked.push_back({g.name, p->parameter.span, shown_names(p->parameter.type.dims),
                         gradient.detach().to(at::kDouble).contiguous()});
    }
  });
  if (!good) return false;
  if (!any_loss) {
    sink.report(Diag::eager_no_loss, Span{}, {"--grad-check"});
    return false;
  }

  // The objective with an entry of a parameter moved by `step`.
  auto moved = [&](const std::string& name, std::int64_t entry, double step) {
    ParamValues other = values;
    at::Tensor value = other.at(name).contiguous().clone();
    value.view({-1})[entry] += step;
    other[name] = value;
    double result = 0;
    good = run_pass(anew, options, {&batch, &other, false}, what, sink, {}, [&](Pass& pass) {
      result = compute_objective(pass.backend.marks(), pass.params.all(), pass.run.lengths, pass.batch, false).total;
    });
    return result;
  };

  std::size_t longest = 0;
  for (const Checked& c : checked) longest = std::max(longest, c.name.size());
  bool all_agree = true;
  for (const Checked& c : checked) {
    std::vector<std::int64_t> entries = sample(c.gradient, c.name, options.seed);
    double worst = 0;
    bool reported = false;
    for (std::int64_t entry : entries) {
      double gradient = c.gradient.view({-1})[entry].item<double>(), found = 0, error = 0;
      double size = std::max(1.0, std::abs(values.at(c.name).contiguous().view({-1})[entry].item<double>()));
      bool agrees = false;
      for (double relative : kSteps) {
        double step = relative * size;
        double difference = (moved(c.name, entry, step) - moved(c.name, entry, -step)) / (2 * step);
        if (!good) return false;
        double other = std::abs(difference - gradient);
        double rounding = kRounding * std::abs(objective) / step;
        bool close = other <= kTolerance * std::max(std::abs(gradient), std::abs(difference)) + 10 * rounding + 1e-9;
        if (relative == kSteps[0] || close) {
          found = difference;
          error = other;
        }
        agrees = close;
        if (agrees) break;
      }
      worst = std::max(worst, error);
      if (agrees || reported) continue;
      reported = true;  // one error for each parameter
      sink.report(Diag::eager_gradient_differs, c.span,
                  {c.name, short_number(gradient), index_text(entry, c.gradient, c.dims), short_number(found)});
    }
    all_agree = all_agree && !reported;
    if (!out) continue;
    *out << columns({{"grad-check", 0},
                     {c.name, longest},
                     {std::to_string(entries.size()) + " of " + std::to_string(c.gradient.numel()) +
                          (c.gradient.numel() == 1 ? " entry" : " entries"),
                      0},
                     {reported ? "differs" : "agrees", 0},
                     {"largest difference " + short_number(worst), 0}})
         << std::endl;
  }
  return all_agree;
}

}  // namespace rcn
