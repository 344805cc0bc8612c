#include "runtime/show/summary.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>

#include "runtime/show/columns.h"
#include "runtime/show/trace.h"
#include "runtime/show/view.h"

namespace rcn {

namespace {

constexpr std::size_t kShownLines = 10;
constexpr std::size_t kShownOperations = 4;

std::string count_text(std::int64_t count) {
  std::string digits = std::to_string(count), text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string right(std::string text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string share_text(double part, double whole) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.1f%%", whole > 0 ? 100 * part / whole : 0.0);
  return text.data();
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.*f %s", unit == 0 ? 0 : 1, value, kUnits[unit]);
  return text.data();
}

void Summary::add(const Produced& made) {
  if (!made.node || made.result > 0) return;
  std::string place = position_text(made.span, sources_);
  place.resize(place.rfind(':') == std::string::npos ? place.size() : place.rfind(':'));  // the line
  Line& line = lines_.try_emplace(place, Line{place, lines_.size(), 0, 0, {}}).first->second;
  ++line.calls;
  line.seconds += made.seconds;
  line.operations[std::string(made.node->op->name)] += made.seconds;
  ++calls_;
  seconds_ += made.seconds;
}

void Summary::write(std::ostream& out, const std::vector<LoadedParameter>& params, std::int64_t peak_bytes) const {
  std::vector<const Line*> lines;
  for (const auto& [place, line] : lines_) lines.push_back(&line);
  std::sort(lines.begin(), lines.end(), [](const Line* a, const Line* b) {
    return a->seconds != b->seconds ? a->seconds > b->seconds : a->order < b->order;
  });
  out << "summary  " << count_text(calls_) << " operations in " << time_text(seconds_) << ", slowest lines:\n";
  std::vector<std::vector<std::string>> rows{
      {"line", right("calls", 7), right("time", 8), right("share", 7), "operations"}};
  for (std::size_t i = 0; i < lines.size() && i < kShownLines; ++i) {
    const Line& line = *lines[i];
    std::vector<std::pair<double, std::string>> operations;
    for (const auto& [name, seconds] : line.operations) operations.emplace_back(-seconds, name);
    std::sort(operations.begin(), operations.end());
    std::string names;
    for (std::size_t k = 0; k < operations.size() && k < kShownOperations; ++k)
      names += (k ? ", " : "") + operations[k].second;
    if (operations.size() > kShownOperations) names += ", ...";
    rows.push_back({line.place, right(count_text(line.calls), 7), right(time_text(line.seconds), 8),
                    right(share_text(line.seconds, seconds_), 7), names});
  }
  write_table(out, rows);
  if (lines.size() > kShownLines) out << "and " << lines.size() - kShownLines << " more lines\n";

  std::int64_t entries = 0, trained = 0, bytes = 0;
  for (const LoadedParameter& p : params) {
    const at::Tensor& value = eager(p.tensor).value;
    entries += value.numel();
    bytes += value.numel() * static_cast<std::int64_t>(value.element_size());
    if (p.parameter.trainable) trained += value.numel();
  }
  out << "parameters  " << params.size() << " with " << count_text(entries) << " entries (" << bytes_text(bytes)
      << "), " << count_text(trained) << " of them trainable\n"
      << "peak memory of tensors  " << bytes_text(peak_bytes) << '\n';
}

}  // namespace rcn
