// Operations that only arrange axes: no entry is computed, and padding stays padding.
#include "runtime/kernels/families.h"

namespace rcn {

namespace {

std::vector<Tensor> split(KernelCall& call) {
  Named x = call.tensor(0);
  std::int64_t index = x.index(call.node.dim("axis")), begin = 0;
  std::vector<Tensor> results;
  Axes parts = call.node.dims("out_dims");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Axes axes = x.axes;
    axes[static_cast<std::size_t>(index)] = parts[i];
    std::int64_t size = call.lengths.extent(parts[i]);
    results.push_back(call.result({x.value.narrow(index, begin, size), axes}, i));
    begin += size;
  }
  return results;
}

std::vector<Tensor> stack(KernelCall& call) {
  const Axes& axes = call.tensor(0).axes;
  std::vector<at::Tensor> parts;
  for (std::size_t i = 0; i < call.node.inputs.size(); ++i) parts.push_back(aligned(call.tensor(i), axes));
  Axes result = axes;
  result.insert(result.begin(), call.node.dim("out_dim"));
  return {call.result({at::stack(parts, 0), result})};
}

std::vector<Tensor> merge_dims(KernelCall& call) {
  Axes merged = call.node.dims("axes");
  Dim out_dim = call.node.dim("out_dim");
  Named x = with_last(call.tensor(0), merged);
  // Lengths multiply, and the valid entries must be the first of each sequence: the padding of all axes but the first
  // may only be of size 1 dims before it, which the type rule checks.
  Axes axes = without(x.axes, merged);
  axes.push_back(out_dim);
  return {call.result({x.value.reshape(call.lengths.shape(axes)), axes})};
}

std::vector<Tensor> split_dims(KernelCall& call) {
  Dim axis = call.node.dim("axis");
  Axes parts = call.node.dims("dims");
  Named x = call.tensor(0);
  std::int64_t rest = 1;
  for (std::size_t i = axis->dynamic() ? 1 : 0; i < parts.size(); ++i) rest *= call.lengths.extent(parts[i]);
  if (axis->dynamic()) {
    bool pads = call.node.boolean("pad_to_multiples");
    if (!pads && rest > 0) {
      Named lengths = call.lengths.seen_from(x.axes, axis);
      call.fail_where(lengths.value.remainder(rest).ne(0), lengths.axes, Diag::eager_split_rest,
                      {to_string(axis), std::to_string(rest)}, lengths.value);
    }
    if (pads) {
      // The last part of a short sequence must not show its padding.
      const Value& fill = call.node.attr("pad_value");
      at::Scalar value = fill.is<std::int64_t>() ? at::Scalar(fill.get<std::int64_t>()) : at::Scalar(fill.as_double());
      x = call.filled(x, value, {axis});
      std::int64_t missing = call.lengths.extent(parts[0]) * rest - call.lengths.extent(axis);
      if (missing > 0) {
        std::int64_t index = x.index(axis);
        std::vector<std::int64_t> shape = x.value.sizes().vec();
        shape[static_cast<std::size_t>(index)] = missing;
        x.value = at::cat({x.value, at::full(shape, value, x.value.options())}, index);
      }
    }
  }
  Axes axes;
  for (Dim d : x.axes) {
    if (d == axis) {
      axes.insert(axes.end(), parts.begin(), parts.end());
    } else {
      axes.push_back(d);
    }
  }
  return {call.result({x.value.reshape(call.lengths.shape(axes)), axes})};
}

std::vector<Tensor> expand_dims(KernelCall& call) {
  Axes axes = call.output_axes();
  at::Tensor value = call.operand(0, axes, call.dtype());
  return {call.result({value.expand(call.lengths.shape(axes)), axes})};
}

std::vector<Tensor> squeeze(KernelCall& call) {
  Named x = call.tensor(0);
  for (Dim d : call.node.dims("axes")) {
    x.value = x.value.squeeze(x.index(d));
    x.axes = without(x.axes, {d});
  }
  return {call.result(x)};
}

// Two dims declared equal: checked where both have lengths.
std::vector<Tensor> replace_dim(KernelCall& call) {
  Dim in_dim = call.node.dim("in_dim"), out_dim = call.node.dim("out_dim");
  Named x = call.tensor(0);
  if (x.has(in_dim)) x.axes[static_cast<std::size_t>(x.index(in_dim))] = out_dim;
  Named from = call.lengths.seen_from(x.axes, in_dim), to = call.lengths.seen_from(x.axes, out_dim);
  Axes axes = united(from.axes, to.axes);
  at::Tensor a = aligned(from, axes), b = aligned(to, axes);
  at::Tensor differ = a.ne(b), out = call.lengths.masked_out(axes);
  if (out.defined()) differ = differ.logical_and(out.logical_not());
  if (differ.any().item<bool>()) {
    std::vector<std::int64_t> index;
    std::vector<std::int64_t> shape = call.lengths.shape(axes);
    std::string where = first_index(differ.expand(shape), axes, &index);
    auto at = [&](at::Tensor t) {
      t = t.expand(shape);
      for (std::int64_t i : index) t = t[i];
      return std::to_string(t.item<std::int64_t>());
    };
    call.fail(Diag::eager_lengths_differ,
              {to_string(in_dim), to_string(out_dim), axes.empty() ? "" : " at " + where, at(a), at(b)});
  }
  return {call.result(x)};
}

const KernelEntry kTable[] = {
    {"split", split},
    {"stack", stack},
    {"merge_dims", merge_dims},
    {"split_dims", split_dims},
    {"expand_dims", expand_dims},
    {"squeeze", squeeze},
    {"replace_dim", replace_dim},
};

}  // namespace

std::span<const KernelEntry> shape_kernels() { return kTable; }

}  // namespace rcn
