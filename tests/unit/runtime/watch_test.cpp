// What is shown of the tensors of a run: chosen by name and place, as text and in columns.
#include <sstream>

#include "runtime/hypotheses.h"
#include "runtime/memory.h"
#include "runtime/show/report.h"
#include "runtime/show/selector.h"
#include "runtime/show/summary.h"
#include "runtime/show/trace.h"
#include "tests/unit/runtime/bench.h"

namespace rcn::test {

TEST_CASE("globs") {
  CHECK(glob_match("*", "encoder.layers.0.mul"));
  CHECK(glob_match("enc*.mul", "encoder.layers.0.mul"));
  CHECK_FALSE(glob_match("enc*.mu", "encoder.layers.0.mul"));
  CHECK(glob_match("encoder/*/mul", "encoder.layers.0.mul"));
  CHECK(glob_match("lin.weight", "lin/weight"));
}

TEST_CASE("selectors: names, variables and places") {
  SourceMap sources;
  FileId model = sources.add("models/model.rcn", "a\nbb\nccc\n"), other = sources.add("blocks.rcn", "d\ne\n");
  std::vector<Span> calls{{model, 5, 8}};  // line 3
  Tensor none;
  Produced at_2{"att.dot", none, none, {model, 2, 4}, calls};      // line 2
  Produced in_other{"att.add", none, none, {other, 2, 3}, calls};  // line 2 of the other
  auto fits = [&](const char* pattern, const auto& thing) { return Selector(pattern).fits(thing, sources); };

  CHECK(fits("2", at_2));
  CHECK(fits("3", at_2));
  CHECK_FALSE(fits("1", at_2));
  CHECK(fits("1-2", at_2));
  CHECK(fits("model.rcn:2", at_2));
  CHECK_FALSE(fits("odel.rcn:2", at_2));
  CHECK(fits("models/model.rcn:2-3", at_2));
  CHECK_FALSE(fits("2", in_other));
  CHECK(fits("3", in_other));
  CHECK(fits("blocks.rcn:2", in_other));
  CHECK(fits("blocks.rcn:2:1", in_other));
  CHECK_FALSE(fits("blocks.rcn:2:2", in_other));
  CHECK(fits("att/*", in_other));

  Bound bound{"loop[3].energy", "energy", none, none, {model, 0, 1}, calls};
  CHECK(fits("energy", bound));
  CHECK(fits("loop*", bound));
  CHECK(fits("1", bound));
  CHECK_FALSE(fits("ener", bound));
}

TEST_CASE("times and sizes as text") {
  CHECK(time_text(0.0) == "0.00us");
  CHECK(time_text(12.34e-6) == "12.3us");
  CHECK(time_text(999.6e-6) == "1.00ms");
  CHECK(time_text(0.25) == "250ms");
  CHECK(time_text(72.04) == "72.0s");
  CHECK(bytes_text(1023) == "1023 bytes");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(std::int64_t{3} << 30) == "3.0 GiB");
}

TEST_CASE("a large tensor is printed with its ends and statistics; padding never is") {
  Bench b(2);
  Dim time = b.spatial("time", {600, 4}), f = b.feature("f", 2);
  std::vector<double> values(2 * 600 * 2, 1.0);
  values[0] = kNan;
  Tensor x = b.make({b.batch, time, f}, values);
  std::ostringstream out, full;
  write_printed(out, "x", x, b.run.lengths, false, false);
  CHECK(out.str() ==
        "x  float32[batch=2, time=600 (600, 4), f=2]  min 1             mean 1             max 1  1 nan\n"
        "[[[nan, 1],\n  [1, 1],\n  [1, 1],\n  ...,\n  [1, 1],\n  [1, 1],\n  [1, 1]],\n"
        " [[1, 1],\n  [1, 1],\n  [1, 1],\n  [1, 1]]]\n");
  write_printed(full, "x", x, b.run.lengths, false, true);
  CHECK(full.str().find("...") == std::string::npos);
  CHECK(full.str().size() > 600 * 6);
}

TEST_CASE("statistics count infinities of valid frames") {
  Bench b(2);
  Dim time = b.spatial("time", {2, 1});
  constexpr double kInf = std::numeric_limits<double>::infinity();
  Stats s = statistics(eager(b.make({b.batch, time}, {1, -kInf, 2, kInf})), b.run.lengths);
  CHECK(s.infs == 1);
  CHECK(s.count == 3);
  CHECK(stats_text(s).ends_with("1 infinite"));
}

TEST_CASE("hypotheses follow their sources, and end") {
  auto ints = [](std::vector<std::int64_t> values) { return at::tensor(values, at::kLong).reshape({1, 2}); };
  auto first = std::make_shared<Beam>();
  first->source = ints({0, 0});
  first->labels = ints({4, 5});
  first->scores = at::tensor({-1.0, -2.0}).reshape({1, 2});
  Beam second;
  second.parent = first;
  second.source = ints({1, 0});
  second.labels = ints({0, 7});
  second.scores = at::tensor({-2.0, -2.5}).reshape({1, 2});
  second.ended = at::tensor({1, 0}, at::kInt).to(at::kBool).reshape({1, 2});
  std::vector<Hypothesis> all = hypotheses(second);
  REQUIRE(all.size() == 2);
  CHECK(to_string(all[0]) == "hypothesis batch=0 beam=0 score=-2 labels=[5] ended");
  CHECK(to_string(all[1]) == "hypothesis batch=0 beam=1 score=-2.5 labels=[4, 7]");
}

TEST_CASE("the peak of memory counts what lives at once") {
  TensorMemory memory;
  { at::Tensor a = at::zeros({1 << 16}, at::TensorOptions(at::kFloat)); }
  at::Tensor b = at::zeros({1 << 14}, at::TensorOptions(at::kFloat));
  CHECK(memory.peak() >= 1 << 18);
  CHECK(memory.peak() < (1 << 18) + (1 << 16));
  memory.restart();
  CHECK(memory.peak() >= 1 << 16);
  CHECK(memory.peak() < 1 << 17);
}

}  // namespace rcn::test
