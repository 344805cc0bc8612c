// Every operation that gives tensors has a kernel, and every kernel an operation.
#include <algorithm>
#include <set>

#include "compiler/ops/op_table.h"
#include "tests/unit/runtime/bench.h"

namespace rcn::test {

TEST_CASE("operations and kernels") {
  // Their results are static, or made by `constant`.
  std::set<std::string_view> without_kernel{"zeros", "ones", "full", "zeros_like", "ones_like", "remaining_dims"};
  std::set<std::string_view> operations;
  for (std::string_view name : OpTable().names()) {
    operations.insert(name);
    if (name.starts_with("init.") || without_kernel.contains(name)) continue;
    bool known = find_kernel(name) != nullptr;
    if (!known) FAIL_CHECK(("no kernel for " + std::string(name)).c_str());
  }
  for (std::string_view name : kernel_names())
    if (!operations.contains(name)) FAIL_CHECK(("no operation for the kernel " + std::string(name)).c_str());
}

}  // namespace rcn::test
