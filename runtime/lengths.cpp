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
  store(batch_, scalar(size));
}

void Lengths::define(Dim dim, Named lengths) {
  at::NoGradGuard no_grad;
  lengths.value = lengths.value.to(at::kLong);
  // Lengths of sequences that are padding themselves count as none.
  at::Tensor none = padding(lengths.axes);
  if (none.defined()) lengths.value = lengths.value.masked_fill(none, 0);
  lengths.value = lengths.value.clamp_min(0);
  if (entries_.contains(dim))  // made anew, in a loop: what was derived from it is out of date
    std::erase_if(entries_, [&](const auto& item) {
      if (item.first->form == DimForm::atom) return false;
      std::vector<Dim> parts = atoms(item.first);
      return std::find(parts.begin(), parts.end(), dim) != parts.end();
    });
  store(dim, std::move(lengths));
}

void Lengths::store(Dim dim, Named lengths) {
  Entry& e = entries_[dim];
  e = Entry{};
  if (lengths.value.numel() > 0) {
    e.extent = lengths.value.max().item<std::int64_t>();
    e.full = dim == batch_ || lengths.value.min().item<std::int64_t>() == e.extent;
  }
  e.lengths = std::move(lengths);
}

bool Lengths::has(Dim dim) const {
  if (dim->size || entries_.contains(dim)) return true;
  if (dim->form == DimForm::atom) return false;
  return std::all_of(dim->parts.begin(), dim->parts.end(), [&](Dim p) { return has(p); });
}

// Of a derived dim, before the clamp at 0: terms of a sum may be negative.
Named Lengths::raw(Dim dim) {
  switch (dim->form) {
    case DimForm::atom: return of(dim);
    case DimForm::constant: return scalar(dim->factor);
    case DimForm::sum: {
      Named sum = scalar(0);
      for (Dim p : dim->parts)
        sum = combined(sum, raw(p), [](const at::Tensor& a, const at::Tensor& b) { return a + b; });
      return sum;
    }
    case DimForm::product: {
      Named product = scalar(dim->factor);
      for (Dim p : dim->parts)
        product = combined(product, of(p), [](const at::Tensor& a, const at::Tensor& b) { return a * b; });
      return product;
    }
    case DimForm::floordiv:
    case DimForm::ceildiv: {
      bool ceil = dim->form == DimForm::ceildiv;
      return combined(of(dim->parts[0]), of(dim->parts[1]), [&](const at::Tensor& a, const at::Tensor& b) {
        at::Tensor divisor = b.clamp_min(1);
        return at::div(ceil ? a + (divisor - 1) : a, divisor, "floor");
      });
    }
  }
  throw std::logic_error("form of dim");
}

Lengths::Entry& Lengths::entry(Dim dim) {
  auto it = entries_.find(dim);
  if (it != entries_.end()) return it->second;
  if (dim->size) {
    store(dim, scalar(*dim->size));
  } else if (dim->form == DimForm::atom) {
    throw std::logic_error("dim " + to_string(dim) + " has no length yet");
  } else {
    at::NoGradGuard no_grad;
    Named lengths = raw(dim);
    lengths.value = lengths.value.clamp_min(0);
    // This is kept, so the masks and steps of now have no say in it.
    at::Tensor none = padding_by_lengths(lengths.axes, lengths.axes, {});
    if (none.defined()) lengths.value = lengths.value.masked_fill(none, 0);
    store(dim, std::move(lengths));
  }
  return entries_.at(dim);
}

const Named& Lengths::of(Dim dim) { return entry(dim).lengths; }

Named Lengths::seen_from(const Axes& axes, Dim dim) { return at_steps(of(dim), axes, around_.steps); }

at::Tensor Lengths::over(Dim dim, const Axes& axes) {
  return fitted(seen_from(axes, dim), axes,
                [](const at::Tensor& x, std::int64_t axis) { return x.size(axis) == 0 ? x.sum(axis) : x.amax(axis); });
}

std::int64_t Lengths::extent(Dim dim) { return dim->size ? *dim->size : entry(dim).extent; }

std::vector<std::int64_t> Lengths::shape(const Axes& axes) {
  std::vector<std::int64_t> result;
  for (Dim d : axes) result.push_back(extent(d));
  return result;
}

at::Tensor Lengths::padding(const Axes& axes, const Axes& by) {
  return either(padding_by_lengths(axes, by, around_), masked_out(axes, by));
}

at::Tensor Lengths::masked_out(const Axes& axes, const Axes& by) {
  at::Tensor result;
  for (const Surroundings::Mask& m : around_.masks) {
    bool concerned = std::any_of(m.out.axes.begin(), m.out.axes.end(), [&](Dim d) { return contains(by, d); });
    if (concerned) result = either(result, fitted(m.out, axes, all_of));
  }
  return result;
}

void Lengths::Inside::mask(const Named& valid) {
  at::NoGradGuard no_grad;
  lengths_.around_.masks.push_back({{valid.value.logical_not(), valid.axes}, ++lengths_.regions_});
}

at::Tensor Lengths::padding_by_lengths(const Axes& axes, const Axes& by, const Surroundings& around) {
  at::Tensor result;
  for (Dim d : by) {
    if (d->size || d == batch_) continue;
    Entry& e = entry(d);
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
    if (d->size || d == batch_ || entry(d).full) continue;
    if (!contains(result, d)) result.push_back(d);
    for (Dim l : entry(d).lengths.axes)
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
