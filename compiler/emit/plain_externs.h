// Externs in plain JSON: shapes with null for dynamic sizes, and marks where RETURNN would not guess ours.
#pragma once

#include <deque>
#include <string>

#include "compiler/emit/plain_axes.h"
#include "compiler/graph/graph.h"

namespace rcn {

// Why plain JSON has no word for the extern; empty when it has.
std::string plain_extern_fault(const Extern& source, const std::deque<Extern>& all);

Option plain_extern_entry(const Extern& source);
PlainTensor plain_extern_tensor(const Extern& source);

// RETURNN makes a dim for each dynamic axis of each data key. Where ours is that of another extern, that one; null for
// the extern whose dim the others take.
const Extern* plain_lengths_base(const Extern& source, const std::deque<Extern>& all);

}  // namespace rcn
