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

// `count` entries along a new axis in front: `parts`, each brought to `shape`; what is missing is 0.
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

}  // namespace

LoopProgress::LoopProgress(const LoopSpec& spec, Lengths& lengths) : spec_(spec), axes_(spec.length_dims) {
  std::vector<std::int64_t> shape = lengths.shape(axes_);
  active_ = at::ones(shape, at::TensorOptions(at::kBool));
  if (at::Tensor padding = lengths.padding(axes_); padding.defined())
    active_ = active_.logical_and(padding.logical_not());
  frames_ = at::zeros(shape, at::TensorOptions(at::kLong));
  if (spec.axis_known) {
    limit_ = lengths.over(spec.axis, axes_);
  } else if (spec.max) {
    limit_ = aligned(eager(spec.max), axes_);
  }
}

bool LoopProgress::begin_step(std::int64_t t) {
  at::NoGradGuard no_grad;
  if (limit_.defined()) active_ = active_.logical_and(limit_.gt(t));
  return active_.any().item<bool>();
}

Named LoopProgress::end_step(const Named* end) {
  at::NoGradGuard no_grad;
  at::Tensor counts = active_;
  if (end) {
    active_ = active_.logical_and(aligned(*end, axes_).logical_not());
    if (!spec_.include_eos) counts = active_;
  }
  frames_ = frames_ + counts.to(at::kLong);
  return {counts, axes_};
}

void LastState::update(const Named& value, const Named& counts) {
  if (counts.value.all().item<bool>()) {
    value_ = value;
  } else if (counts.value.any().item<bool>()) {
    Axes axes = united(value.axes, counts.axes);
    value_ = {at::where(aligned(counts, axes), aligned(value, axes), aligned(value_, axes)), axes};
  }
}

Tensor LastState::finish(const LoopSpec& spec, Lengths& lengths) const {
  TensorType type = last_type(spec, state_);
  at::Tensor value = aligned(value_, type.dims).expand(lengths.shape(type.dims));
  Axes axes = type.dims;
  return std::make_shared<const EagerTensor>(std::move(type), Named{value, axes}, lengths.region());
}

LoopFrames::LoopFrames(const LoopSpec& spec, Lengths& lengths)
    : spec_(spec), lengths_(lengths), frames_(spec.stacked.size()) {
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
  for (std::size_t i = 0; i < frames.size(); ++i)
    frames_[i].push_back(aligned(eager(frames[i]), spec_.stacked[i].dims));
  for (std::size_t i = 0; i < atoms_.size(); ++i) {
    const Named& now = lengths_.of(atoms_[i]);
    made_[atoms_[i]].lengths.push_back(now);
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
  for (const Named& l : made.lengths) axes = united(axes, l.axes);
  std::vector<std::int64_t> shape(axes.size(), 0);
  std::vector<at::Tensor> parts;
  for (const Named& l : made.lengths) {
    parts.push_back(aligned(l, axes));
    for (std::size_t i = 0; i < axes.size(); ++i)
      shape[i] = std::max(shape[i], parts.back().size(static_cast<std::int64_t>(i)));
  }
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
    std::vector<std::int64_t> shape = lengths_.shape(spec_.stacked[i].dims);
    at::Tensor value = stacked(frames_[i], lengths_.extent(spec_.axis), shape, scalar_type(type.dtype));
    // The end frame of a sequence is padding where it does not count, but it was none in the body.
    value = gated(value, lengths_.padding(type.dims));
    Axes axes = type.dims;
    results.push_back(std::make_shared<const EagerTensor>(std::move(type), Named{value, axes}, lengths_.region()));
  }
  return results;
}

}  // namespace rcn
