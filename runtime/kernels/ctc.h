// Connectionist temporal classification (Graves et al. 2006).
#pragma once

#include <cstdint>

#include "runtime/torch.h"

namespace rcn {

// -log p(targets | softmax(logits)) for each sequence. `logits` [N, T, C]; `targets` [N, S] of int64; lengths [N] of
// int64. Labels repeat, blanks between labels may be skipped, except between equal ones. `max_approx`: the best
// alignment instead of the sum over all. Without any alignment the loss is 0 and has no gradient, as in RETURNN.
at::Tensor ctc_loss(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& input_lengths,
                    const at::Tensor& target_lengths, std::int64_t blank, bool max_approx);

}  // namespace rcn
