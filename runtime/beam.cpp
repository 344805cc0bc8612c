#include "runtime/beam.h"

#include <algorithm>
#include <stdexcept>

namespace rcn {

Beam::~Beam() {
  BeamPtr next = std::move(parent);
  // Nobody else can take hold of a beam that only this chain has.
  while (next && next.use_count() == 1) next = std::move(const_cast<Beam&>(*next).parent);
}

Dim Search::axis(std::int64_t size) {
  for (const DimNode& d : axes_)
    if (d.size == size) return &d;
  DimNode& made = axes_.emplace_back();
  made.name = "beam";
  made.size = size;
  return &made;
}

bool Search::has_axis(Dim d) const {
  return std::any_of(axes_.begin(), axes_.end(), [&](const DimNode& a) { return &a == d; });
}

BeamPtr Searches::beam_of(const Axes& axes) const {
  for (const Search& s : all_)
    for (Dim d : axes)
      if (s.has_axis(d)) return s.latest;
  return nullptr;
}

BeamPtr common_beam(const BeamPtr& a, const BeamPtr& b) {
  if (a && b && a->search != b->search) throw std::logic_error("two searches meet");
  const BeamPtr& either = a ? a : b;
  return either ? either->search->latest : nullptr;
}

Named taken(const Named& x, Dim batch, Dim from, const at::Tensor& index, Dim to) {
  std::int64_t before = x.value.dim() - static_cast<std::int64_t>(x.axes.size());  // 1 for a history
  at::Tensor value = x.value.movedim({x.index(batch) + before, x.index(from) + before}, {0, 1});
  std::int64_t sequences = value.size(0), hypotheses = value.size(1);
  at::Tensor flat = (at::arange(sequences, at::TensorOptions(at::kLong)) * hypotheses).unsqueeze(1) + index;
  value = value.flatten(0, 1).index_select(0, flat.flatten()).unflatten(0, {sequences, index.size(1)});
  if (before > 0) value = value.movedim(2, 0);
  Axes axes{batch, to};
  for (Dim d : x.axes)
    if (d != batch && d != from) axes.push_back(d);
  return {value, std::move(axes)};
}

Named Lineage::moved(const Held& x) {
  if (!x.beam || x.beam == to_) return x;
  for (bool again : {false, true}) {
    if (!at_ || again) {
      at_ = to_->parent;
      index_ = to_->source;
    }
    while (at_ && at_ != x.beam) {
      index_ = at_->source.gather(1, index_);
      at_ = at_->parent;
    }
    if (at_) return taken(x, to_->search->batch, x.beam->axis, index_, to_->axis);
  }
  throw std::logic_error("a beam that the search has not seen");
}

Held latest(const Held& x) {
  if (!x.beam || x.beam == x.beam->search->latest) return x;
  BeamPtr to = x.beam->search->latest;
  return {Lineage(to).moved(x), to};
}

Tensor latest(const Tensor& tensor) {
  const EagerTensor& x = eager(tensor);
  if (!x.beam || x.beam == x.beam->search->latest) return tensor;
  auto result = std::make_shared<const EagerTensor>(x.type, latest(static_cast<const Held&>(x)), x.region);
  result->traits = x.traits;
  return result;
}

Held chosen(const Held& mask, const Held& yes, const Held& no) {
  BeamPtr beam = common_beam(common_beam(mask.beam, yes.beam), no.beam);
  Named m = latest(mask), y = latest(yes), n = latest(no);
  Axes axes = united(united(y.axes, n.axes), m.axes);
  return {{at::where(aligned(m, axes), aligned(y, axes), aligned(n, axes)), axes}, beam};
}

Tensor shown(const Tensor& tensor) {
  if (!eager(tensor).beam) return tensor;
  Held x = latest(eager(tensor));
  TensorType type = tensor->type;
  Axes first;
  if (type.has(x.beam->search->batch)) first.push_back(x.beam->search->batch);
  first.push_back(x.beam->axis);
  type.dims = united(first, type.dims);
  return std::make_shared<const EagerTensor>(std::move(type), static_cast<Named&>(x), eager(tensor).region);
}

}  // namespace rcn
