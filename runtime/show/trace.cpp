#include "runtime/show/trace.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ostream>

#include "runtime/show/columns.h"

namespace rcn {

namespace {

// Numbers that JSON does not have are null (nan) and strings.
nlohmann::ordered_json json_number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

}  // namespace

std::string position_text(Span span, const SourceMap& sources) {
  if (!span.valid()) return "-";
  LineColumn at = sources.locate(span.file, span.begin);
  return sources.name(span.file) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

bool ends_with_name(const std::string& name, const std::string& variable) {
  std::size_t dot = name.find_last_of("./");
  return (dot == std::string::npos ? name : name.substr(dot + 1)) == variable;
}

std::string time_text(double seconds) {
  double value = seconds * 1e6;
  const char* unit = "us";
  if (value >= 999.5) {
    value /= 1e3;
    unit = "ms";
  }
  if (value >= 999.5) {
    value /= 1e3;
    unit = "s";
  }
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.*f%s", value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value, unit);
  return text.data();
}

Trace::Line Trace::line(std::string name, Span span, const Tensor& tensor, double seconds, Lengths& lengths) const {
  Line line;
  line.place = position_text(span, sources_);
  line.name = std::move(name);
  line.type = tensor->type;
  std::string dims = sized_type(tensor->type, lengths, false);
  line.dims = dims.substr(dims.find('['));
  line.sizes = lengths.shape(tensor->type.dims);
  line.stats = statistics(eager(tensor), lengths);
  line.seconds = seconds;
  return line;
}

void Trace::write(const Produced& made, Lengths& lengths) {
  held_.push_back(line(made.name, made.span, made.tensor, made.seconds, lengths));
  held_.back().value = eager(made.source).value;
}

void Trace::name(const Bound& bound) {
  for (Line& held : held_) {
    if (!held.event.empty() || !held.value.is_same(eager(bound.source).value)) continue;
    if (!ends_with_name(held.name, bound.variable) &&
        std::find(held.variables.begin(), held.variables.end(), bound.variable) == held.variables.end())
      held.variables.push_back(bound.variable);
  }
}

void Trace::write(const Bound& bound, Lengths& lengths) {
  flush();
  put(line(bound.name, bound.span, bound.tensor, -1, lengths));
}

void Trace::write(const Event& event) {
  Line line{};
  line.place = position_text(event.span, sources_);
  line.name = event.name;
  line.event = event.text;
  held_.push_back(std::move(line));
}

void Trace::flush() {
  for (const Line& held : held_) held.event.empty() ? put(held) : put_event(held);
  held_.clear();
}

void Trace::put_event(const Line& line) {
  if (form_ == TraceForm::json) {
    nlohmann::ordered_json json{{"position", line.place}, {"name", line.name}, {"event", line.event}};
    out_ << json.dump() << std::endl;
  } else {
    out_ << row({line.place, line.name, "", ""}, line.event) << std::endl;
  }
}

// Lines are written as operations run, so a column only grows, and one very long entry does not widen it.
std::string Trace::row(const std::array<std::string, 4>& cells, const std::string& rest) {
  std::vector<std::pair<std::string, std::size_t>> row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    widths_[i] = std::max(widths_[i], std::min<std::size_t>(cells[i].size(), 60));
    if (!cells[i].empty() || i < 2) row.emplace_back(cells[i], widths_[i]);
  }
  row.emplace_back(rest, 0);
  return columns(row);
}

void Trace::put(const Line& line) {
  if (form_ == TraceForm::json) return put_json(line);
  const Stats& s = line.stats;
  auto number = [&](const char* name, double value) { return name + (s.count > s.nans ? short_number(value) : "-"); };
  std::string name = line.name;
  for (const std::string& variable : line.variables) name += " = " + variable;
  std::string rest = columns({{number("min=", s.min), 14},
                              {number("mean=", s.mean), 16},
                              {number("max=", s.max), 14},
                              {"nan=" + std::to_string(s.nans), 6},
                              {"inf=" + std::to_string(s.infs), 6},
                              {"time=" + (line.seconds < 0 ? "-" : time_text(line.seconds)), 0}});
  out_ << row({line.place, name, line.dims, std::string(to_string(line.type.dtype))}, rest)
       << std::endl;  // at once, also into a pipe
}

void Trace::put_json(const Line& line) {
  nlohmann::ordered_json dims = nlohmann::ordered_json::array();
  std::vector<std::string> names = shown_names(line.type.dims);
  for (std::size_t i = 0; i < names.size(); ++i) dims.push_back({{"name", names[i]}, {"size", line.sizes[i]}});
  const Stats& s = line.stats;
  auto number = [&](double value) -> nlohmann::ordered_json {
    if (s.count == s.nans) return nullptr;
    return json_number(value);
  };
  nlohmann::ordered_json json{{"position", line.place},
                              {"name", line.name},
                              {"variables", line.variables},
                              {"dims", std::move(dims)},
                              {"dtype", to_string(line.type.dtype)},
                              {"min", number(s.min)},
                              {"mean", number(s.mean)},
                              {"max", number(s.max)},
                              {"nans", s.nans},
                              {"infs", s.infs},
                              {"time", nullptr}};
  if (line.type.sparse_dim) json["sparse_dim"] = to_string(line.type.sparse_dim);
  if (line.seconds >= 0) json["time"] = line.seconds;
  out_ << json.dump() << std::endl;
}

}  // namespace rcn
