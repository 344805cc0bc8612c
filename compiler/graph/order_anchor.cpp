// RETURNN constructs a layer's sources by recursion, and root layers in the order of their names. So a constant that
// is named to come first and depends on every so-many-th layer, in topological order, makes it build a long chain in
// short pieces. It is an output layer only so that RETURNN constructs it at all.
#include <algorithm>
#include <string>
#include <vector>

#include "compiler/graph/passes.h"

namespace rcn {

namespace {

// Chains of 150 layers load under Python's default recursion limit, chains of 200 do not.
constexpr std::size_t kLongestChain = 120;
constexpr std::size_t kStride = 25;
// RETURNN joins the beams of an anchor's layers by recursion over the list; 990 are too many.
constexpr std::size_t kLayersPerAnchor = 300;

// How many layer dicts an option holds: the body of a loop or of a branch is constructed on top of what is pending.
std::size_t nested_layers(const Option& option) {
  std::size_t count = 0;
  if (const auto* dict = std::get_if<OptionDict>(&option.data)) {
    for (const auto& [key, value] : *dict) {
      if (key == "class") ++count;
      count += nested_layers(value);
    }
  }
  return count;
}

bool names_class(const Option& option, std::string_view cls) {
  const auto* dict = std::get_if<OptionDict>(&option.data);
  if (!dict) return false;
  for (const auto& [key, value] : *dict) {
    const auto* text = std::get_if<std::string>(&value.data);
    if ((key == "class" && text && *text == cls) || names_class(value, cls)) return true;
  }
  return false;
}

// Anchored layers have to share their search beam, so those with a beam and those without stand in separate anchors.
class Beams {
 public:
  explicit Beams(std::size_t layers) : carries_(layers, false) {}

  void visit(const Layer& layer) {
    if (layer.cls == "decide") return;
    bool carries = layer.cls == "choice";
    for (const auto& [key, value] : layer.options) {
      for_each_layer(value, [&](const LayerRef& ref) { carries = carries || carries_[ref.layer->id]; });
      carries = carries || names_class(value, "choice");
    }
    carries_[layer.id] = carries;
  }
  bool carries(const Layer& layer) const { return carries_[layer.id]; }

 private:
  std::vector<bool> carries_;
};

std::size_t longest_chain(const Graph& graph, const LiveLayers& layers) {
  std::vector<std::size_t> depth(graph.layers.size(), 0);
  std::size_t longest = 0;
  for (const Layer* layer : layers) {
    std::size_t below = 0, own = 1;
    for (const auto& [key, value] : layer->options) {
      for_each_layer(value, [&](const LayerRef& ref) { below = std::max(below, depth[ref.layer->id]); });
      own += nested_layers(value);
    }
    depth[layer->id] = below + own;
    longest = std::max(longest, below + own);
  }
  return longest;
}

bool has_sources(const Layer& layer) {
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

}  // namespace

void add_order_anchor(Graph& graph, LiveLayers& layers) {
  if (longest_chain(graph, layers) <= kLongestChain) return;

  Beams beams(graph.layers.size());
  std::vector<OptionList> anchors;
  std::size_t since_last = 0;
  bool last_carries = false;
  for (const Layer* layer : layers) {
    beams.visit(*layer);
    if (!has_sources(*layer) || ++since_last < kStride) continue;
    since_last = 0;
    bool carries = beams.carries(*layer);
    if (anchors.empty() || anchors.back().size() == kLayersPerAnchor || carries != last_carries) anchors.emplace_back();
    last_carries = carries;
    anchors.back().push_back(layer);
  }

  for (std::size_t i = 0; i < anchors.size(); ++i) {
    OptionDict options = {
        {"value", 0}, {"dtype", "int32"}, {"shape_deps", std::move(anchors[i])}, {"is_output_layer", true}};
    Layer& anchor =
        graph.add("constant", std::move(options), {{}, DType::int32, nullptr}, graph.root_scope(), "", Span{});
    anchor.name = anchor_name(i, anchors.size());
    anchor.fixed_name = true;
    anchor.root = true;
    layers.push_back(&anchor);
  }
}

}  // namespace rcn
