// Passes over the layer graph; each is a free function. verify() states what a legal graph is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/graph.h"

namespace rcn {

// The layers to emit, those of each dict in program order.
struct LiveLayers {
  std::vector<std::vector<Layer*>> dicts = {{}};  // by Region::id, the network first

  std::vector<Layer*>& root() { return dicts.front(); }
  const std::vector<Layer*>& root() const { return dicts.front(); }
  const std::vector<Layer*>& in(const Region* region) const { return dicts[region->id]; }
  bool operator==(const LiveLayers& other) const = default;

  // Those of all dicts in program order.
  std::vector<Layer*> all() const;
};

// What a root (mark) or an entry needs, transitively. A layer in a region needs the region's owner, an owner the roots
// of its regions. What a cond hands out, it takes from both branches: the name of the one read is the other's, too.
LiveLayers drop_dead(Graph& graph);

// One layer for those that compute the same, and one dim for those that get the same lengths so, where nothing has both.
// Not inside of loops, where RETURNN decides what each step needs; and two dropouts keep what each reads.
void merge_equal(Graph& graph, LiveLayers& layers);

// A product with a parameter that only a sum with its bias reads, both float32: one `linear` layer. Not in loops.
void use_linear(const Graph& graph, LiveLayers& layers);

// Elementwise layers that only the next one reads become part of its expression, in an `eval` layer; not those with a
// name that a program gave, nor inside of loops: RETURNN moves what is the same in all steps out of them.
void fuse_elementwise(const Graph& graph, LiveLayers& layers);

// Gives every live layer a name that is unique in its dict: `scope.path.base`, with `_1`, `_2`, ... on repeats inside
// one scope, in program order (a scope counts where its first live layer stands). A suffixed name keeps clear of what
// anything else wants to be called. Fixed names (marks; `output`, `end` of a loop) and those of Graph::entries are
// reserved first; a scope may bear the name of a mark.
void assign_names(const LiveLayers& layers, const OptionDict& entries = {});

// Adds the layers that make RETURNN construct long chains without deep recursion (`.order`, or `.order.000`, ... where
// one would be too long), where the longest chain needs it: each lists about every fourth layer of the network in
// topological order. Bodies of loops and branches count, but anchors do not help inside of them.
// Comes after assign_names or before it.
void add_order_anchor(Graph& graph, LiveLayers& layers);

// Bodies with chains of 180 layers load under Python's default recursion limit; chains of 200 take several tries.
constexpr std::size_t kLongestBody = 180;

// The first loop body or branch with a longer chain, for which RETURNN needs a higher recursion limit; null when there
// is none.
const Region* deep_body(const Graph& graph, const LiveLayers& layers);

// What is wrong with the graph, naming `pass`; empty when it is legal:
// - every layer refers only to earlier layers, but for values of the step before in a loop that it is in
// - it refers to layers of its own dict, of those around it, or to what an owner in one of these hands out: only the
//   `output` where the owner is in a loop, or is a loop that is not in the network's own dict (RETURNN finds no other)
// - the step before is that of the innermost loop (RETURNN does not find that of a loop around it)
// - every region belongs to the one layer that has it in an option, stands before it, and has an `output`
// - names are unique in their dict, non-empty and nothing special to RETURNN (once given)
// - classes are set, no option is given twice, dims are not null
std::vector<std::string> verify(const Graph& graph, const LiveLayers& layers, std::string_view pass);

}  // namespace rcn
