// Connectionist temporal classification (Graves et al. 2006).
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/torch.h"

namespace rcn {

// -log p(targets | softmax(logits)) for each sequence. `logits` [N, T, C]; `targets` [N, S] of int64; lengths [N] of
// int64. Labels repeat, blanks between labels may be skipped, except between equal ones. `max_approx`: the best
// alignment instead of the sum over all. Without any alignment the loss is 0 and has no gradient, as in RETURNN.
at::Tensor ctc_loss(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& input_lengths,
                    const at::Tensor& target_lengths, std::int64_t blank, bool max_approx);

// The best alignment of the targets, for scores `log_p` [N, T, C], and its score: labels [N, T] of int64 and [N]. Without
// `label_loop` each label has one frame. Without any alignment the labels are 0 and the score is -inf. No gradients.
std::pair<at::Tensor, at::Tensor> best_alignment(const at::Tensor& log_p, const at::Tensor& targets, const at::Tensor& input_lengths,
                                                 const at::Tensor& target_lengths, std::int64_t blank, bool label_loop);

// How much of all alignments has each label at each frame: [N, T, C], a distribution at each frame; 0 without any.
at::Tensor soft_alignment(const at::Tensor& log_p, const at::Tensor& targets, const at::Tensor& input_lengths,
                          const at::Tensor& target_lengths, std::int64_t blank, bool label_loop);

}  // namespace rcn
