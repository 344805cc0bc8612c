#include "runtime/lengths.h"

#include <algorithm>
#include <stdexcept>

namespace rcn {

namespace {

Named scalar(std::int64_t value) { return {at::scalar_tensor(value, at::kLong), {}}; }

// `x` without the axes that `wanted` do not have and over which a loop runs: its entry at the step.
Named at_steps(Named x, const Axes& wanted, const std::vector<Surroundings::Step>& steps) {
  for (const Surroundings::Step& s : steps) {
    if (!x.has(s.axis) || contains(wanted, s.axis)) continue;
    x.value = x.value.select(x.index(s.axis), s.index);
    x.axes = without(x.axes, {s.axis});
  }
  return x;
}

// `x` aligned to `wanted`; `all` makes one of the entries along an axis that those do not have.
template <class F>
at::Tensor fitted(Named x, const Axes& wanted, F all) {
  for (std::size_t i = x.axes.size(); i-- > 0;) {
    if (contains(wanted, x.axes[i])) continue;
    x.value = all(x.value, static_cast<std::int64_t>(i));
    x.axes.erase(x.axes.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return aligned(x, wanted);
}

at::Tensor all_of(const at::Tensor& x, std::int64_t axis) { return x.all(axis); }

at::Tensor either(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined()) return b;
  return b.defined() ? a.logical_or(b) : a;
}

}  // namespace

void Lengths::set_batch(std::int64_t size) {
  batch_size_ = size;
  entries_[batch_] = made(batch_, scalar(size));
}

void Lengths::define(Dim dim, Named lengths) {
  at::NoGradGuard no_grad;
  lengths.value = lengths.value.to(at::kLong);
  // Lengths of sequences that are padding themselves count as none.
  at::Tensor none = padding(lengths.axes);
  if (none.defined()) lengths.value = lengths.value.masked_fill(none, 0);
  lengths.value = lengths.value.clamp_min(0);
  if (entries_.contains(dim)) forget_derived(dim);  // made anew, in a loop
  entries_[dim] = made(dim, std::move(lengths));
}

void Lengths::forget(Dim dim) {
  forget_derived(dim);
  entries_.erase(dim);
}

void Lengths::forget_derived(Dim atom) {
  auto derived = [&](const auto& item) {
    if (item.first->form == DimForm::atom) return false;
    std::vector<Dim> parts = atoms(item.first);
    return std::find(parts.begin(), parts.end(), atom) != parts.end();
  };
  std::erase_if(entries_, derived);
  std::erase_if(decided_, derived);
  decided_.erase(atom);
  decided_axes_.erase(atom);
}

Lengths::Entry Lengths::made(Dim dim, Named lengths) const {
  Entry e;
  if (lengths.value.numel() > 0) {
    e.extent = lengths.value.max().item<std::int64_t>();
    e.full = dim == batch_ || lengths.value.min().item<std::int64_t>() == e.extent;
  }
  e.lengths = std::move(lengths);
  return e;
}

bool Lengths::has(Dim dim) const {
  if (dim->size || entries_.contains(dim)) return true;
  if (dim->form == DimForm::atom) return false;
  return std::all_of(dim->parts.begin(), dim->parts.end(), [&](Dim p) { return has(p); });
}

// Of a derived dim, before the clamp at 0: terms of a sum may be negative.
Named Lengths::raw(Dim dim, bool decided) {
  auto length = [&](Dim d) { return entry(d, decided).lengths; };
  switch (dim->form) {
    case DimForm::atom: return length(dim);
    case DimForm::constant: return scalar(dim->factor);
    case DimForm::sum: {
      Named sum = scalar(0);
      for (Dim p : dim->parts)
        sum = combined(sum, raw(p, decided), [](const at::Tensor& a, const at::Tensor& b) { return a + b; });
      return sum;
    }
    case DimForm::product: {
      Named product = scalar(dim->factor);
      for (Dim p : dim->parts)
        product = combined(product, length(p), [](const at::Tensor& a, const at::Tensor& b) { return a * b; });
      return product;
    }
    case DimForm::floordiv:
    case DimForm::ceildiv: {
      bool ceil = dim->form == DimForm::ceildiv;
      return combined(length(dim->parts[0]), length(dim->parts[1]), [&](const at::Tensor& a, const at::Tensor& b) {
        at::Tensor divisor = b.clamp_min(1);
        return at::div(ceil ? a + (divisor - 1) : a, divisor, "floor");
      });
    }
  }
  throw std::logic_error("form of dim");
}

Lengths::Entry& Lengths::entry(Dim dim, bool decided) {
  decided = decided && is_decided(dim);
  std::unordered_map<Dim, Entry>& entries = decided ? decided_ : entries_;
  auto it = entries.find(dim);
  if (it != entries.end()) return it->second;
  if (dim->size) return entries[dim] = made(dim, scalar(*dim->size));
  if (dim->form == DimForm::atom) throw std::logic_error("dim " + to_string(dim) + " has no length yet");
  at::NoGradGuard no_grad;
  Named lengths = raw(dim, decided);
  lengths.value = lengths.value.clamp_min(0);
  // This is kept, so the masks and steps of now have no say in it.
  at::Tensor none = padding_by_lengths(lengths.axes, lengths.axes, {});
  if (none.defined()) lengths.value = lengths.value.masked_fill(none, 0);
  return entries[dim] = made(dim, std::move(lengths));
}

bool Lengths::is_decided(Dim dim) const {
  if (decided_axes_.empty() || dim->size) return false;
  std::vector<Dim> parts = atoms(dim);
  return std::any_of(parts.begin(), parts.end(), [&](Dim a) { return decided_axes_.contains(a); });
}

bool Lengths::sees_decided(Dim dim, const Axes& axes) const {
  if (decided_axes_.empty() || dim->size) return false;
  for (Dim a : atoms(dim)) {
    auto it = decided_axes_.find(a);
    if (it == decided_axes_.end() || contains(axes, it->second)) continue;
    auto inside = [&](const Surroundings::Step& s) { return s.axis == it->second; };
    if (std::none_of(around_.steps.begin(), around_.steps.end(), inside)) return true;
  }
  return false;
}

const Named& Lengths::of(Dim dim) { return entry(dim).lengths; }

const Named& Lengths::decided(Dim dim) { return entry_for(dim, {}).lengths; }

Named Lengths::seen_from(const Axes& axes, Dim dim) {
  return at_steps(entry_for(dim, axes).lengths, axes, around_.steps);
}

at::Tensor Lengths::over(Dim dim, const Axes& axes) {
  return fitted(seen_from(axes, dim), axes,
                [](const at::Tensor& x, std::int64_t axis) { return x.size(axis) == 0 ? x.sum(axis) : x.amax(axis); });
}

std::int64_t Lengths::extent(Dim dim) { return dim->size ? *dim->size : entry_for(dim, {}).extent; }

std::vector<std::int64_t> Lengths::shape(const Axes& axes) {
  std::vector<std::int64_t> result;
  for (Dim d : axes) result.push_back(d->size ? *d->size : entry_for(d, axes).extent);
  return result;
}

void Lengths::follow(Dim beam_axis, const Change& move) {
  at::NoGradGuard no_grad;
  for (auto& [dim, e] : entries_)
    if (e.lengths.has(beam_axis)) e = made(dim, move(e.lengths));
  for (Surroundings::Mask& m : around_.masks)
    if (m.out.has(beam_axis)) m.out = move(m.out);
}

void Lengths::decide(Dim dim, Dim beam_axis, const Change& best) {
  at::NoGradGuard no_grad;
  for (Dim atom : atoms(dim)) {
    if (!atom->dynamic() || atom == batch_ || decided_axes_.contains(atom)) continue;
    Named lengths = of(atom);
    bool differs = lengths.has(beam_axis);
    if (differs) lengths = best(lengths);
    // Those over dims that get shorter are cut.
    for (Dim d : Axes(lengths.axes)) {
      decide(d, beam_axis, best);
      if (!is_decided(d)) continue;
      differs = true;
      lengths.value = lengths.value.narrow(lengths.index(d), 0, entry(d, true).extent);
    }
    if (!differs) continue;
    decided_axes_[atom] = beam_axis;
    decided_[atom] = made(atom, std::move(lengths));
  }
}

at::Tensor Lengths::padding(const Axes& axes, const Axes& by) {
  return either(padding_by_lengths(axes, by, around_), masked_out(axes, by));
}

at::Tensor Lengths::masked_out(const Axes& axes, const Axes& by) {
  at::Tensor result;
  for (const Surroundings::Mask& m : around_.masks) {
    bool concerned = std::any_of(m.out.axes.begin(), m.out.axes.end(), [&](Dim d) { return contains(by, d); });
    if (concerned) result = either(result, fitted(at_steps(m.out, axes, around_.steps), axes, all_of));
  }
  return result;
}

Lengths::Inside::~Inside() {
  Surroundings& around = lengths_.around_;
  if (left_) around = std::move(*left_);
  around.masks.erase(around.masks.begin() + static_cast<std::ptrdiff_t>(masks_), around.masks.end());
  around.steps.erase(around.steps.begin() + static_cast<std::ptrdiff_t>(steps_), around.steps.end());
}

void Lengths::Inside::mask(const Named& valid) {
  at::NoGradGuard no_grad;
  lengths_.around_.masks.push_back({{valid.value.logical_not(), valid.axes}, ++lengths_.regions_});
}

at::Tensor Lengths::padding_by_lengths(const Axes& axes, const Axes& by, const Surroundings& around) {
  at::Tensor result;
  for (Dim d : by) {
    if (d->size || d == batch_) continue;
    Entry& e = entry_for(d, axes);
    if (e.full) continue;
    if (!e.padding) {
      at::NoGradGuard no_grad;
      Axes all = e.lengths.axes;
      all.push_back(d);
      at::Tensor frames = at::arange(e.extent, at::TensorOptions(at::kLong));
      e.padding = Named{frames.ge(e.lengths.value.unsqueeze(-1)), all};
    }
    result = either(result, fitted(at_steps(*e.padding, axes, around.steps), axes, all_of));
  }
  return result;
}

Axes Lengths::padded(const Axes& axes) {
  Axes result;
  for (Dim d : axes) {
    if (d->size || d == batch_ || entry_for(d, axes).full) continue;
    if (!contains(result, d)) result.push_back(d);
    for (Dim l : entry_for(d, axes).lengths.axes)
      if (contains(axes, l) && !contains(result, l)) result.push_back(l);
  }
  for (const Surroundings::Mask& m : around_.masks)
    for (Dim d : m.out.axes)
      if (contains(axes, d) && !contains(result, d)) result.push_back(d);
  return result;
}

std::int64_t Lengths::count_valid(const Axes& axes) {
  at::Tensor mask = padding(axes);
  std::vector<std::int64_t> sizes = shape(axes);
  if (!mask.defined()) {
    std::int64_t count = 1;
    for (std::int64_t s : sizes) count *= s;
    return count;
  }
  return mask.expand(sizes).logical_not().sum().item<std::int64_t>();
}

}  // namespace rcn
