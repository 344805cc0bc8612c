#include "runtime/show/page.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "runtime/data/array_file.h"
#include "runtime/show/html/embedded.h"
#include "runtime/show/trace.h"
#include "runtime/show/view.h"

namespace rcn {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t kMostOfTensor = 1 << 18;  // entries of a tensor in the page
constexpr std::int64_t kMostOfPage = 1 << 23;    // of all
constexpr std::size_t kLastMade = 8;             // among which a variable's tensor is looked for

// Values are 16-bit numbers from `low` to `high`; the page's script knows these as well.
constexpr double kLargest = 65000;
enum Code : std::int32_t { kMinusInf = 65532, kInf = 65533, kNan = 65534, kPadding = 65535 };

std::string base64(const std::string& bytes) {
  static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(bytes.size() * 4 / 3 + 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= have ? kLetters[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

Json number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string escaped(const std::string& text) {
  return replaced(replaced(replaced(text, "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
}

}  // namespace

struct Page::State {
  std::vector<FileId> files;
  std::vector<Json> tensors;
  std::vector<at::Tensor> last;  // of the last tensors, in their order
  std::int64_t entries = 0;
};

Page::Page(const SourceMap& sources) : sources_(sources), state_(std::make_unique<State>()) {}
Page::~Page() = default;

Json Page::place(Span span) {
  if (!span.valid() || sources_.name(span.file).starts_with("stdlib/")) return nullptr;
  std::vector<FileId>& files = state_->files;
  auto it = std::find(files.begin(), files.end(), span.file);
  if (it == files.end()) it = files.insert(files.end(), span.file);
  LineColumn at = sources_.locate(span.file, span.begin);
  return Json::array({it - files.begin(), at.line, at.column});
}

// In the order in which people are shown it, cut along the first axes where there is no room for all.
Json Page::values(const Tensor& tensor, Lengths& lengths) {
  at::NoGradGuard no_grad;
  Axes axes = printed_dims(tensor->type.dims, lengths);
  at::Tensor value = aligned(eager(tensor), axes).detach().cpu().to(at::kDouble);
  at::Tensor padding = lengths.padding(axes);
  padding = padding.defined() ? padding.expand(value.sizes()) : at::zeros(value.sizes(), at::TensorOptions(at::kBool));
  bool cut = false;
  for (std::int64_t axis = 0; axis < value.dim() && value.numel() > kMostOfTensor; ++axis) {
    std::int64_t size = value.size(axis), kept = std::max<std::int64_t>(1, kMostOfTensor / (value.numel() / size));
    value = value.narrow(axis, 0, kept);
    padding = padding.narrow(axis, 0, kept);
    cut = true;
  }
  if (state_->entries + value.numel() > kMostOfPage) return nullptr;
  state_->entries += value.numel();

  at::Tensor seen = value.masked_select(value.isfinite().logical_and(padding.logical_not()));
  double low = seen.numel() > 0 ? seen.min().item<double>() : 0,
         high = seen.numel() > 0 ? seen.max().item<double>() : 0;
  at::Tensor code = high > low ? ((value - low) / (high - low) * kLargest).round() : at::zeros_like(value);
  code = code.masked_fill(value.isnan(), kNan)
             .masked_fill(value.eq(INFINITY), kInf)
             .masked_fill(value.eq(-INFINITY), kMinusInf)
             .masked_fill(padding, kPadding)
             .to(at::kInt)
             .contiguous();
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(code.numel()) * 2);
  for (std::int64_t i = 0; i < code.numel(); ++i) {
    std::int32_t c = code.data_ptr<std::int32_t>()[i];
    bytes += static_cast<char>(c & 255);
    bytes += static_cast<char>(c >> 8);
  }
  return {{"shape", value.sizes().vec()}, {"cut", cut}, {"low", low}, {"high", high}, {"data", base64(bytes)}};
}

void Page::add(const Produced& made, Lengths& lengths) {
  const TensorType& type = made.tensor->type;
  Json calls = Json::array(), dims = Json::array();
  for (Span call : made.calls)
    if (Json at = place(call); !at.is_null()) calls.push_back(std::move(at));
  std::vector<Dim> order = printed_dims(type.dims, lengths);
  for (const std::string& name : shown_names(order)) dims.push_back({{"name", name}});
  Stats s = statistics(eager(made.tensor), lengths);
  auto seen = [&](double value) { return s.count > s.nans ? number(value) : Json(nullptr); };
  TensorType shown_type = type;
  shown_type.dims = order;
  Json tensor{{"id", state_->tensors.size()},
              {"name", made.name},
              {"variables", Json::array()},
              {"operation", made.node ? std::string(made.node->op->name) : std::string(to_string(made.by))},
              {"place", place(made.span)},
              {"calls", std::move(calls)},
              {"type", sized_type(shown_type, lengths, true)},
              {"dims", std::move(dims)},
              {"stats",
               {{"count", s.count},
                {"min", seen(s.min)},
                {"mean", seen(s.mean)},
                {"max", seen(s.max)},
                {"nans", s.nans},
                {"infs", s.infs}}},
              {"time", nullptr},
              {"first", made.result == 0},
              {"values", values(made.tensor, lengths)}};
  if (made.node) tensor["time"] = made.seconds;
  state_->tensors.push_back(std::move(tensor));
  state_->last.push_back(eager(made.source).value);
  if (state_->last.size() > kLastMade) state_->last.erase(state_->last.begin());
}

void Page::name(const Bound& bound) {
  const std::vector<at::Tensor>& last = state_->last;
  for (std::size_t i = last.size(); i-- > 0;) {
    if (!last[i].is_same(eager(bound.source).value)) continue;
    Json& tensor = state_->tensors[state_->tensors.size() - last.size() + i];
    Json& variables = tensor["variables"];
    if (!ends_with_name(tensor["name"].get<std::string>(), bound.variable) &&
        std::find(variables.begin(), variables.end(), bound.variable) == variables.end())
      variables.push_back(bound.variable);
    return;
  }
}

void Page::write(const std::string& path, const std::string& errors) const {
  Json files = Json::array();
  for (FileId file : state_->files) {
    Json lines = Json::array();
    std::string_view text = sources_.text(file);
    for (std::size_t begin = 0; begin < text.size();) {
      std::size_t end = std::min(text.find('\n', begin), text.size());
      lines.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    files.push_back({{"name", sources_.name(file)}, {"lines", std::move(lines)}});
  }
  std::string title = state_->files.empty() ? "rcnc" : sources_.name(state_->files.front());
  Json data{{"files", std::move(files)}, {"tensors", state_->tensors}, {"errors", errors}};
  // In a script element only `<` could end or change what is read.
  std::string json = replaced(data.dump(-1, ' ', false, Json::error_handler_t::replace), "<", "\\u003c");
  std::string page(kPageHtml);
  page = replaced(page, "@STYLE@", std::string(kPageCss));
  page = replaced(page, "@SCRIPT@", std::string(kPageJs));
  page = replaced(page, "@TITLE@", escaped(title));
  std::size_t at = page.find("@DATA@");
  page.replace(at, 6, json);
  write_whole(path, page);
}

}  // namespace rcn
