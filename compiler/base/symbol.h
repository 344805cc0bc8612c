// Interned names: equal text, equal pointer.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>

namespace rcn {

class Symbol {
 public:
  Symbol() = default;
  explicit Symbol(std::string_view text);  // interns in one table for the process

  const std::string& str() const { return text_ ? *text_ : empty(); }
  bool operator==(const Symbol& other) const = default;
  explicit operator bool() const { return text_ != nullptr; }
  const void* id() const { return text_; }

 private:
  static const std::string& empty();
  const std::string* text_ = nullptr;
};

}  // namespace rcn

template <>
struct std::hash<rcn::Symbol> {
  std::size_t operator()(const rcn::Symbol& s) const { return std::hash<const void*>()(s.id()); }
};
