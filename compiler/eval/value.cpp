#include "compiler/eval/value.h"

#include <cmath>

#include "compiler/base/number_text.h"
#include "compiler/eval/program.h"

namespace rcn {

const Value* Record::find(Symbol name) const {
  for (const auto& [key, value] : fields)
    if (key == name) return &value;
  return nullptr;
}

std::string_view to_string(TypeName type) {
  switch (type) {
    case TypeName::int_: return "int";
    case TypeName::float_: return "float";
    case TypeName::bool_: return "bool";
    case TypeName::str: return "str";
    case TypeName::list: return "list";
    case TypeName::tuple: return "tuple";
    case TypeName::record: return "record";
    case TypeName::dim: return "Dim";
    case TypeName::tensor: return "Tensor";
    case TypeName::module: return "Module";
    case TypeName::function: return "Function";
  }
  return "";
}

std::string kind_text(const Value& value) {
  struct Visitor {
    std::string operator()(const Poison&) { return "an error"; }
    std::string operator()(const None&) { return "none"; }
    std::string operator()(bool) { return "a bool"; }
    std::string operator()(std::int64_t) { return "an int"; }
    std::string operator()(double) { return "a float"; }
    std::string operator()(const std::shared_ptr<const std::string>&) { return "a string"; }
    std::string operator()(const std::shared_ptr<const List>&) { return "a list"; }
    std::string operator()(const std::shared_ptr<const Tuple>& t) {
      return "a tuple of " + std::to_string(t->items.size());
    }
    std::string operator()(const std::shared_ptr<const Record>&) { return "a record"; }
    std::string operator()(Dim d) { return "the dim `" + to_string(d) + "`"; }
    std::string operator()(const Tensor& t) { return "a tensor `" + to_string(t->type) + "`"; }
    std::string operator()(const std::shared_ptr<const Function>& f) { return "the function `" + f->display_name() + "`"; }
    std::string operator()(const ModuleClass* c) { return "the module class `" + c->name.str() + "`"; }
    std::string operator()(Instance* i) { return "an instance of `" + i->cls->name.str() + "`"; }
    std::string operator()(const Namespace* n) { return "the file `" + n->name + "`"; }
    std::string operator()(DType t) { return "the dtype `" + std::string(to_string(t)) + "`"; }
    std::string operator()(TypeName t) { return "the type `" + std::string(to_string(t)) + "`"; }
    std::string operator()(const std::shared_ptr<const Initializer>&) { return "an initializer"; }
    std::string operator()(const FlagSetting& s) {
      return s.locked ? "a locked setting" : "`" + std::string(to_string(s.value)) + "`";
    }
  };
  return std::visit(Visitor{}, value.data());
}

namespace {

// Values can share their parts, so that their text may be far longer than the program: it is cut here.
constexpr std::size_t kLongestText = 100'000;

std::string inner_text(const Value& value) {
  if (value.is_str()) return "\"" + value.str() + "\"";
  return to_text(value);
}

std::string items_text(const std::vector<Value>& items) {
  std::string result;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (result.size() > kLongestText) return result + ", ...";
    result += (i ? ", " : "") + inner_text(items[i]);
  }
  return result;
}

}  // namespace

std::string shown_text(const Value& value) {
  if (value.is_tensor()) return "`" + to_string(value.tensor()->type) + "`";
  if (value.is_number() || value.is<bool>() || value.is_str()) return "`" + inner_text(value) + "`";
  if (value.is_record()) {
    std::string fields;
    for (const auto& [name, item] : value.record().fields) fields += (fields.empty() ? "`" : ", `") + name.str() + "`";
    return fields.empty() ? "a record without fields" : "a record of " + fields;
  }
  if (value.is_list()) return "a list of " + std::to_string(value.list().size());
  return kind_text(value);
}

std::string to_text(const Value& value) {
  if (value.is_none()) return "none";
  if (value.is<bool>()) return value.get<bool>() ? "true" : "false";
  if (value.is<std::int64_t>()) return std::to_string(value.get<std::int64_t>());
  if (value.is<double>()) return number_text(value.get<double>());
  if (value.is_str()) return value.str();
  if (value.is_dim()) return to_string(value.dim());
  if (value.is<DType>()) return std::string(to_string(value.get<DType>()));
  if (value.is<TypeName>()) return std::string(to_string(value.get<TypeName>()));
  if (value.is_list()) return "[" + items_text(value.list()) + "]";
  if (value.is_tuple()) {
    const auto& items = value.tuple().items;
    return "(" + items_text(items) + (items.size() == 1 ? ",)" : ")");
  }
  if (value.is_record()) {
    std::string result = "{";
    for (const auto& [name, field] : value.record().fields)
      result += (result.size() > 1 ? ", " : "") + name.str() + ": " + inner_text(field);
    return result + "}";
  }
  return kind_text(value);
}

namespace {

std::partial_ordering compare_int(std::int64_t i, double x) {
  if (std::isnan(x)) return std::partial_ordering::unordered;
  if (x >= 0x1p63) return std::partial_ordering::less;
  if (x < -0x1p63) return std::partial_ordering::greater;
  auto whole = static_cast<std::int64_t>(x);
  if (i != whole) return i <=> whole;
  return 0.0 <=> x - std::trunc(x);
}

}  // namespace

std::partial_ordering compare_numbers(const Value& a, const Value& b) {
  bool int_a = a.is<std::int64_t>(), int_b = b.is<std::int64_t>();
  if (int_a && int_b) return a.get<std::int64_t>() <=> b.get<std::int64_t>();
  if (int_a) return compare_int(a.get<std::int64_t>(), b.get<double>());
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of `0 <=>` for a pointer
  if (int_b) return 0 <=> compare_int(b.get<std::int64_t>(), a.get<double>());
  return a.get<double>() <=> b.get<double>();
}

bool same_value(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return std::is_eq(compare_numbers(a, b));
  if (a.data().index() != b.data().index()) return false;
  if (a.data() == b.data()) return !a.is<double>() || a.get<double>() == b.get<double>();  // one object: no need to look inside
  if (a.is_str()) return a.str() == b.str();
  auto same_items = [](const std::vector<Value>& x, const std::vector<Value>& y) {
    if (x.size() != y.size()) return false;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!same_value(x[i], y[i])) return false;
    return true;
  };
  if (a.is_list()) return same_items(a.list(), b.list());
  if (a.is_tuple()) return same_items(a.tuple().items, b.tuple().items);
  if (a.is_record()) {
    const Record &x = a.record(), &y = b.record();
    if (x.fields.size() != y.fields.size()) return false;
    for (const auto& [name, value] : x.fields) {
      const Value* other = y.find(name);
      if (!other || !same_value(value, *other)) return false;
    }
    return true;
  }
  if (a.is_function()) {
    const Function &f = a.function(), &g = b.function();
    if (&f == &g) return true;
    return f.kind == g.kind && f.kind != FunctionKind::lambda && f.decl == g.decl && f.self == g.self && f.op == g.op && f.builtin == g.builtin;
  }
  return a.data() == b.data();
}

}  // namespace rcn
