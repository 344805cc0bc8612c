#include "runtime/kernels/ctc.h"

#include <cmath>
#include <limits>
#include <vector>

namespace rcn {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
  if (a == kNever) return b;
  if (b == kNever) return a;
  return a > b ? a + std::log1p(std::exp(b - a)) : b + std::log1p(std::exp(a - b));
}

// One sequence: log probabilities [frames, classes] and its labels.
struct Sequence {
  const double* log_p;
  std::int64_t classes;
  std::int64_t frames;
  const std::int64_t* labels;
  std::int64_t count;
  std::int64_t blank;

  std::int64_t states() const { return 2 * count + 1; }
  std::int64_t label(std::int64_t s) const { return s % 2 == 0 ? blank : labels[s / 2]; }
  double at(std::int64_t t, std::int64_t s) const { return log_p[t * classes + label(s)]; }
  // From state s - 2 directly to s: over a blank between two different labels.
  bool skips(std::int64_t s) const { return s >= 2 && s % 2 == 1 && label(s) != label(s - 2); }
};

struct Grid {
  std::vector<double> values;
  std::int64_t width;
  Grid(std::int64_t rows, std::int64_t columns)
      : values(static_cast<std::size_t>(rows * columns), kNever), width(columns) {}
  double& operator()(std::int64_t t, std::int64_t s) { return values[static_cast<std::size_t>(t * width + s)]; }
};

// Log score of all (or the best of the) ways to come to state s at frame t, that frame included.
template <class Join>
Grid forward(const Sequence& q, Join join) {
  Grid alpha(q.frames, q.states());
  for (std::int64_t t = 0; t < q.frames; ++t) {
    for (std::int64_t s = 0; s < q.states(); ++s) {
      double score = kNever;
      if (t == 0) {
        score = s <= 1 ? 0.0 : kNever;
      } else {
        score = alpha(t - 1, s);
        if (s >= 1) score = join(score, alpha(t - 1, s - 1));
        if (q.skips(s)) score = join(score, alpha(t - 1, s - 2));
      }
      alpha(t, s) = score + q.at(t, s);
    }
  }
  return alpha;
}

// Log score of going on from state s at frame t, that frame not included.
Grid backward(const Sequence& q) {
  Grid beta(q.frames, q.states());
  std::int64_t last = q.states() - 1;
  for (std::int64_t t = q.frames - 1; t >= 0; --t) {
    for (std::int64_t s = 0; s <= last; ++s) {
      if (t == q.frames - 1) {
        beta(t, s) = s >= last - 1 ? 0.0 : kNever;
        continue;
      }
      double score = beta(t + 1, s) + q.at(t + 1, s);
      if (s + 1 <= last) score = log_add(score, beta(t + 1, s + 1) + q.at(t + 1, s + 1));
      if (s + 2 <= last && q.skips(s + 2)) score = log_add(score, beta(t + 1, s + 2) + q.at(t + 1, s + 2));
      beta(t, s) = score;
    }
  }
  return beta;
}

// Score of `q`; with `grad` [frames, classes], zero so far, also minus the occupation of each class at each frame.
double full_sum(const Sequence& q, double* grad) {
  Grid alpha = forward(q, log_add);
  std::int64_t last = q.states() - 1;
  double total = alpha(q.frames - 1, last);
  if (last > 0) total = log_add(total, alpha(q.frames - 1, last - 1));
  if (!grad || total == kNever) return total;
  Grid beta = backward(q);
  for (std::int64_t t = 0; t < q.frames; ++t)
    for (std::int64_t s = 0; s <= last; ++s)
      grad[t * q.classes + q.label(s)] -= std::exp(alpha(t, s) + beta(t, s) - total);
  return total;
}

double best_path(const Sequence& q, double* grad) {
  Grid alpha = forward(q, [](double a, double b) { return a > b ? a : b; });
  std::int64_t s = q.states() - 1;
  if (s > 0 && alpha(q.frames - 1, s - 1) > alpha(q.frames - 1, s)) --s;
  double total = alpha(q.frames - 1, s);
  if (!grad || total == kNever) return total;
  for (std::int64_t t = q.frames - 1; t >= 0; --t) {
    grad[t * q.classes + q.label(s)] -= 1.0;
    if (t == 0) break;
    std::int64_t from = s;
    if (s >= 1 && alpha(t - 1, s - 1) > alpha(t - 1, from)) from = s - 1;
    if (q.skips(s) && alpha(t - 1, s - 2) > alpha(t - 1, from)) from = s - 2;
    s = from;
  }
  return total;
}

struct Ctc : torch::autograd::Function<Ctc> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& logits, const at::Tensor& targets,
                            const at::Tensor& input_lengths, const at::Tensor& target_lengths, std::int64_t blank,
                            bool max_approx, bool with_grad) {
    std::int64_t n = logits.size(0), frames = logits.size(1), classes = logits.size(2);
    at::Tensor log_p = logits.to(at::kDouble).log_softmax(-1).contiguous();
    at::Tensor loss = at::zeros({n}, log_p.options());
    at::Tensor grad = with_grad ? at::zeros_like(log_p) : at::Tensor();
    for (std::int64_t b = 0; b < n; ++b) {
      Sequence q{
          log_p.data_ptr<double>() + b * frames * classes, classes,
          input_lengths.data_ptr<std::int64_t>()[b],       targets.data_ptr<std::int64_t>() + b * targets.size(1),
          target_lengths.data_ptr<std::int64_t>()[b],      blank};
      if (q.frames == 0) continue;
      double* own = with_grad ? grad.data_ptr<double>() + b * frames * classes : nullptr;
      double score = max_approx ? best_path(q, own) : full_sum(q, own);
      if (score == kNever) continue;
      loss.data_ptr<double>()[b] = -score;
      if (!own) continue;
      for (std::int64_t i = 0; i < q.frames * classes; ++i) own[i] += std::exp(q.log_p[i]);
    }
    if (with_grad) ctx->save_for_backward({grad.to(logits.scalar_type())});
    return loss.to(logits.scalar_type());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    at::Tensor by_sequence = grads[0].reshape({-1, 1, 1});
    at::Tensor none;
    return {ctx->get_saved_variables()[0] * by_sequence, none, none, none, none, none, none};
  }
};

}  // namespace

at::Tensor ctc_loss(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& input_lengths,
                    const at::Tensor& target_lengths, std::int64_t blank, bool max_approx) {
  bool with_grad = logits.requires_grad() && at::GradMode::is_enabled();
  return Ctc::apply(logits, targets, input_lengths, target_lengths, blank, max_approx, with_grad);
}

}  // namespace rcn
