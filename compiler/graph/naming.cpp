#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/graph/passes.h"

namespace rcn {

namespace {

bool plain_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// RETURNN gives a meaning to `/` (sub layer), `:` (base:, prev:, data:) and a leading `#` (no layer), constructs names
// with a leading `.` first (the order anchors), and TensorFlow refuses or loses most other characters.
std::string legal(std::string_view base) {
  std::string result;
  for (char c : base) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;  // one `_` for a whole code point
    result += plain_char(c) ? c : '_';
  }
  if (result.empty()) result = "layer";
  if (result.front() == '.') result.front() = '_';
  if (result.back() == '.') result.back() = '_';
  return result;
}

// The paths of scopes, each made when first asked for. `make` gets the parent's path and the scope.
class ScopePaths {
 public:
  template <class Make>
  const std::string& path(const NameScope* scope, Make&& make) {
    if (!scope || !scope->parent) return root_;
    if (const std::string* known = find(scope)) return *known;
    std::vector<const NameScope*> missing;
    for (; scope->parent && !find(scope); scope = scope->parent) missing.push_back(scope);
    const std::string* path = scope->parent ? find(scope) : &root_;
    for (auto it = missing.rbegin(); it != missing.rend(); ++it)
      path = &paths_.emplace(*it, make(*path, *it)).first->second;
    return *path;
  }

 private:
  const std::string* find(const NameScope* scope) const {
    auto it = paths_.find(scope);
    return it == paths_.end() ? nullptr : &it->second;
  }

  std::unordered_map<const NameScope*, std::string> paths_;
  const std::string root_;
};

// Of one dict.
class Namer {
 public:
  explicit Namer(std::unordered_set<std::string> reserved) : layer_names_(std::move(reserved)) {}

  void run(const std::vector<Layer*>& layers) {
    for (const Layer* layer : layers)
      if (layer->fixed_name) layer_names_.insert(layer->name);
    used_.reserve(2 * layers.size());
    wanted_.reserve(2 * layers.size());

    std::vector<std::string> bases;
    bases.reserve(layers.size());
    ScopePaths unsuffixed;
    for (const Layer* layer : layers) {
      bases.push_back(legal(layer->base));
      if (layer->fixed_name) continue;
      const std::string& scope = unsuffixed.path(layer->scope, [&](const std::string& parent, const NameScope* s) {
        std::string path = joined(parent, legal(s->base));
        wanted_.insert(path);
        return path;
      });
      wanted_.insert(joined(scope, bases.back()));
    }

    // A scope gets its name when the first layer in it is met: program order.
    ScopePaths paths;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      Layer* layer = layers[i];
      if (layer->fixed_name) continue;
      const std::string& scope = paths.path(layer->scope, [&](const std::string& parent, const NameScope* s) {
        return unique(joined(parent, legal(s->base)), false);
      });
      layer->name = unique(joined(scope, std::move(bases[i])), true);
    }
  }

 private:
  static std::string joined(const std::string& path, std::string base) {
    if (path.empty()) return base;
    std::string result;
    result.reserve(path.size() + 1 + base.size());
    return result.append(path).append(1, '.').append(base);
  }

  // A scope is only a prefix, so it may bear the name of a mark (`output encoder = encoder(x)`), but not that of
  // another layer.
  bool taken(const std::string& name, bool is_layer) const {
    return used_.contains(name) || (is_layer && layer_names_.contains(name));
  }

  std::string unique(const std::string& wanted, bool is_layer) {
    std::string name = wanted;
    if (taken(name, is_layer)) {
      std::size_t& count = repeats_[wanted];
      do {
        name = wanted;
        name.append(1, '_').append(std::to_string(++count));
      } while (taken(name, is_layer) || layer_names_.contains(name) || wanted_.contains(name));
    }
    used_.insert(name);
    return name;
  }

  std::unordered_set<std::string> layer_names_;  // fixed and reserved ones
  std::unordered_set<std::string> used_;         // given ones, of layers and scopes
  std::unordered_set<std::string> wanted_;       // those that anything would have without suffixes
  std::unordered_map<std::string, std::size_t> repeats_;
};

}  // namespace

void assign_names(const LiveLayers& layers, const OptionDict& entries) {
  for (std::size_t i = 0; i < layers.dicts.size(); ++i) {
    // RETURNN takes layers with these names for the input, for no source at all, for the default output, and in a loop
    // for its end.
    std::unordered_set<std::string> reserved = {"data", "none", "output"};
    if (i > 0) reserved.insert("end");
    if (i == 0)
      for (const auto& [key, value] : entries) reserved.insert(key);
    Namer(std::move(reserved)).run(layers.dicts[i]);
  }
}

}  // namespace rcn
