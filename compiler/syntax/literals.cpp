#include "compiler/syntax/literals.h"

#include <charconv>
#include <limits>
#include <string>

#include "compiler/syntax/text.h"

namespace rcn {

namespace {

// The digits without `_`, each of which must stand between two digits.
bool strip_underscores(std::string_view text, std::string& digits) {
  auto is_digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      digits += text[i];
    } else if (i == 0 || !is_digit(i - 1) || !is_digit(i + 1)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::int64_t int_value(std::string_view text, bool negative, Span span, DiagnosticSink& diagnostics) {
  bool hex = text.starts_with("0x");
  std::string digits;
  if (!strip_underscores(hex ? text.substr(2) : text, digits)) {
    diagnostics.report(Diag::number_underscore, span, {std::string(text)});
    return 0;
  }
  if (!hex && digits.size() > 1 && digits[0] == '0') {
    std::size_t first = digits.find_first_not_of('0');
    std::string plain = first == std::string::npos ? "0" : digits.substr(first);
    diagnostics.report(Diag::number_leading_zero, span, {std::string(text)})
        .help(Diag::help_text, {"write `" + plain + "`"});
    return 0;
  }
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (error != std::errc() || value > kMax + (negative ? 1 : 0)) {
    diagnostics.report(Diag::int_too_large, span, {std::string(text)})
        .help(Diag::help_text, {"ints have 64 bits; with a point (`" + digits.substr(0, 1) + "e" +
                                std::to_string(digits.size() - 1) + "`) it is a float"});
    return 0;
  }
  return negative ? static_cast<std::int64_t>(0 - value) : static_cast<std::int64_t>(value);
}

bool is_smallest_int(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  return digits == "9223372036854775808" || digits == "0x8000000000000000";
}

double float_value(std::string_view text, Span span, DiagnosticSink& diagnostics) {
  std::string digits;
  if (!strip_underscores(text, digits)) {
    diagnostics.report(Diag::number_underscore, span, {std::string(text)});
    return 0;
  }
  double value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    // The same error says too small, and that is zero.
    std::size_t exponent = digits.find_first_of("eE");
    bool tiny = exponent == std::string::npos ? digits[0] == '0' : digits[exponent + 1] == '-';
    if (tiny) return 0;
    diagnostics.report(Diag::float_too_large, span, {std::string(text)})
        .help(Diag::help_text, {"infinity is written `float(\"inf\")`"});
    return 0;
  }
  return value;
}

namespace {

class StringReader {
 public:
  StringReader(std::string_view body, Span span, DiagnosticSink& diagnostics)
      : body_(body), span_(span), diagnostics_(diagnostics) {}

  std::string read() {
    std::string out;
    for (at_ = 0; at_ < body_.size();) {
      if (body_[at_] != '\\') {
        out += body_[at_++];
      } else {
        escape(out);
      }
    }
    return out;
  }

 private:
  // `length` bytes from the current place; the quote is not part of the body.
  Span span_here(std::size_t length) const {
    std::uint32_t begin = span_.begin + 1 + static_cast<std::uint32_t>(at_);
    return {span_.file, begin, begin + static_cast<std::uint32_t>(length)};
  }

  bool hex4(std::size_t at, char32_t& value) const {
    if (at + 4 > body_.size()) return false;
    unsigned number = 0;
    auto [end, error] = std::from_chars(body_.data() + at, body_.data() + at + 4, number, 16);
    value = number;
    return error == std::errc() && end == body_.data() + at + 4;
  }

  void escape(std::string& out) {
    char c = body_[at_ + 1];
    switch (c) {
      case '"':
      case '\\':
      case '/': out += c; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u': return unicode(out);
      default: {
        std::size_t length = 1 + code_point(body_, at_ + 1).length;
        diagnostics_.report(Diag::unknown_escape, span_here(length), {std::string(body_.substr(at_, length))})
            .help(Diag::help_text, {"the escapes are `\\\"` `\\\\` `\\/` `\\b` `\\f` `\\n` `\\r` `\\t` and `\\uXXXX`; "
                                    "a backslash itself is `\\\\`"});
        at_ += length;
        return;
      }
    }
    at_ += 2;
  }

  void unicode(std::string& out) {
    char32_t high = 0;
    if (!hex4(at_ + 2, high)) {
      std::size_t length = std::min<std::size_t>(6, body_.size() - at_);
      diagnostics_.report(Diag::bad_unicode_escape, span_here(2), {std::string(body_.substr(at_, length))});
      at_ += 2;
      return;
    }
    if (high < 0xD800 || high > 0xDFFF) {
      append_utf8(out, high);
      at_ += 6;
      return;
    }
    // Beyond U+FFFF JSON writes two halves.
    char32_t low = 0;
    bool pair = high < 0xDC00 && at_ + 7 < body_.size() && body_[at_ + 6] == '\\' && body_[at_ + 7] == 'u' &&
                hex4(at_ + 8, low) && low >= 0xDC00 && low <= 0xDFFF;
    if (!pair) {
      diagnostics_.report(Diag::lone_surrogate, span_here(6), {std::string(body_.substr(at_, 6))});
      at_ += 6;
      return;
    }
    append_utf8(out, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
    at_ += 12;
  }

  std::string_view body_;
  Span span_;
  DiagnosticSink& diagnostics_;
  std::size_t at_ = 0;
};

}  // namespace

std::string_view string_value(std::string_view token, Span span, Arena& arena, DiagnosticSink& diagnostics) {
  std::string_view body = token.substr(1, token.size() - 2);
  if (body.find('\\') == std::string_view::npos) return arena.copy(body);
  return arena.copy(std::string_view(StringReader(body, span, diagnostics).read()));
}

}  // namespace rcn
