#include <cmath>

#include "compiler/eval/interpreter.h"

namespace rcn {

using namespace ast;

namespace {

constexpr std::string_view kSigns[] = {"+", "-", "*", "/", "//", "%", "**"};
constexpr std::string_view kOps[] = {"add", "sub", "mul", "truediv", "floordiv", "mod", "pow"};
constexpr std::string_view kCompareSigns[] = {"==", "!=", "<", "<=", ">", ">=", "in", "not in"};
constexpr std::string_view kCompareOps[] = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"};

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  std::int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

// Exact integer power with overflow check.
bool int_pow(std::int64_t base, std::int64_t exponent, std::int64_t& result) {
  result = 1;
  while (exponent > 0) {
    if (exponent & 1)
      if (__builtin_mul_overflow(result, base, &result)) return false;
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return false;
  }
  return true;
}

}  // namespace

Dim Interpreter::to_dim_operand(const Value& v) {
  if (v.is_dim()) return v.dim();
  if (v.is<std::int64_t>()) return in_.context.dims.constant(v.get<std::int64_t>());
  return nullptr;
}

Value Interpreter::binary(BinaryOp op, const Value& a, const Value& b, Span span, const std::string& name) {
  std::size_t i = static_cast<std::size_t>(op);
  bool numbers = (a.is_number() || a.is<bool>()) && (b.is_number() || b.is<bool>());
  if (numbers) return number_binary(op, a, b, span);
  if (a.is_tensor() || b.is_tensor()) {
    auto fits = [](const Value& v) { return v.is_tensor() || v.is_number() || v.is<bool>(); };
    if (fits(a) && fits(b)) return apply(kOps[i], {a, b}, span, name);
  }
  if (a.is_dim() || b.is_dim())
    if (to_dim_operand(a) && to_dim_operand(b)) return dim_binary(op, a, b, span);
  if (op == BinaryOp::add) {
    if (a.is_str() && b.is_str()) {
      if (static_cast<std::int64_t>(a.str().size() + b.str().size()) > options_.limits.list_items)
        fail(Diag::limit_list_items, span, {std::to_string(options_.limits.list_items)});
      return a.str() + b.str();
    }
    if (a.is_list() && b.is_list()) {
      List result = a.list();
      result.insert(result.end(), b.list().begin(), b.list().end());
      if (static_cast<std::int64_t>(result.size()) > options_.limits.list_items) fail(Diag::limit_list_items, span, {std::to_string(options_.limits.list_items)});
      return result;
    }
    if (a.is_tuple() && b.is_tuple()) {
      Tuple result = a.tuple();
      result.items.insert(result.items.end(), b.tuple().items.begin(), b.tuple().items.end());
      return result;
    }
  }
  if (op == BinaryOp::mul && (a.is_list() || b.is_list())) {
    const Value& list = a.is_list() ? a : b;
    const Value& times = a.is_list() ? b : a;
    if (times.is<std::int64_t>()) {
      std::int64_t n = times.get<std::int64_t>(), size = static_cast<std::int64_t>(list.list().size());
      if (size > 0 && n > options_.limits.list_items / size) fail(Diag::limit_list_items, span, {std::to_string(options_.limits.list_items)});
      List result;
      for (std::int64_t k = 0; k < n; ++k) result.insert(result.end(), list.list().begin(), list.list().end());
      return result;
    }
  }
  auto builder = report(Diag::operand_types, span, {std::string(kSigns[i]), kind_text(a), kind_text(b)});
  if (a.is_str() || b.is_str()) builder.help(Diag::help_text, {"`str(x)` is the text of a number or dim"});
  throw EvalError{};
}

Value Interpreter::number_binary(BinaryOp op, const Value& a, const Value& b, Span span) {
  std::string sign(kSigns[static_cast<std::size_t>(op)]);
  if (a.is<bool>() || b.is<bool>()) {
    auto builder = report(Diag::operand_types, span, {sign, kind_text(a), kind_text(b)});
    builder.help(Diag::help_text, {"a bool is no number: write `1 if x else 0`"});
    throw EvalError{};
  }
  if (a.is<std::int64_t>() && b.is<std::int64_t>()) {
    std::int64_t x = a.get<std::int64_t>(), y = b.get<std::int64_t>(), r = 0;
    bool overflow = false;
    switch (op) {
      case BinaryOp::add: overflow = __builtin_add_overflow(x, y, &r); break;
      case BinaryOp::sub: overflow = __builtin_sub_overflow(x, y, &r); break;
      case BinaryOp::mul: overflow = __builtin_mul_overflow(x, y, &r); break;
      case BinaryOp::div:
        if (y == 0) fail(Diag::division_by_zero, span, {sign});
        return static_cast<double>(x) / static_cast<double>(y);
      case BinaryOp::floordiv:
      case BinaryOp::mod:
        if (y == 0) fail(Diag::division_by_zero, span, {sign});
        overflow = y == -1 && x == INT64_MIN;
        if (!overflow) r = op == BinaryOp::floordiv ? floor_div(x, y) : x - floor_div(x, y) * y;
        break;
      case BinaryOp::pow:
        if (y < 0) {  // a float, as in Python
          if (x == 0) fail(Diag::division_by_zero, span, {sign});
          return apply("pow", {static_cast<double>(x), static_cast<double>(y)}, span, {});
        }
        overflow = !int_pow(x, y, r);
        break;
    }
    if (overflow) fail(Diag::int_overflow, span, {to_text(a) + " " + sign + " " + to_text(b)});
    return r;
  }
  double x = a.as_double(), y = b.as_double();
  switch (op) {
    case BinaryOp::add: return x + y;
    case BinaryOp::sub: return x - y;
    case BinaryOp::mul: return x * y;
    case BinaryOp::div:
      if (y == 0) fail(Diag::division_by_zero, span, {sign});
      return x / y;
    case BinaryOp::floordiv:
      if (y == 0) fail(Diag::division_by_zero, span, {sign});
      return std::floor(x / y);
    case BinaryOp::mod: {
      if (y == 0) fail(Diag::division_by_zero, span, {sign});
      double r = std::fmod(x, y);
      return r != 0 && (r < 0) != (y < 0) ? r + y : r;
    }
    case BinaryOp::pow: return apply("pow", {x, y}, span, {});
  }
  __builtin_unreachable();
}

Value Interpreter::dim_binary(BinaryOp op, const Value& a, const Value& b, Span span) {
  Dim x = to_dim_operand(a), y = to_dim_operand(b);
  std::string sign(kSigns[static_cast<std::size_t>(op)]);
  for (Dim d : {x, y})
    if (d->marker) fail(Diag::marker_dim_arithmetic, span, {to_string(d)});
  for (Dim d : {x, y})
    if ((op == BinaryOp::mul || op == BinaryOp::floordiv) && d->form == DimForm::constant && d->factor < 0)
      fail(Diag::dim_factor, span, {std::to_string(d->factor)});
  Dim result = nullptr;
  try {
    switch (op) {
      case BinaryOp::add: result = in_.context.dims.add(x, y); break;
      case BinaryOp::sub: result = in_.context.dims.sub(x, y); break;
      case BinaryOp::mul: result = in_.context.dims.mul(x, y); break;
      case BinaryOp::floordiv:
        if (y->size == 0) fail(Diag::division_by_zero, span, {sign});
        result = in_.context.dims.floordiv(x, y);
        break;
      default: {
        auto builder = report(Diag::operand_types, span, {sign, kind_text(a), kind_text(b)});
        if (op == BinaryOp::div) builder.help(Diag::help_text, {"`//` divides dims, `ceildiv(d, n)` rounds up; `d.size` is the number"});
        throw EvalError{};
      }
    }
  } catch (const std::overflow_error&) {
    fail(Diag::int_overflow, span, {to_text(a) + " " + sign + " " + to_text(b)});
  }
  if (result->size && *result->size < 0) fail(Diag::negative_dim, span, {to_string(result), std::to_string(*result->size)});
  return result;
}

Value Interpreter::negate(const Value& a, Span span, const std::string& name) {
  if (a.is<std::int64_t>()) {
    if (a.get<std::int64_t>() == INT64_MIN) fail(Diag::int_overflow, span, {"-" + to_text(a)});
    return -a.get<std::int64_t>();
  }
  if (a.is<double>()) return -a.get<double>();
  if (a.is_tensor()) return apply("neg", {a}, span, name);
  fail(Diag::operand_type, span, {"-", kind_text(a)});
}

Value Interpreter::compare(CompareOp op, const Value& a, const Value& b, Span span, const std::string& name) {
  std::size_t i = static_cast<std::size_t>(op);
  std::string sign(kCompareSigns[i]);
  if (op == CompareOp::in || op == CompareOp::not_in) {
    bool found = false;
    if (a.is_tensor()) fail(Diag::operand_types, span, {sign, kind_text(a), kind_text(b)});
    if (b.is_str()) {
      if (!a.is_str()) fail(Diag::operand_types, span, {sign, kind_text(a), kind_text(b)});
      found = b.str().find(a.str()) != std::string::npos;
    } else if (b.is_record()) {
      if (!a.is_str()) fail(Diag::operand_types, span, {sign, kind_text(a), kind_text(b)});
      found = b.record().find(Symbol(a.str())) != nullptr;
    } else if (b.is_list() || b.is_tuple()) {
      for (const Value& item : b.is_list() ? b.list() : b.tuple().items) found = found || same_value(a, item);
    } else {
      fail(Diag::operand_types, span, {sign, kind_text(a), kind_text(b)});
    }
    return found == (op == CompareOp::in);
  }
  bool equality = op == CompareOp::eq || op == CompareOp::ne;
  auto elementwise = [](const Value& v) { return v.is_tensor() || v.is_number() || v.is<bool>(); };
  if ((a.is_tensor() || b.is_tensor()) && elementwise(a) && elementwise(b)) return apply(kCompareOps[i], {a, b}, span, name);
  if (equality) return same_value(a, b) == (op == CompareOp::eq);
  bool numbers = a.is_number() && b.is_number();
  if (numbers || (a.is_str() && b.is_str())) {
    std::partial_ordering order = numbers ? compare_numbers(a, b) : a.str() <=> b.str();
    switch (op) {
      case CompareOp::lt: return std::is_lt(order);
      case CompareOp::le: return std::is_lteq(order);
      case CompareOp::gt: return std::is_gt(order);
      default: return std::is_gteq(order);
    }
  }
  auto builder = report(Diag::operand_types, span, {sign, kind_text(a), kind_text(b)});
  if (a.is_dim() || b.is_dim()) builder.help(Diag::help_text, {"`d.size` is the size of a static dim, `nn.dim_value(d)` that of any"});
  throw EvalError{};
}

}  // namespace rcn
