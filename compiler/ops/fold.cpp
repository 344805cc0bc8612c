#include "compiler/ops/fold.h"

namespace rcn {

namespace {

constexpr mpfr_prec_t kFirst = 128, kLast = 4096;  // at the last one, the value is a double or lies halfway of two
constexpr int kLostBits = 24;                      // more than any of our formulas loses

// What MPFR keeps for a thread ends with it.
struct Caches {
  bool used = false;
  ~Caches() {
    if (used) mpfr_free_cache();
  }
};
thread_local Caches caches;

class Real {
 public:
  explicit Real(mpfr_prec_t precision) {
    caches.used = true;
    mpfr_init2(value_, precision);
  }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

template <class F>
double certain(F&& compute) {
  for (mpfr_prec_t precision = kFirst;; precision *= 2) {
    Real y(precision);
    compute(static_cast<mpfr_ptr>(y));
    if (precision >= kLast || !mpfr_number_p(y) || mpfr_zero_p(y) ||
        mpfr_can_round(y, precision - kLostBits, MPFR_RNDN, MPFR_RNDN, 53 + 1))
      return mpfr_get_d(y, MPFR_RNDN);
  }
}

}  // namespace

double fold(FoldFn f, double x) {
  Real exact(53);
  mpfr_set_d(exact, x, MPFR_RNDN);
  return certain([&](mpfr_ptr y) { f(y, exact); });
}

double approximate(FoldFn f, double x) {
  Real exact(53), y(64);
  mpfr_set_d(exact, x, MPFR_RNDN);
  f(y, exact);
  return mpfr_get_d(y, MPFR_RNDN);
}

double fold_pow(double a, double b) {
  Real x(53), y(53);
  mpfr_set_d(x, a, MPFR_RNDN);
  mpfr_set_d(y, b, MPFR_RNDN);
  return certain([&](mpfr_ptr r) { mpfr_pow(r, x, y, MPFR_RNDN); });
}

}  // namespace rcn
