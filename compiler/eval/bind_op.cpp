#include "compiler/eval/bind_op.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <unordered_map>

#include "compiler/base/suggest.h"

namespace rcn {

namespace {

// `bool` is a type of values and a dtype.
bool is_bool_type(const Value& value) { return value.is<TypeName>() && value.get<TypeName>() == TypeName::bool_; }

const List* items_of(const Value& value) {
  if (value.is_list()) return &value.list();
  if (value.is_tuple()) return &value.tuple().items;
  return nullptr;
}

bool all_dims(const Value& value) {
  const List* items = items_of(value);
  return items && std::all_of(items->begin(), items->end(), [](const Value& v) { return v.is_dim(); });
}

bool holds_poison(const Value& value) {
  if (value.is_poison()) return true;
  const List* items = items_of(value);
  return items && std::any_of(items->begin(), items->end(), holds_poison);
}

// As the parameter wants it: floats for `real`, lists for lists of dims.
Value adapted(ArgTypes types, const Value& value) {
  if (value.is<std::int64_t>() && (types & arg::real) && !(types & arg::integer)) return Value(value.as_double());
  if (is_bool_type(value) && (types & arg::dtype)) return DType::bool_;
  if (value.is_tuple() && (types & (arg::dims | arg::list))) return Value(value.tuple().items);
  return value;
}

void report_type(const OpInfo& info, const OpParam& param, const Value& value, Span where, DiagnosticSink& diagnostics) {
  std::string accepted = accepted_text(param.types), op = op_text(info), name(param.name);
  if (value.is_number() && (param.types & arg::tensor)) {
    std::string number = to_text(value);
    diagnostics.report(Diag::op_argument_static, where, {op, name, accepted, number})
        .help(Diag::help_text, {"`nn.constant(" + number + ")` makes a tensor of it"});
    return;
  }
  std::string found = kind_text(value);
  if (const List* items = items_of(value); items && (param.types & arg::dims)) {
    auto other = std::find_if(items->begin(), items->end(), [](const Value& v) { return !v.is_dim(); });
    found = "a list that holds " + kind_text(*other);
  }
  auto report = diagnostics.report(Diag::op_argument_type, where, {op, name, accepted, found});
  if (value.is_tensor() && !(param.types & arg::tensor))
    report.help(Diag::help_text, {"its value must be known while compiling"});
  if (value.is_none() && (param.types & arg::history))
    report.help(Diag::help_text, {"a history begins with `nn.empty_history`, and is gone behind its loop, which can `stack` what was made of it"});
}

}  // namespace

bool accepts(ArgTypes types, const Value& value) {
  if (value.is_tensor()) return types & (value.tensor()->type.history ? arg::tensor | arg::history : arg::tensor);
  if (value.is<bool>()) return types & arg::boolean;
  if (value.is<std::int64_t>()) return types & (arg::integer | arg::real);
  if (value.is<double>()) return types & arg::real;
  if (value.is_str()) return types & arg::str;
  if (value.is_dim()) return types & arg::dim;
  if (value.is<DType>() || is_bool_type(value)) return types & arg::dtype;
  if (value.is_none()) return types & arg::none;
  if (value.is_record()) return types & arg::record;
  if (value.is_function() || value.is<const ModuleClass*>() || value.is<Instance*>()) return types & arg::function;
  if (items_of(value)) return (types & arg::list) || ((types & arg::dims) && all_dims(value));
  return false;
}

std::string accepted_text(ArgTypes types) {
  std::vector<std::string> words;
  if (types & arg::tensor) words.push_back("a tensor");
  if ((types & arg::number) == arg::number) {
    words.push_back("a number");
  } else if (types & arg::integer) {
    words.push_back("an int");
  } else if (types & arg::real) {
    words.push_back("a float");
  }
  if (types & arg::boolean) words.push_back("a bool");
  if (types & arg::str) words.push_back("a string");
  if (types & arg::dim) words.push_back("a dim");
  if (types & arg::dims) words.push_back("a list of dims");
  if (types & arg::list) words.push_back("a list");
  if (types & arg::record) words.push_back("a record");
  if (types & arg::function) words.push_back("a function");
  if (types & arg::history) words.push_back("a state of `nn.cum_concat`");
  if (types & arg::dtype) words.push_back("a dtype");
  if (types & arg::none) words.push_back("`none`");
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i)
    result += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return result;
}

std::string op_text(const OpInfo& info) {
  static const std::unordered_map<std::string_view, std::string_view> kSigns = {
      {"add", "+"},       {"sub", "-"},      {"mul", "*"},           {"truediv", "/"},    {"floordiv", "//"},
      {"mod", "%"},       {"pow", "**"},     {"equal", "=="},        {"not_equal", "!="}, {"less", "<"},
      {"less_equal", "<="}, {"greater", ">"}, {"greater_equal", ">="}};
  auto it = kSigns.find(info.name);
  return it != kSigns.end() ? std::string(it->second) : "nn." + std::string(info.name);
}

Value default_value(const OpParam& param) {
  std::string_view text = param.default_text;
  if (text == "none") return None{};
  if (text == "true") return true;
  if (text == "false") return false;
  if (text == "[]") return List{};
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return Value(text.substr(1, text.size() - 2));
  if (std::optional<DType> dtype = dtype_of(text)) return *dtype;
  const char* end = text.data() + text.size();
  std::int64_t i = 0;
  if (auto [p, error] = std::from_chars(text.data(), end, i); error == std::errc{} && p == end) return adapted(param.types, Value(i));
  double d = 0;
  if (auto [p, error] = std::from_chars(text.data(), end, d); error == std::errc{} && p == end) return d;
  throw std::logic_error("default `" + std::string(text) + "` of parameter `" + std::string(param.name) + "`");
}

std::optional<BoundOpArguments> bind_op(const OpInfo& info, std::span<const OpArgument> arguments, Span call,
                                        DiagnosticSink& diagnostics) {
  const std::size_t count = info.params.size();
  BoundOpArguments bound{std::vector<Value>(count), std::vector<Span>(count, call)};
  std::vector<const OpArgument*> given(count, nullptr);
  bool good = true;

  std::size_t places = 0;
  while (places < count && !info.params[places].keyword_only) ++places;
  std::size_t positional = 0;
  for (const OpArgument& argument : arguments) {
    std::size_t at = 0;
    if (!argument.name) {
      at = positional++;
      if (at >= places) continue;  // counted and reported below
    } else {
      while (at < count && info.params[at].name != argument.name.str()) ++at;
      if (at == count) {
        std::vector<std::string> names;
        for (const OpParam& p : info.params) names.emplace_back(p.name);
        Span where = argument.name_span.valid() ? argument.name_span : argument.span;
        auto report = diagnostics.report(Diag::op_argument_unknown, where, {op_text(info), argument.name.str()});
        if (auto near = nearest_names(argument.name.str(), names); !near.empty()) {
          report.help(Diag::help_did_you_mean, {quoted_list(near)});
        } else if (!names.empty()) {
          report.help(Diag::help_text, {"it has " + quoted_list(names, "and")});
        }
        good = false;
        continue;
      }
    }
    if (given[at]) {
      Span where = argument.name_span.valid() ? argument.name_span : argument.span;
      diagnostics.report(Diag::op_argument_twice, where, {op_text(info), std::string(info.params[at].name)})
          .note(Diag::note_first_here, given[at]->span);
      good = false;
      continue;
    }
    given[at] = &argument;
  }
  if (positional > places) {
    auto report = diagnostics.report(Diag::op_argument_count, call, {op_text(info), std::to_string(places), std::to_string(positional)});
    if (places < count) report.help(Diag::help_text, {"`" + std::string(info.params[places].name) + "` is given by keyword"});
    good = false;
  }

  for (std::size_t i = 0; i < count; ++i) {
    const OpParam& param = info.params[i];
    if (!given[i]) {
      if (!param.default_text.empty()) {
        bound.values[i] = default_value(param);
      } else if (good) {  // a misspelt keyword is one fault, not two
        diagnostics.report(Diag::op_argument_missing, call, {op_text(info), std::string(param.name)});
        good = false;
      }
      continue;
    }
    bound.spans[i] = given[i]->span;
    const Value& value = given[i]->value;
    if (holds_poison(value)) {
      good = false;
    } else if (!accepts(param.types, value)) {
      report_type(info, param, value, given[i]->span, diagnostics);
      good = false;
    } else {
      bound.values[i] = adapted(param.types, value);
    }
  }
  if (!good) return std::nullopt;
  return bound;
}

}  // namespace rcn
