#include "runtime/show/report.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <set>

#include "runtime/show/columns.h"
#include "runtime/show/trace.h"
#include "runtime/show/view.h"

namespace rcn {

namespace {

std::string shape_text(const at::Tensor& x) {
  std::string text;
  for (std::int64_t s : x.sizes()) text += (text.empty() ? "" : ", ") + std::to_string(s);
  return text;
}

// From how many times the median norm on a gradient is called exploding, where there are enough to compare; from which
// norm on, whatever others are.
constexpr double kExploding = 1e3;
constexpr double kHuge = 1e6;
constexpr std::size_t kComparable = 3;

double norm_of(const at::Tensor& gradient) { return gradient.to(at::kDouble).norm().item<double>(); }

// Of those that are neither zero nor infinite; 0 where there are too few.
double median_norm(const std::vector<Gradient>& gradients) {
  std::vector<double> norms;
  for (const Gradient& g : gradients)
    if (double n = g.value.defined() ? norm_of(g.value) : 0; n > 0 && std::isfinite(n)) norms.push_back(n);
  if (norms.size() < kComparable) return 0;
  std::nth_element(norms.begin(), norms.begin() + static_cast<std::ptrdiff_t>(norms.size() / 2), norms.end());
  return norms[norms.size() / 2];
}

// A row for each; those to look at say where the parameter is from.
void write_gradients(std::ostream& out, const std::vector<Gradient>& gradients, const SourceMap& sources) {
  double median = median_norm(gradients);
  std::vector<std::vector<std::string>> rows;
  std::size_t missing = 0, zero = 0, exploding = 0, not_finite = 0;
  for (const Gradient& g : gradients) {
    std::size_t before = missing + zero + exploding + not_finite;
    std::string text = "missing: the objective does not depend on it";
    if (!g.value.defined()) {
      ++missing;
    } else {
      double n = norm_of(g.value);
      text = "norm " + short_number(n);
      if (n == 0) {
        ++zero;
        text += "  (zero)";
      } else if (!std::isfinite(n)) {
        ++not_finite;
        text += "  (not finite)";
      } else if (median > 0 && n > kExploding * median) {
        ++exploding;
        text += "  (exploding: " + short_number(n / median) + " times the median)";
      } else if (n > kHuge) {
        ++exploding;
        text += "  (exploding)";
      }
    }
    bool look = missing + zero + exploding + not_finite > before;
    rows.push_back({"gradient", g.name, "[" + shape_text(g.parameter) + "]", text, look && g.span.valid() ? position_text(g.span, sources) : ""});
  }
  write_table(out, rows);
  std::string flagged;
  for (auto [count, word] :
       {std::pair{missing, "missing"}, {zero, "zero"}, {not_finite, "not finite"}, {exploding, "exploding"}})
    if (count > 0) flagged += (flagged.empty() ? "" : ", ") + std::to_string(count) + " " + word;
  if (!flagged.empty()) out << "gradients to look at, of " << gradients.size() << ": " << flagged << '\n';
}

}  // namespace

void write_printed(std::ostream& out, const std::string& name, const Tensor& tensor, Lengths& lengths, bool padding,
                   bool full) {
  TensorType shown = tensor->type;
  shown.dims = printed_dims(shown.dims, lengths);
  Stats stats = statistics(eager(tensor), lengths);
  bool whole = full || (padding ? eager(tensor).value.numel() : stats.count) <= kLarge;
  out << name << "  " << sized_type(shown, lengths, true);
  if (!whole) out << "  " << stats_text(stats);
  out << '\n';
  write_values(out, tensor, lengths, ListStyle::text, padding, whole ? 0 : kEdge);
  out << '\n';
}

void write_text_report(std::ostream& out, const std::vector<MarkedTensor>& marks, const Objective& objective,
                       const std::vector<LoadedParameter>& params, Lengths& lengths, const SourceMap& sources, bool with_grad) {
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
  if (with_grad) write_gradients(out, objective.gradients, sources);
}

SavedTensor saved_tensor(const std::string& name, const Tensor& tensor, Lengths& lengths) {
  SavedTensor saved{name, {{"", shown_values(tensor, lengths)}}};
  std::vector<Dim> dims = printed_dims(tensor->type.dims, lengths);
  std::vector<std::string> names = shown_names(dims);
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i]->dynamic() && dims[i]->kind != DimKind::batch)
      saved.arrays.emplace_back("/length/" + names[i], shown_lengths(dims[i], dims, lengths).value.to(at::kInt));
  return saved;
}

void save_results(const std::string& path, const std::vector<MarkedTensor>& marks,
                  const std::vector<SavedTensor>& others, Lengths& lengths) {
  NamedArrays arrays;
  std::set<std::string> taken;
  auto add = [&](const SavedTensor& saved) {
    std::string name = saved.name;
    for (int i = 1; !taken.insert(name).second; ++i) name = saved.name + "_" + std::to_string(i);
    for (const auto& [suffix, value] : saved.arrays) arrays.emplace_back(name + suffix, value);
  };
  for (const MarkedTensor& m : marks) add(saved_tensor(m.mark.name, m.tensor, lengths));
  for (const SavedTensor& saved : others) add(saved);
  write_arrays(path, arrays);
}

}  // namespace rcn
