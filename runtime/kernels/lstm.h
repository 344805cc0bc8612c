// The recursion of an LSTM over packed gates, with its gradient.
#pragma once

#include <utility>

#include "runtime/torch.h"

namespace rcn {

struct LstmResult {
  at::Tensor y;  // [T, N, H]; 0 in the padding
  at::Tensor h;  // [N, H] after each sequence's last valid frame, in the direction of the run
  at::Tensor c;
};

// `gates` [T, N, 4H] is x * W + b, in RETURNN's order j i f o (cell input, input, forget, output gate); `w_re` [H, 4H];
// `h`, `c` [N, H]. `padding` [T, N] is true outside the sequences, or undefined: such frames leave the state as it is,
// and nothing in them reaches a valid frame or a gradient, nan included.
//   c' = sigmoid(f) * c + tanh(j) * sigmoid(i);  h' = sigmoid(o) * tanh(c')
LstmResult lstm_recursion(const at::Tensor& gates, const at::Tensor& w_re, const at::Tensor& h, const at::Tensor& c,
                          const at::Tensor& padding, bool backwards);

}  // namespace rcn
