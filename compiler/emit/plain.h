// Lowers a network to what RETURNN reads as JSON without any Python: sizes and axis strings in place of dims.
//
// RETURNN then makes dims of its own, which it takes for equal when their sizes are, and addresses axes by the marks
// batch (`B`), time (`T`) and feature (`F`) or by their size (`dim:9`). So each layer class needs a rule that says what
// its options become and which axes of the result are marked; and what could mean another dim than the one wanted is an
// error.
#pragma once

#include <optional>

#include "compiler/diag/diagnostic.h"
#include "compiler/emit/document.h"

namespace rcn {

// The document without dims, or reports why there is none.
std::optional<Document> lower_to_plain(const Graph& graph, const LiveLayers& layers, DiagnosticSink& diagnostics);

}  // namespace rcn
