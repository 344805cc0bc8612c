#include "runtime/show/view.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ostream>
#include <unordered_map>

#include "runtime/show/columns.h"

namespace rcn {

Stats statistics(const Named& x, Lengths& lengths) {
  at::NoGradGuard no_grad;
  at::Tensor values = x.value.detach().cpu().to(at::kDouble);
  at::Tensor padding = lengths.padding(x.axes);
  if (padding.defined()) values = values.masked_select(padding.logical_not().expand(values.sizes()));
  Stats stats;
  stats.count = values.numel();
  at::Tensor nan = values.isnan();
  stats.nans = nan.sum().item<std::int64_t>();
  if (stats.nans > 0) values = values.masked_select(nan.logical_not());
  stats.infs = values.isinf().sum().item<std::int64_t>();
  if (values.numel() == 0) return stats;
  stats.min = values.min().item<double>();
  stats.mean = values.mean().item<double>();
  stats.max = values.max().item<double>();
  return stats;
}

std::string stats_text(const Stats& s) {
  if (s.count == 0) return "no valid entry";
  std::string text = columns(
      {{"min " + short_number(s.min), 16}, {"mean " + short_number(s.mean), 17}, {"max " + short_number(s.max), 16}});
  if (s.count == s.nans) text = "";
  if (s.nans > 0)
    text += (text.empty() ? "" : "  ") + std::to_string(s.nans) + (s.nans == s.count ? " nan (all)" : " nan");
  if (s.infs > 0) text += "  " + std::to_string(s.infs) + " infinite";
  return text;
}

std::vector<Dim> printed_dims(const std::vector<Dim>& dims, Lengths& lengths) {
  std::vector<Dim> result, left = dims;
  while (!left.empty()) {
    std::size_t next = 0;
    for (; next + 1 < left.size(); ++next) {
      bool ready = true;
      if (left[next]->dynamic())
        for (Dim l : lengths.of(left[next]).axes) ready = ready && !contains(left, l);
      if (ready) break;
    }
    // The last one is taken in any case: lengths never depend on each other in a circle.
    result.push_back(left[next]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return result;
}

std::vector<std::string> shown_names(const std::vector<Dim>& dims) {
  std::vector<std::string> names;
  std::unordered_map<std::string, std::vector<Dim>> seen;
  for (Dim d : dims) {
    std::string name = to_string(d);
    std::vector<Dim>& same = seen[name];
    auto it = std::find(same.begin(), same.end(), d);
    std::size_t number = static_cast<std::size_t>(it - same.begin()) + 1;
    if (it == same.end()) same.push_back(d);
    names.push_back(number == 1 ? name : name + "#" + std::to_string(number));
  }
  return names;
}

Named shown_lengths(Dim dim, const std::vector<Dim>& dims, Lengths& lengths) {
  Axes over;
  for (Dim l : lengths.of(dim).axes)
    if (contains(dims, l)) over.push_back(l);
  return {lengths.over(dim, over), over};
}

std::string sized_type(const TensorType& type, Lengths& lengths, bool with_lengths) {
  std::string text = type.sparse_dim ? "index(" + to_string(type.sparse_dim) + ")" : std::string(to_string(type.dtype));
  text += "[";
  std::vector<std::string> names = shown_names(type.dims);
  std::vector<std::int64_t> sizes = lengths.shape(type.dims);
  for (std::size_t i = 0; i < type.dims.size(); ++i) {
    Dim d = type.dims[i];
    text += (i ? ", " : "") + names[i] + "=" + std::to_string(sizes[i]);
    if (!with_lengths || !d->dynamic() || d->kind == DimKind::batch || !lengths.padding(type.dims, {d}).defined()) continue;
    at::Tensor flat = shown_lengths(d, type.dims, lengths).value.reshape({-1});
    text += " (";
    for (std::int64_t k = 0; k < std::min<std::int64_t>(flat.numel(), 12); ++k)
      text += (k ? ", " : "") + std::to_string(flat[k].item<std::int64_t>());
    text += flat.numel() > 12 ? ", ...)" : ")";
  }
  return text + "]";
}

at::Tensor shown_values(const Tensor& tensor, Lengths& lengths) {
  at::NoGradGuard no_grad;
  const Named& x = eager(tensor);
  Axes order = printed_dims(tensor->type.dims, lengths);
  at::Tensor value = aligned(x, order).detach().cpu();
  at::Tensor padding = lengths.padding(order);
  if (padding.defined()) value = value.masked_fill(padding, 0);
  return value.contiguous();
}

std::string short_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer;
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, 6).ptr;
  return {buffer.data(), end};
}

namespace {

// Numbers as few digits as read back as the same value of their own type.
template <class T>
void write_float(std::ostream& out, T value, ListStyle style) {
  if (std::isnan(value)) {
    out << (style == ListStyle::json ? "null" : "nan");
    return;
  }
  if (std::isinf(value)) {
    const char* text = value < 0 ? "-inf" : "inf";
    style == ListStyle::json ? out << '"' << text << '"' : out << text;
    return;
  }
  std::array<char, 64> buffer;
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out.write(buffer.data(), end - buffer.data());
}

struct Level {
  std::int64_t size;
  at::Tensor lengths;  // valid entries for each combination of the dims before, or undefined: all
};

template <class T>
struct Writer {
  std::ostream& out;
  const T* data;
  std::vector<Level> levels;
  ListStyle style;
  std::int64_t edge;  // 0: all items
  bool boolean;
  const bool* absent;  // entries of sequences that take no part here; null: none are

  void write(std::size_t level, std::int64_t prefix) {
    if (level == levels.size()) {
      if (absent && absent[prefix]) {
        out << (style == ListStyle::json ? "null" : "-");
      } else if (boolean) {
        out << (data[prefix] != 0 ? "true" : "false");
      } else if constexpr (std::is_floating_point_v<T>) {
        write_float(out, data[prefix], style);
      } else {
        out << static_cast<std::int64_t>(data[prefix]);
      }
      return;
    }
    const Level& l = levels[level];
    std::int64_t count = l.lengths.defined() ? l.lengths.data_ptr<std::int64_t>()[prefix] : l.size;
    out << '[';
    for (std::int64_t i = 0; i < count; ++i) {
      bool left_out = edge > 0 && count > 2 * edge && i == edge;
      if (left_out) i = count - edge;
      if (left_out) out << (level + 1 == levels.size() ? ", ..." : ",\n" + std::string(level + 1, ' ') + "...");
      if (i > 0) out << ',';
      if (i > 0 && level + 1 == levels.size()) out << ' ';
      if (i > 0 && level + 1 < levels.size()) {
        if (style == ListStyle::text) {
          out << '\n' << std::string(level + 1, ' ');
        } else {
          out << ' ';
        }
      }
      write(level + 1, prefix * l.size + i);
    }
    out << ']';
  }
};

void write_levels(std::ostream& out, const at::Tensor& value, std::vector<Level> levels, ListStyle style,
                  std::int64_t edge = 0, const bool* absent = nullptr) {
  switch (value.scalar_type()) {
    case at::kFloat:
      return Writer<float>{out, value.data_ptr<float>(), std::move(levels), style, edge, false, absent}.write(0, 0);
    case at::kDouble:
      return Writer<double>{out, value.data_ptr<double>(), std::move(levels), style, edge, false, absent}.write(0, 0);
    case at::kHalf: return write_levels(out, value.to(at::kFloat), std::move(levels), style, edge, absent);
    default: {
      at::Tensor wide = value.to(at::kLong);
      return Writer<std::int64_t>{out,  wide.data_ptr<std::int64_t>(),   std::move(levels), style,
                                  edge, value.scalar_type() == at::kBool, absent}
          .write(0, 0);
    }
  }
}

}  // namespace

void write_values(std::ostream& out, const Tensor& tensor, Lengths& lengths, ListStyle style, bool padding,
                  std::int64_t edge) {
  Axes order = printed_dims(tensor->type.dims, lengths);
  at::Tensor value =
      padding ? aligned(eager(tensor), order).detach().cpu().contiguous() : shown_values(tensor, lengths);
  std::vector<Level> levels;
  std::vector<std::int64_t> sizes = lengths.shape(order);
  for (std::size_t i = 0; i < order.size(); ++i) {
    Level level{sizes[i], {}};
    Axes before(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i));
    if (!padding && order[i]->dynamic())
      level.lengths = lengths.over(order[i], before).expand(lengths.shape(before)).contiguous();
    levels.push_back(std::move(level));
  }
  at::Tensor absent = padding ? at::Tensor() : lengths.masked_out(order);
  if (absent.defined()) absent = absent.expand(value.sizes()).contiguous();
  write_levels(out, value, std::move(levels), style, edge, absent.defined() ? absent.data_ptr<bool>() : nullptr);
}

void write_array(std::ostream& out, const at::Tensor& value, ListStyle style) {
  std::vector<Level> levels;
  for (std::int64_t size : value.sizes()) levels.push_back({size, {}});
  write_levels(out, value.detach().cpu().contiguous(), std::move(levels), style);
}

void write_number(std::ostream& out, double value, ListStyle style) { write_float(out, value, style); }

}  // namespace rcn
