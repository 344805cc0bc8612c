// Windows along sequences, for convolution: which frames each covers, and an input in which they lie inside.
#pragma once

#include <vector>

#include "compiler/ops/lowering.h"

namespace rcn {

// One axis of a convolution: windows of `size` frames, `dilation` apart, one every `stride` frames.
struct Window {
  Dim in, out;
  std::int64_t size, stride, dilation;

  std::int64_t extent() const { return (size - 1) * dilation; }  // from the first frame of a window to its last
};

// "valid": windows lie inside, `ceildiv((-l) + in - r, stride)` of them with l + r = extent, l = extent // 2.
// "same": there are `ceildiv(in, stride)`, the first beginning half (rounded down) of what is missing before the
// sequence.
Dim windows_dim(DimTable& dims, Dim in, std::int64_t extent, std::int64_t stride, bool same);

// The source with zeros where windows reach over the ends of sequences, so that RETURNN's padding of this name gives
// each sequence what it gets alone; the windows are then along its dims `in`.
//
// RETURNN pads the tensor, not the sequences: what lies behind their ends is zeroed. With strides, where the windows of
// "same" begin depends on the length; then each sequence is moved to where its own windows are, for "valid".
struct Aligned {
  Lowering::Source source;
  std::vector<Dim> in;
  std::string padding;
  std::vector<Dim> zero;  // axes of the source in whose padding only zeros are read
};
Aligned aligned_windows(Lowering& l, Lowering::Source source, const std::vector<Window>& windows, bool same);

}  // namespace rcn
