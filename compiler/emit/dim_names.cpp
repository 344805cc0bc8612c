#include "compiler/emit/dim_names.h"

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace rcn {

namespace {

constexpr std::size_t kLongestName = 60;  // of a derived dim, before the suffix
constexpr std::string_view kSuffix = "_dim";

std::string identifier(std::string_view text) {
  std::string result;
  for (char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;  // one `_` for a whole code point
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    bool digit = c >= '0' && c <= '9';
    result += letter || digit ? c : '_';
  }
  return result;
}

std::string words(Dim d);

std::string int_words(std::int64_t value) {
  return value < 0 ? "minus_" + std::to_string(value).substr(1) : std::to_string(value);
}

bool negative(Dim d) { return (d->form == DimForm::constant || d->form == DimForm::product) && d->factor < 0; }

// Of a term in a sum, without its sign.
std::string magnitude_words(Dim d) {
  if (d->form == DimForm::constant) return std::to_string(d->factor).substr(d->factor < 0 ? 1 : 0);
  if (d->form != DimForm::product) return words(d);
  std::string result;
  for (Dim factor : d->parts) result += (result.empty() ? "" : "_times_") + words(factor);
  std::int64_t factor = d->factor < 0 ? -d->factor : d->factor;
  return factor == 1 ? result : result + "_times_" + std::to_string(factor);
}

std::string words(Dim d) {
  switch (d->form) {
    case DimForm::atom: return identifier(d->name);
    case DimForm::constant: return int_words(d->factor);
    case DimForm::product: return (negative(d) ? "minus_" : "") + magnitude_words(d);
    case DimForm::sum: {
      std::string result;
      for (Dim term : d->parts) {
        if (negative(term)) {
          result += result.empty() ? "minus_" : "_minus_";
        } else if (!result.empty()) {
          result += "_plus_";
        }
        result += magnitude_words(term);
      }
      return result;
    }
    case DimForm::floordiv: return words(d->parts[0]) + "_div_" + words(d->parts[1]);
    case DimForm::ceildiv: return words(d->parts[0]) + "_ceildiv_" + words(d->parts[1]);
  }
  return "";
}

std::string wanted_name(Dim d) {
  std::string name = words(d);
  if (d->form != DimForm::atom && name.size() > kLongestName) name.resize(kLongestName);
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name = "dim_" + name;
  if (!name.ends_with(kSuffix)) name += kSuffix;
  return name;
}

}  // namespace

std::vector<std::string> dim_names(const std::vector<Dim>& dims) {
  std::vector<std::string> wanted;
  std::unordered_set<std::string> all_wanted;
  std::unordered_set<std::string> used = {"batch_dim", "single_step_dim"};
  for (Dim d : dims) all_wanted.insert(wanted.emplace_back(wanted_name(d)));

  std::vector<std::string> result;
  std::unordered_map<std::string, std::size_t> repeats;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i]->marker || (dims[i]->form == DimForm::atom && dims[i]->kind == DimKind::batch)) {
      result.emplace_back(dims[i]->marker ? "single_step_dim" : "batch_dim");
      continue;
    }
    std::string name = wanted[i];
    if (used.contains(name)) {
      std::size_t& count = repeats[wanted[i]];
      do name = wanted[i] + "_" + std::to_string(++count);
      while (used.contains(name) || all_wanted.contains(name));
    }
    used.insert(name);
    result.push_back(std::move(name));
  }
  return result;
}

}  // namespace rcn
