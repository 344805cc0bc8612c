#include "runtime/padding_check.h"

#include <algorithm>
#include <limits>
#include <ostream>

#include "runtime/view.h"

namespace rcn {

namespace {

// Of what is computed in another order: relative to the largest value, but to no less than `kFloor`.
constexpr double kTolerance = 1e-4;
constexpr double kFloor = 1e-2;

// `x` grown to `sizes` with false.
at::Tensor grown(const at::Tensor& x, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> widths;
  for (std::size_t i = sizes.size(); i-- > 0;)
    widths.insert(widths.end(), {0, sizes[i] - x.size(static_cast<std::int64_t>(i))});
  return at::constant_pad_nd(x, widths, 0);
}

at::Tensor cut(at::Tensor x, const std::vector<std::int64_t>& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i) x = x.narrow(static_cast<std::int64_t>(i), 0, sizes[i]);
  return x;
}

// Where two tensors of one shape differ.
at::Tensor differing(const at::Tensor& a, const at::Tensor& b, const at::Tensor& valid) {
  if (!at::isFloatingType(a.scalar_type())) return a.ne(b).logical_and(valid);
  at::Tensor x = a.to(at::kDouble), y = b.to(at::kDouble);
  at::Tensor finite = x.isfinite().logical_and(valid);
  double largest = finite.any().item<bool>() ? x.masked_select(finite).abs().max().item<double>() : 0;
  at::Tensor same = x.eq(y).logical_or(x.isnan().logical_and(y.isnan()));
  at::Tensor close = (x - y).abs().le(kTolerance * std::max(largest, kFloor));
  return same.logical_or(close).logical_not().logical_and(valid);
}

std::string value_text(const at::Tensor& x, const std::vector<std::int64_t>& index) {
  at::Tensor entry = x;
  for (std::int64_t i : index) entry = entry[i];
  return short_number(entry.to(at::kDouble).item<double>());
}

}  // namespace

Recorded::Entry Recorded::entry(const Produced& made, Lengths& lengths) {
  at::NoGradGuard no_grad;
  const Axes& axes = made.tensor->type.dims;
  Entry entry{aligned(eager(made.tensor), axes).detach(), {}};
  at::Tensor padding = lengths.padding(axes);
  entry.valid = padding.defined() ? padding.logical_not().expand(entry.value.sizes())
                                  : at::ones(entry.value.sizes(), at::TensorOptions(at::kBool));
  auto batch = std::find(axes.begin(), axes.end(), lengths.batch_dim());
  if (batch != axes.end()) entry.batch = batch - axes.begin();
  return entry;
}

void Recorded::add(const Produced& made, Lengths& lengths) { entries_[made.name].push_back(entry(made, lengths)); }

// Empty if they agree on all valid frames, of which both have the same.
std::string Recorded::difference(const Entry& was, const Entry& is, const Axes& axes) {
  std::vector<std::int64_t> larger, smaller;
  for (std::int64_t i = 0; i < was.value.dim(); ++i) {
    larger.push_back(std::max(was.value.size(i), is.value.size(i)));
    smaller.push_back(std::min(was.value.size(i), is.value.size(i)));
  }
  at::Tensor was_valid = grown(was.valid, larger), is_valid = grown(is.valid, larger);
  if (std::string where = first_index(was_valid.ne(is_valid), axes); !where.empty()) return "the frames end elsewhere";
  at::Tensor a = cut(was.value, smaller), b = cut(is.value, smaller);
  std::vector<std::int64_t> index;
  std::string where = first_index(differing(a, b, cut(was_valid, smaller)), axes, &index);
  if (where.empty()) return "";
  return value_text(b, index) + " at " + where + ", otherwise " + value_text(a, index);
}

void Recorded::Comparison::add(const Produced& made, Lengths& lengths) {
  std::size_t count = counts_[made.name]++;
  if (first_) return;
  auto it = recorded_.entries_.find(made.name);
  if (it == recorded_.entries_.end() || count >= it->second.size()) return;
  Entry was = it->second[count], is = entry(made, lengths);
  if (was.value.dim() != is.value.dim()) return;
  if (only_) {
    if (was.batch < 0) return;
    was.value = was.value.narrow(was.batch, *only_, 1);
    was.valid = was.valid.narrow(was.batch, *only_, 1);
  }
  ++compared_;
  if (std::string what = difference(was, is, made.tensor->type.dims); !what.empty())
    first_ = Difference{made.name, made.span, what};
}

void Noise::record(RunState& run) {
  run.noise = [this](const std::string& name, const Named& drawn) {
    drawn_[name] = drawn;
    return drawn.value;
  };
}

void Noise::replay(RunState& run, std::optional<std::int64_t> only) const {
  run.noise = [this, &run, only](const std::string& name, const Named& drawn) {
    auto it = drawn_.find(name);
    if (it == drawn_.end()) return drawn.value;
    at::Tensor value = it->second.value;
    for (std::size_t i = 0; i < drawn.axes.size(); ++i) {
      auto axis = static_cast<std::int64_t>(i);
      bool of_batch = only && drawn.axes[i] == run.lengths.batch_dim();
      std::int64_t size = drawn.value.size(axis);
      if (!of_batch && value.size(axis) < size) return drawn.value;
      value = of_batch ? value.narrow(axis, *only, 1) : value.narrow(axis, 0, size);
    }
    return value;
  };
}

bool check_padding(const Anew& anew, const EagerOptions& options, const Batch& batch, const ParamValues& params,
                   const Recorded& recorded, const Noise& noise, DiagnosticSink& sink, std::ostream* out) {
  struct Other {
    std::string what;
    Batch batch;
  };
  std::vector<Other> others;
  for (double poison : {std::numeric_limits<double>::quiet_NaN(), 1e3}) {
    others.push_back({"with " + short_number(poison) + " in the padding", batch});
    others.back().batch.poison = poison;
  }
  if (batch.size > 1)
    for (std::int64_t i = 0; i < batch.size; ++i) {
      others.push_back({"with sequence " + std::to_string(i) + " alone", batch});
      others.back().batch.only = i;
    }

  bool good = true;
  std::size_t compared = 0;
  std::vector<Span> places;
  for (const Other& other : others) {
    Recorded::Comparison comparison(recorded, other.batch.only);
    Changes changes{&other.batch, &params, false};
    bool ran = run_pass(
        anew, options, changes, other.what, sink,
        [&](Pass& pass) {
          noise.replay(pass.run, other.batch.only);
          pass.backend.observer = [&](const Produced& made) { comparison.add(made, pass.run.lengths); };
        },
        [](Pass&) {});
    compared += comparison.compared();
    good = good && ran && !comparison.first();
    if (!comparison.first()) continue;
    const Recorded::Difference& d = *comparison.first();
    if (std::find(places.begin(), places.end(), d.span) != places.end()) continue;
    places.push_back(d.span);
    sink.report(Diag::eager_padding_matters, d.span, {d.name, other.what, d.what});
  }
  if (good && out)
    *out << "check-padding  " << others.size() << " further runs, " << compared << " tensors compared: no valid frame "
         << "changes\n";
  return good;
}

}  // namespace rcn
