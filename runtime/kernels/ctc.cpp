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
  bool label_loop;  // whether labels may last longer than a frame

  std::int64_t states() const { return 2 * count + 1; }
  std::int64_t label(std::int64_t s) const { return s % 2 == 0 ? blank : labels[s / 2]; }
  double at(std::int64_t t, std::int64_t s) const { return log_p[t * classes + label(s)]; }
  bool stays(std::int64_t s) const { return label_loop || s % 2 == 0; }
  // From state s - 2 directly to s: over a blank between two labels, which have to differ where they may last.
  bool skips(std::int64_t s) const { return s >= 2 && s % 2 == 1 && (!label_loop || label(s) != label(s - 2)); }
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
        if (q.stays(s)) score = alpha(t - 1, s);
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
      double score = q.stays(s) ? beta(t + 1, s) + q.at(t + 1, s) : kNever;
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

// Score of the best alignment; calls visit(frame, label) for its frames, from the last on.
template <class Visit>
double best_path(const Sequence& q, Visit visit) {
  Grid alpha = forward(q, [](double a, double b) { return a > b ? a : b; });
  std::int64_t s = q.states() - 1;
  if (s > 0 && alpha(q.frames - 1, s - 1) > alpha(q.frames - 1, s)) --s;
  double total = alpha(q.frames - 1, s);
  if (total == kNever) return total;
  for (std::int64_t t = q.frames - 1; t >= 0; --t) {
    visit(t, q.label(s));
    if (t == 0) break;
    std::int64_t from = s;
    double best = q.stays(s) ? alpha(t - 1, s) : kNever;
    for (std::int64_t back : {1, 2}) {
      if (back == 1 ? s < 1 : !q.skips(s)) continue;
      if (alpha(t - 1, s - back) <= best) continue;
      best = alpha(t - 1, s - back);
      from = s - back;
    }
    s = from;
  }
  return total;
}

// Of one batch, as functions of ctc.h take it.
struct Batch {
  at::Tensor log_p;  // double
  const at::Tensor &targets, &input_lengths, &target_lengths;
  std::int64_t blank;
  bool label_loop;

  std::int64_t size() const { return log_p.size(0); }
  Sequence sequence(std::int64_t b) const {
    std::int64_t frames = log_p.size(1), classes = log_p.size(2);
    return {log_p.data_ptr<double>() + b * frames * classes, classes, input_lengths.data_ptr<std::int64_t>()[b],
            targets.data_ptr<std::int64_t>() + b * targets.size(1), target_lengths.data_ptr<std::int64_t>()[b], blank, label_loop};
  }
};

struct Ctc : torch::autograd::Function<Ctc> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& logits, const at::Tensor& targets,
                            const at::Tensor& input_lengths, const at::Tensor& target_lengths, std::int64_t blank,
                            bool max_approx, bool with_grad) {
    Batch batch{logits.to(at::kDouble).log_softmax(-1).contiguous(), targets, input_lengths, target_lengths, blank, true};
    std::int64_t frames = logits.size(1), classes = logits.size(2);
    at::Tensor loss = at::zeros({batch.size()}, batch.log_p.options());
    at::Tensor grad = with_grad ? at::zeros_like(batch.log_p) : at::Tensor();
    for (std::int64_t b = 0; b < batch.size(); ++b) {
      Sequence q = batch.sequence(b);
      if (q.frames == 0) continue;
      double* own = with_grad ? grad.data_ptr<double>() + b * frames * classes : nullptr;
      auto visit = [&](std::int64_t t, std::int64_t label) {
        if (own) own[t * classes + label] -= 1.0;
      };
      double score = max_approx ? best_path(q, visit) : full_sum(q, own);
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

std::pair<at::Tensor, at::Tensor> best_alignment(const at::Tensor& log_p, const at::Tensor& targets, const at::Tensor& input_lengths,
                                                 const at::Tensor& target_lengths, std::int64_t blank, bool label_loop) {
  Batch batch{log_p.detach().to(at::kDouble).contiguous(), targets, input_lengths, target_lengths, blank, label_loop};
  std::int64_t frames = log_p.size(1);
  at::Tensor labels = at::zeros({batch.size(), frames}, targets.options());
  at::Tensor scores = at::full({batch.size()}, kNever, batch.log_p.options());
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    Sequence q = batch.sequence(b);
    if (q.frames == 0) continue;
    std::int64_t* own = labels.data_ptr<std::int64_t>() + b * frames;
    scores.data_ptr<double>()[b] = best_path(q, [&](std::int64_t t, std::int64_t label) { own[t] = label; });
  }
  return {labels, scores.to(log_p.scalar_type())};
}

at::Tensor soft_alignment(const at::Tensor& log_p, const at::Tensor& targets, const at::Tensor& input_lengths,
                          const at::Tensor& target_lengths, std::int64_t blank, bool label_loop) {
  Batch batch{log_p.detach().to(at::kDouble).contiguous(), targets, input_lengths, target_lengths, blank, label_loop};
  at::Tensor occupation = at::zeros_like(batch.log_p);
  for (std::int64_t b = 0; b < batch.size(); ++b) {
    Sequence q = batch.sequence(b);
    if (q.frames > 0) full_sum(q, occupation.data_ptr<double>() + b * log_p.size(1) * q.classes);
  }
  return occupation.neg().to(log_p.scalar_type());
}

}  // namespace rcn
