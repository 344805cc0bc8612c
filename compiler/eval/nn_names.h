// The names of `nn` that neither the table of operations nor the library in .rcn declares: the evaluator knows them.
#pragma once

#include <array>
#include <string_view>

namespace rcn {

struct EvaluatorName {
  std::string_view name, signature, doc;
};

inline constexpr std::array<EvaluatorName, 6> kEvaluatorNames = {{
    {"single_step_dim", ": Dim", "Stands for one step: what is called with it as its axis gets a frame without that axis, and a state."},
    {"init", "", "The namespace of initial values of parameters."},
    {"Sequential", "(modules: list)", "Modules and functions, called one after the other; keyword arguments go to all. Its parameters are `0.*`, `1.*`, ..."},
    {"make_layer", "(layer: record, *, dims: list, dtype: DType = float32, sparse_dim: Dim? = none, sub_layer: str? = none) -> Tensor",
     "Any layer of RETURNN by its options, in which tensors and dims stand for references; `dims`, `dtype` and `sparse_dim` are the type of what it gives. No eager runs."},
    {"network_entry", "(key: str, value)", "An entry of the network dict as it is."},
    {"assign", "(parameter: Tensor, value: Tensor)", "Sets an auxiliary parameter in each step in which it is reached."},
}};

}  // namespace rcn
