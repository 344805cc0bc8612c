// Operations that pick entries along an axis, for each sequence by its own length: gather, boolean_mask, slice,
// pad, resize, concat.
#include <algorithm>
#include <cstdlib>

#include "runtime/kernels/families.h"
#include "runtime/kernels/picked.h"

namespace rcn {

Named picked(KernelCall& call, const Named& x, Dim axis, const Named& index, const Axes& index_new) {
  Axes shared, rest;
  for (Dim d : without(x.axes, {axis})) (index.has(d) && !contains(index_new, d) ? shared : rest).push_back(d);
  Axes source_axes = shared;
  source_axes.push_back(axis);
  source_axes.insert(source_axes.end(), rest.begin(), rest.end());
  std::int64_t size = call.lengths.extent(axis), outer = 1;
  for (std::int64_t s : call.lengths.shape(shared)) outer *= s;
  std::vector<std::int64_t> rest_shape = call.lengths.shape(rest);
  std::vector<std::int64_t> flat_shape{outer * size};
  flat_shape.insert(flat_shape.end(), rest_shape.begin(), rest_shape.end());
  at::Tensor source = aligned(x, source_axes).reshape(flat_shape);

  Axes index_axes = shared;
  index_axes.insert(index_axes.end(), index_new.begin(), index_new.end());
  std::vector<std::int64_t> index_shape = call.lengths.shape(index_axes);
  at::Tensor where = aligned(index, index_axes).clamp_min(0).clamp_max(std::max<std::int64_t>(size - 1, 0));
  if (!shared.empty()) {
    std::vector<std::int64_t> offset_shape = call.lengths.shape(shared);
    offset_shape.resize(index_axes.size(), 1);
    where = where + (at::arange(outer, at::TensorOptions(at::kLong)) * size).reshape(offset_shape);
  }
  std::vector<std::int64_t> result_shape = index_shape;
  result_shape.insert(result_shape.end(), rest_shape.begin(), rest_shape.end());
  Axes axes = index_axes;
  axes.insert(axes.end(), rest.begin(), rest.end());
  if (source.size(0) == 0) return {at::zeros(result_shape, x.value.options()), axes};  // nothing valid can be asked for
  at::Tensor value = source.index_select(0, where.expand(index_shape).reshape({-1})).reshape(result_shape);
  call.gate(value, axes);
  return {value, axes};
}

namespace {

std::vector<Tensor> gather(KernelCall& call) {
  Dim axis = call.node.dim("axis");
  const Named& x = call.tensor(0);
  bool clip = call.node.boolean("clip_to_valid");
  Named position;
  if (call.is_tensor(1)) {
    position = {call.tensor(1).value.to(at::kLong), call.tensor(1).axes};
  } else {
    position = {at::scalar_tensor(std::get<std::int64_t>(call.node.inputs[1]), at::kLong), {}};
  }
  Axes index_new;
  for (Dim d : position.axes)
    if (d == axis || !x.has(d)) index_new.push_back(d);

  // Valid positions end where each sequence does; so they are looked at with the dims that its length depends on.
  Axes all = position.axes;
  for (Dim d : call.lengths.of(axis).axes)
    if (x.has(d) && !contains(all, d)) all.push_back(d);
  at::Tensor limit = call.lengths.over(axis, all);
  if (clip) {
    position = {aligned(position, all).minimum(limit - 1).clamp_min(0), all};
    index_new = without(all, {});
    std::erase_if(index_new, [&](Dim d) { return d != axis && x.has(d); });
  } else {
    at::Tensor p = aligned(position, all);
    at::Tensor bad = p.lt(0).logical_or(p.ge(limit));
    if (bad.any().item<bool>()) call.fail_where(bad, all, Diag::eager_position_range, {to_string(axis)}, p, limit);
  }
  return {call.result(picked(call, x, axis, position, index_new))};
}

std::vector<Tensor> scatter_nd(KernelCall& call) {
  Dim axis = call.node.dim("axis"), out_dim = call.node.dim("out_dim");
  Named x = call.tensor(0), position{call.tensor(1).value.to(at::kLong), call.tensor(1).axes};
  Axes shared = without(position.axes, {axis}), all = shared, rest = without(x.axes, position.axes);
  all.push_back(axis);
  Axes over = shared;  // valid positions end where each sequence of the new dim does
  at::Tensor limit = call.lengths.over(out_dim, over).unsqueeze(-1);
  at::Tensor where = aligned(position, all), bad = where.lt(0).logical_or(where.ge(limit)), out = bad;
  if (!call.node.boolean("filter_invalid_indices"))
    call.fail_where(bad, all, Diag::eager_position_range, {to_string(out_dim)}, where, limit);
  if (at::Tensor padding = call.lengths.padding(all); padding.defined()) out = out.logical_or(padding);
  Axes source_axes = all;
  source_axes.insert(source_axes.end(), rest.begin(), rest.end());
  std::vector<std::int64_t> shape = call.lengths.shape(all), rest_shape = call.lengths.shape(rest),
                            source_shape = shape;
  source_shape.insert(source_shape.end(), rest_shape.begin(), rest_shape.end());
  at::Tensor left_out = out.expand(shape);
  at::Tensor source = aligned(x, source_axes).expand(source_shape);
  at::Tensor mask = left_out;
  for (std::size_t i = 0; i < rest.size(); ++i) mask = mask.unsqueeze(-1);
  source = source.masked_fill(mask, 0);
  std::int64_t size = call.lengths.extent(out_dim), outer = 1;
  for (std::int64_t s : call.lengths.shape(shared)) outer *= s;
  where = where.expand(shape).masked_fill(left_out, 0).reshape({outer, -1}) +
          at::arange(outer, at::TensorOptions(at::kLong)).unsqueeze(-1) * size;
  std::vector<std::int64_t> flat{-1};
  flat.insert(flat.end(), rest_shape.begin(), rest_shape.end());
  Axes axes = shared;
  axes.push_back(out_dim);
  axes.insert(axes.end(), rest.begin(), rest.end());
  std::vector<std::int64_t> target = flat;
  target[0] = outer * size;
  at::Tensor value = at::zeros(target, source.options());
  if (size > 0 && source.numel() > 0) value = value.index_add(0, where.reshape({-1}), source.reshape(flat));
  value = value.reshape(call.lengths.shape(axes));
  call.gate(value, axes);
  return {call.result({value, axes})};
}

std::vector<Tensor> boolean_mask(KernelCall& call) {
  Dim axis = call.node.dim("axis"), out_dim = call.node.dim("out_dim");
  const Named& x = call.tensor(0);
  Named mask = with_last(call.filled(call.tensor(1), false, {axis}), {axis});
  Axes over(mask.axes.begin(), mask.axes.end() - 1), index_axes = over;
  index_axes.push_back(out_dim);
  call.define_length(out_dim, {mask.value.sum(-1), over});
  at::Tensor first = mask.value.logical_not().to(at::kByte).argsort(/*stable=*/true, -1, /*descending=*/false);
  return {call.result(picked(call, x, axis, {first.narrow(-1, 0, call.lengths.extent(out_dim)), index_axes}, {out_dim}))};
}

// Python's meaning of start, end and step for a sequence of length `n`: first index and number of frames.
struct Range {
  at::Tensor start;
  at::Tensor count;
};
Range python_slice(const at::Tensor& n, const Value& start, const Value& end, std::int64_t step) {
  // Bounds as in PySlice_AdjustIndices.
  at::Tensor low = at::full_like(n, step > 0 ? 0 : -1), high = step > 0 ? n : n - 1;
  auto adjusted = [&](const Value& v, const at::Tensor& absent) {
    if (v.is_none()) return absent;
    std::int64_t i = v.get<std::int64_t>();
    at::Tensor absolute = i < 0 ? n + i : at::full_like(n, i);
    return absolute.maximum(low).minimum(high);
  };
  at::Tensor first = adjusted(start, step > 0 ? low : high), last = adjusted(end, step > 0 ? high : low);
  at::Tensor span = step > 0 ? last - first : first - last;
  std::int64_t stride = std::abs(step);
  return {first, at::div(span + (stride - 1), stride, "floor").clamp_min(0)};
}

std::vector<Tensor> slice(KernelCall& call) {
  Dim axis = call.node.dim("axis"), out_dim = call.node.dim("out_dim");
  const Named& x = call.tensor(0);
  std::int64_t step = call.node.integer("step");
  const Named lengths = call.lengths.seen_from(x.axes, axis);
  Range range = python_slice(lengths.value, call.node.attr("start"), call.node.attr("end"), step);
  for (const NewDim& d : call.node.new_dims)  // in a loop it has the length of the step before
    if (d.dim == out_dim && !d.computed) call.define_length(out_dim, {range.count, lengths.axes});
  Axes index_axes;
  at::Tensor start = range.start;
  if (lengths.axes.empty() && step == 1) {  // a view
    Axes axes = x.axes;
    axes[static_cast<std::size_t>(x.index(axis))] = out_dim;
    return {
        call.result({x.value.narrow(x.index(axis), start.item<std::int64_t>(), call.lengths.extent(out_dim)), axes})};
  }
  for (std::size_t i = lengths.axes.size(); i-- > 0;) {  // lengths differ along a dim that x does not have: the longest
    if (x.has(lengths.axes[i])) {
      index_axes.insert(index_axes.begin(), lengths.axes[i]);
    } else {
      start = start.amax(static_cast<std::int64_t>(i));
    }
  }
  index_axes.push_back(out_dim);
  at::Tensor frames = at::arange(call.lengths.extent(out_dim), at::TensorOptions(at::kLong)) * step;
  return {call.result(picked(call, x, axis, {start.unsqueeze(-1) + frames, index_axes}, {out_dim}))};
}

std::vector<Tensor> pad(KernelCall& call) {
  Dim axis = call.node.dim("axis"), out_dim = call.node.dim("out_dim");
  const Named& x = call.tensor(0);
  std::int64_t index = x.index(axis), left = call.node.integer("left"), right = call.node.integer("right");
  const Value& fill = call.node.attr("value");
  at::Scalar value = fill.is<std::int64_t>() ? at::Scalar(fill.get<std::int64_t>()) : at::Scalar(fill.as_double());
  std::vector<std::int64_t> widths(2 * static_cast<std::size_t>(x.value.dim() - index), 0);
  widths[widths.size() - 2] = left;
  widths[widths.size() - 1] = right;
  // The frames behind each sequence's end hold the value, whatever was in the padding.
  at::Tensor padded = at::constant_pad_nd(call.filled(x, value, {axis}).value, widths, value);
  Axes axes = x.axes;
  axes[static_cast<std::size_t>(index)] = out_dim;
  return {call.result({padded, axes})};
}

at::Tensor cubic_near(const at::Tensor& x) { return (1.25 * x - 2.25) * x * x + 1.0; }
at::Tensor cubic_far(const at::Tensor& x) { return ((-0.75 * x + 3.75) * x - 6.0) * x + 3.0; }

std::vector<Tensor> resize(KernelCall& call) {
  Dim axis = call.node.dim("axis"), out_dim = call.node.dim("out_dim");
  const Named& x = call.tensor(0);
  const std::string& kind = call.node.str("kind");
  Named lengths = call.lengths.seen_from(x.axes, axis);
  at::ScalarType dtype = x.value.scalar_type();
  const auto* whole = std::get_if<std::int64_t>(&call.node.inputs[1]);
  if (!whole && !call.lengths.has(out_dim)) {
    bool ints = call.is_tensor(1) && !at::isFloatingType(call.tensor(1).value.scalar_type());
    at::Tensor factor = call.operand(1, {}, ints ? at::kLong : at::kFloat);
    call.define_length(out_dim,
                       {ints ? lengths.value * factor : (lengths.value.to(at::kFloat) * factor).ceil(), lengths.axes});
  }
  Axes axes = lengths.axes;
  axes.push_back(out_dim);
  at::Tensor frame = at::arange(call.lengths.extent(out_dim), at::TensorOptions(at::kLong)),
             length = lengths.value.unsqueeze(-1);
  at::Tensor place = whole ? frame : frame * length;
  at::Tensor steps = whole ? at::scalar_tensor(*whole, at::kLong)
                           : call.lengths.over(out_dim, lengths.axes).unsqueeze(-1).clamp_min(1);
  at::Tensor before = at::div(place, steps, "floor");
  auto frames = [&](std::int64_t offset) {
    at::Tensor position = (before + offset).minimum(length - 1).clamp_min(0);
    return picked(call, x, axis, {position.expand(call.lengths.shape(axes)), axes}, {out_dim});
  };
  Named y = frames(0);
  if (kind == "nn") return {call.result(y)};
  auto over_frames = [&](const at::Tensor& t) { return aligned({t.expand(call.lengths.shape(axes)), axes}, y.axes); };
  if (kind == "fill") {
    const Value& fill = call.node.attr("fill_value");
    at::Scalar value = fill.is<std::int64_t>() ? at::Scalar(fill.get<std::int64_t>()) : at::Scalar(fill.as_double());
    y.value = y.value.masked_fill(over_frames(frame.remainder(*whole).ne(0)), value);
    return {call.result(y)};
  }
  at::Tensor rest = over_frames((place.remainder(steps).to(dtype) / steps.to(dtype)));
  if (kind == "linear") {
    y.value = y.value + (aligned(frames(1), y.axes) - y.value) * rest;
  } else {
    at::Tensor w = (rest * 1024.0).round() / 1024.0;
    y.value = aligned(frames(-1), y.axes) * cubic_far(1.0 + w) + y.value * cubic_near(w) +
              aligned(frames(1), y.axes) * cubic_near(1.0 - w) + aligned(frames(2), y.axes) * cubic_far(2.0 - w);
  }
  return {call.result(y)};
}

std::vector<Tensor> concat(KernelCall& call) {
  Axes parts = call.node.dims("axes");
  Dim out_dim = call.node.dim("out_dim");
  Axes order = call.tensor(0).axes;
  auto index = call.tensor(0).index(parts[0]);
  std::vector<at::Tensor> values;
  bool gaps = false;  // padding between the parts
  Axes length_dims;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Axes axes = order;
    axes[static_cast<std::size_t>(index)] = parts[i];
    values.push_back(aligned(call.tensor(i), axes));
    if (i + 1 < parts.size() && call.lengths.padding(axes, {parts[i]}).defined()) gaps = true;
    for (Dim d : call.lengths.of(parts[i]).axes)
      if (contains(axes, d) && !contains(length_dims, d)) length_dims.push_back(d);
  }
  at::Tensor joined = at::cat(values, index);
  Axes axes = order;
  axes[static_cast<std::size_t>(index)] = out_dim;
  if (!gaps) {
    joined = joined.narrow(index, 0, std::min(joined.size(index), call.lengths.extent(out_dim)));
    return {call.result({joined, axes})};
  }

  // Frame t of a sequence is in the part after whose predecessors' lengths it comes; those start in `joined` where
  // their padded sizes say.
  Axes index_axes = length_dims;
  index_axes.push_back(out_dim);
  at::Tensor frame = at::arange(call.lengths.extent(out_dim), at::TensorOptions(at::kLong));
  at::Tensor where = frame, before = at::zeros({}, at::TensorOptions(at::kLong));
  std::int64_t begin = 0;
  for (Dim part : parts) {
    at::Tensor length = call.lengths.over(part, length_dims).unsqueeze(-1);
    where = at::where(frame.ge(before), frame - before + begin, where);
    before = before + length;
    begin += call.lengths.extent(part);
  }
  std::vector<std::int64_t> shape = joined.sizes().vec();
  shape[static_cast<std::size_t>(index)] = call.lengths.extent(out_dim);
  at::Tensor at = aligned({where.expand(call.lengths.shape(index_axes)), index_axes}, axes)
                      .clamp_max(std::max<std::int64_t>(begin - 1, 0));
  at::Tensor value = joined.gather(index, at.expand(shape));
  call.gate(value, axes);
  return {call.result({value, axes})};
}

const KernelEntry kTable[] = {
    {"gather", gather}, {"scatter_nd", scatter_nd}, {"boolean_mask", boolean_mask}, {"slice", slice}, {"pad", pad},
    {"resize", resize}, {"concat", concat}};

}  // namespace

std::span<const KernelEntry> index_kernels() { return kTable; }

}  // namespace rcn
