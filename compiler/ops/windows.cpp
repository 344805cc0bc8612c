#include "compiler/ops/windows.h"

#include <algorithm>

#include "compiler/ops/rules.h"

namespace rcn {

namespace {

std::string number(std::int64_t n) { return std::to_string(n); }

// Whether the missing frames in front are as many for sequences of all lengths.
bool fixed_front(const Window& w) { return w.extent() / 2 == std::max<std::int64_t>(w.extent() + 1 - w.stride, 0) / 2; }

// The frames that the windows cover, those outside of a sequence being 0: one zero frame is put behind each, for them
// to be taken from. There are no fewer frames than a window has but one, which TensorFlow wants.
void align_dynamic(Lowering& l, Lowering::Source& source, Dim& axis, const Window& w) {
  std::vector<Dim> over = l.lengths().length_dims(axis);
  std::string covered = "((source(0) - 1) * " + number(w.stride) + " + " + number(w.extent() + 1) + ")";
  LayerRef length = l.length(axis), count = l.length(w.out);
  Dim all = l.dims().declare("windows", axis->kind, std::nullopt),
      behind = l.dims().declare("with_zero", axis->kind, std::nullopt);
  LayerRef frames = l.sequence_dim(all, l.eval({count}, "tf.maximum(" + covered + ", " + number(w.extent()) + ")",
                                               type_of(over, DType::int32), "length"));
  std::string place = "(source(1) - tf.maximum(" + covered + " - source(2), 0) // 2)";
  LayerRef position = l.eval({count, frames, length},
                             "tf.where((" + place + " < 0) | (" + place + " >= source(2)), source(2), " + place + ")",
                             type_of(united(over, {all}), DType::int32), "position", true);
  source.type.dims = with_replaced(source.type.dims, axis, {behind});
  source.layer = l.layer("pad",
                         {{"from", source.layer},
                          {"axes", OptionList{axis}},
                          {"padding", OptionList{OptionTuple{{0, 1}}}},
                          {"out_dims", OptionList{behind}},
                          {"handle_dynamic_dims", true},
                          {"value", 0.0},
                          {"mode", "constant"}},
                         source.type, "with_zero");
  source.type.dims = with_replaced(source.type.dims, behind, {all});
  source.layer =
      l.layer("gather", {{"from", source.layer}, {"position", position}, {"axis", behind}, {"clip_to_valid", false}},
              source.type, "windows");
  axis = all;
}

void align_static(Lowering& l, Lowering::Source& source, Dim& axis, const Window& w) {
  std::int64_t missing = std::max<std::int64_t>((*w.out->size - 1) * w.stride + w.extent() + 1 - *axis->size, 0),
               left = missing / 2;
  if (missing == 0) return;
  Dim padded = l.dims().declare("padded", axis->kind, *axis->size + missing);
  source.type.dims = with_replaced(source.type.dims, axis, {padded});
  source.layer = l.layer("pad",
                         {{"from", source.layer},
                          {"axes", OptionList{axis}},
                          {"padding", OptionList{OptionTuple{{left, missing - left}}}},
                          {"out_dims", OptionList{padded}},
                          {"handle_dynamic_dims", false},
                          {"value", 0.0},
                          {"mode", "constant"}},
                         source.type, "padded");
  axis = padded;
}

}  // namespace

Dim windows_dim(DimTable& dims, Dim in, std::int64_t extent, std::int64_t stride, bool same) {
  if (!same) in = dims.sub(dims.add(dims.constant(-(extent / 2)), in), dims.constant(extent - extent / 2));
  return dims.ceildiv(in, dims.constant(stride));
}

Aligned aligned_windows(Lowering& l, Lowering::Source source, const std::vector<Window>& windows, bool same) {
  Aligned result{std::move(source), {}, same ? "same" : "valid", {}};
  for (const Window& w : windows) result.in.push_back(w.in);
  if (!same) return result;
  bool moves =
      std::any_of(windows.begin(), windows.end(), [](const Window& w) { return w.in->dynamic() && !fixed_front(w); });
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Window& w = windows[i];
    if (w.in->dynamic() && (moves || w.size > 1)) result.zero.push_back(w.in);
    if (moves) {
      (w.in->dynamic() ? align_dynamic : align_static)(l, result.source, result.in[i], w);
    } else if (w.in->dynamic() && w.size > 1) {
      result.source.layer = l.masked(result.source.layer, result.source.type, w.in, 0.0);
    }
  }
  if (moves) result.padding = "valid";
  return result;
}

}  // namespace rcn
