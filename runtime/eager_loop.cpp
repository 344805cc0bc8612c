#include "runtime/eager_loop.h"

#include <algorithm>

#include "compiler/eval/type_backend.h"
#include "runtime/kernel.h"

namespace rcn {

namespace {

Axes with_front(Dim axis, Axes axes) {
  axes.insert(axes.begin(), axis);
  return axes;
}

// The frames moved to the latest beam and aligned to `axes`, which have the beam's axis if there is one.
std::vector<at::Tensor> brought(const std::vector<Held>& frames, const Axes& axes, const BeamPtr& beam) {
  Lineage lineage(beam);
  std::vector<at::Tensor> result(frames.size());
  for (std::size_t i = frames.size(); i-- > 0;) {
    result[i] = aligned(lineage.moved(frames[i]), axes);
    if (!beam || frames[i].beam) continue;
    std::vector<std::int64_t> shape = result[i].sizes().vec();
    shape[static_cast<std::size_t>(Named{{}, axes}.index(beam->axis))] = *beam->axis->size;
    result[i] = result[i].expand(shape);
  }
  return result;
}

}  // namespace

at::Tensor stacked(const std::vector<at::Tensor>& parts, std::int64_t count, std::vector<std::int64_t> shape,
                   at::ScalarType dtype) {
  std::vector<at::Tensor> whole;
  for (const at::Tensor& p : parts) {
    if (static_cast<std::int64_t>(whole.size()) == count) break;
    std::vector<std::int64_t> widths;
    for (std::size_t i = shape.size(); i-- > 0;)
      widths.insert(widths.end(), {0, shape[i] - p.size(static_cast<std::int64_t>(i))});
    bool fits = std::all_of(widths.begin(), widths.end(), [](std::int64_t w) { return w == 0; });
    whole.push_back(fits ? p : at::constant_pad_nd(p, widths, 0));
  }
  if (whole.empty()) {
    shape.insert(shape.begin(), count);
    return at::zeros(shape, at::TensorOptions(dtype));
  }
  if (auto missing = count - static_cast<std::int64_t>(whole.size()); missing > 0)
    whole.insert(whole.end(), static_cast<std::size_t>(missing), at::zeros_like(whole[0]));
  return at::stack(whole);
}

LoopProgress::LoopProgress(const LoopSpec& spec, Lengths& lengths, const Searches& searches) : spec_(spec) {
  Axes axes = spec.length_dims;
  if (spec.axis_known) {
    limit_.beam = searches.beam_of(lengths.decided(spec.axis).axes);
    if (limit_.beam) axes.push_back(limit_.beam->axis);
    limit_ = {{lengths.over(spec.axis, axes), axes}, limit_.beam};
  } else if (spec.max) {
    limit_ = eager(spec.max);
  }
  std::vector<std::int64_t> shape = lengths.shape(axes);
  active_ = {{at::ones(shape, at::TensorOptions(at::kBool)), axes}, spec.axis_known ? limit_.beam : nullptr};
  if (at::Tensor padding = lengths.padding(axes); padding.defined())
    active_.value = active_.value.logical_and(padding.logical_not());
  frames_ = {{at::zeros(shape, at::TensorOptions(at::kLong)), axes}, active_.beam};
}

bool LoopProgress::begin_step(std::int64_t t) {
  at::NoGradGuard no_grad;
  if (limit_.value.defined())
    active_ =
        combined(active_, limit_, [&](const at::Tensor& a, const at::Tensor& l) { return a.logical_and(l.gt(t)); });
  return active_.value.any().item<bool>();
}

Held LoopProgress::end_step(const Held* end) {
  at::NoGradGuard no_grad;
  Held counts = active_;
  if (end) {
    active_ = combined(active_, *end,
                       [](const at::Tensor& a, const at::Tensor& e) { return a.logical_and(e.logical_not()); });
    if (!spec_.include_eos) counts = active_;
  }
  frames_ = combined(frames_, counts, [](const at::Tensor& f, const at::Tensor& c) { return f + c.to(at::kLong); });
  active_ = latest(active_);
  return counts;
}

void LastState::update(const Held& value, const Held& counts) {
  if (counts.value.all().item<bool>()) {
    value_ = value;
  } else if (counts.value.any().item<bool>()) {
    value_ = chosen(counts, value, value_);
  }
}

Tensor LastState::finish(const LoopSpec& spec, Lengths& lengths) const {
  TensorType type = last_type(spec, state_);
  Held last = latest(value_);
  Axes axes = type.dims;
  if (last.beam) axes.push_back(last.beam->axis);
  at::Tensor value = aligned(last, axes).expand(lengths.shape(axes));
  return std::make_shared<const EagerTensor>(std::move(type), Held{{value, axes}, last.beam}, lengths.region());
}

LoopFrames::LoopFrames(const LoopSpec& spec, Lengths& lengths, const Searches& searches)
    : spec_(spec), lengths_(lengths), searches_(searches), frames_(spec.stacked.size()) {
  for (const TensorType& type : spec.stacked)
    for (Dim d : type.dims) watch(d);
}

void LoopFrames::watch(Dim dim) {
  for (Dim a : atoms(dim)) {
    if (!a->dynamic() || a->kind == DimKind::batch || a == spec_.axis || made_.contains(a)) continue;
    atoms_.push_back(a);
    if (lengths_.has(a)) made_[a].before = lengths_.of(a).value;
    made_[a];
  }
}

void LoopFrames::add(const std::vector<Tensor>& frames) {
  ++steps_;
  for (std::size_t i = 0; i < frames.size(); ++i) frames_[i].push_back(eager(frames[i]));
  for (std::size_t i = 0; i < atoms_.size(); ++i) {
    const Named& now = lengths_.of(atoms_[i]);
    made_[atoms_[i]].lengths.push_back(searches_.held(now));
    // What its lengths depend on may be made in the body too.
    if (steps_ == 1 && !now.value.is_same(made_[atoms_[i]].before))
      for (Dim d : now.axes) watch(d);
  }
}

std::int64_t LoopFrames::count() const { return std::min(steps_, lengths_.extent(spec_.axis)); }

void LoopFrames::settle(Dim atom, MadeDim& made) {
  if (made.settled) return;
  made.settled = true;
  made.lengths.resize(static_cast<std::size_t>(count()));
  if (made.lengths.empty()) {  // nothing has it
    if (!made.before.defined()) lengths_.define(atom, {at::zeros({}, at::TensorOptions(at::kLong)), {}});
    return;
  }
  if (made.lengths.back().value.is_same(made.before)) return;  // not made in the body
  at::NoGradGuard no_grad;
  Axes axes;
  BeamPtr beam;
  for (const Held& l : made.lengths) {
    beam = common_beam(beam, l.beam);
    axes = united(axes, l.beam ? without(l.axes, {l.beam->axis}) : l.axes);
  }
  if (beam) axes.push_back(beam->axis);
  std::vector<std::int64_t> shape(axes.size(), 0);
  std::vector<at::Tensor> parts = brought(made.lengths, axes, beam);
  for (const at::Tensor& p : parts)
    for (std::size_t i = 0; i < axes.size(); ++i) shape[i] = std::max(shape[i], p.size(static_cast<std::int64_t>(i)));
  for (Dim d : axes)
    for (Dim a : atoms(d))
      if (auto it = made_.find(a); it != made_.end()) settle(a, it->second);

  at::Tensor all = stacked(parts, lengths_.extent(spec_.axis), shape, at::kLong);
  Axes all_axes = with_front(spec_.axis, axes);
  at::Tensor none = lengths_.padding(all_axes, {spec_.axis});
  if (none.defined()) all = all.masked_fill(none, 0);
  at::Tensor longest = all.amax(0), same = all.eq(longest);
  if (none.defined()) same = same.logical_or(none);
  if (same.all().item<bool>()) {
    lengths_.define(atom, {longest, axes});
  } else {
    lengths_.define(atom, {all, all_axes});
  }
}

std::vector<Tensor> LoopFrames::finish() {
  for (Dim a : atoms_) settle(a, made_[a]);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    TensorType type = stacked_type(spec_, i);
    BeamPtr beam = beam_of(i);
    Axes axes = spec_.stacked[i].dims;
    if (beam) axes.insert(axes.begin(), beam->axis);
    std::vector<at::Tensor> parts = brought(frames_[i], axes, beam);
    std::vector<std::int64_t> shape = lengths_.shape(axes);
    at::Tensor value = stacked(parts, lengths_.extent(spec_.axis), shape, scalar_type(type.dtype));
    axes.insert(axes.begin(), spec_.axis);
    // The end frame of a sequence is padding where it does not count, but it was none in the body.
    value = gated(value, lengths_.padding(axes));
    results.push_back(
        std::make_shared<const EagerTensor>(std::move(type), Held{{value, axes}, beam}, lengths_.region()));
  }
  return results;
}

BeamPtr LoopFrames::beam_of(std::size_t i) {
  BeamPtr beam = searches_.beam_of(lengths_.decided(spec_.axis).axes);
  for (Dim d : spec_.stacked[i].dims) beam = common_beam(beam, searches_.beam_of(lengths_.decided(d).axes));
  for (const Held& f : frames_[i]) beam = common_beam(beam, f.beam);
  return beam;
}

}  // namespace rcn
