// The names of `nn` that neither the table of operations nor the library in .rcn declares: the evaluator knows them.
#pragma once

#include <array>
#include <string_view>

namespace rcn {

inline constexpr std::array<std::string_view, 10> kEvaluatorNames = {
    "single_step_dim", "init",   "Sequential",    "make_layer", "network_entry",
    "choice",          "decide", "assign", "empty_history", "cum_concat"};

}  // namespace rcn
