// The kernels of each family, by the operation's name.
#pragma once

#include <span>

#include "runtime/kernel.h"

namespace rcn {

std::span<const KernelEntry> elementwise_kernels();
std::span<const KernelEntry> reduce_kernels();    // reduce, softmax, log_softmax
std::span<const KernelEntry> linear_kernels();    // dot, linear, layer_norm
std::span<const KernelEntry> conv_kernels();      // conv, transposed_conv
std::span<const KernelEntry> shape_kernels();     // concat, split, merge_dims, ...
std::span<const KernelEntry> index_kernels();     // gather, slice, pad
std::span<const KernelEntry> order_kernels();     // cumsum, top_k, search_sorted
std::span<const KernelEntry> generate_kernels();  // constant, range_over_dim, length, ...
std::span<const KernelEntry> recurrent_kernels();
std::span<const KernelEntry> loss_kernels();
std::span<const KernelEntry> random_kernels();
std::span<const KernelEntry> history_kernels();  // empty_history, cum_concat
std::span<const KernelEntry> search_kernels();   // choice, decide, beam_scores: run by the backend itself

}  // namespace rcn
