#include "compiler/syntax/ast_image.h"

#include <bit>
#include <stdexcept>
#include <type_traits>

namespace rcn {

// Numbers are varints (LEB128), signed ones zigzag; positions are differences to the one before; a node is its kind
// plus one (0: null), its span and its fields in the order of each_field(). Nothing refers outside of its statement but
// the table of strings, so that each statement is decoded alone.

namespace {

template <class T>
inline constexpr bool is_span_of = false;
template <class T>
inline constexpr bool is_span_of<std::span<T>> = true;

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace

struct ImageWriter {
  ImageEncoder& out;
  std::uint32_t position = 0;

  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.bytes_.push_back(static_cast<std::uint8_t>(value | 0x80));
    out.bytes_.push_back(static_cast<std::uint8_t>(value));
  }

  void operator()(bool value) { number(value); }
  void operator()(std::int64_t value) { number(zigzag(value)); }
  void operator()(double value) {
    std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) out.bytes_.push_back(static_cast<std::uint8_t>(bits >> shift));
  }
  void operator()(std::string_view text) {
    auto [it, added] = out.index_.try_emplace(text, static_cast<std::uint32_t>(out.strings_.size()));
    if (added) out.strings_.push_back(text);
    number(it->second);
  }
  void operator()(Symbol& symbol) { (*this)(std::string_view(symbol.str())); }
  void operator()(Span& span) {
    if (!span.valid()) return number(0);
    number(zigzag(static_cast<std::int64_t>(span.begin) - position) + 1);
    number(span.end - span.begin);
    position = span.begin;
  }
  void operator()(ast::Expr* e) { node(e); }
  void operator()(ast::Stmt* s) { node(s); }
  template <class Node>
  void node(Node* n) {
    if (n == nullptr) return number(0);
    number(static_cast<std::uint64_t>(n->kind) + 1);
    (*this)(n->span);
    ast::visit(*n, [this](auto& it) { it.each_field(*this); });
  }
  // TypeExpr* and Target*
  template <class T>
  void operator()(T* value) {
    number(value != nullptr);
    if (value != nullptr) value->each_field(*this);
  }
  template <class T>
  void operator()(std::span<T> items) {
    number(items.size());
    for (T& item : items) (*this)(item);
  }
  template <class T>
  requires(std::is_enum_v<T>) void operator()(T value) { number(static_cast<std::uint64_t>(value)); }
  template <class T>
  requires(std::is_class_v<T> && !is_span_of<T>) void operator()(T& value) { value.each_field(*this); }
};

std::uint32_t ImageEncoder::encode(ast::Stmt& statement) {
  auto offset = static_cast<std::uint32_t>(bytes_.size());
  ImageWriter{*this}.node(&statement);
  return offset;
}

namespace {

class ImageReader {
 public:
  ImageReader(const ImageFile& image, std::uint32_t offset, FileId file, Arena& arena)
      : image_(image), at_(offset), file_(file), arena_(arena) {}

  ast::Stmt* statement() {
    ast::Stmt* s = nullptr;
    (*this)(s);
    return s;
  }

  void operator()(bool& value) { value = number() != 0; }
  void operator()(std::int64_t& value) { value = unzigzag(number()); }
  void operator()(double& value) {
    std::uint64_t bits = 0;
    for (int shift = 0; shift < 64; shift += 8) bits |= static_cast<std::uint64_t>(byte()) << shift;
    value = std::bit_cast<double>(bits);
  }
  void operator()(std::string_view& text) { text = image_.strings[number()]; }
  void operator()(Symbol& symbol) {
    std::string_view text = image_.strings[number()];
    symbol = text.empty() ? Symbol() : Symbol(text);
  }
  void operator()(Span& span) {
    std::uint64_t delta = number();
    if (delta == 0) {
      span = Span();
      return;
    }
    position_ = static_cast<std::uint32_t>(static_cast<std::int64_t>(position_) + unzigzag(delta - 1));
    span = {file_, position_, position_ + static_cast<std::uint32_t>(number())};
  }
  void operator()(ast::Expr*& e) { node<ast::ExprKind>(e); }
  void operator()(ast::Stmt*& s) { node<ast::StmtKind>(s); }
  template <class T>
  void operator()(T*& value) {
    value = nullptr;
    if (number() == 0) return;
    value = arena_.make<T>();
    value->each_field(*this);
  }
  template <class T>
  void operator()(std::span<T>& items) {
    std::size_t count = number();
    if (count == 0) {
      items = {};
      return;
    }
    // T may be a pointer to a node.
    T* data = static_cast<T*>(arena_.allocate(count * sizeof(T), alignof(T)));  // NOLINT(bugprone-sizeof-expression)
    for (std::size_t i = 0; i < count; ++i) (*this)(*new (data + i) T{});
    items = {data, count};
  }
  template <class T>
  requires(std::is_enum_v<T>) void operator()(T& value) { value = static_cast<T>(number()); }
  template <class T>
  requires(std::is_class_v<T> && !is_span_of<T>) void operator()(T& value) { value.each_field(*this); }

 private:
  std::uint8_t byte() {
    if (at_ >= image_.bytes.size()) throw std::logic_error("the image of the standard library is cut off");
    return image_.bytes[at_++];
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      std::uint8_t b = byte();
      value |= static_cast<std::uint64_t>(b & 0x7F) << shift;
      if ((b & 0x80) == 0) return value;
    }
  }

  template <class Kind, class Node>
  void node(Node*& result) {
    result = nullptr;
    std::uint64_t tag = number();
    if (tag == 0) return;
    Node head{static_cast<Kind>(tag - 1), Span()};
    (*this)(head.span);
    // visit() picks the type by the kind alone; the node itself is made then.
    ast::visit(head, [&]<class T>(T&) {
      T* made = arena_.make<T>();
      made->kind = head.kind;
      made->span = head.span;
      made->each_field(*this);
      result = made;
    });
  }

  const ImageFile& image_;
  std::size_t at_;
  FileId file_;
  Arena& arena_;
  std::uint32_t position_ = 0;
};

}  // namespace

ast::Stmt* decode_statement(const ImageFile& image, std::uint32_t offset, FileId file, Arena& arena) {
  return ImageReader(image, offset, file, arena).statement();
}

std::string_view declared_name(ast::Stmt& statement) {
  return ast::visit(statement, []<class T>(T& s) -> std::string_view {
    if constexpr (std::is_same_v<T, ast::AssignStmt>) {
      return s.target->flag_owner == nullptr ? std::string_view(s.target->name.str()) : std::string_view();
    } else if constexpr (requires { s.name; } && !std::is_same_v<T, ast::UpdateStmt> &&
                         !std::is_same_v<T, ast::MarkStmt> && !std::is_same_v<T, ast::StackStmt>) {
      return s.name.str();
    } else {
      return {};
    }
  });
}

}  // namespace rcn
