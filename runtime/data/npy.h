// NumPy's format for one array (NEP 1): reading and writing.
#pragma once

#include <string>
#include <string_view>

#include "runtime/torch.h"

namespace rcn {

// bool, ints, and floats of 16, 32 and 64 bits, little endian, in C or Fortran order. uint16 and uint32 become the next
// larger int type, uint64 int64 (an error where a value does not fit). The result is contiguous.
// Throws ArrayFileError.
at::Tensor parse_npy(std::string_view bytes);

// Format 1.0, C order, little endian.
std::string npy_bytes(const at::Tensor& tensor);

}  // namespace rcn
