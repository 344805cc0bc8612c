// What a dict in a layer hands out, where RETURNN finds only its `output`.
#pragma once

#include "compiler/diag/diagnostic.h"
#include "compiler/dims/dim.h"
#include "compiler/graph/passes.h"

namespace rcn {

// RETURNN finds no other layer than the `output` of a dict in a loop, nor of a loop in a branch. Where more than that is
// read, the results become one: flat along their static dims, joined by `concat`, and split again outside; their values
// stay as they are, bit for bit. What has other dynamic dims than the rest comes from a second copy of the layer;
// an error where that would draw other random numbers.
void pack_results(Graph& graph, DimTable& dims, DiagnosticSink& diagnostics);

}  // namespace rcn
