#include "runtime/report.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "runtime/view.h"

namespace rcn {

bool glob_match(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = std::string_view::npos, mark = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
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

namespace {

// Columns of at least the given widths, two spaces between them; a long entry moves the rest of its line.
std::string columns(const std::vector<std::pair<std::string, std::size_t>>& cells) {
  std::string line;
  std::size_t end = 0;
  for (const auto& [text, width] : cells) {
    if (!line.empty()) line.append(end > line.size() ? end - line.size() : 0, ' ').append("  ");
    end = std::max(end, line.size()) + width;
    line += text;
  }
  return line;
}

std::string stats_text(const Stats& s) {
  if (s.count == 0) return "no valid entry";
  std::string text = columns(
      {{"min " + short_number(s.min), 16}, {"mean " + short_number(s.mean), 17}, {"max " + short_number(s.max), 16}});
  if (s.count == s.nans) text = "";
  if (s.nans > 0)
    text += (text.empty() ? "" : "  ") + std::to_string(s.nans) + (s.nans == s.count ? " nan (all)" : " nan");
  return text;
}

std::string position(Span span, const SourceMap& sources) {
  if (!span.valid()) return "-";
  LineColumn at = sources.locate(span.file, span.begin);
  return sources.name(span.file) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

std::string dims_only(const TensorType& type, Lengths& lengths) {
  std::string text = sized_type(type, lengths, false);
  return text.substr(text.find('['));
}

std::string shape_text(const at::Tensor& x) {
  std::string text;
  for (std::int64_t s : x.sizes()) text += (text.empty() ? "" : ", ") + std::to_string(s);
  return text;
}

// A table whose columns are as wide as their widest entry.
void write_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  for (const auto& row : rows) {
    std::vector<std::pair<std::string, std::size_t>> cells;
    for (std::size_t i = 0; i < row.size(); ++i) cells.emplace_back(row[i], widths[i]);
    std::string line = columns(cells);
    while (line.ends_with(' ')) line.pop_back();
    out << line << '\n';
  }
}

}  // namespace

void Trace::write(const Produced& produced, Lengths& lengths) {
  const Tensor& tensor = produced.tensor;
  Stats s = statistics(eager(tensor), lengths);
  auto number = [&](const char* name, double value) { return name + (s.count > s.nans ? short_number(value) : "-"); };
  std::vector<std::string> cells{position(produced.span, sources_), produced.name, dims_only(tensor->type, lengths),
                                 std::string(to_string(tensor->type.dtype))};
  std::vector<std::pair<std::string, std::size_t>> row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    // Lines are written as operations run, so a column only grows, and one very long entry does not widen it.
    widths_[i] = std::max(widths_[i], std::min<std::size_t>(cells[i].size(), 60));
    row.emplace_back(cells[i], widths_[i]);
  }
  row.insert(row.end(), {{number("min=", s.min), 14},
                         {number("mean=", s.mean), 16},
                         {number("max=", s.max), 14},
                         {"nan=" + std::to_string(s.nans), 0}});
  out_ << columns(row) << std::endl;  // at once, also into a pipe
}

void write_printed(std::ostream& out, const std::string& name, const Tensor& tensor, Lengths& lengths, bool padding) {
  TensorType shown = tensor->type;
  shown.dims = printed_dims(shown.dims, lengths);
  out << name << "  " << sized_type(shown, lengths, true) << '\n';
  write_values(out, tensor, lengths, ListStyle::text, padding);
  out << '\n';
}

void write_text_report(std::ostream& out, const std::vector<MarkedTensor>& marks, const Objective& objective,
                       const std::vector<LoadedParameter>& params, Lengths& lengths, bool with_grad) {
  std::vector<std::vector<std::string>> rows;
  for (const MarkedTensor& m : marks)
    if (m.mark.role == MarkRole::output)
      rows.push_back({"output", m.mark.name, sized_type(m.tensor->type, lengths, true),
                      stats_text(statistics(eager(m.tensor), lengths))});
  write_table(out, rows);
  rows.clear();
  auto add = [&](const char* role, const Score& s) {
    std::string frames = short_number(s.frames) + (s.frames == 1 ? " frame" : " frames");
    std::string scale = s.mark.scale != 1.0 ? "scale " + short_number(s.mark.scale) : "";
    rows.push_back({role, s.mark.name, "sum " + short_number(s.sum), "mean " + short_number(s.mean), frames, scale});
  };
  for (const Score& s : objective.losses) add("loss", s);
  for (const Score& s : objective.errors) add("error", s);
  write_table(out, rows);
  if (!objective.losses.empty() && (objective.losses.size() > 1 || objective.constraints != 0 || with_grad)) {
    out << "objective  " << short_number(objective.total);
    if (objective.constraints != 0) out << "  (weight decay " << short_number(objective.constraints) << ")";
    out << '\n';
  }
  rows.clear();
  for (const LoadedParameter& p : params)
    if (p.next.defined())
      rows.push_back({"assigned", p.parameter.path, "[" + shape_text(p.next) + "]",
                      stats_text(statistics({p.next, p.parameter.type.dims}, lengths))});
  write_table(out, rows);
  if (!with_grad) return;
  rows.clear();
  for (const Gradient& g : objective.gradients) {
    std::string norm = "missing: the objective does not depend on it";
    if (g.value.defined()) {
      double n = g.value.to(at::kDouble).norm().item<double>();
      norm = "norm " + short_number(n) + (n == 0 ? "  (zero)" : "");
    }
    rows.push_back({"gradient", g.name, "[" + shape_text(g.parameter) + "]", norm});
  }
  write_table(out, rows);
}

void save_results(const std::string& path, const std::vector<MarkedTensor>& marks, Lengths& lengths) {
  std::vector<std::pair<std::string, at::Tensor>> arrays;
  for (const MarkedTensor& m : marks) {
    arrays.emplace_back(m.mark.name, shown_values(m.tensor, lengths));
    std::vector<Dim> dims = printed_dims(m.tensor->type.dims, lengths);
    std::vector<std::string> names = shown_names(dims);
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (dims[i]->dynamic() && dims[i]->kind != DimKind::batch)
        arrays.emplace_back(m.mark.name + "/length/" + names[i],
                            shown_lengths(dims[i], dims, lengths).value.to(at::kInt));
  }
  write_arrays(path, arrays);
}

}  // namespace rcn
