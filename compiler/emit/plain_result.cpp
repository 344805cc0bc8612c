// The second half of a layer's lowering: may its tensors be combined, and what is known of the result.
#include <algorithm>

#include "compiler/emit/plain_layer.h"

namespace rcn {

// RETURNN matches the dims of tensors by size; whatever it could match in another way than we do is refused.
void PlainLayer::check_combination() {
  if (combined_.size() < 2) return;
  // Axes that are named take no part in the matching.
  bool named = rule_.result == PlainResult::concat || rule_.result == PlainResult::gather ||
               rule_.result == PlainResult::without_axis;
  std::vector<PlainTensor> parts;
  for (const PlainTensor* tensor : combined_) {
    PlainTensor& part = parts.emplace_back(*tensor);
    if (named) std::erase_if(part.dims, [&](Dim d) { return std::find(axes_.begin(), axes_.end(), d) != axes_.end(); });
  }
  std::vector<const PlainTensor*> tensors;
  for (const PlainTensor& part : parts) tensors.push_back(&part);
  if (std::optional<AlikeDims> alike = find_alike(tensors)) {
    failed_ = true;
    diagnostics_.report(Diag::plain_dims_alike, layer_.span,
                        {to_string(alike->a), to_string(alike->b), layer_.name, alike->reason});
    return;
  }

  std::size_t all = combined(tensors).dims.size(), most = 0, least = all;
  for (const PlainTensor* tensor : tensors) {
    most = std::max(most, tensor->dims.size());
    least = std::min(least, tensor->dims.size());
  }
  if (rule_.result == PlainResult::concat && least < all) fail("from", "not all tensors have the same other dims");
  if (rule_.result == PlainResult::elementwise && most < all) {
    // With dims, `out_shape` says that this is meant.
    bool allowed = layer_.option("allow_broadcast_all_sources") || layer_.option("out_shape");
    if (!allowed || !rule_.option("allow_broadcast_all_sources")) {
      fail(rule_.sources[0], "no tensor has all dims of the result");
    } else if (!layer_.option("allow_broadcast_all_sources")) {
      options_.emplace_back("allow_broadcast_all_sources", true);
    }
  }
}

void PlainLayer::set_result() {
  result = {layer_.type.dims, layer_.type.sparse_dim, nullptr, nullptr};
  switch (rule_.result) {
    case PlainResult::none: return;
    case PlainResult::same:
      result.time = source_tensor_.time;
      result.feature = source_tensor_.feature;
      break;
    case PlainResult::new_feature:
      result.time = source_tensor_.time;
      result.feature = new_feature_;
      break;
    case PlainResult::elementwise: {
      PlainTensor all = combined(combined_);
      result.time = all.time;
      result.feature = all.feature;
      break;
    }
    case PlainResult::without_axis:
      result.time = source_tensor_.time;
      result.feature = source_tensor_.feature;
      break;
    case PlainResult::concat: {
      result.time = source_tensor_.time;
      result.feature = source_tensor_.feature;
      if (result.feature && std::find(axes_.begin(), axes_.end(), *result.feature) != axes_.end()) {
        result.feature = std::nullopt;
        for (Dim d : result.dims)
          if (!source_tensor_.has(d)) result.feature = d;
      }
      break;
    }
    case PlainResult::variable:
      if (!result.dims.empty() && !is_batch(result.dims.back())) result.feature = result.dims.back();
      break;
    case PlainResult::gather: result.time = result.feature = std::nullopt; break;
    case PlainResult::last_state: result.feature = new_feature_; break;
    case PlainResult::unmarked: break;
  }
  // A mark goes with its dim.
  if (result.time && *result.time && !result.has(*result.time))
    result.time = result.only_dynamic() ? Mark() : Mark(nullptr);
  if (result.feature && *result.feature && !result.has(*result.feature)) result.feature = std::nullopt;
}

void PlainLayer::check_marks() {
  const Option* loss = layer_.option("loss");
  bool has_loss = loss && !std::holds_alternative<std::monostate>(loss->data);
  if (has_loss) {
    for (Dim d : result.dims)
      if (!is_batch(d) && d->dynamic() && result.time != Mark(d))
        return fail_mark("the loss has to leave out the padding of `" + to_string(d) +
                         "`, which is not sure to be the time dim");
  }
  if (layer_.cls == "ctc_loss" || layer_.cls == "batch_norm") {  // lengths by the time mark, scores by the feature mark
    for (Dim d : source_tensor_.dims) {
      if (is_batch(d) || source_tensor_.time == Mark(d) || source_tensor_.feature == Mark(d)) continue;
      if (layer_.cls == "batch_norm" && d->size) continue;
      return fail_mark("`" + to_string(d) + "` of its source is not sure to be the time or the feature dim");
    }
  }
}

}  // namespace rcn
