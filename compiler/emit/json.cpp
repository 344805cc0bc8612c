// JSON, tagged and plain. What JSON has no word for is a dict with one key that begins with `$`:
//   {"$dim": ID}, {"$dim": ID, "match_priority": 1}, {"$set": [..]}, {"$tuple": [..]}, {"$map": [[key, value], ..]}
// "rcnc_recursion_limit" is there where RETURNN needs one that is higher than Python's default.
// A `$` that begins a key of a real dict is doubled, so the two never meet. Dims are declared once, in "rcnc_dims".
// Infinities and NaN are `Infinity`, `-Infinity` and `NaN`, as Python's json reads and writes them.
#include <cmath>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/base/number_text.h"
#include "compiler/emit/layout.h"
#include "compiler/emit/quote.h"
#include "compiler/emit/writers.h"

namespace rcn {

namespace {

constexpr LayoutStyle kStyle = {110, 1, false};

class JsonWriter {
 public:
  JsonWriter(const Document& document, const EmitOptions& options, bool tagged)
      : document_(document), options_(options), tagged_(tagged), ids_(dim_ids(document)) {}

  std::string run() {
    bool all = options_.part == EmitPart::all;
    if (all || options_.part == EmitPart::net) {
      sections_.push_back("\"backend\": \"tensorflow-net-dict\"");
      sections_.push_back("\"behavior_version\": " + std::to_string(options_.behavior_version));
    }
    if (document_.deep && (all || options_.part == EmitPart::net))
      sections_.push_back("\"rcnc_recursion_limit\": " + std::to_string(kRecursionLimit));
    if (tagged_ && (all || options_.part == EmitPart::dims)) add_section("rcnc_dims", dim_nodes());
    if (all || options_.part == EmitPart::extern_data) add_section("extern_data", dict_nodes(document_.extern_data));
    if (all || options_.part == EmitPart::net) add_section("network", layer_nodes(document_.network));

    std::string out = "{\n";
    for (std::size_t i = 0; i < sections_.size(); ++i) out += sections_[i] + (i + 1 < sections_.size() ? ",\n" : "\n");
    return out + "}\n";
  }

 private:
  void add_section(const std::string& name, std::vector<Node> items) {
    std::string text;
    if (items.empty()) {
      text = json_quoted(name) + ": {}";
    } else {
      render(Node::group(json_quoted(name) + ": {", std::move(items), "}"), 0, kStyle, text);
    }
    sections_.push_back(std::move(text));
  }

  std::vector<Node> dim_nodes() const {
    std::vector<Node> items;
    for (const DimEntry& item : document_.dims) {
      OptionDict dict;
      if (item.id != "batch_dim" && item.id != "single_step_dim") {
        dict.emplace_back("name", to_string(item.dim));
        dict.emplace_back("kind", to_string(item.dim->kind));
        dict.emplace_back("size", item.dim->size ? Option(*item.dim->size) : Option());
      }
      items.push_back(entry(item.id, make(dict)));
    }
    return items;
  }

  std::vector<Node> layer_nodes(const std::vector<NetworkEntry>& layers) const {
    std::vector<Node> items;
    for (const NetworkEntry& item : layers) items.push_back(entry(item.name, node(item.value)));
    return items;
  }

  std::string key_text(const std::string& key) const {
    return json_quoted(tagged_ && key.starts_with("$") ? "$" + key : key);
  }

  Node entry(const std::string& key, Node value) const {
    value.prefix(key_text(key) + ": ");
    return value;
  }

  std::vector<Node> dict_nodes(const OptionDict& dict) const {
    std::vector<Node> items;
    for (const auto& [key, value] : dict) items.push_back(entry(key, node(value)));
    return items;
  }

  std::vector<Node> nodes(const OptionList& list) const {
    std::vector<Node> items;
    for (const Option& item : list) items.push_back(node(item));
    return items;
  }

  static Node tag(const std::string& name, std::vector<Node> items) {
    return Node::group("{\"$" + name + "\": [", std::move(items), "]}");
  }

  Node node(const Option& option) const {
    return std::visit([this](const auto& value) { return make(value); }, option.data);
  }

  Node make(std::monostate) const { return Node::leaf("null"); }
  Node make(bool value) const { return Node::leaf(value ? "true" : "false"); }
  Node make(std::int64_t value) const { return Node::leaf(number_text(value)); }
  Node make(double value) const {
    if (std::isnan(value)) return Node::leaf("NaN");
    if (std::isinf(value)) return Node::leaf(value < 0 ? "-Infinity" : "Infinity");
    return Node::leaf(number_text(value));
  }
  Node make(const std::string& value) const { return Node::leaf(json_quoted(value)); }
  Node make(const LayerRef&) const { throw std::logic_error("a reference without a spelling"); }
  Node make(const RegionRef& ref) const {
    Node body = Node::group("{", layer_nodes(document_.bodies.at(ref.region)), "}");
    body.broken = true;
    return body;
  }
  Node make(const DimRef& ref) const {
    std::string text = "{\"$dim\": " + json_quoted(ids_.at(ref.dim));
    if (ref.match_priority) text += ", \"match_priority\": " + std::to_string(ref.match_priority);
    return Node::leaf(text + "}");
  }
  Node make(const OptionList& list) const { return Node::group("[", nodes(list), "]"); }
  Node make(const OptionTuple& tuple) const { return tag("tuple", nodes(tuple.items)); }
  Node make(const OptionSet& set) const { return tag("set", nodes(set.items)); }
  Node make(const OptionDict& dict) const { return Node::group("{", dict_nodes(dict), "}"); }
  Node make(const OptionMap& map) const {
    std::vector<Node> items;
    for (const auto& [key, value] : map.items) items.push_back(Node::group("[", {node(key), node(value)}, "]"));
    return tag("map", std::move(items));
  }

  const Document& document_;
  const EmitOptions& options_;
  bool tagged_;
  std::unordered_map<Dim, std::string> ids_;
  std::vector<std::string> sections_;
};

}  // namespace

std::string write_tagged_json(const Document& document, const EmitOptions& options) {
  return JsonWriter(document, options, true).run();
}

std::string write_plain_json(const Document& document, const EmitOptions& options) {
  return JsonWriter(document, options, false).run();
}

}  // namespace rcn
