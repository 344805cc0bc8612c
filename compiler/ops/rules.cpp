#include "compiler/ops/rules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "compiler/base/suggest.h"

namespace rcn {

std::string dims_quoted(const std::vector<Dim>& dims) { return dims.empty() ? "none" : "`" + dims_text(dims) + "`"; }

Value dims_value(const std::vector<Dim>& dims) {
  List items;
  for (Dim d : dims) items.emplace_back(d);
  return items;
}

namespace {

bool same_size_pair(const std::vector<std::vector<Dim>>& missing) {
  for (std::size_t i = 0; i < missing.size(); ++i)
    for (std::size_t j = i + 1; j < missing.size(); ++j)
      for (Dim a : missing[i])
        for (Dim b : missing[j])
          if (a->size && a->size == b->size) return true;
  return false;
}

}  // namespace

std::vector<Dim> joined_dims(OpCall& call, std::initializer_list<std::size_t> args) {
  std::vector<std::size_t> tensors;
  for (std::size_t i : args)
    if (call.arg(i).is_tensor()) tensors.push_back(i);
  std::vector<Dim> all;
  for (std::size_t i : tensors) all = united(all, call.type(i).dims);

  for (Dim d : all) {  // [d, d] and [d]: which of the two is meant?
    auto times = [&](const std::vector<Dim>& dims) { return std::count(dims.begin(), dims.end(), d); };
    for (std::size_t i : tensors)
      if (auto n = times(call.type(i).dims); n != 0 && n != times(all))
        call.fail_at(call.arg_span(i), Diag::dims_ambiguous, {to_string(d), op_text(call.info())});
  }
  std::vector<std::vector<Dim>> missing;
  for (std::size_t i : tensors) {
    missing.push_back(without(all, call.type(i).dims));
    if (missing.back().empty()) return all;
  }
  if (tensors.empty()) return all;
  auto report = call.context().diagnostics.report(Diag::dims_not_covered, call.span(), {op_text(call.info())});
  for (std::size_t k = 0; k < tensors.size(); ++k)
    report.note(Diag::note_operand_dims, call.arg_span(tensors[k]),
                {dims_quoted(call.type(tensors[k]).dims), "`" + dims_text(missing[k]) + "`"});
  if (same_size_pair(missing)) report.note(Diag::note_more, Span{}, {"dims of equal size are still different dims"});
  report.help(Diag::help_text, {"`nn.replace_dim` gives a tensor another dim; where every combination is meant, write "
                                "`nn.expand_dims(a, b.dims)` for `a`"});
  throw EvalError{};
}

void require_distinct(OpCall& call, const std::vector<Dim>& dims) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (std::find(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(i), dims[i]) ==
        dims.begin() + static_cast<std::ptrdiff_t>(i))
      continue;
    call.context()
        .diagnostics.report(Diag::dims_repeat_result, call.span(), {op_text(call.info()), to_string(dims[i])})
        .help(Diag::help_text, {"rename one of the two before: `nn.replace_dim(x, in_dim=" + to_string(dims[i]) + ", out_dim=...)`"});
    throw EvalError{};
  }
}

const TensorType& single_type(OpCall& call, std::size_t arg) {
  const TensorType& type = call.type(arg);
  for (Dim d : type.dims)
    if (std::count(type.dims.begin(), type.dims.end(), d) > 1)
      call.fail_at(call.arg_span(arg), Diag::dims_twice, {op_text(call.info()), to_string(d)});
  return type;
}

void require_length_dims(OpCall& call, std::size_t arg, Dim axis) {
  const TensorType& type = call.type(arg);
  for (Dim d : call.context().lengths.length_dims(axis)) {
    if (type.has(d)) continue;
    call.context()
        .diagnostics.report(Diag::lengths_missing, call.arg_span(arg), {to_string(axis), to_string(d)})
        .help(Diag::help_text, {"`nn.expand_dims(x, [" + to_string(d) + "])` is the tensor with that dim"});
    throw EvalError{};
  }
}

void require_no_dependents(OpCall& call, std::size_t arg, Dim axis, std::size_t axis_arg) {
  for (Dim d : call.type(arg).dims)
    if (d != axis && contains(call.context().lengths.length_dims(d), axis))
      call.fail_at(call.arg_span(axis_arg), Diag::lengths_depend, {to_string(d), to_string(axis)});
}

void reject_batch(OpCall& call, Dim d, std::size_t dim_arg) {
  if (d->kind == DimKind::batch)
    call.fail_at(call.arg_span(dim_arg), Diag::dim_is_batch,
                 {to_string(d), "`" + std::string(call.info().params[dim_arg].name) + "`", op_text(call.info())});
}

void require_static(OpCall& call, Dim d, std::size_t dim_arg) {
  if (d->dynamic()) call.fail_at(call.arg_span(dim_arg), Diag::axis_dynamic, {to_string(d), op_text(call.info())});
}

const TensorType& axis_type(OpCall& call, std::size_t arg, std::size_t axis_arg) {
  const TensorType& type = single_type(call, arg);
  Dim axis = call.arg(axis_arg).dim();
  call.require_dim(arg, axis, axis_arg);
  reject_batch(call, axis, axis_arg);
  require_no_dependents(call, arg, axis, axis_arg);
  return type;
}

void require_dtype(OpCall& call, std::size_t arg, Wanted wanted) {
  DType t = call.type(arg).dtype;
  bool good = wanted == Wanted::floats ? is_float(t) : wanted == Wanted::float32 ? t == DType::float32
              : wanted == Wanted::ints ? is_int(t) : wanted == Wanted::bools ? t == DType::bool_ : t != DType::bool_;
  if (good) return;
  static constexpr std::string_view kTexts[] = {"float", "float32", "int", "bool", "numbers"};
  auto report = call.context().diagnostics.report(
      Diag::dtype_needed, call.arg_span(arg),
      {op_text(call.info()), std::string(call.info().params[arg].name),
       std::string(kTexts[static_cast<std::size_t>(wanted)]), std::string(to_string(t))});
  if (wanted == Wanted::bools) {
    report.help(Diag::help_text, {"a comparison gives a bool: `x != 0`"});
  } else {
    report.help(Diag::help_text, {wanted == Wanted::ints ? "`nn.cast(x, int32)`" : "`nn.cast(x, float32)`"});
  }
  throw EvalError{};
}

void require_sparse(OpCall& call, std::size_t arg, Dim over) {
  const TensorType& type = call.type(arg);
  if (type.sparse_dim == over && is_int(type.dtype)) return;
  std::string found = type.sparse_dim ? "they are over `" + to_string(type.sparse_dim) + "`"
                                      : "it is " + std::string(to_string(type.dtype)) + " without a sparse dim";
  auto report = call.context().diagnostics.report(Diag::sparse_needed, call.arg_span(arg),
                                                  {std::string(call.info().params[arg].name), "`" + to_string(over) + "`", found});
  if (is_int(type.dtype)) report.help(Diag::help_text, {"`nn.set_sparse_dim(x, " + to_string(over) + ")` declares what ints are indices of"});
  throw EvalError{};
}

void require_one_of(OpCall& call, std::size_t arg, std::initializer_list<std::string_view> texts) {
  const std::string& given = call.arg(arg).str();
  if (std::find(texts.begin(), texts.end(), given) != texts.end()) return;
  std::vector<std::string> names(texts.begin(), texts.end());
  auto report = call.context().diagnostics.report(Diag::op_argument_value, call.arg_span(arg),
                                                  {op_text(call.info()), std::string(call.info().params[arg].name),
                                                   "one of " + quoted_list(names), "`" + given + "`"});
  if (auto near = nearest_names(given, names); !near.empty()) report.help(Diag::help_did_you_mean, {quoted_list(near)});
  throw EvalError{};
}

void require_at_least(OpCall& call, std::size_t arg, std::int64_t least) {
  if (call.arg(arg).is<std::int64_t>() && call.arg(arg).get<std::int64_t>() < least)
    call.fail_argument(arg, "at least " + std::to_string(least), to_text(call.arg(arg)));
}

void require_exact_dims(OpCall& call, std::size_t arg, const std::vector<Dim>& dims) {
  const std::vector<Dim>& has = call.type(arg).dims;
  if (has.size() == dims.size() && without(dims, has).empty()) return;
  call.fail_at(call.arg_span(arg), Diag::dims_exactly,
               {std::string(call.info().params[arg].name), dims_text(dims), dims_quoted(has)});
}

Dim static_out_dim(OpCall& call, std::size_t i, std::string name, DimKind kind, std::int64_t size) {
  if (call.given(i)) {
    Dim wanted = call.arg(i).dim();
    if (wanted->size == size) return wanted;  // what the operation makes is nothing else than this dim
  }
  return call.out_dim(i, call.dims().declare(std::move(name), kind, size));
}

bool is_static(const Value& value) { return !value.is_tensor(); }

namespace {

constexpr std::int64_t kMin[] = {
    0, 0, -128, -32768, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int64_t>::min()};
constexpr std::int64_t kMax[] = {
    1, 255, 127, 32767, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int64_t>::max()};

double most(DType dtype) {
  return dtype == DType::float16   ? 65504.0
         : dtype == DType::float32 ? static_cast<double>(std::numeric_limits<float>::max())
                                   : std::numeric_limits<double>::max();
}

}  // namespace

Operand least_number(DType dtype) {
  if (is_float(dtype)) return -most(dtype);
  return kMin[static_cast<std::size_t>(dtype)];
}

Operand greatest_number(DType dtype) {
  if (is_float(dtype)) return most(dtype);
  return kMax[static_cast<std::size_t>(dtype)];
}

void require_fits(OpCall& call, std::size_t arg, DType dtype) {
  const Value& value = call.arg(arg);
  auto fail = [&] {
    call.fail_at(call.arg_span(arg), Diag::dtype_range, {to_text(value), std::string(to_string(dtype))});
  };
  if (is_float(dtype) && value.is_number()) {  // infinite ones are meant
    double x = std::fabs(value.as_double());
    if (x > most(dtype) && x <= std::numeric_limits<double>::max()) fail();
  }
  if (!value.is<std::int64_t>() || !is_int(dtype)) return;
  std::int64_t n = value.get<std::int64_t>();
  if (n < std::get<std::int64_t>(least_number(dtype)) || n > std::get<std::int64_t>(greatest_number(dtype))) fail();
}

DType joined_dtype(OpCall& call, std::initializer_list<std::size_t> args, Operation operation) {
  DiagnosticSink& diagnostics = call.context().diagnostics;
  std::string op = op_text(call.info());
  const std::size_t* first = nullptr;
  for (const std::size_t& i : args) {
    if (!call.arg(i).is_tensor()) continue;
    DType t = call.type(i).dtype;
    if (t == DType::bool_ && operation == Operation::arithmetic) {
      diagnostics.report(Diag::dtype_bool, call.arg_span(i), {op})
          .help(Diag::help_text, {"`nn.cast(x, float32)` makes it 0 and 1; `nn.where` chooses between two values"});
      throw EvalError{};
    }
    if (!first) {
      first = &i;
    } else if (DType other = call.type(*first).dtype; t != other) {
      DType better = is_float(t) ? t : other;
      diagnostics.report(Diag::dtype_mismatch, call.span(), {op, std::string(to_string(other)), std::string(to_string(t))})
          .help(Diag::help_text, {"convert one of them: `nn.cast(x, " + std::string(to_string(better)) + ")`"});
      throw EvalError{};
    }
  }
  if (!first) throw std::logic_error("an operation on numbers that has no tensor");
  DType dtype = call.type(*first).dtype;
  for (std::size_t i : args) {
    const Value& value = call.arg(i);
    if (value.is_tensor()) continue;
    if (value.is<bool>() && (dtype != DType::bool_ || operation == Operation::arithmetic)) {
      diagnostics.report(Diag::dtype_bool, call.arg_span(i), {op}).help(Diag::help_text, {"write the number that is meant: `1` or `0`"});
      throw EvalError{};
    }
    if (value.is_number() && dtype == DType::bool_) {
      diagnostics.report(Diag::dtype_number_bool, call.arg_span(i), {to_text(value)})
          .help(Diag::help_text, {"convert the tensor: `nn.cast(x, int32)`"});
      throw EvalError{};
    }
    if (value.is<double>() && is_int(dtype)) {
      diagnostics.report(Diag::dtype_float_number, call.arg_span(i), {to_text(value), std::string(to_string(dtype))})
          .help(Diag::help_text, {"convert the tensor: `nn.cast(x, float32)`"});
      throw EvalError{};
    }
    require_fits(call, i, dtype);
  }
  return dtype;
}

void require_lengths(OpCall& call, std::size_t dims_arg) {
  for (Dim d : call.dims_arg(dims_arg)) call.require_length(d, dims_arg);
}

}  // namespace rcn
