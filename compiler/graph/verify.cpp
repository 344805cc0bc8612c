#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/graph/passes.h"

namespace rcn {

namespace {

class Verifier {
 public:
  Verifier(const Graph& graph, const LiveLayers& layers, std::string_view pass)
      : graph_(graph), layers_(layers), pass_(pass), live_(graph.layers.size(), false), names_(graph.regions.size()) {
    for (const Layer& layer : graph.layers) known_.insert(&layer);
  }

  std::vector<std::string> run() {
    if (!check_places()) return std::move(faults_);
    for (std::size_t i = 0; i < layers_.dicts.size(); ++i) {
      const std::vector<Layer*>& dict = layers_.dicts[i];
      bool named = false;
      for (const Layer* layer : dict) named = named || (!layer->fixed_name && !layer->name.empty());
      const Layer* previous = nullptr;
      for (const Layer* layer : dict) {
        if (previous && previous->id >= layer->id) fault(*layer, "stands behind a later layer");
        previous = layer;
        check_name(*layer, named || layer->fixed_name);
        check_class(*layer);
        check_dims(*layer);
        check_references(*layer);
        check_regions(*layer);
      }
      if (i > 0 && !dict.empty()) check_region(graph_.regions[i]);
    }
    for (const auto& [key, value] : graph_.entries) check_entry(key, value);
    return std::move(faults_);
  }

 private:
  void fault(const std::string& what) { faults_.push_back("after " + std::string(pass_) + ": " + what); }

  void fault(const Layer& layer, const std::string& what) {
    std::string name = layer.name.empty() ? layer.base : layer.name;
    std::string cls = !layer.cls.empty() ? layer.cls : layer.builtin ? "built in" : "extern";
    fault("layer " + std::to_string(layer.id) + " `" + name + "` (" + cls + ") " + what);
  }

  bool in_graph(const Layer* layer) const {
    return known_.contains(layer) && layer->id < live_.size();
  }
  bool is_live(const Layer* layer) const { return in_graph(layer) && live_[layer->id]; }
  bool in_graph(const Region* region) const {
    return region && region->id < graph_.regions.size() && &graph_.regions[region->id] == region;
  }

  // What the other checks rely on.
  bool check_places() {
    if (layers_.dicts.empty() || layers_.dicts.size() > graph_.regions.size()) {
      fault("not as many dicts as there are regions");
      return false;
    }
    for (std::size_t i = 0; i < layers_.dicts.size(); ++i) {
      for (const Layer* layer : layers_.dicts[i]) {
        if (!in_graph(layer)) {
          fault("a layer that is not in the graph");
          return false;
        }
        if (!in_graph(layer->region) || layer->region->id != i) {
          fault(*layer, "stands in the dict of another region");
          return false;
        }
        live_[layer->id] = true;
      }
    }
    return true;
  }

  void check_name(const Layer& layer, bool wanted) {
    if (wanted && layer.name.empty()) fault(layer, "has no name");
    if (layer.name.empty()) return;
    if (!names_[layer.region->id].insert(layer.name).second) fault(layer, "has a name that is already given");
    bool special = layer.name == "data" || layer.name == "none" || layer.name.find_first_of("/:#") != std::string::npos;
    if (layer.region->parent && (layer.name == "output" || layer.name == "end")) special = !layer.fixed_name;
    if (special && layer.emitted()) fault(layer, "has a name to which RETURNN gives a meaning");
  }

  void check_class(const Layer& layer) {
    if (layer.cls.empty() == layer.emitted()) fault(layer, "is to have a class, or be an extern or built in");
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
        std::string problem = reference_fault(layer, ref);
        if (!problem.empty()) fault(layer, std::string("refers in `").append(k).append("` to ").append(problem));
      });
    }
  }

  static bool is_loop(const Region* region) { return region->owner && region->owner->cls == "rec"; }

  // Whether `region`, or one between it and `end`, is the body of a loop.
  static bool in_loop(const Region* region, const Region* end) {
    for (; region != end; region = region->parent)
      if (is_loop(region)) return true;
    return false;
  }

  std::string reference_fault(const Layer& layer, const LayerRef& ref) const {
    if (!ref.layer) return "no layer";
    if (!is_live(ref.layer)) return "a layer that is not before it";
    const Region* region = ref.layer->region;
    bool encloses = levels_out(layer.region, region).has_value();
    if (ref.kind == RefKind::previous) {
      if (!encloses || !is_loop(region)) return "the step before of a layer that is not in a loop around it";
      if (in_loop(layer.region, region)) return "the step before of a loop around the loop that it is in";
      return ref.layer->builtin ? "the step before of a layer that is built in" : "";
    }
    if (!encloses) {
      if (!levels_out(layer.region, region->parent)) return "a layer of a dict that it is not in, nor next to";
      if (!region->owner || region->owner->id >= layer.id) return "a layer of a dict that is not before it";
      if (!ref.sub.empty()) return "a part of a layer of another dict";
      if (ref.kind == RefKind::value && only_output(*region) && ref.layer->name != "output")
        return "a layer that its dict cannot hand out, as it stands in another dict";
      return namesake_fault(*ref.layer);
    }
    return ref.layer->id >= layer.id ? "a layer that is not before it" : "";
  }

  std::string namesake_fault(const Layer& layer) const {
    bool missing = false;
    for_each_region(*layer.region->owner, [&](const Region& region) {
      bool found = &region == layer.region;
      for (const Layer* other : dict_of(region)) found = found || (other->fixed_name && other->name == layer.name);
      missing = missing || !found;
    });
    return missing ? "a layer that is not in all branches" : "";
  }

  const std::vector<Layer*>& dict_of(const Region& region) const {
    static const std::vector<Layer*> kNone;
    return region.id < layers_.dicts.size() ? layers_.dicts[region.id] : kNone;
  }

  void check_regions(const Layer& layer) {
    for (const auto& [key, value] : layer.options) {
      for_each_part<RegionRef>(value, [&, &k = key](const RegionRef& ref) {
        if (!in_graph(ref.region)) {
          fault(layer, "has no region in `" + k + "`");
        } else if (ref.region->owner != &layer || ref.region->parent != layer.region) {
          fault(layer, "does not own the region in `" + k + "`");
        } else if (++uses_[ref.region] > 1) {
          fault(layer, "has the region in `" + k + "` twice");
        } else if (dict_of(*ref.region).empty()) {
          fault(layer, "has an empty region in `" + k + "`");
        }
      });
    }
  }

  // The owner stands in a dict with a smaller id than that of the region, which is checked.
  void check_region(const Region& region) {
    const std::vector<Layer*>& dict = dict_of(region);
    if (!is_live(region.owner)) return fault(*dict.front(), "is in a region without an owner");
    if (!uses_.contains(&region)) return fault(*region.owner, "has a region that is in none of its options");
    if (dict.back()->id >= region.owner->id) fault(*dict.back(), "is not before the owner of its region");
    for (const Layer* layer : dict)
      if (layer->fixed_name && layer->name == "output") return;
    fault(*region.owner, "has a region without an `output`");
  }

  void check_entry(const std::string& key, const Option& value) {
    if (!names_[0].insert(key).second) fault("the entry `" + key + "` has the name of a layer");
    for_each_layer(value, [&](const LayerRef& ref) {
      if (!is_live(ref.layer) || (ref.layer->region->parent && ref.layer->region->parent != graph_.root_region()))
        fault("the entry `" + key + "` refers to a layer that is not there");
    });
  }

  const Graph& graph_;
  const LiveLayers& layers_;
  std::string_view pass_;
  std::unordered_set<const Layer*> known_;
  std::vector<bool> live_;
  std::vector<std::unordered_set<std::string_view>> names_;  // by Region::id
  std::unordered_map<const Region*, std::size_t> uses_;      // in options of their owners
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> verify(const Graph& graph, const LiveLayers& layers, std::string_view pass) {
  return Verifier(graph, layers, pass).run();
}

}  // namespace rcn
