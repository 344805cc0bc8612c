// Losses against their definitions.
#include <cmath>

#include "tests/unit/runtime/bench.h"

namespace rcn::test {

namespace {

using Rows = std::vector<std::vector<double>>;  // [frame][class], log probabilities

Rows log_softmax(const Rows& logits) {
  Rows result = logits;
  for (auto& row : result) {
    double sum = 0;
    for (double v : row) sum += std::exp(v);
    for (double& v : row) v -= std::log(sum);
  }
  return result;
}

std::vector<int> collapsed(const std::vector<int>& path, int blank) {
  std::vector<int> labels;
  for (std::size_t t = 0; t < path.size(); ++t)
    if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) labels.push_back(path[t]);
  return labels;
}

// Over all paths, by trying each.
double naive_ctc(const Rows& logits, const std::vector<int>& labels, int blank, bool best) {
  Rows log_p = log_softmax(logits);
  auto classes = static_cast<int>(logits.at(0).size());
  std::vector<int> path(logits.size(), 0);
  double total = 0, highest = -std::numeric_limits<double>::infinity();
  for (;;) {
    if (collapsed(path, blank) == labels) {
      double score = 0;
      for (std::size_t t = 0; t < path.size(); ++t) score += log_p[t][static_cast<std::size_t>(path[t])];
      total += std::exp(score);
      highest = std::max(highest, score);
    }
    std::size_t t = 0;
    while (t < path.size() && ++path[t] == classes) path[t++] = 0;
    if (t == path.size()) break;
  }
  return best ? -highest : -std::log(total);
}

struct CtcCase {
  Tensor result;
  Rows first, second;
};

CtcCase run_ctc(Bench& b, bool max_approx, const std::vector<double>& shift = {}) {
  Dim time = b.spatial("time", {4, 3, 1, 0}), labels = b.spatial("labels", {2, 0, 2, 1}), f = b.feature("f", 3),
      vocabulary = b.feature("v", 2);
  Axes axes{b.batch, time, f};
  std::vector<double> values = b.noise(axes, "ctc");
  for (std::size_t i = 0; i < shift.size(); ++i) values[i] += shift[i];
  Tensor logits = b.leaf(axes, values),
         targets = b.make({b.batch, labels}, {1, 1, 7, 7, 0, 1, 0, 7}, DType::int32, vocabulary);
  CtcCase c;
  c.result = b.call1("ctc_loss", {logits, targets},
                     {{"axis", f},
                      {"in_spatial_dim", time},
                      {"targets_spatial_dim", labels},
                      {"blank_index", 2},
                      {"max_approx", max_approx}},
                     type({b.batch}, DType::float64));
  for (std::size_t t = 0; t < 4; ++t) c.first.push_back({values[t * 3], values[t * 3 + 1], values[t * 3 + 2]});
  for (std::size_t t = 0; t < 3; ++t)
    c.second.push_back({values[12 + t * 3], values[12 + t * 3 + 1], values[12 + t * 3 + 2]});
  return c;
}

}  // namespace

TEST_CASE("ctc_loss: all alignments, no labels, no alignment, no frames") {
  for (const Layout& layout : kLayouts)
    for (bool max_approx : {false, true}) {
      CAPTURE(layout.poison);
      Bench b(4, layout);
      CtcCase c = run_ctc(b, max_approx);
      check_close(b.values(c.result),
                  {naive_ctc(c.first, {1, 1}, 2, max_approx), naive_ctc(c.second, {}, 2, max_approx), 0, 0}, 1e-9);
    }
}

TEST_CASE("ctc_loss: gradients are those of finite differences") {
  for (const Layout& layout : kLayouts)
    for (bool max_approx : {false, true}) {
      Bench b(4, layout);
      CtcCase c = run_ctc(b, max_approx);
      std::vector<double> actual = b.gradients({c.result}), expected(48, 0.0);
      double eps = 1e-5, weights[2] = {std::cos(1.0), std::cos(2.0)};
      for (std::size_t i = 0; i < 21; ++i) {
        auto loss = [&](double delta) {
          Rows first = c.first, second = c.second;
          (i < 12 ? first[i / 3][i % 3] : second[(i - 12) / 3][i % 3]) += delta;
          return weights[0] * naive_ctc(first, {1, 1}, 2, max_approx) +
                 weights[1] * naive_ctc(second, {}, 2, max_approx);
        };
        expected[i] = (loss(eps) - loss(-eps)) / (2 * eps);
      }
      check_close(actual, expected, 1e-6);
    }
}

TEST_CASE("sparse_softmax_cross_entropy") {
  for (const Layout& layout : kLayouts) {
    Bench b(2, layout);
    Dim time = b.spatial("time", {2, 1}), f = b.feature("f", 2);
    Tensor logits = b.make({b.batch, time, f}, {0, 0, 1, 3, 2, 0, 0, 0}),
           targets = b.make({b.batch, time}, {0, 1, 0, 99}, DType::int32, f);
    Tensor loss = b.call1("sparse_softmax_cross_entropy", {logits, targets}, {{"axis", f}}, type({b.batch, time}));
    check_close(b.values(loss), {std::log(2.0), std::log1p(std::exp(-2.0)), std::log1p(std::exp(-2.0)), 0});
    Tensor wrong = b.make({b.batch, time}, {0, 2, 0, 0}, DType::int32, f);
    CHECK_THROWS_AS(b.call1("sparse_softmax_cross_entropy", {logits, wrong}, {{"axis", f}}, type({b.batch, time})),
                    EvalError);
    CHECK(b.error() == "index 2 at batch=0, time=1 is out of range: `f` has size 2");
  }
}

TEST_CASE("edit_distance") {
  for (bool reversed : {false, true}) {
    Bench b(3, {reversed, 0});
    Dim s = b.spatial("s", {6, 3, 0}), t = b.spatial("t", {7, 3, 2}), v = b.feature("v", 30);
    Tensor x = b.make({b.batch, s}, {1, 2, 3, 3, 4, 5, 1, 2, 3, 9, 9, 9, 9, 9, 9, 9, 9, 9}, DType::int32, v);
    Tensor y = b.make({b.batch, t}, {6, 2, 3, 3, 2, 5, 7, 1, 2, 3, 8, 8, 8, 8, 1, 1, 8, 8, 8, 8, 8}, DType::int32, v);
    Tensor d =
        b.call1("edit_distance", {x, y}, {{"a_spatial_dim", s}, {"b_spatial_dim", t}}, type({b.batch}, DType::int32));
    CHECK(b.values(d) == std::vector<double>{3, 0, 2});
  }
}

}  // namespace rcn::test
