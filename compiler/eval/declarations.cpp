// Declarations of a file that give values: dims, options (with -D), externs.
#include <algorithm>
#include <cctype>

#include "compiler/eval/interpreter.h"
#include "compiler/syntax/parse.h"

namespace rcn {

using namespace ast;

Value Interpreter::declared_dim(const DimStmt& s) {
  DimKind kind = s.dim_kind.str() == "feature" ? DimKind::feature : DimKind::spatial;
  if (s.dim_kind.str() != "feature" && s.dim_kind.str() != "spatial") fail(Diag::dim_kind, s.kind_span, {s.dim_kind.str()});
  std::optional<std::int64_t> size;
  if (s.size) {
    Value value = eval(*s.size);
    if (value.is_tensor()) fail(Diag::tensor_as_static, s.size->span, {"the size of a dim", to_string(value.tensor()->type)});
    if (!value.is<std::int64_t>()) fail(Diag::dim_size, s.size->span, {kind_text(value)});
    size = value.get<std::int64_t>();
    if (*size < 0) fail(Diag::negative_dim, s.size->span, {s.name.str(), std::to_string(*size)});
  }
  return in_.context.dims.declare(s.name.str(), kind, size, s.name_span);
}

void Interpreter::exec_option(const OptionStmt& s) {
  const std::string* text = nullptr;
  if (frame_->unit->main)
    for (const auto& [name, value] : options_.defines)
      if (name == s.name.str()) text = &value;
  Value value = text ? option_from_define(s, *text) : eval(*s.value);
  value = check_type(value, *s.type, text ? s.name_span : s.value->span, "option `" + s.name.str() + "`");
  assign(s.name, value, s.name_span);
}

// An extern gives its dynamic dims their lengths, one for each entry of the batch where it has one.
void Interpreter::exec_extern(const ExternStmt& s) {
  if (!frame_->unit->main) return;
  ExternInput input;
  input.name = s.name.str();
  input.key = input.name;
  input.type = tensor_type(*s.type);
  input.span = s.name_span;
  for (const Arg& option : s.options) {
    Value value = eval(*option.value);
    const std::string& name = option.name.str();
    auto wrong = [&](const char* expected) { fail(Diag::extern_option, option.value->span, {name, expected, kind_text(value)}); };
    if (name == "key") {
      if (!value.is_str()) wrong("a string");
      input.key = value.str();
    } else if (name == "available_for_inference") {
      if (!value.is<bool>()) wrong("a bool");
      input.available_for_inference = value.get<bool>();
    } else if (name == "range") {
      bool pair = value.is_list() && value.list().size() == 2 && value.list()[0].is<std::int64_t>() && value.list()[1].is<std::int64_t>();
      if (!pair || !is_int(input.type.dtype)) wrong("a list of two ints, for a tensor of ints");
      input.range = {value.list()[0].get<std::int64_t>(), value.list()[1].get<std::int64_t>()};
    } else {
      fail_unknown(Diag::unknown_option, option.name_span, {"extern", name}, name, {"key", "available_for_inference", "range"});
    }
  }
  bool legal_key = !input.key.empty();
  for (char c : input.key) legal_key = legal_key && (std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-');
  if (!legal_key) fail(Diag::extern_key, s.name_span, {input.key});
  for (const ExternInput& other : externs_)
    if (other.key == input.key) {
      report(Diag::extern_key_twice, s.name_span, {other.name, input.name, input.key}).note(Diag::note_first_here, other.span);
      throw EvalError{};
    }
  std::vector<Dim> length_dims;
  if (input.type.has(in_.context.dims.batch())) length_dims.push_back(in_.context.dims.batch());
  for (Dim d : input.type.dims) {
    if (d == in_.context.dims.batch() || d->size || in_.context.lengths.defined(d)) continue;
    if (d->form == DimForm::atom) in_.context.lengths.define(d, length_dims);
    // a derived dim whose parts no input has: nothing says how long those are
    else fail(Diag::extern_derived_dim, s.type->span, {s.name.str(), to_string(d)});
  }
  externs_.push_back(std::move(input));
}

namespace {

// What may stand behind `-D name=`: no names, no calls.
bool is_literal(const Expr& e) {
  auto all = [](std::span<Expr*> items) { return std::all_of(items.begin(), items.end(), [](Expr* item) { return is_literal(*item); }); };
  switch (e.kind) {
    case ExprKind::int_literal:
    case ExprKind::float_literal:
    case ExprKind::string_literal:
    case ExprKind::bool_literal:
    case ExprKind::none_literal: return true;
    case ExprKind::negate: return is_literal(*static_cast<const NegateExpr&>(e).operand);
    case ExprKind::list: return all(static_cast<const ListExpr&>(e).items);
    case ExprKind::tuple: return all(static_cast<const TupleExpr&>(e).items);
    case ExprKind::record: {
      const auto& fields = static_cast<const RecordExpr&>(e).fields;
      return std::all_of(fields.begin(), fields.end(), [](const RecordField& f) { return is_literal(*f.value); });
    }
    default: return false;
  }
}

}  // namespace

// `-D name=value`: a string as it stands, anything else as the language writes it.
Value Interpreter::option_from_define(const OptionStmt& s, const std::string& text) {
  const TypeExpr& type = *s.type;
  std::string type_name = type.path.size() == 1 ? type.path[0].str() : "";
  if (type_name == "str" && !(type.optional && text == "none")) {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return text.substr(1, text.size() - 2);
    return text;
  }
  FileId file = in_.sources.add("-D " + s.name.str(), "value = " + text + "\n");
  DiagnosticSink own;
  ast::File parsed = parse(in_.sources, file, in_.arena, own, options_.limits);
  if (own.has_errors() || parsed.body.size() != 1 || parsed.body[0]->kind != StmtKind::assign ||
      !is_literal(*as<AssignStmt>(*parsed.body[0]).value))
    fail(Diag::define_syntax, s.name_span, {s.name.str(), text, type_text(type)});
  Frame inner;
  inner.kind = FrameKind::file;
  inner.unit = frame_->unit;
  inner.scope = &inner.locals;
  Entered here(*this, inner);
  return eval(*as<AssignStmt>(*parsed.body[0]).value);
}

}  // namespace rcn
