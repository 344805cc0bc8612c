// Changes of a graph whose layers have their places in the program already.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/graph/passes.h"

namespace rcn {

// New layers stand at the end of Graph::layers; renumber() gives ids by their places in the program.
class GraphEdit {
 public:
  explicit GraphEdit(Graph& graph) : graph_(graph) {}

  // Right before or behind `place` and what was inserted there so far; in the dict of `region`.
  Layer& insert_before(const Layer& place, const Region* region, std::string cls, OptionDict options, TensorType type, std::string base);
  Layer& insert_behind(const Layer& place, const Region* region, std::string cls, OptionDict options, TensorType type, std::string base);

  // Copies a layer with the live layers of its dicts, right behind it. `dims`: other dims in place of some.
  struct Clone {
    Layer* owner = nullptr;
    std::unordered_map<const Layer*, Layer*> layers;  // of the dicts, and the owner
  };
  Clone clone(const Layer& owner, const LiveLayers& live, const std::unordered_map<Dim, Dim>& dims);

  void renumber();

 private:
  Layer& made(const Layer& place, const Region* region, std::string cls, OptionDict options, TensorType type, std::string base);

  Graph& graph_;
  std::unordered_map<const Layer*, std::vector<Layer*>> before_, behind_;
};

// The live layers in the dicts of `owner`, at any depth, in program order.
std::vector<const Layer*> layers_inside(const Layer& owner, const LiveLayers& live);

}  // namespace rcn
