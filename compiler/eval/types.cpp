// Type annotations: checked claims about values.
#include <algorithm>

#include "compiler/eval/interpreter.h"

namespace rcn {

using namespace ast;

std::string Interpreter::type_text(const TypeExpr& type) const { return std::string(in_.sources.text(type.span)); }

// The type with the dims that its names stand for: a user does not know the names inside of the library.
std::string Interpreter::meant_type(const TypeExpr& type) {
  if (!type.tensor || !in_stdlib(type.span)) return type_text(type);
  std::string text = type.path.empty() ? "" : type.path[0].str();
  if (type.index_dim) text += "(" + to_text(eval(*type.index_dim)) + ")";
  text += type.any_dims ? "[..." : "[";
  bool first = !type.any_dims;
  for (Expr* e : type.dims)
    for (Dim d : dims_of_item(*e)) {
      text += (first ? "" : ", ") + to_string(d);
      first = false;
    }
  return text + (type.optional ? "]?" : "]");
}

namespace {

std::string list_dims(const std::vector<Dim>& dims) { return dims.empty() ? "none" : "`" + dims_text(dims) + "`"; }

// Those of `a` that are not in `b`, counted as often as they occur.
std::vector<Dim> difference(const std::vector<Dim>& a, std::vector<Dim> b) {
  std::vector<Dim> result;
  for (Dim d : a) {
    auto it = std::find(b.begin(), b.end(), d);
    if (it == b.end()) {
      result.push_back(d);
    } else {
      b.erase(it);
    }
  }
  return result;
}

}  // namespace

// What stands between the brackets of a type: a dim, or a list of dims, which stands for all of them.
std::vector<Dim> Interpreter::dims_of_item(Expr& e) {
  Value value = eval(e);
  if (value.is_dim()) return {value.dim()};
  std::vector<Dim> result;
  if (!value.is_list()) fail(Diag::type_dim, e.span, {kind_text(value)});
  for (const Value& item : value.list()) {
    if (!item.is_dim()) fail(Diag::type_dim, e.span, {kind_text(item)});
    result.push_back(item.dim());
  }
  return result;
}

// Where the type stands, unless that is the line of the error itself.
void Interpreter::note_type(DiagnosticSink::Builder& builder, const TypeExpr& type, Span where) {
  auto line = [&](Span s) { return in_.sources.locate(s.file, s.begin).line; };
  if (where.file != type.span.file || line(where) != line(type.span)) builder.note(Diag::note_type_here, type.span);
}

Value Interpreter::check_type(const Value& value, const TypeExpr& type, Span where, const std::string& what) {
  if (value.is_poison()) throw EvalError{};
  if (type.optional && value.is_none()) return value;
  auto mismatch = [&]() {
    auto builder = report(Diag::type_mismatch, where, {what, meant_type(type), kind_text(value)});
    note_type(builder, type, where);
    throw EvalError{};
  };
  if (!type.tensor) {
    if (type.path.size() == 1) {
      const std::string& name = type.path[0].str();
      if (name == "int") return value.is<std::int64_t>() ? value : (mismatch(), value);
      if (name == "float") {
        if (value.is<std::int64_t>()) return value.as_double();
        return value.is<double>() ? value : (mismatch(), value);
      }
      if (name == "bool") return value.is<bool>() ? value : (mismatch(), value);
      if (name == "str") return value.is_str() ? value : (mismatch(), value);
      if (name == "list") return value.is_list() ? value : (mismatch(), value);
      if (name == "tuple") return value.is_tuple() ? value : (mismatch(), value);
      if (name == "record") return value.is_record() ? value : (mismatch(), value);
      if (name == "Dim") return value.is_dim() ? value : (mismatch(), value);
      if (name == "Tensor") return value.is_tensor() ? value : (mismatch(), value);
      if (name == "Module") return value.is<Instance*>() ? value : (mismatch(), value);
      if (name == "Function") return value.is_function() || value.is<Instance*>() || value.is<const ModuleClass*>() ? value : (mismatch(), value);
    }
    Value storage;
    const Value* found = lookup(type.path[0], type.span, storage);
    if (!found) fail(Diag::unknown_type, type.span, {type_text(type)});
    Value cls = *found;
    for (std::size_t i = 1; i < type.path.size(); ++i) cls = member_of(cls, type.path[i], type.span);
    if (!cls.is<const ModuleClass*>()) fail(Diag::not_a_type, type.span, {type_text(type), kind_text(cls)});
    if (!value.is<Instance*>() || value.get<Instance*>()->cls != cls.get<const ModuleClass*>()) mismatch();
    return value;
  }
  if (!value.is_tensor()) mismatch();
  const TensorType& have = value.tensor()->type;
  std::vector<Dim> wanted;
  for (Expr* e : type.dims)
    for (Dim d : dims_of_item(*e))
      if (!d->marker) wanted.push_back(d);
  std::vector<Dim> missing = difference(wanted, have.dims);
  std::vector<Dim> extra = type.any_dims ? std::vector<Dim>{} : difference(have.dims, wanted);
  if (!missing.empty() || !extra.empty()) {
    std::string detail;
    if (!missing.empty()) detail += "; missing: " + list_dims(missing);
    if (!extra.empty()) detail += "; not expected: " + list_dims(extra);
    auto builder = report(Diag::dims_mismatch, where, {what, list_dims(have.dims), std::string(type.any_dims ? "also " : ""), list_dims(wanted), detail});
    note_type(builder, type, where);
    for (Dim m : missing)
      for (Dim d : have.dims)
        if (m->size && d->size == m->size && !std::count(wanted.begin(), wanted.end(), d))
          builder.help(Diag::help_text, {"`" + to_string(d) + "` and `" + to_string(m) + "` have equal size, but are different dims; `nn.replace_dim` renames"});
    throw EvalError{};
  }
  if (type.index_dim) {
    Value d = eval(*type.index_dim);
    if (!d.is_dim()) fail(Diag::type_dim, type.index_dim->span, {kind_text(d)});
    if (have.sparse_dim != d.dim()) mismatch();
  } else if (!type.path.empty()) {
    std::optional<DType> dtype = dtype_of(type.path[0].str());
    if (!dtype) fail(Diag::unknown_type, type.span, {type.path[0].str()});
    if (*dtype != have.dtype) mismatch();
  }
  return value;
}

TensorType Interpreter::tensor_type(const TypeExpr& type) {
  if (!type.tensor || type.any_dims || type.optional) fail(Diag::type_incomplete, type.span, {type_text(type)});
  TensorType result;
  for (Expr* e : type.dims)
    for (Dim d : dims_of_item(*e)) {
      if (d->marker) fail(Diag::type_dim, e->span, {kind_text(d)});
      result.dims.push_back(d);
    }
  if (type.index_dim) {
    Value d = eval(*type.index_dim);
    if (!d.is_dim()) fail(Diag::type_dim, type.index_dim->span, {kind_text(d)});
    result.sparse_dim = d.dim();
    result.dtype = DType::int32;
  } else if (!type.path.empty()) {
    std::optional<DType> dtype = dtype_of(type.path[0].str());
    if (!dtype) fail(Diag::unknown_type, type.span, {type.path[0].str()});
    result.dtype = *dtype;
  }
  return result;
}

}  // namespace rcn
