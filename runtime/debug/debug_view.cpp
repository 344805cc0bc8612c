#include "runtime/debug/debug_view.h"

#include <array>
#include <charconv>
#include <ostream>

#include "compiler/eval/leaves.h"
#include "runtime/beam.h"
#include "runtime/show/view.h"

namespace rcn {

namespace {

constexpr std::size_t kLineLength = 100;

bool has_values(const Tensor& t) { return dynamic_cast<const EagerTensor*>(t.get()) != nullptr && !t->type.history; }

// While one lives, lengths and masks are as they were where the tensor was made, if that is outside of all masks.
class WhereMade {
 public:
  WhereMade(const Tensor& t, Lengths& lengths) : inside_(lengths) {
    if (eager(t).region == 0 && lengths.region() != 0) inside_.leave_all();
  }

 private:
  Lengths::Inside inside_;
};

std::string stats_words(const Stats& s) {
  if (s.count == 0) return ", no valid entry";
  if (s.count == 1 && s.nans == 0) return ", " + short_number(s.max);
  std::string text;
  if (s.count > s.nans)
    text = ", min " + short_number(s.min) + ", mean " + short_number(s.mean) + ", max " + short_number(s.max);
  if (s.nans > 0) text += ", " + std::to_string(s.nans) + " nan" + (s.nans == s.count ? " (all)" : "");
  return text;
}

std::string static_text(const Value& value) { return value.is_str() ? "\"" + value.str() + "\"" : to_text(value); }

std::string type_of(const Tensor& t, Lengths& lengths) {
  TensorType type = t->type;
  type.dims = printed_dims(type.dims, lengths);
  return sized_type(type, lengths, true);
}

at::Tensor valid_entries(const Tensor& t, Lengths& lengths) {
  Tensor x = shown(t);
  const EagerTensor& e = eager(x);
  at::Tensor values = e.value.detach().cpu();
  at::Tensor padding = lengths.padding(e.axes);
  return padding.defined() ? values.masked_select(padding.logical_not().expand(values.sizes())) : values.reshape({-1});
}

// The shortest number that reads back as the same of the tensor's own type.
double as_written(double value, at::ScalarType type) {
  if (type == at::kDouble) return value;
  std::array<char, 32> text;
  auto end = std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(value)).ptr;
  double result = value;
  std::from_chars(text.data(), end, result);
  return result;
}

std::string lengths_words(Dim d, const std::vector<Dim>& dims, Lengths& lengths) {
  if (!d->dynamic() || d->kind == DimKind::batch) return "";
  Named all = shown_lengths(d, dims, lengths);
  std::string text = ", lengths";
  at::Tensor flat = all.value.reshape({-1});
  for (std::int64_t k = 0; k < flat.numel(); ++k)
    text += (k ? ", " : " ") + std::to_string(flat[k].item<std::int64_t>());
  std::string over;
  for (Dim l : all.axes) over += (over.empty() ? "" : ", ") + to_string(l);
  return text + (over.empty() ? "" : " along " + over);
}

}  // namespace

std::string described(const Tensor& t, Lengths& lengths) {
  if (!has_values(t)) return to_string(t->type);
  WhereMade where(t, lengths);
  Tensor x = shown(t);
  return type_of(x, lengths) + stats_words(statistics(eager(x), lengths));
}

std::string described(const Value& value, Lengths& lengths) {
  if (value.is_poison()) return "no value: its statement failed";
  if (value.is_tensor()) return described(value.tensor(), lengths);
  std::string text;
  if (value.is_record() || value.is_list() || value.is_tuple()) {
    bool tensors = false;
    for_each_leaf(value, "", [&](const std::string& path, const Value& leaf) {
      tensors = tensors || leaf.is_tensor();
      if (!text.empty()) text += "; ";
      text += path + " ";
      text += leaf.is_tensor() ? to_string(leaf.tensor()->type) : static_text(leaf);
    });
    if (!tensors) text = to_text(value);
  } else {
    text = static_text(value);
  }
  if (text.size() > kLineLength) text.replace(kLineLength - 3, std::string::npos, "...");
  return text;
}

void show_value(std::ostream& out, const std::string& name, const Value& value, Lengths& lengths) {
  bool tree = value.is_record() || value.is_list() || value.is_tuple(), tensors = false;
  if (tree)
    for_each_leaf(value, name, [&](const std::string&, const Value& leaf) { tensors = tensors || leaf.is_tensor(); });
  if (tree && tensors) {
    for_each_leaf(value, name,
                  [&](const std::string& path, const Value& leaf) { show_value(out, path, leaf, lengths); });
    return;
  }
  if (!value.is_tensor()) {
    out << name << " = " << (value.is_poison() ? "no value: its statement failed" : static_text(value)) << '\n';
    return;
  }
  const Tensor& t = value.tensor();
  out << name << "  " << described(t, lengths) << '\n';
  if (!has_values(t)) {
    out << (t->type.history ? "a history: frames so far\n" : "its type alone: no step has run yet\n");
    return;
  }
  WhereMade where(t, lengths);
  Tensor x = shown(t);
  if (at::Tensor out_of_it = lengths.masked_out(eager(x).axes); out_of_it.defined())
    out << "(- where a sequence takes no part here)\n";
  bool many = lengths.count_valid(eager(x).axes) > kLarge;
  write_values(out, x, lengths, ListStyle::text, false, many ? kEdge : 0);
  out << '\n';
}

void show_dims(std::ostream& out, const Value& value, Lengths& lengths) {
  std::vector<Dim> dims;
  if (value.is_dim()) dims = {value.dim()};
  if (value.is_tensor()) dims = value.tensor()->type.dims;
  if (value.is_tensor() && dims.empty()) out << "a scalar\n";
  std::vector<std::string> names = shown_names(dims);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    Dim d = dims[i];
    out << names[i] << "  " << to_string(d->kind);
    if (d->size) {
      out << ", size " << *d->size;
    } else if (!lengths.has(d)) {
      out << ", no length yet";
    } else {
      out << ", size " << lengths.extent(d);
      out << (value.is_dim() ? lengths_words(d, lengths.of(d).axes, lengths) : lengths_words(d, dims, lengths));
    }
    out << '\n';
  }
  if (value.is_tensor() && value.tensor()->type.sparse_dim)
    out << "indices below " << to_string(value.tensor()->type.sparse_dim) << '\n';
}

std::optional<Value> reduced(std::string_view name, const Tensor& t, Lengths& lengths) {
  if (!has_values(t)) return std::nullopt;
  at::NoGradGuard no_grad;
  WhereMade where(t, lengths);
  at::Tensor x = valid_entries(t, lengths);
  at::ScalarType type = x.scalar_type();
  bool floats = at::isFloatingType(type), bools = type == at::kBool;
  if (name == "any" || name == "all") {
    if (!bools) return std::nullopt;
    return Value((name == "any" ? x.any() : x.all()).item<bool>());
  }
  if (bools) return std::nullopt;
  x = x.to(floats ? at::kDouble : at::kLong);
  if (name == "sum")
    return floats ? Value(as_written(x.sum().item<double>(), type)) : Value(x.sum().item<std::int64_t>());
  if (x.numel() == 0) return std::nullopt;
  if (name == "mean") return Value(as_written(x.to(at::kDouble).mean().item<double>(), floats ? type : at::kDouble));
  at::Tensor best = name == "max" ? x.max() : x.min();
  return floats ? Value(as_written(best.item<double>(), type)) : Value(best.item<std::int64_t>());
}

bool all_finite(const Tensor& t, Lengths& lengths) {
  return !has_values(t) || at::isfinite(valid_entries(t, lengths)).all().item<bool>();
}

bool has_nan(const Tensor& t, Lengths& lengths) {
  return has_values(t) && at::isnan(valid_entries(t, lengths)).any().item<bool>();
}

}  // namespace rcn
