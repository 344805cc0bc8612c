#include "compiler/dims/dim.h"

#include <algorithm>
#include <stdexcept>

namespace rcn {

namespace {

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r)) throw std::overflow_error("dim size");
  return r;
}
std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) throw std::overflow_error("dim size");
  return r;
}
std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  std::int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

bool all_static(const std::vector<Dim>& dims) {
  return std::all_of(dims.begin(), dims.end(), [](Dim d) { return d->size.has_value(); });
}

bool is_constant(Dim d) { return d->form == DimForm::constant; }

// A dim as int times base: `2*d` is (2, d); constants have no base.
struct Scaled {
  std::int64_t factor;
  Dim base;  // null for a product of several factors: compare `factors`
  std::vector<Dim> factors;
};

Scaled split(Dim d) {
  if (d->form == DimForm::product) {
    if (d->parts.size() == 1) return {d->factor, d->parts[0], d->parts};
    return {d->factor, nullptr, d->parts};
  }
  return {1, d, {d}};
}

DimKind joined_kind(const std::vector<Dim>& parts) {
  DimKind kind = DimKind::spatial;
  for (Dim p : parts) {
    if (is_constant(p)) continue;
    if (p->kind == DimKind::batch) return DimKind::batch;
    if (p->kind == DimKind::feature) kind = DimKind::feature;
  }
  return kind;
}

}  // namespace

std::string_view to_string(DimKind kind) {
  switch (kind) {
    case DimKind::batch: return "batch";
    case DimKind::spatial: return "spatial";
    case DimKind::feature: return "feature";
  }
  return "";
}

DimTable::DimTable() {
  batch_ = declare("batch", DimKind::batch, std::nullopt);
  DimNode node;
  node.name = "nn.single_step_dim";
  node.id = static_cast<std::uint32_t>(nodes_.size());
  node.marker = true;
  single_step_ = &nodes_.emplace_back(std::move(node));
}

Dim DimTable::declare(std::string name, DimKind kind, std::optional<std::int64_t> size, Span declared) {
  DimNode node;
  node.kind = kind;
  node.size = size;
  node.name = std::move(name);
  node.declared = declared;
  return this->declared(records_.size(), std::move(node));
}

Dim DimTable::declared(std::size_t records, DimNode node) {
  if (records == 0) {
    node.id = static_cast<std::uint32_t>(nodes_.size());
    return &nodes_.emplace_back(std::move(node));
  }
  Record& record = *records_[records - 1];
  if (record.next == record.dims.size()) record.dims.push_back(declared(records - 1, node));
  Dim result = record.dims[record.next++];
  if (result->name != node.name || result->kind != node.kind || result->size != node.size)
    throw std::logic_error("a body declares `" + node.name + "` where it declared `" + result->name + "` before");
  return result;
}

DimTable::Replay::Replay(DimTable& table, Record& record) : table_(table) {
  record.next = 0;
  table.records_.push_back(&record);
}

Dim DimTable::intern(DimNode node) {
  std::string key = std::to_string(static_cast<int>(node.form)) + ":" + std::to_string(node.factor);
  for (Dim p : node.parts) key += "," + std::to_string(p->id);
  auto it = interned_.find(key);
  if (it != interned_.end()) return it->second;
  node.id = static_cast<std::uint32_t>(nodes_.size());
  Dim result = &nodes_.emplace_back(std::move(node));
  interned_.emplace(std::move(key), result);
  return result;
}

Dim DimTable::constant(std::int64_t value) {
  DimNode node;
  node.form = DimForm::constant;
  node.factor = value;
  node.size = value;
  return intern(std::move(node));
}

Dim DimTable::product_of(std::int64_t factor, std::vector<Dim> factors) {
  if (factors.empty() || factor == 0) return constant(factors.empty() ? factor : 0);
  if (factor == 1 && factors.size() == 1) return factors[0];
  DimNode node;
  node.form = DimForm::product;
  node.kind = joined_kind(factors);
  if (all_static(factors)) {
    std::int64_t size = factor;
    for (Dim f : factors) size = checked_mul(size, *f->size);
    node.size = size;
  }
  node.factor = factor;
  node.parts = std::move(factors);
  return intern(std::move(node));
}

// Appends with merging at the junction; the terms given are already merged among themselves or are appended one by one.
Dim DimTable::sum_of(const std::vector<Dim>& terms) {
  std::vector<Dim> merged;
  for (Dim term : terms) {
    if (is_constant(term) && term->factor == 0) continue;
    if (!merged.empty()) {
      Dim last = merged.back();
      if (is_constant(last) && is_constant(term)) {
        merged.pop_back();
        std::int64_t value = checked_add(last->factor, term->factor);
        if (value != 0) merged.push_back(constant(value));
        continue;
      }
      if (!is_constant(last) && !is_constant(term)) {
        Scaled a = split(last), b = split(term);
        if (a.factors == b.factors) {
          merged.pop_back();
          std::int64_t factor = checked_add(a.factor, b.factor);
          if (factor != 0) merged.push_back(product_of(factor, a.factors));
          continue;
        }
      }
    }
    merged.push_back(term);
  }
  if (merged.empty()) return constant(0);
  if (merged.size() == 1) return merged[0];
  DimNode node;
  node.form = DimForm::sum;
  node.kind = joined_kind(merged);
  if (all_static(merged)) {
    std::int64_t size = 0;
    for (Dim t : merged) size = checked_add(size, *t->size);
    node.size = size;
  }
  node.parts = std::move(merged);
  return intern(std::move(node));
}

Dim DimTable::add(Dim a, Dim b) {
  if (!is_constant(a) && !is_constant(b)) {
    Scaled x = split(a), y = split(b);  // (a + b) + (a + b) is 2 * (a + b)
    if (x.factors == y.factors) return product_of(checked_add(x.factor, y.factor), x.factors);
  }
  std::vector<Dim> terms = a->form == DimForm::sum ? a->parts : std::vector<Dim>{a};
  if (b->form == DimForm::sum) {
    terms.insert(terms.end(), b->parts.begin(), b->parts.end());
  } else {
    terms.push_back(b);
  }
  return sum_of(terms);
}

std::vector<Dim> DimTable::negated_terms(Dim d) {
  std::vector<Dim> terms = d->form == DimForm::sum ? d->parts : std::vector<Dim>{d};
  std::reverse(terms.begin(), terms.end());
  for (Dim& t : terms) {
    if (is_constant(t)) {
      t = constant(checked_mul(t->factor, -1));
    } else {
      Scaled s = split(t);
      t = product_of(checked_mul(s.factor, -1), s.factors);
    }
  }
  return terms;
}

Dim DimTable::sub(Dim a, Dim b) {
  if (!is_constant(a) && !is_constant(b)) {
    Scaled x = split(a), y = split(b);
    if (x.factors == y.factors) return product_of(checked_add(x.factor, -y.factor), x.factors);
  }
  std::vector<Dim> terms = a->form == DimForm::sum ? a->parts : std::vector<Dim>{a};
  for (Dim t : negated_terms(b)) terms.push_back(t);
  return sum_of(terms);
}

Dim DimTable::mul(Dim a, Dim b) {
  if (is_constant(a) && is_constant(b)) return constant(checked_mul(a->factor, b->factor));
  if (is_constant(a)) std::swap(a, b);
  Scaled x = split(a);
  if (is_constant(b)) return product_of(checked_mul(x.factor, b->factor), x.factors);
  Scaled y = split(b);
  std::vector<Dim> factors = x.factors;
  factors.insert(factors.end(), y.factors.begin(), y.factors.end());
  return product_of(checked_mul(x.factor, y.factor), std::move(factors));
}

// a / b where that has no rest for every size.
std::optional<Dim> DimTable::divide_exactly(Dim a, Dim b) {
  if (a == b) return constant(1);
  if (is_constant(b)) {
    std::int64_t n = b->factor;
    if (n == 1) return a;
    if (is_constant(a)) return a->factor % n == 0 ? std::optional(constant(a->factor / n)) : std::nullopt;
    if (a->form == DimForm::product && a->factor % n == 0) return product_of(a->factor / n, a->parts);
    if (a->form == DimForm::sum) {
      std::vector<Dim> terms;
      for (Dim t : a->parts) {
        std::optional<Dim> q = divide_exactly(t, b);
        if (!q) return std::nullopt;
        terms.push_back(*q);
      }
      return sum_of(terms);
    }
    return std::nullopt;
  }
  Scaled x = split(a), y = split(b);
  if (x.factor % y.factor != 0 || y.factors.size() > x.factors.size()) return std::nullopt;
  std::size_t n = y.factors.size();
  std::int64_t factor = x.factor / y.factor;
  if (std::equal(y.factors.begin(), y.factors.end(), x.factors.end() - static_cast<std::ptrdiff_t>(n)))
    return product_of(factor, {x.factors.begin(), x.factors.end() - static_cast<std::ptrdiff_t>(n)});
  if (std::equal(y.factors.begin(), y.factors.end(), x.factors.begin()))
    return product_of(factor, {x.factors.begin() + static_cast<std::ptrdiff_t>(n), x.factors.end()});
  return std::nullopt;
}

Dim DimTable::divide(DimForm form, Dim a, Dim b) {
  if (std::optional<Dim> exact = divide_exactly(a, b)) return *exact;
  if (a->form == form && is_constant(b) && is_constant(a->parts[1]) && b->factor > 0 && a->parts[1]->factor > 0)
    return divide(form, a->parts[0], constant(checked_mul(a->parts[1]->factor, b->factor)));
  DimNode node;
  node.form = form;
  node.kind = a->kind;
  if (a->size && b->size)
    node.size = form == DimForm::floordiv ? floor_quotient(*a->size, *b->size) : -floor_quotient(-*a->size, *b->size);
  if (is_constant(a) && is_constant(b)) return constant(*node.size);
  node.parts = {a, b};
  return intern(std::move(node));
}

Dim DimTable::floordiv(Dim a, Dim b) { return divide(DimForm::floordiv, a, b); }
Dim DimTable::ceildiv(Dim a, Dim b) { return divide(DimForm::ceildiv, a, b); }

namespace {

enum Level { kSum, kProduct, kAtom };

std::string text(Dim d, Level level) {
  auto wrap = [&](Level own, const std::string& s) { return level > own ? "(" + s + ")" : s; };
  switch (d->form) {
    case DimForm::atom: return d->name;
    case DimForm::constant: return std::to_string(d->factor);
    case DimForm::sum: {
      std::string result;
      for (std::size_t i = 0; i < d->parts.size(); ++i) {
        std::string part = text(d->parts[i], kProduct);
        if (i == 0) {
          result = part;
        } else if (part[0] == '-') {
          result += " - " + part.substr(1);
        } else {
          result += " + " + part;
        }
      }
      return wrap(kSum, result);
    }
    case DimForm::product: {
      std::string result;
      if (d->factor == -1) {
        result = "-";
      } else if (d->factor != 1) {
        result = std::to_string(d->factor) + " * ";
      }
      for (std::size_t i = 0; i < d->parts.size(); ++i) result += (i ? " * " : "") + text(d->parts[i], kAtom);
      return wrap(kProduct, result);
    }
    case DimForm::floordiv: return wrap(kProduct, text(d->parts[0], kAtom) + " // " + text(d->parts[1], kAtom));
    case DimForm::ceildiv: return "ceildiv(" + text(d->parts[0], kSum) + ", " + text(d->parts[1], kSum) + ")";
  }
  return "";
}

void collect_atoms(Dim d, std::vector<Dim>& result) {
  if (d->form == DimForm::atom) {
    if (std::find(result.begin(), result.end(), d) == result.end()) result.push_back(d);
  }
  for (Dim p : d->parts) collect_atoms(p, result);
}

}  // namespace

std::string to_string(Dim d) { return text(d, kSum); }

std::vector<Dim> atoms(Dim d) {
  std::vector<Dim> result;
  collect_atoms(d, result);
  return result;
}

std::string dims_text(const std::vector<Dim>& dims) {
  std::string result;
  for (Dim d : dims) {
    if (!result.empty()) result += ", ";
    result += to_string(d);
    if (d->size) result += "=" + std::to_string(*d->size);
  }
  return result;
}

}  // namespace rcn
