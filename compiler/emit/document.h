// The parts of a config as values, in the order in which every printer writes them. References to layers are spelled;
// those to dims and regions are still symbolic.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/emit/emit.h"
#include "compiler/graph/passes.h"

namespace rcn {

struct NetworkEntry {
  std::string name;
  Option value;  // of a layer: a dict, "class" first
  Span span;
  std::vector<Span> parts = {};  // as Layer::parts
};

struct DimEntry {
  Dim dim = nullptr;
  std::string id;  // `time_dim`: a Python name
};

struct Document {
  std::vector<DimEntry> dims;  // those that the rest mentions, in the order of their creation
  OptionDict extern_data;      // by data key
  std::vector<NetworkEntry> network;
  std::unordered_map<const Region*, std::vector<NetworkEntry>> bodies;  // of loops and branches
  bool deep = false;  // some body needs a higher recursion limit than Python's default
};

// What Python's recursion limit is to be raised to for a deep document.
constexpr int kRecursionLimit = 100000;

Document make_document(const Graph& graph, const LiveLayers& layers);

// Layers by name and the keys of all dicts sorted bytewise.
void sort_keys(Document& document);

// Ids of dims by identity.
std::unordered_map<Dim, std::string> dim_ids(const Document& document);

// How a reference is spelled by a layer of `region`: `lstm`, `data:classes`, `split/0`, `base:prev:h`, `loop/y`.
std::string reference_text(const LayerRef& ref, const Region* region);

}  // namespace rcn
