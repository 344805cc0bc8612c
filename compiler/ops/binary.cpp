// Elementwise operations of two operands: arithmetic, comparison, logic.
#include "compiler/ops/fold.h"
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

#include <algorithm>
#include <cmath>

namespace rcn {

namespace {

struct Binary {
  std::string_view name;      // also RETURNN's kind
  std::string_view with_number;  // Python, for an operand that is a number: {0} and {1}
  std::string_view mirrored;  // the comparison with its operands exchanged
};

constexpr Binary kBinary[] = {
    {"add", "{0} + {1}", {}},
    {"sub", "{0} - {1}", {}},
    {"mul", "{0} * {1}", {}},
    {"truediv", "{0} / {1}", {}},
    {"floordiv", "{0} // {1}", {}},
    {"mod", "{0} % {1}", {}},
    {"pow", "{0} ** {1}", {}},
    {"maximum", "tf.maximum({0}, {1})", {}},
    {"minimum", "tf.minimum({0}, {1})", {}},
    {"squared_difference", "tf.math.squared_difference({0}, {1})", {}},
    {"logical_and", "tf.logical_and({0}, {1})", {}},
    {"logical_or", "tf.logical_or({0}, {1})", {}},
    {"logical_xor", "tf.math.logical_xor({0}, {1})", {}},
    {"equal", {}, "equal"},
    {"not_equal", {}, "not_equal"},
    {"less", {}, "greater"},
    {"less_equal", {}, "greater_equal"},
    {"greater", {}, "less"},
    {"greater_equal", {}, "less_equal"},
};

const Binary& binary(std::string_view name) {
  for (const Binary& b : kBinary)
    if (b.name == name) return b;
  return kBinary[0];
}

std::string filled(std::string_view text, const std::string& a, const std::string& b) {
  std::string result(text);
  result.replace(result.find("{0}"), 3, a);
  result.replace(result.rfind("{1}"), 3, b);
  return result;
}

// ---- static numbers

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

Value fold_ints(OpCall& call, std::string_view name, std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  bool overflow = false;
  if (name == "maximum") return Value(std::max(a, b));
  if (name == "minimum") return std::min(a, b);
  if (name == "add") overflow = __builtin_add_overflow(a, b, &r);
  if (name == "sub") overflow = __builtin_sub_overflow(a, b, &r);
  if (name == "mul") overflow = __builtin_mul_overflow(a, b, &r);
  if (name == "squared_difference") overflow = __builtin_sub_overflow(a, b, &r) || __builtin_mul_overflow(r, r, &r);
  if (name == "floordiv" || name == "mod") {
    if (b == 0) call.fail(Diag::static_domain, {op_text(call.info()), to_text(call.arg(0))});
    overflow = b == -1 && __builtin_sub_overflow(std::int64_t{0}, a, &r);
    if (!overflow && b != -1) r = floor_div(a, b);
    if (name == "mod") return b == -1 ? Value(std::int64_t{0}) : Value(a - r * b);
  }
  if (overflow) call.fail(Diag::static_overflow, {op_text(call.info())});
  return r;
}

Value fold_floats(std::string_view name, double a, double b) {
  if (name == "maximum") return std::isnan(a) || a > b ? a : b;
  if (name == "minimum") return std::isnan(a) || a < b ? a : b;
  if (name == "add") return a + b;
  if (name == "sub") return a - b;
  if (name == "mul") return a * b;
  if (name == "truediv") return a / b;
  if (name == "floordiv") return std::floor(a / b);
  if (name == "mod") return a - b * std::floor(a / b);
  if (name == "pow") return fold_pow(a, b);
  return (a - b) * (a - b);
}

[[noreturn]] void fail_negative_power(OpCall& call) {
  std::string exponent = to_text(call.arg(1));
  call.context().diagnostics.report(Diag::negative_power, call.span(), {"** " + exponent})
      .help(Diag::help_text, {"of a float it is a float: `nn.cast(x, float32) ** " + exponent + "`"});
  throw EvalError{};
}

void fold_arithmetic(OpCall& call) {
  const Value &a = call.arg(0), &b = call.arg(1);
  for (std::size_t i : {0, 1})
    if (call.arg(i).is<bool>()) call.fail_at(call.arg_span(i), Diag::dtype_bool, {op_text(call.info())});
  std::string_view name = call.info().name;
  bool ints = a.is<std::int64_t>() && b.is<std::int64_t>() && name != "truediv" && name != "pow";
  if (ints) return call.static_result(fold_ints(call, name, a.get<std::int64_t>(), b.get<std::int64_t>()));
  Value result = fold_floats(name, a.as_double(), b.as_double());
  if (!std::isfinite(result.as_double()) && std::isfinite(a.as_double()) && std::isfinite(b.as_double()))
    call.fail(Diag::static_domain, {op_text(call.info()), to_text(a)});
  call.static_result(result);
}

void fold_logic(OpCall& call) {
  for (std::size_t i : {0, 1})
    if (!call.arg(i).is<bool>())
      call.fail_at(call.arg_span(i), Diag::op_argument_type, {op_text(call.info()), std::string(call.info().params[i].name), "a bool", kind_text(call.arg(i))});
  bool a = call.arg(0).get<bool>(), b = call.arg(1).get<bool>();
  std::string_view name = call.info().name;
  call.static_result(name == "logical_and" ? (a && b) : name == "logical_or" ? (a || b) : a != b);
}

void fold_comparison(OpCall& call) {
  const Value &a = call.arg(0), &b = call.arg(1);
  std::string_view name = call.info().name;
  if (name == "equal" || name == "not_equal") return call.static_result(same_value(a, b) == (name == "equal"));
  for (std::size_t i : {0, 1})
    if (!call.arg(i).is_number())
      call.fail_at(call.arg_span(i), Diag::op_argument_type, {op_text(call.info()), std::string(call.info().params[i].name), "a number", kind_text(call.arg(i))});
  std::partial_ordering order = compare_numbers(a, b);
  call.static_result(name == "less"         ? std::is_lt(order)
                     : name == "less_equal" ? std::is_lteq(order)
                     : name == "greater"    ? std::is_gt(order)
                                            : std::is_gteq(order));
}

// ---- type rules

bool both_static(OpCall& call) { return is_static(call.arg(0)) && is_static(call.arg(1)); }

void take_operands(OpCall& call) {
  call.input(call.operand(0));
  call.input(call.operand(1));
}

void infer_arithmetic(OpCall& call) {
  if (both_static(call)) return fold_arithmetic(call);
  DType dtype = joined_dtype(call, {0, 1}, Operation::arithmetic);
  if (call.info().name == "pow" && is_int(dtype) && call.arg(1).is<std::int64_t>() && call.arg(1).get<std::int64_t>() < 0)
    fail_negative_power(call);
  if (call.info().name == "truediv" && !is_float(dtype)) {
    call.context().diagnostics.report(Diag::dtype_division, call.span(), {std::string(to_string(dtype))})
        .help(Diag::help_text, {"`//` divides ints and floors; for a float, `nn.cast(x, float32) / y`"});
    throw EvalError{};
  }
  take_operands(call);
  call.output({joined_dims(call, {0, 1}), dtype, nullptr});
}

void infer_logic(OpCall& call) {
  if (both_static(call)) return fold_logic(call);
  for (std::size_t i : {0, 1}) {
    if (call.arg(i).is_tensor()) {
      require_dtype(call, i, Wanted::bools);
    } else if (!call.arg(i).is<bool>()) {
      call.fail_at(call.arg_span(i), Diag::op_argument_type, {op_text(call.info()), std::string(call.info().params[i].name), "a bool", kind_text(call.arg(i))});
    }
  }
  take_operands(call);
  call.output({joined_dims(call, {0, 1}), DType::bool_, nullptr});
}

void infer_comparison(OpCall& call) {
  if (both_static(call)) return fold_comparison(call);
  DType dtype = joined_dtype(call, {0, 1}, Operation::comparison);
  bool equality = call.info().name == "equal" || call.info().name == "not_equal";
  if (dtype == DType::bool_ && !equality) call.fail(Diag::dtype_bool, {op_text(call.info())});
  take_operands(call);
  call.output({joined_dims(call, {0, 1}), DType::bool_, nullptr});
}

// ---- lowering

Bounds result_bounds(const Lowering& l, std::string_view name) {
  Bounds a = l.bounds(0), b = l.bounds(1);
  bool same = l.is_tensor(0) && l.is_tensor(1) && &l.raw(0) == &l.raw(1);
  if (name == "add") return a + b;
  if (name == "sub") return a - b;
  if (name == "mul") return same ? square(a) : a * b;
  if (name == "truediv") return a / b;
  if (name == "mod" && b.low >= 0) return {0, b.high};
  if (name == "pow" && (a.low >= 0 || (!l.is_tensor(1) && std::fmod(b.low, 2) == 0))) return {0, Bounds().high};
  if (name == "maximum") return greater(a, b);
  if (name == "minimum") return smaller(a, b);
  if (name == "squared_difference") return square(a - b);
  return {};
}

// `a ** 1` is finite for each `a`, and so is its derivative; only where the exponent has no padding, `a` is 1.
void guard_power(Lowering& l) {
  Bounds a = l.bounds(0), b = l.bounds(1);
  DType dtype = l.out().dtype;
  if (!l.is_tensor(1)) {
    bool few_factors = b.low == std::floor(b.low) && b.low >= 0 && b.low <= 4, root = std::fabs(b.low) <= 2;
    if (few_factors || (root && inside(a, Domain::positive, dtype))) return;
    return l.guard(0, 1.0);
  }
  std::vector<Dim> left = l.is_tensor(0) ? without(l.padded(l.raw(0).layer_type), l.padded(l.raw(1).layer_type)) : std::vector<Dim>{};
  if (!left.empty()) l.guard(0, 1.0);
  bool number_above_zero = !l.is_tensor(0) && a.low > 0;
  if (!number_above_zero || std::max(fold_pow(a.low, b.low), fold_pow(a.low, b.high)) > largest(dtype)) l.guard(1, 1.0);
}

void lower_combine(Lowering& l) {
  const Binary& op = binary(l.node().op->name);
  bool divides = op.name == "truediv" || op.name == "floordiv" || op.name == "mod";
  if (divides && l.is_tensor(1)) l.guard(1, Domain::not_zero);
  if (op.name == "pow" && is_float(l.out().dtype)) guard_power(l);
  l.bounds(result_bounds(l, op.name));
  if (l.is_tensor(0) && l.is_tensor(1)) return l.elementwise("combine", {{"kind", op.name}}, {0, 1});
  std::size_t number = l.is_tensor(0) ? 1 : 0;
  std::string text = python_number(l.node().inputs[number], l.out().dtype), source = "source(0)";
  bool is_function = op.with_number.starts_with("tf.");
  std::string expression = number == 1 || is_function ? filled(op.with_number, source, text) : filled(op.with_number, text, source);
  l.elementwise("eval", {{"eval", expression}}, {1 - number});  // all `tf.` functions here are symmetric
}

void lower_compare(Lowering& l) {
  const Binary& op = binary(l.node().op->name);
  if (l.is_tensor(0) && l.is_tensor(1)) return l.elementwise("compare", {{"kind", op.name}}, {0, 1});
  std::size_t number = l.is_tensor(0) ? 1 : 0;
  Option value = number_option(l.node().inputs[number], l.type(1 - number).dtype);
  l.elementwise("compare", {{"kind", number == 1 ? op.name : op.mirrored}, {"value", value}}, {1 - number});
}

constexpr OpParam kOperands[] = {{"a", arg::operand}, {"b", arg::operand}};

constexpr OpDef arithmetic(std::string_view name, std::string_view doc) {
  return {{name, kOperands, "Tensor", doc, infer_arithmetic}, lower_combine};
}
constexpr OpDef logic(std::string_view name, std::string_view doc) {
  return {{name, kOperands, "Tensor", doc, infer_logic}, lower_combine};
}
constexpr OpDef comparison(std::string_view name, std::string_view doc) {
  return {{name, kOperands, "Tensor", doc, infer_comparison}, lower_compare};
}

constexpr OpDef kOps[] = {
    arithmetic("add", "`a + b`. One operand has all dims of the other; the result has the dims of `a`, then what `b` has more."),
    arithmetic("sub", "`a - b`; dims as of `add`."),
    arithmetic("mul", "`a * b`; dims as of `add`."),
    arithmetic("truediv", "`a / b` of floats; dims as of `add`."),
    arithmetic("floordiv", "`floor(a / b)`; dims as of `add`."),
    arithmetic("mod", "`a - floor(a / b) * b`, with the sign of `b`; dims as of `add`."),
    arithmetic("pow", "`a ** b`; dims as of `add`."),
    arithmetic("maximum", "The greater of the two; dims as of `add`."),
    arithmetic("minimum", "The smaller of the two; dims as of `add`."),
    arithmetic("squared_difference", "`(a - b) ** 2`; dims as of `add`."),
    logic("logical_and", "`a and b` of bools, elementwise; dims as of `add`."),
    logic("logical_or", "`a or b` of bools, elementwise; dims as of `add`."),
    logic("logical_xor", "Whether just one of the two is true, elementwise; dims as of `add`."),
    comparison("equal", "`a == b`, elementwise, a bool; dims as of `add`."),
    comparison("not_equal", "`a != b`, elementwise, a bool; dims as of `add`."),
    comparison("less", "`a < b`, elementwise, a bool; dims as of `add`."),
    comparison("less_equal", "`a <= b`, elementwise, a bool; dims as of `add`."),
    comparison("greater", "`a > b`, elementwise, a bool; dims as of `add`."),
    comparison("greater_equal", "`a >= b`, elementwise, a bool; dims as of `add`."),
};

}  // namespace

std::span<const OpDef> binary_ops() { return kOps; }

}  // namespace rcn
