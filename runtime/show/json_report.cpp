// `--json`: the results as one object.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "runtime/show/report.h"
#include "runtime/show/view.h"

namespace rcn {

namespace {

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

void write_names(std::ostream& out, const std::vector<std::string>& names) {
  out << '[';
  for (std::size_t i = 0; i < names.size(); ++i) out << (i ? ", " : "") << quoted(names[i]);
  out << ']';
}

// All but the values and the closing brace.
void write_description(std::ostream& out, const Tensor& tensor, Lengths& lengths) {
  std::vector<Dim> dims = printed_dims(tensor->type.dims, lengths);
  std::vector<std::string> names = shown_names(dims);
  // Calls `write(dim, name)` between `{"NAME": ...}` for each dim that has lengths.
  auto for_dynamic = [&](auto write) {
    out << '{';
    bool first = true;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (!dims[i]->dynamic() || dims[i]->kind == DimKind::batch) continue;
      out << (first ? "" : ", ") << quoted(names[i]) << ": ";
      write(dims[i]);
      first = false;
    }
    out << '}';
  };
  out << "{\"dims\": ";
  write_names(out, names);
  out << ", \"lengths\": ";
  for_dynamic([&](Dim d) { write_array(out, shown_lengths(d, dims, lengths).value, ListStyle::json); });
  out << ", \"length_dims\": ";
  for_dynamic([&](Dim d) {
    std::vector<std::string> over;
    for (Dim l : shown_lengths(d, dims, lengths).axes)
      over.push_back(names[static_cast<std::size_t>(std::find(dims.begin(), dims.end(), l) - dims.begin())]);
    write_names(out, over);
  });
  out << ", \"dtype\": " << quoted(std::string(to_string(tensor->type.dtype)));
  if (Dim sparse = tensor->type.sparse_dim) {
    out << ", \"sparse_dim\": " << quoted(to_string(sparse));
    if (sparse->size) out << ", \"sparse_size\": " << *sparse->size;
  }
}

void write_tensor(std::ostream& out, const Tensor& tensor, Lengths& lengths, bool padding) {
  write_description(out, tensor, lengths);
  out << ", \"values\": ";
  write_values(out, tensor, lengths, ListStyle::json, padding);
  out << '}';
}

void write_scores(std::ostream& out, const std::vector<Score>& scores) {
  out << '{';
  for (std::size_t i = 0; i < scores.size(); ++i) {
    out << (i ? ", " : "") << quoted(scores[i].mark.name) << ": {\"sum\": ";
    write_number(out, scores[i].sum, ListStyle::json);
    out << ", \"mean\": ";
    write_number(out, scores[i].mean, ListStyle::json);
    out << '}';
  }
  out << '}';
}

}  // namespace

std::string json_tensor(const Tensor& tensor, Lengths& lengths, bool padding) {
  std::ostringstream out;
  write_tensor(out, tensor, lengths, padding);
  return out.str();
}

std::string json_description(const Tensor& tensor, Lengths& lengths) {
  std::ostringstream out;
  write_description(out, tensor, lengths);
  out << '}';
  return out.str();
}

void write_json_report(std::ostream& out, const std::vector<MarkedTensor>& marks, const Objective& objective,
                       const std::vector<LoadedParameter>& params, const std::vector<PrintedTensor>& printed,
                       Lengths& lengths, bool with_grad, bool padding) {
  out << "{\"outputs\": {";
  bool first = true;
  for (const MarkedTensor& m : marks) {
    if (m.mark.role != MarkRole::output) continue;
    out << (first ? "\n  " : ",\n  ") << quoted(m.mark.name) << ": ";
    write_tensor(out, m.tensor, lengths, padding);
    first = false;
  }
  out << "},\n \"losses\": ";
  write_scores(out, objective.losses);
  out << ",\n \"errors\": ";
  write_scores(out, objective.errors);
  out << ",\n \"objective\": ";
  write_number(out, objective.total, ListStyle::json);
  out << ",\n \"constraints\": ";
  write_number(out, objective.constraints, ListStyle::json);
  if (with_grad) {
    out << ",\n \"gradients\": {";
    for (std::size_t i = 0; i < objective.gradients.size(); ++i) {
      const Gradient& g = objective.gradients[i];
      out << (i ? ",\n  " : "\n  ") << quoted(g.name) << ": ";
      write_array(out, g.value.defined() ? g.value : at::zeros_like(g.parameter), ListStyle::json);
    }
    out << "},\n \"missing_gradients\": ";  // of these they are zero because the objective does not depend on them
    std::vector<std::string> missing;
    for (const Gradient& g : objective.gradients)
      if (!g.value.defined()) missing.push_back(g.name);
    write_names(out, missing);
    out << ",\n \"input_gradients\": {";
    for (std::size_t i = 0; i < objective.input_gradients.size(); ++i) {
      const InputGradient& g = objective.input_gradients[i];
      out << (i ? ",\n  " : "\n  ") << quoted(g.name) << ": ";
      write_tensor(out, g.gradient, lengths, padding);
    }
    out << '}';
  }
  first = true;
  for (const LoadedParameter& p : params) {
    if (!p.next.defined()) continue;
    out << (first ? ",\n \"assigned\": {\n  " : ",\n  ") << quoted(p.parameter.path) << ": ";
    write_array(out, p.next, ListStyle::json);
    first = false;
  }
  if (!first) out << '}';
  out << ",\n \"printed\": {";
  for (std::size_t i = 0; i < printed.size(); ++i) {
    out << (i ? ",\n  " : "\n  ") << quoted(printed[i].name) << ": ";
    out << printed[i].json;
  }
  out << "}}\n";
}

}  // namespace rcn
