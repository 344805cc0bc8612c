#include "runtime/show/selector.h"

#include <algorithm>
#include <optional>

namespace rcn {

namespace {

// The loader reads the model before what it imports.
constexpr FileId kModelFile = 1;

bool same_letter(char a, char b) {
  auto plain = [](char c) { return c == '/' ? '.' : c; };
  return plain(a) == plain(b);
}

std::optional<std::uint32_t> line_number(std::string_view text) {
  if (text.empty() || text.size() > 9) return std::nullopt;
  std::uint32_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return value;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = std::string_view::npos, mark = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || same_letter(pattern[p], name[n]))) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Selector::Selector(std::string pattern) : pattern_(std::move(pattern)) {
  std::string_view rest = pattern_;
  auto last_part = [&] {
    std::size_t colon = rest.rfind(':');
    return colon == std::string_view::npos ? rest : rest.substr(colon + 1);
  };
  auto drop_last = [&] {
    std::size_t colon = rest.rfind(':');
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(0, colon);
  };
  std::string_view part = last_part();
  std::size_t dash = part.find('-');
  std::optional<std::uint32_t> first = line_number(part.substr(0, dash));
  std::optional<std::uint32_t> last = dash == std::string_view::npos ? first : line_number(part.substr(dash + 1));
  if (!first || !last) return;
  drop_last();
  if (std::optional<std::uint32_t> line = line_number(last_part()); line && dash == std::string_view::npos) {
    column_ = *first;
    first = last = line;
    drop_last();
  }
  place_ = true;
  first_ = *first;
  last_ = *last;
  file_ = std::string(rest);
}

bool Selector::fits(const Produced& made, const SourceMap& sources) const {
  return fits_name(made.name) || fits_place(made.span, made.calls, sources);
}

bool Selector::fits(const Bound& bound, const SourceMap& sources) const {
  return fits_name(bound.name) || fits_name(bound.variable) || fits_place(bound.span, bound.calls, sources);
}

bool Selector::fits(const Event& event, const SourceMap& sources) const {
  return fits_name(event.name) || fits_place(event.span, event.calls, sources);
}

bool Selector::fits_name(std::string_view name) const { return !place_ && glob_match(pattern_, name); }

bool Selector::fits_place(Span span, const std::vector<Span>& calls, const SourceMap& sources) const {
  return place_ &&
         (at(span, sources) || std::any_of(calls.begin(), calls.end(), [&](Span call) { return at(call, sources); }));
}

bool Selector::at(Span span, const SourceMap& sources) const {
  if (!span.valid()) return false;
  const std::string& name = sources.name(span.file);
  if (file_.empty() ? span.file != kModelFile : name != file_ && !name.ends_with("/" + file_)) return false;
  LineColumn from = sources.locate(span.file, span.begin);
  if (column_ != 0) return from.line == first_ && from.column == column_;
  return first_ <= from.line && from.line <= last_;
}

}  // namespace rcn
