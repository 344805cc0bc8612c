// Values as the debugger shows them.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/eval/value.h"
#include "runtime/lengths.h"

namespace rcn {

// In a few words: `float32[batch=3, time=7 (7, 5, 2)], min -1, mean 0.2, max 3`; of a tensor that a body on types alone
// made, its type. Padding counts nowhere, and neither does what takes no part where the tensor was made.
std::string described(const Tensor& tensor, Lengths& lengths);
// The same of any value, in one line.
std::string described(const Value& value, Lengths& lengths);

// With all entries, or the first and last along each dim where there are many; the tensors in a list or record each.
void show_value(std::ostream& out, const std::string& name, const Value& value, Lengths& lengths);

// A line for each dim of a tensor, or one for a dim: kind, size, lengths and what those depend on.
void show_dims(std::ostream& out, const Value& value, Lengths& lengths);

// `max`, `min`, `mean`, `sum` of numbers, `any` and `all` of bools, over the valid entries; none where there is none.
std::optional<Value> reduced(std::string_view name, const Tensor& tensor, Lengths& lengths);

bool all_finite(const Tensor& tensor, Lengths& lengths);
bool has_nan(const Tensor& tensor, Lengths& lengths);

}  // namespace rcn
