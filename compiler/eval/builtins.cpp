// The names that exist without import, and those of `nn` that the evaluator itself knows.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "compiler/eval/interpreter.h"

namespace rcn {

using namespace ast;

namespace {

struct BuiltinName { std::string_view name; Builtin builtin; };
constexpr BuiltinName kBuiltins[] = {
    {"len", Builtin::len},           {"range", Builtin::range},   {"enumerate", Builtin::enumerate}, {"zip", Builtin::zip},
    {"reversed", Builtin::reversed}, {"sorted", Builtin::sorted}, {"min", Builtin::min},             {"max", Builtin::max},
    {"sum", Builtin::sum},           {"abs", Builtin::abs},       {"any", Builtin::any},             {"all", Builtin::all},
    {"isinstance", Builtin::isinstance}, {"copy", Builtin::copy}, {"locked", Builtin::locked},       {"end", Builtin::end},
    {"params", Builtin::params},     {"ceildiv", Builtin::ceildiv}};

struct TypeNameEntry { std::string_view name; TypeName type; };
constexpr TypeNameEntry kTypes[] = {
    {"int", TypeName::int_},   {"float", TypeName::float_}, {"bool", TypeName::bool_},     {"str", TypeName::str},
    {"list", TypeName::list},  {"tuple", TypeName::tuple},  {"record", TypeName::record},  {"Dim", TypeName::dim},
    {"Tensor", TypeName::tensor}, {"Module", TypeName::module}, {"Function", TypeName::function}};

}  // namespace

const Value* Interpreter::builtin_value(Symbol name) {
  static const std::unordered_map<Symbol, Value> table = [] {
    std::unordered_map<Symbol, Value> result;
    for (const auto& [text, builtin] : kBuiltins) {
      auto f = std::make_shared<Function>();
      f->kind = FunctionKind::builtin;
      f->builtin = builtin;
      f->builtin_name = std::string(text);
      result.emplace(Symbol(text), Value(std::shared_ptr<const Function>(std::move(f))));
    }
    for (const auto& [text, type] : kTypes) result.emplace(Symbol(text), Value(type));
    for (int i = 0; i <= static_cast<int>(DType::float64); ++i) {
      DType t = static_cast<DType>(i);
      if (t != DType::bool_) result.emplace(Symbol(to_string(t)), Value(t));
    }
    return result;
  }();
  auto it = table.find(name);
  return it == table.end() ? nullptr : &it->second;
}

Value Interpreter::call_builtin(const Function& f, CallArgs& args) {
  const std::string& name = f.builtin_name;
  auto count = [&](std::size_t low, std::size_t high) {
    for (const auto& k : args.keywords) fail(Diag::unknown_keyword, k.name_span, {name, k.name.str()});
    if (args.positional.size() >= low && args.positional.size() <= high) return;
    std::string wanted = low == high ? std::to_string(low) : std::to_string(low) + " to " + std::to_string(high);
    fail(Diag::builtin_count, args.span, {name, wanted, std::to_string(args.positional.size())});
  };
  auto arg = [&](std::size_t i) -> const Value& { return args.positional[i]; };
  auto wrong = [&](std::size_t i, const char* expected) {
    if (arg(i).is_tensor()) fail(Diag::tensor_as_static, args.spans[i], {"an argument of `" + name + "`", to_string(arg(i).tensor()->type)});
    fail(Diag::builtin_argument, args.spans[i], {name, expected, kind_text(arg(i))});
  };
  auto integer = [&](std::size_t i) {
    if (!arg(i).is<std::int64_t>()) wrong(i, "an int");
    return arg(i).get<std::int64_t>();
  };
  switch (f.builtin) {
    case Builtin::len:
      count(1, 1);
      if (arg(0).is_str()) return static_cast<std::int64_t>(arg(0).str().size());
      if (arg(0).is_record()) return static_cast<std::int64_t>(arg(0).record().fields.size());
      return static_cast<std::int64_t>(iterate(arg(0), args.spans[0]).size());
    case Builtin::range: {
      count(1, 3);
      std::int64_t start = 0, stop = integer(0), step = 1;
      if (args.positional.size() > 1) start = stop, stop = integer(1);
      if (args.positional.size() > 2) step = integer(2);
      if (step == 0) fail(Diag::slice_step, args.span);
      List result;
      for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
        if (static_cast<std::int64_t>(result.size()) >= options_.limits.list_items)
          fail(Diag::limit_list_items, args.span, {std::to_string(options_.limits.list_items)});
        result.push_back(i);
      }
      return result;
    }
    case Builtin::enumerate: {
      count(1, 2);
      std::int64_t i = args.positional.size() > 1 ? integer(1) : 0;
      List result;
      for (const Value& item : iterate(arg(0), args.spans[0])) result.push_back(Tuple{{i++, item}});
      return result;
    }
    case Builtin::zip: {
      count(1, 100);
      std::vector<std::vector<Value>> columns;
      for (std::size_t i = 0; i < args.positional.size(); ++i) columns.push_back(iterate(arg(i), args.spans[i]));
      for (const auto& column : columns)
        if (column.size() != columns[0].size())
          fail(Diag::zip_lengths, args.span, {std::to_string(columns[0].size()), std::to_string(column.size())});
      List result;
      for (std::size_t row = 0; row < columns[0].size(); ++row) {
        Tuple tuple;
        for (const auto& column : columns) tuple.items.push_back(column[row]);
        result.push_back(std::move(tuple));
      }
      return result;
    }
    case Builtin::reversed: {
      count(1, 1);
      List result = iterate(arg(0), args.spans[0]);
      std::reverse(result.begin(), result.end());
      return result;
    }
    case Builtin::sorted: {
      count(1, 1);
      List result = iterate(arg(0), args.spans[0]);
      for (std::size_t i = 0; i < result.size(); ++i) {
        const Value& item = result[i];
        if (!item.is_number() && !item.is_str())
          fail(Diag::builtin_argument, args.spans[0], {name, "a list of numbers or of strings", "one with " + kind_text(item)});
        if (item.is_number() != result[0].is_number())
          fail(Diag::not_comparable, args.spans[0], {name, kind_text(result[0]), kind_text(item), "0", std::to_string(i)});
      }
      std::stable_sort(result.begin(), result.end(), [](const Value& a, const Value& b) {
        return a.is_str() ? a.str() < b.str() : std::is_lt(compare_numbers(a, b));
      });
      return result;
    }
    case Builtin::min:
    case Builtin::max: {
      count(1, 100);
      std::vector<Value> items = args.positional.size() == 1 ? iterate(arg(0), args.spans[0]) : args.positional;
      if (items.empty()) fail(Diag::builtin_empty, args.span, {name});
      Value best = items[0];
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].is_tensor()) {
          report(Diag::tensor_as_static, args.span, {"an argument of `" + name + "`", to_string(items[i].tensor()->type)})
              .help(Diag::help_text, {"`nn." + name + "imum` works on tensors, `nn.reduce(x, mode=\"" + name + "\", axis=d)` over a dim"});
          throw EvalError{};
        }
        if (!items[i].is_number()) fail(Diag::builtin_argument, args.spans[args.positional.size() == 1 ? 0 : i], {name, "numbers", kind_text(items[i])});
        Value less = compare(CompareOp::lt, f.builtin == Builtin::min ? items[i] : best, f.builtin == Builtin::min ? best : items[i], args.span, {});
        if (less.get<bool>()) best = items[i];
      }
      return best;
    }
    case Builtin::sum: {
      count(1, 2);
      std::vector<Value> items = iterate(arg(0), args.spans[0]);
      if (args.positional.size() > 1) items.insert(items.begin(), arg(1));
      if (items.empty()) return 0;
      Value total = items[0];
      for (std::size_t i = 1; i < items.size(); ++i) total = binary(BinaryOp::add, total, items[i], args.span, {});
      return total;
    }
    case Builtin::abs:
      count(1, 1);
      if (arg(0).is<double>()) return std::fabs(arg(0).get<double>());
      if (arg(0).is_tensor()) return apply("abs", {arg(0)}, args.span, {});
      if (!arg(0).is_number()) wrong(0, "a number or a tensor");
      if (integer(0) == INT64_MIN) fail(Diag::int_overflow, args.span, {"abs(" + to_text(arg(0)) + ")"});
      return integer(0) < 0 ? -integer(0) : integer(0);
    case Builtin::any:
    case Builtin::all: {
      count(1, 1);
      bool all = f.builtin == Builtin::all;
      bool result = all;
      for (const Value& item : iterate(arg(0), args.spans[0])) {
        if (!item.is<bool>()) fail(Diag::builtin_argument, args.spans[0], {name, "a list of bools", "one with " + kind_text(item)});
        result = all ? result && item.get<bool>() : result || item.get<bool>();
      }
      return result;
    }
    case Builtin::int_: {
      count(1, 1);
      if (arg(0).is<bool>()) return arg(0).get<bool>() ? 1 : 0;
      if (arg(0).is<double>()) {
        double x = std::trunc(arg(0).get<double>());
        if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0)) fail(Diag::int_overflow, args.span, {to_text(arg(0))});
        return static_cast<std::int64_t>(x);
      }
      if (arg(0).is_str()) {
        std::int64_t value = 0;
        const std::string& text = arg(0).str();
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size()) fail(Diag::bad_number_text, args.spans[0], {text, "int"});
        return value;
      }
      if (!arg(0).is_number()) wrong(0, "a number, a bool or a string");
      return integer(0);
    }
    case Builtin::float_: {
      count(1, 1);
      if (arg(0).is<double>()) return arg(0);
      if (arg(0).is<bool>()) return arg(0).get<bool>() ? 1.0 : 0.0;
      if (arg(0).is_str()) {
        std::string text = arg(0).str();
        if (text == "inf" || text == "+inf") return HUGE_VAL;
        if (text == "-inf") return -HUGE_VAL;
        if (text == "nan") return std::nan("");
        double value = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size()) fail(Diag::bad_number_text, args.spans[0], {text, "float"});
        return value;
      }
      if (!arg(0).is_number()) wrong(0, "a number, a bool or a string");
      return static_cast<double>(integer(0));
    }
    case Builtin::str: {
      count(1, 1);
      if (arg(0).is_tensor()) wrong(0, "a static value");
      return to_text(arg(0));
    }
    case Builtin::isinstance:
      count(2, 2);
      return is_instance(arg(0), arg(1), args.spans[1]);
    case Builtin::copy:
      count(1, 1);
      if (main_running_) fail(Diag::instance_in_function, args.span, {"copy"});
      return copy_value(arg(0), args.span);
    case Builtin::params: builtin_params(args); return None{};
    case Builtin::dim: return make_dim(args);
    case Builtin::ceildiv: {
      count(2, 2);
      if (arg(0).is<std::int64_t>() && arg(1).is<std::int64_t>()) {
        if (integer(1) == 0) fail(Diag::division_by_zero, args.span, {"ceildiv"});
        return -number_binary(BinaryOp::floordiv, negate(arg(0), args.span, {}), arg(1), args.span).get<std::int64_t>();
      }
      Dim a = to_dim_operand(arg(0)), b = to_dim_operand(arg(1));
      if (!a) wrong(0, "a dim or an int");
      if (!b) wrong(1, "a dim or an int");
      if (b->size == 0) fail(Diag::division_by_zero, args.span, {"ceildiv"});
      if (b->form == DimForm::constant && b->factor < 0) fail(Diag::dim_factor, args.span, {std::to_string(b->factor)});
      return in_.context.dims.ceildiv(a, b);
    }
    case Builtin::end: builtin_end(args); return None{};
    case Builtin::assign: builtin_assign(args); return None{};
    case Builtin::locked: {
      count(1, 1);
      require_mode("locked", args.span);
      FlagSetting setting = to_flag_setting(arg(0), {}, args.spans[0]);
      setting.locked = true;
      return setting;
    }
    case Builtin::make_layer: return make_layer(args);
    case Builtin::network_entry: {
      count(2, 2);
      if (!main_running_) fail(Diag::tensor_outside_main, args.span, {name});
      require_plain_region(args.span, name);
      if (!arg(0).is_str()) wrong(0, "a string");
      reserve_name(arg(0).str(), args.spans[0]);
      backend_->raw_entry(arg(0).str(), arg(1), args.span);
      return None{};
    }
    case Builtin::reduce: return reduce_all(f, args);
  }
  __builtin_unreachable();
}

// `Dim(size, kind)`: a fresh dim as an expression, named after what it is assigned to.
Value Interpreter::make_dim(CallArgs& args) {
  std::string name = dim_name_.empty() ? "dim" : dim_name_;
  Value size = None{}, kind = "spatial";
  std::size_t n = args.positional.size();
  if (n > 2) fail(Diag::builtin_count, args.span, {"Dim", "1 to 2", std::to_string(n)});
  if (n > 0) size = args.positional[0];
  if (n > 1) kind = args.positional[1];
  for (const auto& k : args.keywords) {
    const std::string& key = k.name.str();
    if (key == "size" && n < 1) {
      size = k.value;
    } else if (key == "kind" && n < 2) {
      kind = k.value;
    } else if (key == "name" && k.value.is_str()) {
      name = k.value.str();
    } else {
      fail(Diag::unknown_keyword, k.name_span, {"Dim", key});
    }
  }
  if (!kind.is_str() || (kind.str() != "spatial" && kind.str() != "feature")) fail(Diag::dim_kind, args.span, {to_text(kind)});
  std::optional<std::int64_t> static_size;
  if (size.is_tensor()) fail(Diag::tensor_as_static, args.span, {"the size of a dim", to_string(size.tensor()->type)});
  if (!size.is_none()) {
    if (!size.is<std::int64_t>()) fail(Diag::dim_size, args.span, {kind_text(size)});
    static_size = size.get<std::int64_t>();
    if (*static_size < 0) fail(Diag::negative_dim, args.span, {name, std::to_string(*static_size)});
  }
  return in_.context.dims.declare(name, kind.str() == "feature" ? DimKind::feature : DimKind::spatial, static_size, args.span);
}

Value Interpreter::is_instance(const Value& value, const Value& type, Span span) {
  if (type.is_tuple() || type.is_list()) {
    for (const Value& one : type.is_tuple() ? type.tuple().items : type.list())
      if (is_instance(value, one, span).get<bool>()) return true;
    return false;
  }
  if (type.is<const ModuleClass*>())
    return value.is<Instance*>() && value.get<Instance*>()->cls == type.get<const ModuleClass*>();
  if (type.is<TypeName>()) {
    switch (type.get<TypeName>()) {
      case TypeName::int_: return value.is<std::int64_t>();
      case TypeName::float_: return value.is<double>();
      case TypeName::bool_: return value.is<bool>();
      case TypeName::str: return value.is_str();
      case TypeName::list: return value.is_list();
      case TypeName::tuple: return value.is_tuple();
      case TypeName::record: return value.is_record();
      case TypeName::dim: return value.is_dim();
      case TypeName::tensor: return value.is_tensor();
      case TypeName::module: return value.is<Instance*>();
      case TypeName::function: return value.is_function() || value.is<const ModuleClass*>() || value.is<Instance*>();
    }
  }
  fail(Diag::isinstance_type, span, {kind_text(type)});
}

// `nn.make_layer({"class": ..}, dims=[..], dtype=float32, sparse_dim=none, sub_layer=none)`
Value Interpreter::make_layer(CallArgs& args) {
  if (!main_running_) fail(Diag::tensor_outside_main, args.span, {"nn.make_layer"});
  Value layer, dims, dtype = DType::float32, sparse = None{}, sub = None{};
  static constexpr std::string_view kNames[] = {"layer", "dims", "dtype", "sparse_dim", "sub_layer"};
  Value* places[] = {&layer, &dims, &dtype, &sparse, &sub};
  if (args.positional.size() > 1) fail(Diag::builtin_count, args.span, {"nn.make_layer", "1", std::to_string(args.positional.size())});
  if (args.positional.size() == 1) layer = args.positional[0];
  for (const auto& k : args.keywords) {
    std::size_t i = 0;
    while (i < 5 && kNames[i] != k.name.str()) ++i;
    if (i == 5) fail_unknown(Diag::unknown_keyword, k.name_span, {"nn.make_layer", k.name.str()}, k.name.str(), {"dims", "dtype", "sparse_dim", "sub_layer"});
    *places[i] = k.value;
  }
  if (!layer.is_record()) fail(Diag::missing_argument, args.span, {"nn.make_layer", "`layer`"});
  if (!dims.is_list()) fail(Diag::missing_argument, args.span, {"nn.make_layer", "`dims`"});
  const Value* cls = layer.record().find(Symbol("class"));
  if (!cls || !cls->is_str()) fail(Diag::make_layer_class, args.span);
  TensorType type;
  for (const Value& d : dims.list()) {
    if (!d.is_dim()) fail(Diag::type_dim, args.span, {kind_text(d)});
    type.dims.push_back(d.dim());
    for (Dim atom : atoms(d.dim()))  // a dim without a length gets it from the layer
      if (!in_.context.lengths.defined(atom)) in_.context.lengths.define(atom, {in_.context.dims.batch()});
  }
  if (dtype.is<TypeName>() && dtype.get<TypeName>() == TypeName::bool_) dtype = DType::bool_;
  if (!dtype.is<DType>()) fail(Diag::option_type, args.span, {"dtype", "a dtype", kind_text(dtype)});
  type.dtype = dtype.get<DType>();
  if (sparse.is_dim()) {
    type.sparse_dim = sparse.dim();
    if (!is_int(type.dtype)) type.dtype = DType::int32;
  }
  std::vector<std::string> subs;
  if (sub.is_str()) subs.push_back(sub.str());
  std::vector<Tensor> result = backend_->raw_layer(layer, {type}, subs, args.span);
  return result.at(0);
}

}  // namespace rcn
