#include "tests/unit/syntax/dump.h"

#include <type_traits>

namespace rcn::test {

namespace {

using namespace ast;

constexpr const char* kExprNames[] = {"error",       "name",    "int",   "float",   "string",        "bool",
                                      "none",        "tuple",   "list",  "record",  "comprehension", "lambda",
                                      "conditional", "logical", "not",   "compare", "binary",        "negate",
                                      "call",        "index",   "slice", "member"};
constexpr const char* kStmtNames[] = {"error", "import", "from_import", "option", "extern", "dim",    "param", "flag",
                                      "fn",    "module", "network",     "mode",   "mark",   "stack",  "if",    "for",
                                      "loop",  "masked", "return",      "assert", "assign", "update", "expr"};

template <class T>
inline constexpr bool is_span_of = false;
template <class T>
inline constexpr bool is_span_of<std::span<T>> = true;

struct Dumper {
  std::string out;
  bool spans = false;

  void word(const std::string& text) {
    if (!out.empty() && out.back() != '(' && out.back() != '[') out += ' ';
    out += text;
  }
  void open(const std::string& text) {
    word("(");
    out += text;
  }
  void operator()(bool value) { word(value ? "true" : "false"); }
  void operator()(std::int64_t value) { word(std::to_string(value)); }
  void operator()(double value) { word(std::to_string(value)); }
  void operator()(std::string_view value) { word("\"" + std::string(value) + "\""); }
  void operator()(Symbol& value) { word(value ? value.str() : "-"); }
  void operator()(Span& value) {
    if (spans) word(value.valid() ? std::to_string(value.begin) + ":" + std::to_string(value.end) : "-");
  }
  void operator()(Expr* e) { node(e, kExprNames); }
  void operator()(Stmt* s) { node(s, kStmtNames); }
  template <class Node, class Names>
  void node(Node* n, const Names& names) {
    if (n == nullptr) return word("null");
    open(names[static_cast<std::size_t>(n->kind)]);
    (*this)(n->span);
    visit(*n, [this](auto& it) { it.each_field(*this); });
    out += ")";
  }
  template <class T>
  void operator()(T* value) {
    if (value == nullptr) return word("null");
    (*this)(*value);
  }
  template <class T>
  void operator()(std::span<T> items) {
    word("[");
    for (T& item : items) (*this)(item);
    out += "]";
  }
  template <class T>
  requires(std::is_enum_v<T>) void operator()(T value) { word("#" + std::to_string(static_cast<int>(value))); }
  template <class T>
  requires(std::is_class_v<T> && !is_span_of<T>) void operator()(T& value) {
    open("");
    value.each_field(*this);
    out += ")";
  }
};

}  // namespace

std::string dump(Stmt& statement, bool spans) {
  Dumper d;
  d.spans = spans;
  d(&statement);
  return std::move(d.out);
}

std::string dump(Expr& expression) {
  Dumper d;
  d(&expression);
  return std::move(d.out);
}

}  // namespace rcn::test
