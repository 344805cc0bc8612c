// Elementwise functions of static numbers, correctly rounded, so that no digit depends on the machine's C library.
#pragma once

#include <mpfr.h>

#include <optional>

#include "compiler/eval/value.h"

namespace rcn {

// Computes y = f(x) with the precision of y; x is exact. May use as many roundings as it likes: fold() repeats with
// more precision until the double is certain.
using FoldFn = void (*)(mpfr_t y, const mpfr_t x);

// f(x), rounded to the nearest double; nan where f has no value.
double fold(FoldFn f, double x);
// The same with one evaluation: some last digits may be wrong, the same on each machine.
double approximate(FoldFn f, double x);

// sqrt, log, ... of two static numbers are folded by these.
double fold_pow(double a, double b);

}  // namespace rcn
