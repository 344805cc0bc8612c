#include "runtime/check/fit.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "runtime/check/objective.h"
#include "runtime/show/columns.h"
#include "runtime/show/view.h"

namespace rcn {

namespace {

constexpr std::int64_t kShown = 10;  // lines about the loss, and the first
constexpr double kLeastFall = 1e-4;  // of the objective's size

// Of the last steps: with dropout each loss is another one.
class LastMean {
 public:
  explicit LastMean(std::int64_t steps) : count_(std::max<std::int64_t>(1, steps / 10)) {}
  void add(double value) {
    values_.push_back(value);
    if (values_.size() > static_cast<std::size_t>(count_)) values_.erase(values_.begin());
  }
  double value() const {
    double sum = 0;
    for (double v : values_) sum += v;
    return sum / static_cast<double>(values_.size());
  }

 private:
  std::int64_t count_;
  std::vector<double> values_;
};

void write_step(std::ostream& out, std::int64_t step, std::int64_t steps, const Objective& objective) {
  std::string number = std::to_string(step);
  number.insert(0, std::to_string(steps).size() - number.size(), ' ');
  std::vector<std::pair<std::string, std::size_t>> cells{
      {"fit", 0}, {"step " + number, 0}, {"objective " + short_number(objective.total), 20}};
  for (const Score& s : objective.losses) cells.emplace_back(s.mark.name + " " + short_number(s.mean), 16);
  out << columns(cells) << std::endl;
}

}  // namespace

void Adam::step(ParamValues& values, const std::vector<Gradient>& gradients) {
  constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;
  ++steps_;
  auto t = static_cast<double>(steps_);
  double rate = rate_ * std::sqrt(1 - std::pow(kBeta2, t)) / (1 - std::pow(kBeta1, t));
  double epsilon = kEpsilon * std::sqrt(1 - std::pow(kBeta2, t));  // as if the second moment was corrected before
  for (const Gradient& g : gradients) {
    if (!g.value.defined()) continue;
    Moments& m = moments_[g.name];
    if (!m.first.defined()) m = {at::zeros_like(g.value), at::zeros_like(g.value)};
    m.first = m.first * kBeta1 + g.value * (1 - kBeta1);
    m.second = m.second * kBeta2 + g.value * g.value * (1 - kBeta2);
    values.at(g.name) = values.at(g.name) - m.first / (m.second.sqrt() + epsilon) * rate;
  }
}

std::optional<ParamValues> fit(const Anew& anew, const EagerOptions& options, DiagnosticSink& sink, std::ostream& out) {
  const std::int64_t steps = *options.fit;
  Adam adam(options.learning_rate);
  Batch batch;
  ParamValues values;
  LastMean last(steps);
  double first = 0;
  Span loss;
  bool good = true;
  for (std::int64_t step = 0; step <= steps && good; ++step) {
    Changes changes{step > 0 ? &batch : nullptr, step > 0 ? &values : nullptr, step < steps, step};
    good = run_pass(anew, options, changes, "in step " + std::to_string(step) + " of --fit", sink, {},
                    [&](Pass& pass) {
                      at::NoGradGuard no_grad;
                      Objective objective = compute_objective(pass.backend.marks(), pass.params.all(), pass.run.lengths,
                                                              pass.batch, step < steps);
                      if (objective.losses.empty()) {
                        sink.report(Diag::eager_no_loss, Span{}, {"--fit"});
                        good = false;
                        return;
                      }
                      // the first loss, or the first that is not finite
                      auto odd = std::find_if(objective.losses.begin(), objective.losses.end(), [](const Score& s) { return !std::isfinite(s.sum); });
                      loss = (odd == objective.losses.end() ? objective.losses.front() : *odd).mark.span;
                      if (step == 0) batch = pass.inputs.batch();
                      if (step == 0) first = objective.total;
                      last.add(objective.total);
                      if (step == steps || step % std::max<std::int64_t>(1, steps / kShown) == 0 ||
                          !std::isfinite(objective.total))
                        write_step(out, step, steps, objective);
                      if (!std::isfinite(objective.total)) {
                        sink.report(Diag::eager_fit_not_finite, loss,
                                    {short_number(objective.total), std::to_string(step)})
                            .help(Diag::help_text, {"`--check-finite` names the operation that makes it"});
                        good = false;
                        return;
                      }
                      if (step == steps) return;
                      values = values_of(pass.params);
                      adam.step(values, objective.gradients);
                      for (const LoadedParameter& p : pass.params.all())
                        if (p.next.defined()) values[p.parameter.path] = p.next;
                    }) &&
           good;
  }
  if (!good) return std::nullopt;
  if (!(last.value() < first - kLeastFall * std::abs(first))) {
    sink.report(Diag::eager_fit_stays, loss,
                {short_number(first), short_number(last.value()), std::to_string(steps),
                 short_number(options.learning_rate)})
        .help(Diag::help_text, {"`--grad` shows parameters without gradients; `--lr` is the step size of Adam"});
    return std::nullopt;
  }
  out << "fit  the objective falls from " << short_number(first) << " to " << short_number(last.value()) << '\n';
  return values;
}

}  // namespace rcn
