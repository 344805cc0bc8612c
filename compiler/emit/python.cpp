// A Python config. It sets only `backend`, `behavior_version`, `extern_data`, `network` and names that end in `_dim`
// (no setting of RETURNN does), and imports what it uses (`Dim` and dims of RETURNN, `sys`): it shares its namespace
// with the user's config, be it by `from tagger import *` or as one of several files on RETURNN's command line.
#include <algorithm>
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

class PythonWriter {
 public:
  PythonWriter(const Document& document, const SourceMap& sources, const EmitOptions& options)
      : document_(document), sources_(sources), options_(options), ids_(dim_ids(document)) {}

  std::string run() {
    bool all = options_.part == EmitPart::all;
    // RETURNN executes a config whose first line begins like this, whatever the file is called.
    out_ = "#!rnn.py\n# A network for RETURNN (TensorFlow net dict), written by rcnc.\n";
    if (!all && options_.part != EmitPart::dims) out_ += "# It uses the names that `rcnc --emit dims` writes.\n";
    if (all || options_.part == EmitPart::dims) write_dims();
    if (document_.deep && (all || options_.part == EmitPart::net)) {
      out_ += "\nimport sys\n\n# RETURNN constructs the body of a loop or branch by recursion.\n";
      std::string limit = std::to_string(kRecursionLimit);
      out_ += "sys.setrecursionlimit(max(sys.getrecursionlimit(), " + limit + "))\n";
    }
    if (all || options_.part == EmitPart::net)
      out_ +=
          "\nbackend = \"tensorflow-net-dict\"\nbehavior_version = " + std::to_string(options_.behavior_version) + "\n";
    if (all || options_.part == EmitPart::extern_data) write_extern_data();
    if (all || options_.part == EmitPart::net) write_network();
    return std::move(out_);
  }

 private:
  void write_dims() {
    std::string imports, declarations;
    bool declares = false;
    for (const DimEntry& entry : document_.dims) {
      if (entry.id == "batch_dim" || entry.id == "single_step_dim") {
        imports += ", " + entry.id;
        continue;
      }
      declares = true;
      declarations += entry.id + " = Dim(" + (entry.dim->size ? std::to_string(*entry.dim->size) : "None") +
                      ", name=" + python_quoted(to_string(entry.dim)) + ", kind=Dim.Types." + kind_name(entry.dim) +
                      ")\n";
    }
    if (declares) imports = ", Dim" + imports;
    if (!imports.empty()) out_ += "\nfrom returnn.tensor import " + imports.substr(2) + "\n";
    if (declares) out_ += "\n" + declarations;
  }

  static std::string kind_name(Dim d) {
    switch (d->kind) {
      case DimKind::batch: return "Batch";
      case DimKind::spatial: return "Spatial";
      case DimKind::feature: return "Feature";
    }
    return "";
  }

  void write_extern_data() { write_dict("extern_data", dict_nodes(document_.extern_data)); }
  void write_network() { write_dict("network", layer_nodes(document_.network)); }

  std::vector<Node> layer_nodes(const std::vector<NetworkEntry>& layers) const {
    std::vector<Node> items;
    items.reserve(layers.size());
    for (const NetworkEntry& item : layers) {
      items.push_back(entry(item.name, node(item.value)));
      if (options_.comments) items.back().comment = places(item);
    }
    return items;
  }

  void write_dict(const std::string& name, std::vector<Node> items) {
    out_ += '\n';
    if (items.empty()) {
      out_ += name + " = {}\n";
      return;
    }
    render(Node::group(name + " = {", std::move(items), "}"), 0, LayoutStyle{}, out_);
    out_ += '\n';
  }

  // `# model.rcn:12`, and where else there is something of the layer, each line once.
  std::string places(const NetworkEntry& item) const {
    if (!item.span.valid()) return "";
    std::vector<std::string> lines{place(item.span)};
    for (Span span : item.parts) {
      std::string line = place(span);
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
    }
    std::string result = "# ";
    for (const std::string& line : lines) result += (result.size() == 2 ? "" : ", ") + line;
    return result;
  }

  // Without the folder, so that the text does not depend on where the compiler was started.
  std::string place(Span span) const {
    const std::string& path = sources_.name(span.file);
    std::size_t slash = path.find_last_of('/');
    std::string result;
    for (char c : slash == std::string::npos ? path : path.substr(slash + 1))
      result += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    return result + ":" + std::to_string(sources_.locate(span.file, span.begin).line);
  }

  Node entry(const std::string& key, Node value) const {
    value.prefix(python_quoted(key).append(": "));
    return value;
  }

  std::vector<Node> dict_nodes(const OptionDict& dict) const {
    std::vector<Node> items;
    items.reserve(dict.size());
    for (const auto& [key, value] : dict) items.push_back(entry(key, node(value)));
    return items;
  }

  std::vector<Node> nodes(const OptionList& list) const {
    std::vector<Node> items;
    items.reserve(list.size());
    for (const Option& item : list) items.push_back(node(item));
    return items;
  }

  Node node(const Option& option) const {
    return std::visit([this](const auto& value) { return make(value); }, option.data);
  }

  Node make(std::monostate) const { return Node::leaf("None"); }
  Node make(bool value) const { return Node::leaf(value ? "True" : "False"); }
  Node make(std::int64_t value) const { return Node::leaf(number_text(value)); }
  Node make(double value) const {
    std::string text = number_text(value);
    return Node::leaf(std::isfinite(value) ? text : "float(\"" + text + "\")");
  }
  Node make(const std::string& value) const { return Node::leaf(python_quoted(value)); }
  Node make(const LayerRef&) const { throw std::logic_error("a reference without a spelling"); }
  Node make(const RegionRef& ref) const {
    Node body = Node::group("{", layer_nodes(document_.bodies.at(ref.region)), "}");
    body.broken = true;
    return body;
  }
  Node make(const DimRef& ref) const {
    std::string text = ids_.at(ref.dim);
    if (ref.match_priority) text += ".copy(match_priority=" + std::to_string(ref.match_priority) + ")";
    return Node::leaf(text);
  }
  Node make(const OptionList& list) const { return Node::group("[", nodes(list), "]"); }
  Node make(const OptionTuple& tuple) const {
    return Node::group("(", nodes(tuple.items), tuple.items.size() == 1 ? ",)" : ")");
  }
  Node make(const OptionSet& set) const {
    return set.items.empty() ? Node::leaf("set()") : Node::group("{", nodes(set.items), "}");
  }
  Node make(const OptionDict& dict) const { return Node::group("{", dict_nodes(dict), "}"); }
  Node make(const OptionMap& map) const {
    std::vector<Node> items;
    for (const auto& [key, value] : map.items) {
      Node item = node(value), key_node = node(key);
      item.prefix(key_node.open + ": ");
      items.push_back(std::move(item));
    }
    return Node::group("{", std::move(items), "}");
  }

  const Document& document_;
  const SourceMap& sources_;
  const EmitOptions& options_;
  std::unordered_map<Dim, std::string> ids_;
  std::string out_;
};

}  // namespace

std::string write_python(const Document& document, const SourceMap& sources, const EmitOptions& options) {
  return PythonWriter(document, sources, options).run();
}

}  // namespace rcn
