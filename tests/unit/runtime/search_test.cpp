// Beam search against one written out: all hypotheses of each sequence, one sequence alone.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "runtime/show/report.h"
#include "tests/unit/runtime/bench.h"

namespace rcn::test {

namespace {

constexpr int kLabels = 5, kBos = 1;
constexpr double kDead = -1e29;  // hypotheses below only fill the beam

// Scores depend on the label before, on a sum over all labels, on what is masked where the label is 0, and on the
// sequence (and its frame).
struct Model {
  std::int64_t beam = 4, beam2 = 0;  // beam2: a second choice in each step
  int eos = 2;                       // -1: no `end`
  bool include_eos = true, normalize = false;
  std::vector<std::int64_t> over, max;  // lengths of a given axis, or `max` of each sequence
  std::vector<int> sequences = {0, 1, 2};

  static std::vector<double> numbers(std::string_view name, int count) {
    Random random(7, name);
    std::vector<double> result;
    for (int i = 0; i < count; ++i) result.push_back(random.normal());
    return result;
  }
  std::vector<double> weight = numbers("weight", kLabels*kLabels), weight2 = numbers("weight2", kLabels*kLabels),
                      slope = numbers("slope", kLabels), jump = numbers("jump", kLabels - 1);
  static std::vector<double> frame(int sequence) { return numbers("x" + std::to_string(sequence), kLabels); }
};

struct Hypothesis {
  float score = 0;
  double sum = 0;  // of the scores of its own steps
  int steps = 0;
  bool active = true;
  int label = kBos, label2 = kBos;
  double h = 0, m = 0, before = 0, last = 0;
  std::vector<double> labels, befores;
};
using Hypotheses = std::vector<Hypothesis>;

template <class F>
Hypotheses continued(const Hypotheses& all, std::int64_t beam, bool normalize, int t, F scores) {
  struct Candidate {
    float score;
    std::size_t source;
    int label;
  };
  std::vector<Candidate> candidates;
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::vector<double> added = scores(all[k]);
    float base = all[k].score;
    if (!all[k].active && normalize && t > 0) base *= static_cast<float>(t + 1) / static_cast<float>(t);
    for (int v = 0; v < kLabels; ++v) {
      auto s = static_cast<float>(all[k].active ? added[static_cast<std::size_t>(v)] : v == 0 ? 0 : -1e30);
      candidates.push_back({base + s, k, v});
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
  candidates.resize(static_cast<std::size_t>(beam), {-std::numeric_limits<float>::infinity(), 0, 0});
  Hypotheses result;
  for (const Candidate& c : candidates) {
    result.push_back(all[c.source]);
    result.back().score = c.score;
    if (result.back().active) result.back().sum += scores(all[c.source])[static_cast<std::size_t>(c.label)];
    result.back().label2 = c.label;
  }
  return result;
}

Hypotheses expected(const Model& m, std::size_t b, int steps) {
  Hypotheses all(1);
  std::vector<double> x = Model::frame(m.sequences[b]);
  const std::vector<std::int64_t>& limits = m.over.empty() ? m.max : m.over;
  for (int t = 0; t < steps; ++t) {
    for (Hypothesis& h : all) {
      h.active = h.active && (limits.empty() || t < limits[b]);
      h.before = h.h;
    }
    all = continued(all, m.beam, m.normalize, t, [&](const Hypothesis& h) {
      std::vector<double> scores;
      for (std::size_t v = 0; v < kLabels; ++v)
        scores.push_back(m.weight[static_cast<std::size_t>(h.label * kLabels) + v] + (h.h + h.m + t) * m.slope[v] +
                         x[v]);
      return scores;
    });
    for (Hypothesis& h : all) h.label = h.label2;
    if (m.beam2 > 0)
      all = continued(all, m.beam2, m.normalize, t, [&](const Hypothesis& h) {
        auto row = m.weight2.begin() + h.label * kLabels;
        return std::vector<double>(row, row + kLabels);
      });
    for (Hypothesis& h : all) {
      h.steps += h.active;
      h.h = h.h * 0.5 + h.label2;
      if (h.label != 0) h.m += m.jump[static_cast<std::size_t>(h.label - 1)];
      bool goes_on = h.active && h.label != m.eos;
      if (m.include_eos ? h.active : goes_on) {
        h.labels.push_back(h.label);
        h.befores.push_back(h.before);
        h.last = h.h;
      }
      h.active = goes_on;
    }
  }
  return all;
}

struct Run : Bench {
  Model model;
  DimLengths known;
  Inputs inputs;
  Params params{1, false};
  EagerBackend backend;
  Dim classes = feature("classes", kLabels), before = feature("before", kLabels), small = feature("small", kLabels - 1);
  Dim axis = nullptr;
  int steps = 0;
  LoopResult result;  // labels, values before the choice; the state h

  explicit Run(Model m)
      : Bench(static_cast<std::int64_t>(m.sequences.size())),
        model(std::move(m)),
        inputs({}, batch, known, run.lengths, sink),
        backend(run, inputs, params, sink, false) {
    search();
  }

  Tensor op(std::string_view name, std::vector<Operand> operands, TensorType output,
            std::vector<std::pair<std::string_view, Value>> attrs = {}, std::vector<NewDim> new_dims = {}) {
    OpInfo info{name, {}, "", "", nullptr};
    OpNode node;
    node.op = &info;
    node.inputs = std::move(operands);
    node.outputs = {std::move(output)};
    node.attrs = std::move(attrs);
    node.new_dims = std::move(new_dims);
    return backend.apply(node).at(0);
  }
  TensorType wide() const { return type({batch}, DType::float64); }
  TensorType label_type(Dim of) const { return type({batch}, DType::int32, of); }
  Tensor row(const Tensor& label, Dim of, Dim to, const Tensor& weight) {
    return op("linear", {label, weight}, type({batch, to}, DType::float64),
              {{"in_dim", of}, {"out_dim", to}, {"with_bias", false}});
  }
  Tensor choice(const Tensor& scores, std::int64_t beam) {
    return op("choice", {scores}, label_type(before),
              {{"axis", classes}, {"beam_size", beam}, {"length_normalization", model.normalize}});
  }
  Tensor filled(double value, TensorType of) {
    std::int64_t count = 1;
    for (std::int64_t s : run.lengths.shape(of.dims)) count *= s;
    return make(of.dims, std::vector<double>(static_cast<std::size_t>(count), value), of.dtype, of.sparse_dim);
  }

  void search() {
    std::vector<double> frames;
    for (int s : model.sequences)
      for (double v : Model::frame(s)) frames.push_back(v);
    Tensor x = make({batch, classes}, frames, DType::float64),
           weight = make({before, classes}, model.weight, DType::float64),
           weight2 = make({before, classes}, model.weight2, DType::float64),
           slope = make({classes}, model.slope, DType::float64);
    std::vector<double> jumps;
    for (double j : model.jump) jumps.insert(jumps.end(), {j, 0, 0, 0, 0});
    Tensor jump = make({small, classes}, jumps, DType::float64);
    axis = model.over.empty() ? fresh("out") : spatial("over", model.over);
    LoopSpec spec;
    spec.name = "loop";
    spec.axis = axis;
    spec.axis_known = !model.over.empty();
    spec.length_dims = {batch};
    spec.search = true;
    spec.has_end = model.eos >= 0;
    spec.include_eos = model.include_eos;
    if (!model.max.empty()) spec.max = make({batch}, {model.max.begin(), model.max.end()}, DType::int32);
    spec.state = {{"label", filled(kBos, label_type(before)), label_type(before), {}},
                  {"h", filled(0, wide()), wide(), {}},
                  {"m", filled(0, wide()), wide(), {}}};
    spec.stacked_names = {"labels", "befores"};
    spec.stacked = {label_type(before), wide()};
    result = backend.loop(spec, [&](const LoopStep& s) {
      ++steps;
      TensorType scores_type = type({batch, classes}, DType::float64);
      Tensor sum = op("add", {s.state[1], s.state[2]}, wide());
      sum = op("add", {sum, op("cast", {s.index}, type({}, DType::float64))}, wide());
      Tensor scores =
          op("add", {row(s.state[0], before, classes, weight), op("mul", {sum, slope}, scores_type)}, scores_type);
      scores = op("add", {scores, x}, scores_type);
      Tensor kept = s.state[1];
      Tensor label = choice(scores, model.beam), label2 = label;
      if (model.beam2 > 0) label2 = choice(row(label, before, classes, weight2), model.beam2);
      Tensor h = op("mul", {s.state[1], 0.5}, wide());
      h = op("add", {h, op("cast", {label2}, wide())}, wide());
      Tensor m = s.state[2];
      TensorType flags = type({batch}, DType::bool_);
      MaskedSpec masked{"m", op("not_equal", {label, std::int64_t{0}}, flags), {"m"}, {m}, {}};
      m = backend.masked(masked, [&] {
        Tensor shifted = op("sub", {label, std::int64_t{1}}, label_type(small));
        Tensor all = row(shifted, small, classes, jump);
        Tensor more = op("reduce", {all}, wide(), {{"mode", "sum"}, {"axes", dim_list({classes})}});
        return std::vector<Tensor>{op("add", {m, more}, wide())};
      })[0];
      Tensor end = model.eos >= 0 ? op("equal", {label, std::int64_t{model.eos}}, flags) : nullptr;
      return LoopNext{{label, h, m}, {label, kept}, end};
    });
  }

  // Of what has the beam: [sequence][hypothesis], each as long as `lengths` say.
  std::vector<std::vector<std::vector<double>>> hypotheses(const Tensor& tensor) {
    std::ostringstream out;
    write_values(out, shown(tensor), run.lengths, ListStyle::json, false);
    nlohmann::json json = nlohmann::json::parse(out.str());
    std::vector<std::vector<std::vector<double>>> all;
    for (const auto& sequence : json) {
      all.emplace_back();
      for (const auto& h : sequence) {
        std::vector<double> values;
        if (h.is_array()) {
          for (const auto& v : h) values.push_back(v.get<double>());
        } else {
          values.push_back(h.is_string() ? -std::numeric_limits<double>::infinity() : h.get<double>());
        }
        all.back().push_back(values);
      }
    }
    return all;
  }
  Tensor decide(const Tensor& x) { return op("decide", {x}, x->type); }
  Tensor scores() { return op("beam_scores", {result.stacked[0]}, type({batch})); }
};

// All but hypotheses that only fill the beam.
void check_model(const Model& model) {
  Run r(model);
  auto scores = r.hypotheses(r.scores()), labels = r.hypotheses(r.result.stacked[0]),
       befores = r.hypotheses(r.result.stacked[1]), last = r.hypotheses(r.result.last[1]);
  REQUIRE(labels.size() == model.sequences.size());
  for (std::size_t b = 0; b < model.sequences.size(); ++b) {
    CAPTURE(b);
    Hypotheses all = expected(model, b, r.steps);
    REQUIRE(scores[b].size() == all.size());
    for (std::size_t k = 0; k < all.size(); ++k) {
      CAPTURE(k);
      if (all[k].score < kDead) {
        CHECK(scores[b][k][0] < kDead);
        continue;
      }
      // With normalization the mean, whatever the other sequences are.
      double score = model.normalize ? all[k].sum / std::max(all[k].steps, 1) : all[k].score;
      CHECK(scores[b][k][0] == doctest::Approx(score).epsilon(1e-5));
      CHECK((labels[b][k] == all[k].labels));
      check_close(befores[b][k], all[k].befores);
      if (!all[k].labels.empty()) CHECK(last[b][k][0] == doctest::Approx(all[k].last).epsilon(1e-6));
    }
  }
}

}  // namespace

TEST_CASE("search: lengths by `end`") {
  for (std::int64_t beam : {1, 4, 12})
    for (int eos : {0, 2, 3})
      for (bool include : {true, false})
        for (bool normalize : {false, true}) {
          CAPTURE(beam);
          CAPTURE(eos);
          CAPTURE(include);
          CAPTURE(normalize);
          Model m;
          m.beam = beam;
          m.eos = eos;
          m.include_eos = include;
          m.normalize = normalize;
          m.max = {9, 9, 9};
          check_model(m);
          m.max = {3, 9, 6};
          check_model(m);
        }
}

TEST_CASE("search: a given axis, and `max` of each sequence") {
  for (std::int64_t beam : {1, 3, 12}) {
    CAPTURE(beam);
    Model m;
    m.beam = beam;
    m.eos = -1;
    m.over = {2, 5, 3};
    check_model(m);
    m.over = {0, 1, 4};
    check_model(m);
    m.over.clear();
    m.max = {3, 0, 5};
    check_model(m);
    m.eos = 3;
    for (bool include : {true, false}) {
      m.include_eos = include;
      check_model(m);
    }
  }
}

TEST_CASE("search: two choices in a step") {
  for (auto [first, second] : {std::pair{4, 2}, {2, 5}, {1, 3}, {5, 1}, {4, 4}}) {
    CAPTURE(first);
    CAPTURE(second);
    Model m;
    m.beam = first;
    m.beam2 = second;
    m.max = {6, 8, 7};
    check_model(m);
    m.include_eos = false;
    check_model(m);
    m.eos = -1;
    m.max.clear();
    m.over = {4, 1, 3};
    check_model(m);
  }
}

TEST_CASE("search: one hypothesis is the greedy one") {
  Model m;
  m.beam = 1;
  m.max = {8, 8, 8};
  Run r(m);
  auto labels = r.hypotheses(r.result.stacked[0]);
  for (std::size_t b = 0; b < 3; ++b) {
    int label = kBos;
    double h = 0, sum = 0;
    std::vector<double> x = Model::frame(m.sequences[b]), found;
    for (int t = 0; t < 8 && (found.empty() || label != m.eos); ++t) {
      std::vector<double> scores;
      for (std::size_t v = 0; v < kLabels; ++v)
        scores.push_back(m.weight[static_cast<std::size_t>(label * kLabels) + v] + (h + sum + t) * m.slope[v] + x[v]);
      label = static_cast<int>(std::max_element(scores.begin(), scores.end()) - scores.begin());
      h = h * 0.5 + label;
      if (label != 0) sum += m.jump[static_cast<std::size_t>(label - 1)];
      found.push_back(label);
    }
    CHECK((labels[b][0] == found));
  }
}

TEST_CASE("search: a sequence alone gives the same") {
  Model all;
  all.beam = 3;
  all.max = {6, 2, 4};
  Run together(all);
  auto labels = together.hypotheses(together.result.stacked[0]), scores = together.hypotheses(together.scores());
  for (std::size_t b = 0; b < 3; ++b) {
    Model one = all;
    one.sequences = {all.sequences[b]};
    one.max = {all.max[b]};
    Run alone(one);
    CHECK((alone.hypotheses(alone.result.stacked[0])[0] == labels[b]));
    CHECK((alone.hypotheses(alone.scores())[0] == scores[b]));
  }
}

TEST_CASE("search: the best hypothesis, with lengths of its own") {
  Model m;
  m.beam = 4;
  m.include_eos = false;
  m.max = {9, 7, 8};
  Run r(m);
  Tensor best = r.decide(r.result.stacked[0]), last = r.decide(r.result.last[1]);
  std::int64_t longest = 0;
  std::vector<double> lasts = r.values(last);
  std::ostringstream out;
  write_values(out, best, r.run.lengths, ListStyle::json, false);
  auto json = nlohmann::json::parse(out.str());
  for (std::size_t b = 0; b < 3; ++b) {
    Hypothesis first = expected(m, b, r.steps)[0];
    CHECK((json[b].get<std::vector<double>>() == first.labels));
    CHECK(lasts[b] == doctest::Approx(first.last));
    longest = std::max(longest, static_cast<std::int64_t>(first.labels.size()));
  }
  CHECK((r.run.lengths.shape({r.axis}) == std::vector<std::int64_t>{longest}));
  Dim after = r.dims.add(r.axis, r.dims.constant(1));
  CHECK(r.run.lengths.extent(after) == longest + 1);
  Tensor lengths = r.op("length", {}, type({r.batch}, DType::int32), {{"dim", r.axis}});
  CHECK(eager(lengths).beam == nullptr);
  // What is made of it has no hypotheses either.
  std::vector<double> ones =
      r.values(r.op("reduce", {r.op("equal", {best, best}, type(best->type.dims, DType::bool_))},
                    type({r.batch}, DType::bool_), {{"mode", "all"}, {"axes", dim_list({r.axis})}}));
  check_close(ones, {1, 1, 1});
}

TEST_CASE("search: dims that differ between hypotheses") {
  Model m;
  m.beam = 3;
  m.max = {5, 6, 7};
  Run r(m);
  // The length of each hypothesis, by the operation and by counting frames.
  Tensor lengths = r.op("length", {}, type({r.batch}, DType::int32), {{"dim", r.axis}});
  Tensor one =
      r.op("cast", {r.op("equal", {r.result.stacked[0], r.result.stacked[0]}, type({r.axis, r.batch}, DType::bool_))},
           type({r.axis, r.batch}, DType::int32));
  Tensor counted =
      r.op("reduce", {one}, type({r.batch}, DType::int32), {{"mode", "sum"}, {"axes", dim_list({r.axis})}});
  CHECK((r.hypotheses(lengths) == r.hypotheses(counted)));
  auto labels = r.hypotheses(r.result.stacked[0]);
  auto counts = r.hypotheses(counted);
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t k = 0; k < 3; ++k) CHECK(counts[b][k][0] == static_cast<double>(labels[b][k].size()));

  // A loop over them afterwards: a sum step by step.
  LoopSpec spec;
  spec.name = "again";
  spec.axis = r.axis;
  spec.length_dims = {r.batch};
  spec.state = {{"sum", r.filled(0, type({r.batch}, DType::int32)), type({r.batch}, DType::int32), {}}};
  LoopResult sums = r.backend.loop(spec, [&](const LoopStep& s) {
    Tensor label = r.backend.frame(r.result.stacked[0], r.axis, s.index, {});
    return LoopNext{
        {r.op("add", {s.state[0], retyped(label, type({r.batch}, DType::int32))}, type({r.batch}, DType::int32))},
        {},
        nullptr};
  });
  auto summed = r.hypotheses(sums.last[0]);
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(summed[b][k][0] == std::accumulate(labels[b][k].begin(), labels[b][k].end(), 0.0));
}

TEST_CASE("search: two of them do not meet") {
  Model m;
  m.max = {3, 3, 3};
  Run r(m);
  Tensor first = r.result.last[1];
  r.search();
  CHECK_THROWS_AS(r.op("add", {first, r.result.last[1]}, r.wide()), std::logic_error);
}

}  // namespace rcn::test
