// What is known of a tensor's numbers before any is computed, and where functions are finite: both together tell that
// an operand needs no guard.
#pragma once

#include <limits>

#include "compiler/dims/type.h"

namespace rcn {

// All numbers of a tensor lie in here, those in the padding too; but for nan. Without rounding: a bound may be missed
// by that.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool operator==(const Bounds&) const = default;
};

Bounds known(double low, double high);  // what is nan is not known
Bounds operator-(Bounds a);
Bounds operator+(Bounds a, Bounds b);
Bounds operator-(Bounds a, Bounds b);
Bounds operator*(Bounds a, Bounds b);
Bounds operator/(Bounds a, Bounds b);
Bounds square(Bounds a);
Bounds united(Bounds a, Bounds b);
Bounds greater(Bounds a, Bounds b);  // of maximum
Bounds smaller(Bounds a, Bounds b);  // of minimum

// Where a function and its derivative are finite numbers.
enum class Domain { all, positive, not_zero, above_minus_one, not_large };

double inner_point(Domain domain);  // far from the edge; the function is 1 or 0 there
// Whether all of the bounds is inside, and so far from the edge that the dtype holds value and derivative.
bool inside(Bounds bounds, Domain domain, DType dtype);
double largest(DType dtype);  // a power up to this has a derivative that the dtype holds

}  // namespace rcn
