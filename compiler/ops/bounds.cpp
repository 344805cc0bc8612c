#include "compiler/ops/bounds.h"

#include <algorithm>
#include <cmath>

namespace rcn {

Bounds known(double low, double high) {
  Bounds result;
  if (!std::isnan(low)) result.low = low;
  if (!std::isnan(high)) result.high = high;
  return result;
}

Bounds operator-(Bounds a) { return {-a.high, -a.low}; }
Bounds operator+(Bounds a, Bounds b) { return known(a.low + b.low, a.high + b.high); }
Bounds operator-(Bounds a, Bounds b) { return a + -b; }

Bounds operator*(Bounds a, Bounds b) {
  auto product = [](double x, double y) { return x == 0 || y == 0 ? 0 : x * y; };
  auto [low, high] =
      std::minmax({product(a.low, b.low), product(a.low, b.high), product(a.high, b.low), product(a.high, b.high)});
  return {low, high};
}

Bounds operator/(Bounds a, Bounds b) {
  if (b.low <= 0 && b.high >= 0) return {};
  return a * Bounds{1 / b.high, 1 / b.low};
}

Bounds square(Bounds a) {
  double low = a.low * a.low, high = a.high * a.high;
  return {a.low <= 0 && a.high >= 0 ? 0 : std::min(low, high), std::max(low, high)};
}

Bounds united(Bounds a, Bounds b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }
Bounds greater(Bounds a, Bounds b) { return {std::max(a.low, b.low), std::max(a.high, b.high)}; }
Bounds smaller(Bounds a, Bounds b) { return {std::min(a.low, b.low), std::min(a.high, b.high)}; }

namespace {

// Of what is not below it, the inverse of the third power is finite; of an int, the inverse.
double least(DType dtype) {
  switch (dtype) {
    case DType::float16: return 0.05;
    case DType::float32: return 1e-12;
    case DType::float64: return 1e-100;
    default: return 1;
  }
}

}  // namespace

double largest(DType dtype) { return dtype == DType::float16 ? 1e3 : dtype == DType::float32 ? 1e30 : 1e300; }

double inner_point(Domain domain) { return domain == Domain::positive || domain == Domain::not_zero ? 1 : 0; }

bool inside(Bounds bounds, Domain domain, DType dtype) {
  switch (domain) {
    case Domain::all: return true;
    case Domain::positive: return bounds.low >= least(dtype);
    case Domain::not_zero: return bounds.low >= least(dtype) || bounds.high <= -least(dtype);
    case Domain::above_minus_one: return bounds.low + 1 >= least(dtype);
    case Domain::not_large: return bounds.high <= (dtype == DType::float16 ? 10 : dtype == DType::float32 ? 80 : 700);
  }
  return false;
}

}  // namespace rcn
