// How much memory tensors take.
#pragma once

#include <cstdint>
#include <memory>

namespace rcn {

// While one lives, the memory of tensors that its thread makes is counted. Without one nothing is. Tensors that are
// there before it begins must outlive it: libtorch warns of memory that it has not seen come.
class TensorMemory {
 public:
  TensorMemory();
  ~TensorMemory();
  TensorMemory(const TensorMemory&) = delete;
  TensorMemory& operator=(const TensorMemory&) = delete;

  void restart();             // the peak begins anew
  std::int64_t peak() const;  // bytes

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rcn
