#include "compiler/eval/op.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/base/suggest.h"
#include "compiler/eval/bind_op.h"

namespace rcn {

// ---- OpNode

const Value* OpNode::find(std::string_view name) const {
  for (const auto& [key, value] : attrs)
    if (key == name) return &value;
  return nullptr;
}

const Value& OpNode::attr(std::string_view name) const {
  if (const Value* value = find(name)) return *value;
  throw std::logic_error("operation `" + std::string(op ? op->name : "?") + "` has no attribute `" + std::string(name) + "`");
}

std::vector<Dim> OpNode::dims(std::string_view name) const {
  std::vector<Dim> result;
  for (const Value& item : attr(name).list()) result.push_back(item.dim());
  return result;
}

const Tensor& OpNode::tensor(std::size_t index) const {
  if (index < inputs.size())
    if (const Tensor* tensor = as_tensor(inputs[index])) return *tensor;
  throw std::logic_error("input " + std::to_string(index) + " of operation `" + std::string(op ? op->name : "?") +
                         "` is no tensor");
}

// ---- DimLengths

void DimLengths::define(Dim atom, std::vector<Dim> length_dims) {
  if (!keep) {
    auto before = defined_.find(atom);
    log_.emplace_back(atom, before == defined_.end() ? std::nullopt : std::optional(before->second));
  }
  defined_.insert_or_assign(atom, std::move(length_dims));
}

void DimLengths::rollback(std::size_t mark) {
  for (; log_.size() > mark; log_.pop_back()) {
    auto& [atom, before] = log_.back();
    if (before) {
      defined_[atom] = std::move(*before);
    } else {
      defined_.erase(atom);
    }
  }
}

std::vector<Dim> DimLengths::defined_since(std::size_t mark) const {
  std::vector<Dim> result;
  for (std::size_t i = mark; i < log_.size(); ++i)
    if (std::find(result.begin(), result.end(), log_[i].first) == result.end()) result.push_back(log_[i].first);
  return result;
}

bool DimLengths::defined(Dim d) const {
  if (d->size || d->kind == DimKind::batch) return true;
  if (d->form == DimForm::atom) return defined_.contains(d);
  return std::all_of(d->parts.begin(), d->parts.end(), [this](Dim part) { return defined(part); });
}

std::vector<Dim> DimLengths::length_dims(Dim d) const {
  std::vector<Dim> result;
  if (d->size) return result;
  for (Dim atom : atoms(d)) {
    auto it = defined_.find(atom);
    if (it == defined_.end()) continue;
    for (Dim dim : it->second)
      if (std::find(result.begin(), result.end(), dim) == result.end()) result.push_back(dim);
  }
  return result;
}

// ---- OpCall

OpCall::OpCall(OpContext& context, const OpInfo& info, std::vector<Value> args, std::vector<Span> arg_spans, Span span)
    : context_(context), info_(info), args_(std::move(args)), arg_spans_(std::move(arg_spans)), span_(span) {
  arg_spans_.resize(args_.size(), span);
  node_.op = &info;
  node_.span = span;
}

std::vector<Dim> OpCall::dims_arg(std::size_t i) const {
  const Value& value = args_[i];
  if (value.is_dim()) return {value.dim()};
  std::vector<Dim> result;
  for (const Value& item : value.is_tuple() ? value.tuple().items : value.list()) {
    Dim d = item.dim();
    if (std::find(result.begin(), result.end(), d) != result.end()) {
      context_.diagnostics.report(Diag::dim_listed_twice, arg_spans_[i], {to_string(d), std::string(info_.params[i].name)});
      throw EvalError{};
    }
    result.push_back(d);
  }
  return result;
}

Operand OpCall::to_operand(const Value& value) {
  if (value.is_tensor()) return value.tensor();
  if (value.is<std::int64_t>()) return value.get<std::int64_t>();
  if (value.is<double>()) return value.get<double>();
  return value.get<bool>();
}

void OpCall::fail(Diag kind, std::vector<std::string> args) { fail_at(span_, kind, std::move(args)); }

void OpCall::fail_at(Span where, Diag kind, std::vector<std::string> args) {
  context_.diagnostics.report(kind, where.valid() ? where : span_, std::move(args));
  throw EvalError{};
}

void OpCall::fail_argument(std::size_t i, std::string wanted, std::string found) {
  fail_at(arg_span(i), Diag::op_argument_value, {op_text(info_), std::string(info_.params[i].name), std::move(wanted), std::move(found)});
}

namespace {

// The dims of a tensor that the user may have meant: a similar name, else the same kind.
std::vector<std::string> nearest_dims(Dim wanted, const std::vector<Dim>& dims) {
  std::vector<std::string> names, same_kind;
  for (Dim d : dims) {
    names.push_back(to_string(d));
    if (d->kind == wanted->kind) same_kind.push_back(names.back());
  }
  std::vector<std::string> result = nearest_names(to_string(wanted), names);
  std::erase(result, to_string(wanted));  // another dim of the same name: said by a note of its own
  if (result.empty() && same_kind.size() <= 3) result = same_kind;
  std::erase(result, to_string(wanted));
  return result;
}

}  // namespace

void OpCall::require_dim(std::size_t tensor_arg, Dim dim, std::size_t dim_arg) {
  const std::vector<Dim>& dims = type(tensor_arg).dims;
  if (std::find(dims.begin(), dims.end(), dim) != dims.end()) return;
  Span where = arg_spans_[dim_arg].valid() ? arg_spans_[dim_arg] : span_;
  auto report = context_.diagnostics.report(Diag::dim_not_in_tensor, where,
                                            {to_string(dim), dims.empty() ? "none" : "`" + dims_text(dims) + "`"});
  for (Dim d : dims)
    if (to_string(d) == to_string(dim)) report.note(Diag::note_same_name, d->declared, {to_string(dim)});
  if (dim->declared.valid()) report.note(Diag::note_declared_here, dim->declared, {to_string(dim)});
  if (type(tensor_arg).sparse_dim == dim) {
    report.help(Diag::help_text, {"the values are indices over `" + to_string(dim) + "`, which is no axis; `nn.one_hot` makes it one"});
  } else if (std::vector<std::string> near = nearest_dims(dim, dims); !near.empty()) {
    report.help(Diag::help_did_you_mean, {quoted_list(near)});
  }
  throw EvalError{};
}

void OpCall::require_length(Dim dim, std::size_t dim_arg) {
  if (context_.lengths.defined(dim)) return;
  Span where = arg_spans_[dim_arg].valid() ? arg_spans_[dim_arg] : span_;
  auto report = context_.diagnostics.report(Diag::dim_without_length, where, {to_string(dim)});
  for (Dim atom : atoms(dim))
    if (!context_.lengths.defined(atom) && atom->declared.valid())
      report.note(Diag::note_declared_here, atom->declared, {to_string(atom)});
  throw EvalError{};
}

Dim OpCall::out_dim(std::size_t i, Dim computed) {
  if (!given(i)) return computed;
  Dim wanted = args_[i].dim();
  if (wanted == computed) return computed;
  Span where = arg_spans_[i].valid() ? arg_spans_[i] : span_;
  auto reject = [&](Diag kind, std::vector<std::string> args) {
    auto report = context_.diagnostics.report(kind, where, std::move(args));
    if (wanted->declared.valid()) report.note(Diag::note_declared_here, wanted->declared, {to_string(wanted)});
    return report;
  };
  if (wanted->marker) {
    reject(Diag::dim_is_marker, {to_string(wanted)});
    throw EvalError{};
  }
  if (wanted->size && computed->size) {
    if (*wanted->size != *computed->size) {
      reject(Diag::dim_claim_size, {to_string(wanted), std::to_string(*wanted->size), to_string(computed), std::to_string(*computed->size)});
      throw EvalError{};
    }
    renames_.push_back({computed, wanted});  // equal size is not equal dim
    return computed;
  }
  if (wanted->size || computed->size) {
    Dim fixed = wanted->size ? wanted : computed;
    auto report = reject(Diag::dim_claim_dynamic, {to_string(wanted), wanted->size ? "static" : "dynamic", to_string(computed),
                                                   computed->size ? "static" : "dynamic"});
    if (!wanted->size && wanted->form == DimForm::atom && !context_.lengths.defined(wanted))
      report.help(Diag::help_text, {"declare `" + to_string(wanted) + "` with its size: `" + std::to_string(*fixed->size) + "`"});
    throw EvalError{};
  }
  if (context_.lengths.defined(wanted)) {
    renames_.push_back({computed, wanted});
    return computed;
  }
  if (wanted->form != DimForm::atom) require_length(wanted, i);  // only a declared dim can get a length
  std::vector<Dim> over = context_.lengths.length_dims(computed);
  context_.lengths.define(wanted, over);
  node_.new_dims.push_back({wanted, computed, std::move(over)});
  return wanted;
}

Dim OpCall::out_dim_fresh(std::size_t i, std::string name, DimKind kind, std::vector<Dim> length_dims) {
  if (given(i)) {
    Dim wanted = args_[i].dim();
    if (wanted->form == DimForm::atom && wanted->dynamic() && !wanted->marker && !context_.lengths.defined(wanted)) {
      context_.lengths.define(wanted, length_dims);
      node_.new_dims.push_back({wanted, nullptr, std::move(length_dims)});
      return wanted;
    }
  }
  Dim fresh = dims().declare(std::move(name), kind, std::nullopt);
  context_.lengths.define(fresh, length_dims);
  node_.new_dims.push_back({fresh, nullptr, std::move(length_dims)});
  return out_dim(i, fresh);
}

}  // namespace rcn
