#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/dims/dim_list.h"
#include "compiler/graph/readers.h"

namespace rcn {

namespace {

constexpr std::size_t kMostParts = 24;  // layers in one expression: Python parses no hundred nested parentheses

// ---- what layers compute, as Python over `source(i)`

// How tight an expression binds, as far as it matters here.
enum class Binding { loose, sum, product, whole };

struct Expression {
  std::string text;
  Binding binding = Binding::whole;
};

std::string operand(const Expression& e, Binding least) { return e.binding >= least ? e.text : "(" + e.text + ")"; }

struct Operator {
  std::string_view kind, text;
  Binding binding;
};

constexpr Operator kOperators[] = {
    {"add", " + ", Binding::sum},
    {"sub", " - ", Binding::sum},
    {"mul", " * ", Binding::product},
    {"truediv", " / ", Binding::product},
};

struct Function {
  std::string_view name, python;
};

// RETURNN's `combine` and `activation` take these.
constexpr Function kFunctions[] = {
    {"maximum", "tf.maximum"}, {"minimum", "tf.minimum"}, {"squared_difference", "tf.math.squared_difference"}, {"pow", "tf.pow"},
    {"floordiv", "tf.math.floordiv"}, {"mod", "tf.math.mod"},
    {"logical_and", "tf.logical_and"}, {"logical_or", "tf.logical_or"}, {"logical_xor", "tf.math.logical_xor"},
    {"abs", "tf.abs"}, {"negative", "tf.negative"}, {"sign", "tf.sign"}, {"ceil", "tf.math.ceil"}, {"floor", "tf.floor"},
    {"relu", "tf.nn.relu"}, {"elu", "tf.nn.elu"}, {"selu", "tf.nn.selu"}, {"exp", "tf.exp"}, {"expm1", "tf.math.expm1"},
    {"log", "tf.math.log"}, {"log1p", "tf.math.log1p"}, {"sin", "tf.sin"}, {"cos", "tf.cos"}, {"tan", "tf.tan"}, {"tanh", "tf.tanh"},
    {"sigmoid", "tf.sigmoid"}, {"log_sigmoid", "tf.math.log_sigmoid"}, {"sqrt", "tf.sqrt"}, {"rsqrt", "tf.math.rsqrt"},
    {"swish", "tf.nn.swish"}, {"square", "tf.square"}, {"softplus", "tf.nn.softplus"}, {"reciprocal", "tf.math.reciprocal"},
    {"erf", "tf.math.erf"}, {"logical_not", "tf.logical_not"},
};

const Function* function(std::string_view name) {
  for (const Function& f : kFunctions)
    if (f.name == name) return &f;
  return nullptr;
}

std::string_view text_option(const Layer& layer, std::string_view key) {
  const Option* option = layer.option(key);
  const auto* text = option ? std::get_if<std::string>(&option->data) : nullptr;
  return text ? std::string_view(*text) : std::string_view();
}

std::string source_text(std::size_t i) { return "source(" + std::to_string(i) + ")"; }

// Of the text of an `eval`: whether nothing stands around a single call.
bool is_call(std::string_view text) {
  std::size_t open = text.find('('), depth = 0;
  if (open == std::string_view::npos || text.back() != ')' || text.substr(0, open).find_first_of(" -") != std::string_view::npos) return false;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i + 1 == text.size();
  }
  return false;
}

Binding binding_of(std::string_view text) {
  if (is_call(text)) return Binding::whole;
  std::size_t depth = 0;
  Binding result = Binding::whole;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (depth > 0 || text[i] != ' ') continue;
    std::string_view op = text.substr(i, 3);
    bool product = op == " * " || op == " / ", sum = op == " + " || op == " - ";
    if (!product && !sum) return Binding::loose;
    result = std::min(result, product ? Binding::product : Binding::sum);
    i += 2;
  }
  return result == Binding::whole ? Binding::loose : result;
}

// `sources[i]` stands for the layer's source i. An expression that is used twice is no part of another.
Expression expression(const Layer& layer, const std::vector<Expression>& sources) {
  if (layer.cls == "eval") {
    std::string_view text = text_option(layer, "eval");
    if (text == source_text(0)) return sources[0];
    std::string result;
    for (std::size_t at = 0;;) {
      std::size_t next = text.find("source(", at);
      result.append(text.substr(at, next - at));
      if (next == std::string_view::npos) return {std::move(result), binding_of(text)};
      std::size_t i = 0;
      for (at = next + 7; text[at] != ')'; ++at) i = 10 * i + static_cast<std::size_t>(text[at] - '0');
      ++at;
      bool argument = next > 1 && (text[next - 1] == '(' || text.substr(next - 2, 2) == ", ");
      bool ends = at == text.size() || text[at] == ')' || text[at] == ',';
      result += operand(sources[i], argument && ends ? Binding::loose : Binding::whole);
    }
  }
  std::string_view kind = text_option(layer, layer.cls == "combine" ? "kind" : "activation");
  for (const Operator& op : kOperators)
    if (layer.cls == "combine" && op.kind == kind) {
      Binding right = op.binding == Binding::sum ? Binding::product : Binding::whole;
      return {operand(sources[0], op.binding) + std::string(op.text) + operand(sources[1], right), op.binding};
    }
  std::string result(function(kind)->python);
  for (std::size_t i = 0; i < sources.size(); ++i) result += (i == 0 ? "(" : ", ") + sources[i].text;
  return {result + ")", Binding::whole};
}

std::size_t uses(const Layer& layer, std::size_t source) {
  if (layer.cls != "eval") return 1;
  std::string_view text = text_option(layer, "eval");
  std::string wanted = source_text(source);
  std::size_t count = 0;
  for (std::size_t at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + 1)) ++count;
  return count;
}

std::vector<LayerRef> sources_of(const Layer& layer) {
  std::vector<LayerRef> result;
  if (const Option* from = layer.option("from")) for_each_layer(*from, [&](const LayerRef& ref) { result.push_back(ref); });
  return result;
}

bool can_be_expression(const Layer& layer) {
  if (!layer.elementwise || layer.type.sparse_dim) return false;
  if (layer.cls == "eval") return true;
  std::string_view kind = text_option(layer, layer.cls == "combine" ? "kind" : "activation");
  bool known = function(kind) || (layer.cls == "combine" && std::any_of(std::begin(kOperators), std::end(kOperators), [&](const Operator& op) { return op.kind == kind; }));
  return known && (layer.cls == "combine" || layer.cls == "activation");
}

class Fuser {
 public:
  Fuser(const Graph& graph, LiveLayers& layers) : layers_(layers), readers_(count_readers(graph, layers)), parts_(graph.layers.size(), 1) {}

  void run() {
    for (const std::vector<Layer*>& dict : layers_.dicts) {
      if (dict.empty() || in_loop(dict.front()->region)) continue;
      for (Layer* layer : dict)
        if (can_be_expression(*layer)) fuse(*layer);
    }
    take_out(layers_, into_);
  }

 private:
  bool goes_into(const LayerRef& ref, const Layer& reader) const {
    const Layer& layer = *ref.layer;
    return ref.sub.empty() && ref.kind == RefKind::value && readers_[layer.id] == 1 && !layer.named && !layer.root && !layer.fixed_name &&
           layer.region == reader.region && can_be_expression(layer);
  }

  void fuse(Layer& layer) {
    std::vector<LayerRef> old = sources_of(layer), from;
    std::vector<bool> inside(old.size(), false);
    std::size_t parts = 1;
    bool any = false;
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (!goes_into(old[i], layer) || uses(layer, i) != 1 || parts + parts_[old[i].layer->id] > kMostParts) continue;
      inside[i] = any = true;
      parts += parts_[old[i].layer->id];
    }
    if (!any) return;
    auto place = [&](const LayerRef& ref) {
      auto same = std::find_if(from.begin(), from.end(), [&](const LayerRef& f) { return f.layer == ref.layer && f.sub == ref.sub && f.kind == ref.kind; });
      if (same == from.end()) same = from.insert(from.end(), ref);
      return Expression{source_text(static_cast<std::size_t>(same - from.begin())), Binding::whole};
    };
    std::vector<Expression> sources;
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (!inside[i]) {
        sources.push_back(place(old[i]));
        continue;
      }
      std::vector<Expression> inner;
      for (const LayerRef& ref : sources_of(*old[i].layer)) inner.push_back(place(ref));
      sources.push_back(expression(*old[i].layer, inner));
    }
    if (!covered(layer, old, inside, from)) return;
    std::string text = expression(layer, sources).text;
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (!inside[i]) continue;
      const Layer& part = *old[i].layer;
      layer.parts.push_back(part.span);
      layer.parts.insert(layer.parts.end(), part.parts.begin(), part.parts.end());
      into_.emplace(&part, &layer);
    }
    bool alike = std::all_of(from.begin(), from.end(), [&](const LayerRef& ref) {
      return ref.sub.empty() && ref.layer->type.dtype == layer.type.dtype && !ref.layer->type.sparse_dim;
    });
    layer.cls = "eval";
    layer.options = {{"from", from.size() == 1 ? Option(from[0]) : Option(OptionList(from.begin(), from.end()))}, {"eval", std::move(text)}};
    if (!alike) layer.options.emplace_back("out_type", OptionDict{{"dtype", to_string(layer.type.dtype)}, {"sparse_dim", Option()}});
    parts_[layer.id] = parts;
  }

  // Whether one source has all dims, also once the parts are inside: RETURNN takes the order of dims from it, as before.
  static bool covered(const Layer& layer, const std::vector<LayerRef>& old, const std::vector<bool>& inside, const std::vector<LayerRef>& from) {
    bool has_all = std::any_of(from.begin(), from.end(), [&](const LayerRef& ref) { return ref.sub.empty() && same_dims(ref.layer->type.dims, layer.type.dims); });
    if (has_all || spreads(layer)) return has_all;
    for (std::size_t i = 0; i < old.size(); ++i)
      if (inside[i] && spreads(*old[i].layer)) return false;
    return true;
  }
  static bool spreads(const Layer& layer) { return layer.option("allow_broadcast_all_sources") != nullptr; }

  LiveLayers& layers_;
  std::vector<std::size_t> readers_, parts_;  // by Layer::id
  std::unordered_map<const Layer*, const Layer*> into_;
};

}  // namespace

void fuse_elementwise(const Graph& graph, LiveLayers& layers) { Fuser(graph, layers).run(); }

}  // namespace rcn
