// RETURNN constructs a layer's sources by recursion, and root layers in the order of their names. So a constant that
// is named to come first and depends on every so-many-th layer, in topological order, makes it build a long chain in
// short pieces. It is an output layer only so that RETURNN constructs it at all.
#include <algorithm>
#include <string>
#include <vector>

#include "compiler/graph/depth.h"

namespace rcn {

namespace {

// Chains of 150 layers load under Python's default recursion limit, chains of 200 do not.
constexpr std::size_t kLongestChain = 120;
// TensorFlow writes down Python's stack for each operation that it makes: deep chains also take longer.
constexpr std::size_t kStride = 4;
// RETURNN joins the beams of an anchor's layers by recursion over the list; 990 are too many.
constexpr std::size_t kLayersPerAnchor = 300;

bool names_class(const Option& option, std::string_view cls) {
  const auto* dict = std::get_if<OptionDict>(&option.data);
  if (!dict) return false;
  for (const auto& [key, value] : *dict) {
    const auto* text = std::get_if<std::string>(&value.data);
    if ((key == "class" && text && *text == cls) || names_class(value, cls)) return true;
  }
  return false;
}

// Anchored layers have to share their search beam, so those of one beam and those without one stand in separate
// anchors.
class Beams {
 public:
  Beams(const Graph& graph, const LiveLayers& layers) : beam_(graph.layers.size(), 0) {
    for (const Layer* layer : layers.all()) visit(graph, *layer);
  }

  // Of which search; 0 for none.
  std::uint32_t of(const Layer& layer) const { return beam_[layer.id]; }

 private:
  void visit(const Graph& graph, const Layer& layer) {
    if (layer.cls == "decide") return;
    std::uint32_t& beam = beam_[layer.id];
    bool chooses = layer.cls == "choice";
    for (const auto& [key, value] : layer.options) {
      for_each_layer(value, [&](const LayerRef& ref) { beam = std::max(beam, beam_[ref.layer->id]); });
      chooses = chooses || names_class(value, "choice");
    }
    if (chooses) beam = seen_in(graph.root_region(), &layer)->id + 1;
    if (const Layer* owner = layer.region->owner) beam_[owner->id] = std::max(beam_[owner->id], beam);
  }

  std::vector<std::uint32_t> beam_;
};

bool has_references(const Layer& layer) {
  bool found = false;
  for (const auto& [key, value] : layer.options) for_each_layer(value, [&](const LayerRef&) { found = true; });
  return found;
}

// `.order`, or `.order.000`, `.order.001`, ...: they sort in the order in which RETURNN has to meet them.
std::string anchor_name(std::size_t index, std::size_t count) {
  if (count == 1) return ".order";
  std::size_t digits = std::max<std::size_t>(3, std::to_string(count - 1).size());
  std::string number = std::to_string(index);
  return ".order." + std::string(digits - number.size(), '0') + number;
}

class Anchors {
 public:
  Anchors(const Graph& graph, const LiveLayers& layers, const Depths& depths)
      : graph_(graph), layers_(layers), depths_(depths), beams_(graph, layers), anchored_(graph.layers.size(), false) {}

  std::vector<OptionList> run() {
    std::size_t since_last = 0;
    for (const Layer* layer : layers_.root()) {
      std::size_t own = depths_.own[layer->id];
      if (own >= kStride) add_sources(*layer);
      if (own == 1 && !has_references(*layer)) continue;
      since_last += own;
      if (since_last < kStride) continue;
      since_last = 0;
      add(*layer);
    }
    return std::move(anchors_);
  }

 private:
  void add(const Layer& layer) {
    if (anchored_[layer.id]) return;
    anchored_[layer.id] = true;
    std::uint32_t beam = beams_.of(layer);
    if (anchors_.empty() || anchors_.back().size() == kLayersPerAnchor || beam != last_beam_) anchors_.emplace_back();
    last_beam_ = beam;
    anchors_.back().push_back(&layer);
  }

  // So that a long body is not constructed on top of them.
  void add_sources(const Layer& layer) {
    std::vector<const Layer*> sources;
    collect_sources(layer, sources);
    std::sort(sources.begin(), sources.end(), [](const Layer* a, const Layer* b) { return a->id < b->id; });
    for (const Layer* source : sources)
      if (source != &layer && (depths_.own[source->id] > 1 || has_references(*source))) add(*source);
  }

  void collect_sources(const Layer& layer, std::vector<const Layer*>& sources) {
    for (const auto& [key, value] : layer.options)
      for_each_layer(value, [&](const LayerRef& ref) { sources.push_back(seen_in(graph_.root_region(), ref.layer)); });
    for_each_region(layer, [&](const Region& region) {
      for (const Layer* inner : layers_.in(&region)) collect_sources(*inner, sources);
    });
  }

  const Graph& graph_;
  const LiveLayers& layers_;
  const Depths& depths_;
  Beams beams_;
  std::vector<bool> anchored_;
  std::vector<OptionList> anchors_;
  std::uint32_t last_beam_ = 0;
};

}  // namespace

void add_order_anchor(Graph& graph, LiveLayers& layers) {
  Depths depths = measure_depths(graph, layers);
  if (depths.longest[graph.root_region()->id] <= kLongestChain) return;
  std::vector<OptionList> anchors = Anchors(graph, layers, depths).run();
  for (std::size_t i = 0; i < anchors.size(); ++i) {
    OptionDict options = {
        {"value", 0}, {"dtype", "int32"}, {"shape_deps", std::move(anchors[i])}, {"is_output_layer", true}};
    Layer& anchor =
        graph.add("constant", std::move(options), {{}, DType::int32, nullptr}, graph.root_scope(), "", Span{});
    anchor.name = anchor_name(i, anchors.size());
    anchor.fixed_name = true;
    anchor.root = true;
    layers.root().push_back(&anchor);
  }
}

}  // namespace rcn
