// The parts of a config as values, in the order in which every printer writes them. References to layers and dims are
// still symbolic.
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
};

struct DimEntry {
  Dim dim = nullptr;
  std::string id;  // `time_dim`: a Python name
};

struct Document {
  std::vector<DimEntry> dims;  // those that the rest mentions, in the order of their creation
  OptionDict extern_data;      // by data key
  std::vector<NetworkEntry> network;
};

Document make_document(const Graph& graph, const LiveLayers& layers);

// The dict of a layer: its class and its options.
OptionDict layer_dict(const Layer& layer);

// Layers by name and the keys of all dicts sorted bytewise.
void sort_keys(Document& document);

// Ids of dims by identity.
std::unordered_map<Dim, std::string> dim_ids(const Document& document);

// How a layer's reference is spelled: `lstm`, `data:classes`, `split/0`.
std::string reference_text(const LayerRef& ref);

}  // namespace rcn
