#include "runtime/memory.h"

#include <algorithm>

#include "runtime/torch.h"

namespace rcn {

namespace {

// What libtorch's allocator tells its profiler.
struct Counter final : c10::MemoryReportingInfoBase {
  std::int64_t now = 0, peak = 0;

  void count(std::int64_t bytes) {
    now += bytes;
    peak = std::max(peak, now);
  }
  // Which of the two overrides depends on the version of libtorch.
  void reportMemoryUsage(void*, std::int64_t bytes, std::int64_t, std::int64_t, c10::Device) { count(bytes); }
  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t, c10::Device) { count(bytes); }
  bool memoryProfilingEnabled() const override { return true; }
};

}  // namespace

struct TensorMemory::State {
  std::shared_ptr<Counter> counter = std::make_shared<Counter>();
  c10::DebugInfoGuard guard{c10::DebugInfoKind::PROFILER_STATE, counter};
};

TensorMemory::TensorMemory() : state_(std::make_unique<State>()) {}
TensorMemory::~TensorMemory() = default;
void TensorMemory::restart() { state_->counter->peak = state_->counter->now; }
std::int64_t TensorMemory::peak() const { return state_->counter->peak; }

}  // namespace rcn
