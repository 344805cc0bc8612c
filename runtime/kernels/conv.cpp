// Convolutions: each sequence is convolved as if it were alone.
#include <algorithm>

#include "runtime/kernels/families.h"
#include "runtime/kernels/picked.h"

namespace rcn {

namespace {

using Sizes = std::vector<std::int64_t>;

Sizes ints(const Value& value) {
  Sizes result;
  for (const Value& item : value.list()) result.push_back(item.get<std::int64_t>());
  return result;
}

// With `left` and `right` zero frames on both ends of an axis, cut where negative.
at::Tensor padded(const at::Tensor& x, std::int64_t axis, std::int64_t left, std::int64_t right) {
  if (left == 0 && right == 0) return x;
  if (x.numel() == 0) {  // torch does not fill up nothing
    Sizes shape = x.sizes().vec();
    shape[static_cast<std::size_t>(axis)] += left + right;
    return at::zeros(shape, x.options());
  }
  Sizes widths(2 * static_cast<std::size_t>(x.dim() - axis), 0);
  widths[widths.size() - 2] = left;
  widths[widths.size() - 1] = right;
  return at::constant_pad_nd(x, widths, 0);
}

// The frames that the windows of a sequence cover, for "same" from `missing // 2` before it; zeros are outside of it.
// Where the number of missing frames depends on the length, each sequence is moved.
Named covered(KernelCall& call, Named x, Dim in, Dim out, std::int64_t extent, std::int64_t stride, bool same) {
  std::int64_t size = call.lengths.extent(in), windows = call.lengths.extent(out);
  std::int64_t all = std::max((windows - 1) * stride + extent + 1, extent + 1);
  std::int64_t left = 0;
  if (same && in->dynamic()) {
    Named length = call.lengths.seen_from(x.axes, in);
    at::Tensor count = call.lengths.over(out, length.axes);
    at::Tensor lefts = at::div(((count - 1) * stride + extent + 1 - length.value).clamp_min(0), 2, "floor");
    if (lefts.numel() > 0) left = lefts.max().item<std::int64_t>();
    if (left > 0 && lefts.ne(left).any().item<bool>()) {
      x.value = padded(x.value, x.index(in), left, 0);  // then sequence b begins `left - lefts[b]` too late
      Axes axes = length.axes, order = without(x.axes, {in});
      axes.push_back(in);
      order.push_back(in);
      at::Tensor frames = at::arange(size + left, at::TensorOptions(at::kLong)) + (left - lefts).unsqueeze(-1);
      at::Tensor value = aligned(x, order);
      Sizes shape = value.sizes().vec();
      at::Tensor inside = frames.lt(size + left);
      auto spread = [&](const at::Tensor& t) { return aligned({t, axes}, order).expand(shape); };
      value = value.gather(-1, spread(frames.clamp_max(size + left - 1))).masked_fill(spread(inside.logical_not()), 0);
      x = {value, order};
      return {padded(x.value, x.index(in), 0, all - size - left), x.axes};
    }
  } else if (same) {
    left = std::max<std::int64_t>((windows - 1) * stride + extent + 1 - size, 0) / 2;
  }
  x.value = padded(x.value, x.index(in), left, all - size - left);
  return x;
}

// As torch wants it: [all other dims as one, channels, axes...].
struct Image {
  at::Tensor value;
  Axes others;
};
Image image(KernelCall& call, const Named& x, Dim in, const Axes& axes) {
  Axes others = without(x.axes, axes);
  others = without(others, {in});
  Axes order = others;
  order.push_back(in);
  order.insert(order.end(), axes.begin(), axes.end());
  at::Tensor value = aligned(x, order);
  Sizes shape{1};
  for (std::int64_t size : call.lengths.shape(others)) shape[0] *= size;
  for (std::size_t i = others.size(); i < order.size(); ++i) shape.push_back(value.size(static_cast<std::int64_t>(i)));
  return {value.reshape(shape), others};
}

// What becomes of an image without entries.
at::Tensor nothing(const at::Tensor& x, Dim out) {
  Sizes shape = x.sizes().vec();
  shape[1] = *out->size;
  return at::zeros(shape, x.options());
}

// From [others, out, axes...], each axis cut or filled up to the length of the dim that it becomes.
std::vector<Tensor> finished(KernelCall& call, at::Tensor y, const Axes& others, const Axes& out_axes,
                             const at::Tensor& bias) {
  for (std::size_t i = 0; i < out_axes.size(); ++i) {
    auto axis = static_cast<std::int64_t>(i) + 2;
    y = padded(y, axis, 0, call.lengths.extent(out_axes[i]) - y.size(axis));
  }
  if (bias.defined()) {
    Sizes shape(static_cast<std::size_t>(y.dim()), 1);
    shape[1] = -1;
    y = y + bias.reshape(shape);
  }
  Axes axes = others;
  axes.push_back(call.node.dim("out_dim"));
  axes.insert(axes.end(), out_axes.begin(), out_axes.end());
  y = y.reshape(call.lengths.shape(axes));
  call.gate(y, axes);
  return {call.result({y, axes})};
}

// From [sizes..., a, b] to [b, a, sizes...], as torch wants it.
at::Tensor filter_first(KernelCall& call, std::size_t count) {
  const Named& filter = call.tensor(1);
  Sizes order = AxisTaker(filter.axes).take_all(call.node.dims("filter"));
  Sizes turned{order[count + 1], order[count]};
  turned.insert(turned.end(), order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
  return filter.value.permute(turned);
}

at::Tensor bias_of(KernelCall& call) { return call.node.inputs.size() > 2 ? call.tensor(2).value : at::Tensor(); }

std::vector<Tensor> conv(KernelCall& call) {
  Axes axes = call.node.dims("axes"), out_axes = call.node.dims("out_axes"), filter = call.node.dims("filter");
  Sizes strides = ints(call.node.attr("strides")), dilation = ints(call.node.attr("dilation_rate"));
  std::int64_t groups = call.node.integer("groups");
  Dim in = call.node.dim("in_dim");
  bool same = call.node.str("padding") == "same";
  Named x = call.cleared_for_grad(call.tensor(0));
  if (same) x = call.filled(x, 0, axes);
  for (std::size_t i = 0; i < axes.size(); ++i)
    x = covered(call, x, axes[i], out_axes[i], (*filter[i]->size - 1) * dilation[i], strides[i], same);
  Image source = image(call, x, in, axes);
  std::size_t n = axes.size();
  at::Tensor y;
  if (source.value.numel() == 0) {
    y = nothing(source.value, call.node.dim("out_dim"));
  } else {
    y = at::convolution(source.value, filter_first(call, n), {}, strides, Sizes(n, 0), dilation, false, Sizes(n, 0),
                        groups);
  }
  return finished(call, y, source.others, out_axes, bias_of(call));
}

std::vector<Tensor> transposed_conv(KernelCall& call) {
  Axes axes = call.node.dims("axes"), out_axes = call.node.dims("out_axes");
  Sizes strides = ints(call.node.attr("strides")), removed = ints(call.node.attr("remove_padding")),
        lefts = ints(call.node.attr("lefts"));
  Dim in = call.node.dim("in_dim"), out = call.node.dim("out_dim");
  Image source = image(call, call.filled(call.cleared_for_grad(call.tensor(0)), 0, axes), in, axes);
  std::size_t n = axes.size();
  at::Tensor y;
  if (source.value.numel() == 0) {
    y = nothing(source.value, out);
  } else {
    y = at::convolution(source.value, filter_first(call, n), {}, strides, Sizes(n, 0), Sizes(n, 1), true, Sizes(n, 0),
                        1);
  }
  for (std::size_t i = 0; i < n; ++i)
    y = padded(y, static_cast<std::int64_t>(i) + 2, -(lefts[i] + removed[i]), lefts[i] + removed[i]);
  return finished(call, y, source.others, out_axes, bias_of(call));
}

const KernelEntry kTable[] = {{"conv", conv}, {"transposed_conv", transposed_conv}};

}  // namespace

std::span<const KernelEntry> conv_kernels() { return kTable; }

}  // namespace rcn
