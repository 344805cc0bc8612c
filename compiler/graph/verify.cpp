#include <string>
#include <unordered_set>
#include <vector>

#include "compiler/graph/passes.h"

namespace rcn {

namespace {

class Verifier {
 public:
  Verifier(const Graph& graph, const LiveLayers& layers, std::string_view pass)
      : graph_(graph), layers_(layers), pass_(pass), live_(graph.layers.size(), false) {}

  std::vector<std::string> run() {
    for (const Layer* layer : layers_) {
      if (!layer || layer->id >= graph_.layers.size() || &graph_.layers[layer->id] != layer) {
        fault("a layer that is not in the graph");
        return std::move(faults_);
      }
    }
    bool named = false;
    for (const Layer* layer : layers_) named = named || (!layer->fixed_name && !layer->name.empty());
    const Layer* previous = nullptr;
    for (const Layer* layer : layers_) {
      if (previous && previous->id >= layer->id) fault(*layer, "stands behind a later layer");
      previous = layer;
      check_name(*layer, named || layer->fixed_name);
      check_class(*layer);
      check_dims(*layer);
      check_references(*layer);
      live_[layer->id] = true;  // behind the references: a layer may not read itself
    }
    for (const auto& [key, value] : graph_.entries) check_entry(key, value);
    return std::move(faults_);
  }

 private:
  void fault(const std::string& what) { faults_.push_back("after " + std::string(pass_) + ": " + what); }

  void fault(const Layer& layer, const std::string& what) {
    std::string name = layer.name.empty() ? layer.base : layer.name;
    fault("layer " + std::to_string(layer.id) + " `" + name + "` (" + (layer.cls.empty() ? "extern" : layer.cls) +
          ") " + what);
  }

  void check_name(const Layer& layer, bool wanted) {
    if (wanted && layer.name.empty()) fault(layer, "has no name");
    if (layer.name.empty()) return;
    if (!names_.insert(layer.name).second) fault(layer, "has a name that is already given");
    bool special = layer.name == "data" || layer.name == "none" || layer.name.find_first_of("/:#") != std::string::npos;
    if (special && !layer.source) fault(layer, "has a name to which RETURNN gives a meaning");
  }

  void check_class(const Layer& layer) {
    if (layer.cls.empty() != (layer.source != nullptr)) fault(layer, "is to have a class or be an extern");
    std::unordered_set<std::string_view> keys = {"class"};
    for (const auto& [key, value] : layer.options)
      if (!keys.insert(key).second) fault(layer, "has the option `" + key + "` twice");
  }

  void check_dims(const Layer& layer) {
    for (Dim d : layer.type.dims)
      if (!d) fault(layer, "has a null dim in its type");
    for (const auto& [key, value] : layer.options) {
      for_each_dim(value, [&, &k = key](const DimRef& ref) {
        if (!ref.dim) fault(layer, "has a null dim in `" + k + "`");
      });
    }
  }

  void check_references(const Layer& layer) {
    for (const auto& [key, value] : layer.options) {
      for_each_layer(value, [&, &k = key](const LayerRef& ref) {
        if (!ref.layer) {
          fault(layer, "refers to no layer in `" + k + "`");
        } else if (ref.layer->id >= live_.size() || &graph_.layers[ref.layer->id] != ref.layer ||
                   !live_[ref.layer->id]) {
          fault(layer, "refers in `" + k + "` to a layer that is not before it");
        }
      });
    }
  }

  void check_entry(const std::string& key, const Option& value) {
    if (!names_.insert(key).second) fault("the entry `" + key + "` has the name of a layer");
    for_each_layer(value, [&](const LayerRef& ref) {
      if (!ref.layer || ref.layer->id >= live_.size() || !live_[ref.layer->id])
        fault("the entry `" + key + "` refers to a layer that is not there");
    });
  }

  const Graph& graph_;
  const LiveLayers& layers_;
  std::string_view pass_;
  std::vector<bool> live_;  // met so far
  std::unordered_set<std::string_view> names_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> verify(const Graph& graph, const LiveLayers& layers, std::string_view pass) {
  return Verifier(graph, layers, pass).run();
}

}  // namespace rcn
