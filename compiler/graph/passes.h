// Passes over the layer graph; each is a free function. verify() states what a legal graph is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/graph.h"

namespace rcn {

// The layers to emit, in program order: those that a root (mark) or an entry needs, transitively.
using LiveLayers = std::vector<Layer*>;
LiveLayers drop_dead(Graph& graph);

// Gives every live layer a name that is unique in the dict: `scope.path.base`, with `_1`, `_2`, ... on repeats inside
// one scope, in program order (a scope counts where its first live layer stands). A suffixed name keeps clear of what
// anything else wants to be called. Fixed names (marks) and those of Graph::entries are reserved first; a scope may
// bear the name of a mark.
void assign_names(const LiveLayers& layers, const OptionDict& entries = {});

// Adds the layers that make RETURNN construct long chains without deep recursion (`.order`, or `.order.000`, ... where
// one would be too long), where the longest chain needs it: each lists about every 25th layer in topological order.
// Comes after assign_names or before it.
void add_order_anchor(Graph& graph, LiveLayers& layers);

// What is wrong with the graph, naming `pass`; empty when it is legal: every layer refers only to earlier layers,
// names are unique, non-empty and nothing special to RETURNN (once given), classes are set, no option is given twice,
// dims are not null.
std::vector<std::string> verify(const Graph& graph, const LiveLayers& layers, std::string_view pass);

}  // namespace rcn
