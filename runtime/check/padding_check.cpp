#include "runtime/check/padding_check.h"

#include <algorithm>
#include <limits>
#include <ostream>

#include "runtime/show/view.h"

namespace rcn {

namespace {

// Of what is computed in another order: relative to the largest value, but to no less than `kFloor`.
constexpr double kTolerance = 1e-4;
constexpr double kFloor = 1e-2;

// `x` up to the sizes of `other`, of the same rank.
at::Tensor cut(at::Tensor x, const at::Tensor& other) {
  for (std::int64_t i = 0; i < x.dim(); ++i) x = x.narrow(i, 0, std::min(x.size(i), other.size(i)));
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
  Entry entry;
  entry.value = aligned(eager(made.tensor), axes).detach();
  at::Tensor padding = lengths.padding(axes);
  entry.valid = padding.defined() ? padding.logical_not().expand(entry.value.sizes())
                                  : at::ones(entry.value.sizes(), at::TensorOptions(at::kBool));
  auto batch = std::find(axes.begin(), axes.end(), lengths.batch_dim());
  if (batch != axes.end()) entry.batch = batch - axes.begin();
  for (Dim d : axes) {
    Ends& ends = entry.ends.emplace_back();
    if (!d->dynamic() || d == lengths.batch_dim()) continue;
    Named own = shown_lengths(d, axes, lengths);
    ends.lengths = own.value;
    if (own.has(lengths.batch_dim())) ends.batch = own.index(lengths.batch_dim());
  }
  return entry;
}

void Recorded::add(const Produced& made, Lengths& lengths) { entries_[made.name].push_back(entry(made, lengths)); }

std::string Recorded::difference(Entry was, const Entry& is, const Axes& axes, std::optional<std::int64_t> only) {
  if (only) {
    was.value = was.value.narrow(was.batch, *only, 1);
    was.valid = was.valid.narrow(was.batch, *only, 1);
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Ends ends = was.ends[i];
    if (!ends.lengths.defined() || (only && ends.batch < 0)) continue;
    if (only) ends.lengths = ends.lengths.narrow(ends.batch, *only, 1);
    const at::Tensor& other = is.ends[i].lengths;
    if (!cut(ends.lengths, other).equal(cut(other, ends.lengths)))
      return "other lengths of `" + to_string(axes[i]) + "`";
  }
  at::Tensor a = cut(was.value, is.value), b = cut(is.value, was.value);
  at::Tensor valid = cut(was.valid, is.valid).logical_and(cut(is.valid, was.valid));
  std::vector<std::int64_t> index;
  std::string where = first_index(differing(a, b, valid), axes, &index);
  if (where.empty()) return "";
  return value_text(b, index) + " at " + where + ", otherwise " + value_text(a, index);
}

// An axis that belongs to no sequence, but is as long as the longest of the batch wants it (the distances of relative
// positions): an index along it means another thing for a sequence alone.
bool Recorded::comparable(const Entry& was, const Entry& is) {
  for (std::size_t i = 0; i < was.ends.size(); ++i) {
    auto axis = static_cast<std::int64_t>(i);
    if (was.ends[i].lengths.defined() && was.ends[i].batch < 0 && was.value.size(axis) != is.value.size(axis))
      return false;
  }
  return true;
}

void Recorded::Comparison::add(const Produced& made, Lengths& lengths) {
  std::size_t count = counts_[made.name]++;
  if (first_) return;
  auto it = recorded_.entries_.find(made.name);
  if (it == recorded_.entries_.end() || count >= it->second.size()) return;
  Entry was = it->second[count], is = entry(made, lengths);
  if (was.value.dim() != is.value.dim()) return;
  if (only_ && (was.batch < 0 || !comparable(was, is))) return;
  ++compared_;
  if (std::string what = difference(std::move(was), is, made.tensor->type.dims, only_); !what.empty())
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
