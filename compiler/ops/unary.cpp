// Elementwise functions of one operand.
#include "compiler/ops/fold.h"
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

#include <algorithm>
#include <cmath>

namespace rcn {

namespace {

// ---- static numbers: f(x) in MPFR. What MPFR has not is put together; fold() decides when the last digit is certain.

#define RCN_MPFR(name) [](mpfr_t y, const mpfr_t x) { mpfr_##name(y, x, MPFR_RNDN); }

void one_over(mpfr_t y) { mpfr_ui_div(y, 1, y, MPFR_RNDN); }

void sigmoid(mpfr_t y, const mpfr_t x) {  // 1 / (1 + exp(-x))
  mpfr_neg(y, x, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  one_over(y);
}

void softplus(mpfr_t y, const mpfr_t x) {  // log(1 + exp(x)); inf stays inf
  mpfr_exp(y, x, MPFR_RNDN);
  mpfr_log1p(y, y, MPFR_RNDN);
}

void log_sigmoid(mpfr_t y, const mpfr_t x) {  // -log(1 + exp(-x))
  mpfr_neg(y, x, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_log1p(y, y, MPFR_RNDN);
  mpfr_neg(y, y, MPFR_RNDN);
}

void swish(mpfr_t y, const mpfr_t x) {
  sigmoid(y, x);
  mpfr_mul(y, y, x, MPFR_RNDN);
}

void gelu(mpfr_t y, const mpfr_t x) {  // x/2 * erfc(-x / sqrt(2))
  mpfr_sqrt_ui(y, 2, MPFR_RNDN);
  mpfr_div(y, x, y, MPFR_RNDN);
  mpfr_neg(y, y, MPFR_RNDN);
  mpfr_erfc(y, y, MPFR_RNDN);
  mpfr_mul(y, y, x, MPFR_RNDN);
  mpfr_div_2ui(y, y, 1, MPFR_RNDN);
}

void elu(mpfr_t y, const mpfr_t x) {
  if (mpfr_sgn(x) >= 0) {
    mpfr_set(y, x, MPFR_RNDN);
  } else {
    mpfr_expm1(y, x, MPFR_RNDN);
  }
}

constexpr const char* kSeluScale = "1.0507009873554804934193349852946";
constexpr const char* kSeluScaleAlpha = "1.7580993408473768599402175208123";

void selu(mpfr_t y, const mpfr_t x) {
  mpfr_t scale;
  mpfr_init2(scale, mpfr_get_prec(y));
  mpfr_set_str(scale, mpfr_sgn(x) >= 0 ? kSeluScale : kSeluScaleAlpha, 10, MPFR_RNDN);
  elu(y, x);
  mpfr_mul(y, y, scale, MPFR_RNDN);
  mpfr_clear(scale);
}

void rsqrt(mpfr_t y, const mpfr_t x) { mpfr_rec_sqrt(y, x, MPFR_RNDN); }
void reciprocal(mpfr_t y, const mpfr_t x) { mpfr_ui_div(y, 1, x, MPFR_RNDN); }
void relu(mpfr_t y, const mpfr_t x) {
  if (mpfr_sgn(x) > 0) {
    mpfr_set(y, x, MPFR_RNDN);
  } else {
    mpfr_set_zero(y, 1);
  }
}
void sign(mpfr_t y, const mpfr_t x) { mpfr_set_si(y, mpfr_sgn(x), MPFR_RNDN); }
void square(mpfr_t y, const mpfr_t x) { mpfr_sqr(y, x, MPFR_RNDN); }

enum class Takes { floats, numbers, bools };
enum class Shape { other, rising, falling, even /* falls up to 0, then rises */, wave /* taken as anywhere between -1 and 1 */ };

struct Unary {
  std::string_view name;
  Takes takes;
  std::string_view returnn;  // name of RETURNN's activation, or an expression of `source(0)`
  FoldFn fold;
  Shape shape = Shape::other;
  Domain domain = Domain::all;
};

constexpr Unary kUnary[] = {
    {"abs", Takes::numbers, "abs", RCN_MPFR(abs), Shape::even},
    {"neg", Takes::numbers, "negative", RCN_MPFR(neg), Shape::falling},
    {"sign", Takes::numbers, "sign", sign, Shape::rising},
    {"ceil", Takes::floats, "ceil", [](mpfr_t y, const mpfr_t x) { mpfr_ceil(y, x); }, Shape::rising},
    {"floor", Takes::floats, "floor", [](mpfr_t y, const mpfr_t x) { mpfr_floor(y, x); }, Shape::rising},
    {"rint", Takes::floats, "tf.round(source(0))", [](mpfr_t y, const mpfr_t x) { mpfr_roundeven(y, x); }, Shape::rising},
    {"relu", Takes::numbers, "relu", relu, Shape::rising},
    {"elu", Takes::floats, "elu", elu, Shape::rising},
    {"selu", Takes::floats, "selu", selu, Shape::rising},
    {"gelu", Takes::floats, "tf.nn.gelu(source(0), approximate=False)", gelu},
    {"exp", Takes::floats, "exp", RCN_MPFR(exp), Shape::rising, Domain::not_large},
    {"expm1", Takes::floats, "expm1", RCN_MPFR(expm1), Shape::rising, Domain::not_large},
    {"log", Takes::floats, "log", RCN_MPFR(log), Shape::rising, Domain::positive},
    {"log1p", Takes::floats, "log1p", RCN_MPFR(log1p), Shape::rising, Domain::above_minus_one},
    {"sin", Takes::floats, "sin", RCN_MPFR(sin), Shape::wave},
    {"cos", Takes::floats, "cos", RCN_MPFR(cos), Shape::wave},
    {"tan", Takes::floats, "tan", RCN_MPFR(tan)},
    {"tanh", Takes::floats, "tanh", RCN_MPFR(tanh), Shape::wave},
    {"sigmoid", Takes::floats, "sigmoid", sigmoid, Shape::rising},
    {"log_sigmoid", Takes::floats, "log_sigmoid", log_sigmoid, Shape::rising},
    {"sqrt", Takes::floats, "sqrt", RCN_MPFR(sqrt), Shape::rising, Domain::positive},
    {"rsqrt", Takes::floats, "rsqrt", rsqrt, Shape::other, Domain::positive},
    {"swish", Takes::floats, "swish", swish},
    {"square", Takes::numbers, "square", square, Shape::even},
    {"softplus", Takes::floats, "softplus", softplus, Shape::rising},
    {"reciprocal", Takes::floats, "reciprocal", reciprocal, Shape::other, Domain::not_zero},
    {"erf", Takes::floats, "erf", RCN_MPFR(erf), Shape::wave},
    {"logical_not", Takes::bools, "logical_not", nullptr},
};
#undef RCN_MPFR

const Unary& unary(std::string_view name) {
  for (const Unary& u : kUnary)
    if (u.name == name) return u;
  return kUnary[0];
}

// abs, neg, sign, square and relu of an int are ints.
std::int64_t of_int(OpCall& call, std::string_view name, std::int64_t n) {
  if (name == "sign") return (n > 0) - (n < 0);
  if (name == "relu") return n > 0 ? n : 0;
  std::int64_t result = n;
  bool overflow = false;
  if (name == "square") {
    overflow = __builtin_mul_overflow(n, n, &result);
  } else if (name == "neg" || n < 0) {
    overflow = __builtin_sub_overflow(std::int64_t{0}, n, &result);
  }
  if (overflow) call.fail(Diag::static_overflow, {op_text(call.info())});
  return result;
}

void fold_number(OpCall& call, const Unary& op) {
  const Value& value = call.arg(0);
  if (op.takes == Takes::bools ? !value.is<bool>() : !value.is_number())
    call.fail_at(call.arg_span(0), Diag::op_argument_type,
                 {op_text(call.info()), "source", op.takes == Takes::bools ? "a bool" : "a number", kind_text(value)});
  if (value.is<bool>()) return call.static_result(!value.get<bool>());
  if (value.is<std::int64_t>() && op.takes == Takes::numbers)
    return call.static_result(of_int(call, op.name, value.get<std::int64_t>()));
  double x = value.as_double();
  double y = fold(op.fold, x);
  if (std::isnan(y) || (std::isinf(y) && std::isfinite(x)))
    call.fail_at(call.arg_span(0), Diag::static_domain, {op_text(call.info()), to_text(value)});
  call.static_result(y);
}

void infer_unary(OpCall& call) {
  const Unary& op = unary(call.info().name);
  if (is_static(call.arg(0))) return fold_number(call, op);
  require_dtype(call, 0, op.takes == Takes::floats ? Wanted::floats : op.takes == Takes::bools ? Wanted::bools : Wanted::numbers);
  call.input(call.operand(0));
  call.output({call.type(0).dims, call.type(0).dtype, nullptr});
}

Bounds result_bounds(const Unary& op, Bounds x) {
  if (op.shape == Shape::other) return {};
  if (op.shape == Shape::wave) return {-1, 1};
  double low = approximate(op.fold, x.low), high = approximate(op.fold, x.high);
  if (op.shape == Shape::falling || (op.shape == Shape::even && x.high <= 0)) return known(high, low);
  if (op.shape == Shape::even && x.low < 0) return {0, std::max(low, high)};
  return known(low, high);
}

void lower_unary(Lowering& l) {
  const Unary& op = unary(l.node().op->name);
  l.guard(0, op.domain);
  l.bounds(result_bounds(op, l.bounds(0)));
  if (is_float(l.out().dtype) && op.returnn.find('(') == std::string_view::npos)
    return l.elementwise("activation", {{"activation", op.returnn}}, {0});
  std::string text(op.returnn);
  if (text.find('(') == std::string::npos)
    text = (text == "relu" ? "tf.nn." : text == "reciprocal" ? "tf.math." : "tf.") + text + "(source(0))";
  l.elementwise("eval", {{"eval", text}}, {0});
}

void infer_eps(OpCall& call) {
  require_dtype(call, 0, Wanted::floats);
  double eps = call.arg(1).as_double();
  if (!(eps > 0 && eps < 1)) call.fail_argument(1, "between 0 and 1", to_text(call.arg(1)));
  call.input(call.operand(0));
  call.attr("eps", eps);
  call.output({call.type(0).dims, call.type(0).dtype, nullptr});
}

double log_of(double x) {
  return fold([](mpfr_t y, const mpfr_t v) { mpfr_log(y, v, MPFR_RNDN); }, x);
}

void lower_safe_log(Lowering& l) {
  double least = l.node().real("eps");
  std::string eps = python_float(least);
  l.bounds({log_of(least), log_of(std::max(l.bounds(0).high, least))});
  l.elementwise("eval", {{"eval", "tf.math.log(maximum_with_identity_grad(source(0), " + eps + "))"}}, {0});
}

void lower_safe_exp(Lowering& l) {
  double eps = l.node().real("eps"), low = log_of(eps);
  l.bounds({eps, 1 / eps});
  l.elementwise("eval", {{"eval", "tf.exp(tf.clip_by_value(source(0), " + python_float(low) + ", " + python_float(-low) + "))"}}, {0});
}

constexpr OpParam kSource[] = {{"source", arg::operand}};
constexpr OpParam kSourceEps[] = {{"source", arg::tensor}, {"eps", arg::real, true, "1e-7"}};

constexpr OpDef entry(std::string_view name, std::string_view doc) {
  return {{name, kSource, "Tensor", doc, infer_unary}, lower_unary};
}

constexpr OpDef kOps[] = {
    entry("abs", "`|x|`, elementwise. Ints stay ints."),
    entry("neg", "`-x`, elementwise."),
    entry("sign", "-1, 0 or 1, elementwise."),
    entry("ceil", "The least whole number that is not below `x`, elementwise, as a float."),
    entry("floor", "The greatest whole number that is not above `x`, elementwise, as a float."),
    entry("rint", "The nearest whole number, halves to the even one, elementwise, as a float."),
    entry("relu", "`max(x, 0)`, elementwise."),
    entry("elu", "`x` where `x >= 0`, else `exp(x) - 1`, elementwise."),
    entry("selu", "`1.0507 * x` where `x >= 0`, else `1.7581 * (exp(x) - 1)`, elementwise (Klambauer et al. 2017)."),
    entry("gelu", "`x * P(X <= x)` for a standard normal `X`, by erf and not by its tanh approximation, elementwise."),
    entry("exp", "`e ** x`, elementwise."),
    entry("expm1", "`exp(x) - 1`, precise near 0, elementwise."),
    entry("log", "Natural logarithm, elementwise; see `safe_log`."),
    entry("log1p", "`log(1 + x)`, precise near 0, elementwise."),
    entry("sin", "Sine of radians, elementwise."),
    entry("cos", "Cosine of radians, elementwise."),
    entry("tan", "Tangent of radians, elementwise."),
    entry("tanh", "Hyperbolic tangent, elementwise."),
    entry("sigmoid", "`1 / (1 + exp(-x))`, elementwise."),
    entry("log_sigmoid", "`log(sigmoid(x))` without overflow, elementwise."),
    entry("sqrt", "Square root, elementwise."),
    entry("rsqrt", "`1 / sqrt(x)`, elementwise."),
    entry("swish", "`x * sigmoid(x)`, elementwise."),
    entry("square", "`x * x`, elementwise. Ints stay ints."),
    entry("softplus", "`log(1 + exp(x))` without overflow, elementwise."),
    entry("reciprocal", "`1 / x`, elementwise."),
    entry("erf", "The error function, elementwise."),
    entry("logical_not", "`not x` of bools, elementwise."),
    {{"safe_log", kSourceEps, "Tensor", "`log(max(x, eps))`, elementwise, with the gradient `1 / max(x, eps)` everywhere.", infer_eps},
     lower_safe_log},
    {{"safe_exp", kSourceEps, "Tensor", "`exp` of `x` clipped to `[log(eps), -log(eps)]`, elementwise.", infer_eps}, lower_safe_exp},
};

}  // namespace

std::span<const OpDef> unary_ops() { return kOps; }

}  // namespace rcn
