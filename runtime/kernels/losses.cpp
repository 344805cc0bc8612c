// Losses that are one operation in RETURNN.
#include <algorithm>
#include <limits>

#include "runtime/kernels/ctc.h"
#include "runtime/kernels/families.h"

namespace rcn {

namespace {

std::vector<Tensor> sparse_softmax_cross_entropy(KernelCall& call) {
  Dim axis = call.node.dim("axis");
  const Named& targets = call.tensor(1);
  Named logits = with_last(call.tensor(0), {axis});
  Axes axes = without(logits.axes, {axis});
  logits = call.filled(logits, -std::numeric_limits<double>::infinity(), {axis});
  std::int64_t size = call.lengths.extent(axis);
  at::Tensor index = aligned(targets, axes);
  at::Tensor bad = index.lt(0).logical_or(index.ge(size));
  if (bad.any().item<bool>()) {
    call.fail_where(bad, axes, Diag::eager_index_range, {to_string(axis), std::to_string(size)}, index);
    index = index.masked_fill(bad, 0);  // in the padding
  }
  index = index.to(at::kLong).expand(call.lengths.shape(axes)).unsqueeze(-1);
  at::Tensor value = logits.value.log_softmax(-1).gather(-1, index).squeeze(-1).neg();
  return {call.result({value, axes})};
}

// What alignments are made of: scores [N, T, C], labels [N, S], lengths [N].
struct Alignable {
  Axes axes;  // those of N
  std::vector<std::int64_t> shape;
  at::Tensor scores, targets, input_lengths, target_lengths;
};

Alignable alignable(KernelCall& call, const Named& scores) {
  Dim axis = call.node.dim("axis"), in_spatial = call.node.dim("in_spatial_dim"),
      target_spatial = call.node.dim("targets_spatial_dim");
  Named logits = with_last(scores, {in_spatial, axis});
  Axes axes = without(logits.axes, {in_spatial, axis});
  std::int64_t classes = call.lengths.extent(axis);

  std::vector<std::int64_t> shape = call.lengths.shape(axes);
  auto per_sequence = [&](Dim dim) { return call.lengths.over(dim, axes).expand(shape).reshape({-1}).contiguous(); };
  Axes target_axes = axes;
  target_axes.push_back(target_spatial);
  std::vector<std::int64_t> target_shape = call.lengths.shape(target_axes);
  at::Tensor targets = aligned(call.tensor(1), target_axes).to(at::kLong);
  at::Tensor bad = targets.lt(0).logical_or(targets.ge(classes));
  if (bad.any().item<bool>()) {
    call.fail_where(bad, target_axes, Diag::eager_index_range, {to_string(axis), std::to_string(classes)}, targets);
    targets = targets.masked_fill(bad, 0);
  }
  std::int64_t n = 1;  // -1 is not known of targets without any label
  for (std::int64_t size : shape) n *= size;
  targets = targets.expand(target_shape).reshape({n, call.lengths.extent(target_spatial)}).contiguous();
  at::Tensor flat = logits.value.reshape({n, call.lengths.extent(in_spatial), classes});
  return {axes, shape, flat, targets, per_sequence(in_spatial), per_sequence(target_spatial)};
}

std::vector<Tensor> ctc_loss_op(KernelCall& call) {
  Alignable a = alignable(call, call.cleared_for_grad(call.tensor(0)));
  at::Tensor loss = ctc_loss(a.scores, a.targets, a.input_lengths, a.target_lengths, call.node.integer("blank_index"),
                             call.node.boolean("max_approx"));
  at::Tensor value = loss.reshape(a.shape);
  call.gate(value, a.axes);
  return {call.result({value, a.axes})};
}

std::vector<Tensor> forced_alignment(KernelCall& call) {
  Alignable a = alignable(call, call.tensor(0));
  auto [labels, scores] = best_alignment(a.scores, a.targets, a.input_lengths, a.target_lengths, call.node.integer("blank_idx"),
                                         call.node.str("topology") == "ctc");
  Axes frames = a.axes;
  frames.push_back(call.node.dim("in_spatial_dim"));
  return {call.result({labels.reshape(call.lengths.shape(frames)), frames}), call.result({scores.reshape(a.shape), a.axes}, 1)};
}

std::vector<Tensor> fast_baum_welch(KernelCall& call) {
  Alignable a = alignable(call, call.tensor(0));
  at::Tensor soft = soft_alignment(a.scores, a.targets, a.input_lengths, a.target_lengths, call.node.integer("blank_idx"),
                                   call.node.str("topology") == "ctc");
  Axes axes = a.axes;
  for (const char* name : {"in_spatial_dim", "axis"}) axes.push_back(call.node.dim(name));
  return {call.result({soft.reshape(call.lengths.shape(axes)), axes})};
}

// Levenshtein distance of two rows of labels.
std::int64_t distance(const std::int64_t* a, std::int64_t a_length, const std::int64_t* b, std::int64_t b_length) {
  std::vector<std::int64_t> row(static_cast<std::size_t>(b_length) + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = static_cast<std::int64_t>(j);
  for (std::int64_t i = 1; i <= a_length; ++i) {
    std::int64_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j < row.size(); ++j) {
      std::int64_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::vector<Tensor> edit_distance(KernelCall& call) {
  Dim spatial[2] = {call.node.dim("a_spatial_dim"), call.node.dim("b_spatial_dim")};
  Axes axes = call.output_axes();
  std::vector<std::int64_t> shape = call.lengths.shape(axes);
  at::Tensor labels[2], lengths[2];
  for (std::size_t i = 0; i < 2; ++i) {
    Axes own = axes;
    own.push_back(spatial[i]);
    labels[i] = aligned(call.tensor(i), own).expand(call.lengths.shape(own)).to(at::kLong).contiguous();
    lengths[i] = call.lengths.over(spatial[i], axes).expand(shape).contiguous();
  }
  at::Tensor result = at::empty(shape, at::TensorOptions(at::kLong));
  std::int64_t a_extent = call.lengths.extent(spatial[0]), b_extent = call.lengths.extent(spatial[1]);
  for (std::int64_t k = 0; k < result.numel(); ++k)
    result.data_ptr<std::int64_t>()[k] =
        distance(labels[0].data_ptr<std::int64_t>() + k * a_extent, lengths[0].data_ptr<std::int64_t>()[k],
                 labels[1].data_ptr<std::int64_t>() + k * b_extent, lengths[1].data_ptr<std::int64_t>()[k]);
  return {call.result({result, axes})};
}

const KernelEntry kTable[] = {
    {"sparse_softmax_cross_entropy", sparse_softmax_cross_entropy},
    {"ctc_loss", ctc_loss_op},
    {"forced_alignment", forced_alignment},
    {"fast_baum_welch", fast_baum_welch},
    {"edit_distance", edit_distance},
};

}  // namespace

std::span<const KernelEntry> loss_kernels() { return kTable; }

}  // namespace rcn
