#include <algorithm>
#include <bit>
#include <functional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/dims/dim_list.h"
#include "compiler/graph/passes.h"

namespace rcn {

namespace {

// ---- options that are the same, numbers bit for bit

bool same(const Option& a, const Option& b);

bool same(const OptionList& a, const OptionList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Option& x, const Option& y) { return same(x, y); });
}

bool same(const OptionDict& a, const OptionDict& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first && same(x.second, y.second); });
}

struct Same {
  const Option& other;

  template <class T>
  bool operator()(const T& mine) const {
    return equal(mine, std::get<T>(other.data));
  }

  static bool equal(std::monostate, std::monostate) { return true; }
  static bool equal(bool a, bool b) { return a == b; }
  static bool equal(std::int64_t a, std::int64_t b) { return a == b; }
  static bool equal(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
  static bool equal(const std::string& a, const std::string& b) { return a == b; }
  static bool equal(const LayerRef& a, const LayerRef& b) { return a.layer == b.layer && a.sub == b.sub && a.kind == b.kind; }
  static bool equal(RegionRef a, RegionRef b) { return a.region == b.region; }
  static bool equal(DimRef a, DimRef b) { return a.dim == b.dim && a.match_priority == b.match_priority; }
  static bool equal(const OptionList& a, const OptionList& b) { return same(a, b); }
  static bool equal(const OptionTuple& a, const OptionTuple& b) { return same(a.items, b.items); }
  static bool equal(const OptionSet& a, const OptionSet& b) { return same(a.items, b.items); }
  static bool equal(const OptionDict& a, const OptionDict& b) { return same(a, b); }
  static bool equal(const OptionMap& a, const OptionMap& b) {
    return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(),
                      [](const auto& x, const auto& y) { return same(x.first, y.first) && same(x.second, y.second); });
  }
};

bool same(const Option& a, const Option& b) { return a.data.index() == b.data.index() && std::visit(Same{b}, a.data); }

// Equal layers have equal hashes: of the class, and the layers, dims and texts in the options.
std::size_t hash_of(const Layer& layer) {
  std::size_t result = std::hash<std::string_view>()(layer.cls);
  auto add = [&](std::size_t h) { result = result * 1099511628211u + h; };
  for (const auto& [key, option] : layer.options) {
    for_each_part<LayerRef>(option, [&](const LayerRef& ref) { add(ref.layer->id); });
    for_each_part<DimRef>(option, [&](const DimRef& ref) { add(ref.dim->id); });
    for_each_part<std::string>(option, [&](const std::string& text) { add(std::hash<std::string>()(text)); });
  }
  return result;
}

// ---- layers that may stand for others: their value depends on nothing but their options

constexpr std::string_view kPure[] = {"activation", "cast", "combine", "compare", "concat", "constant", "dot", "eval", "expand_dims",
                                      "gather", "length", "merge_dims", "pad", "range_in_axis", "range_from_length", "reduce", "reinterpret_data",
                                      "seq_len_mask", "softmax_over_spatial", "split", "split_dims", "switch", "train_flag", "transpose"};

bool pure(const Layer& layer) {
  if (layer.root || layer.fixed_name || layer.builtin || layer.opaque || draws(layer)) return false;
  return std::find(std::begin(kPure), std::end(kPure), layer.cls) != std::end(kPure);
}

// What tells the lengths of a dim is one of many layers that have it.
bool reads_only_a_dim(const Layer& layer) { return layer.cls == "range_in_axis"; }

// ---- dims

// Dims that may be one with others: atoms that a layer makes, mentioned by nothing before it, in no other dim, no loop and
// no result.
class Dims {
 public:
  Dims(const Graph& graph, const std::vector<Layer*>& layers) {
    auto candidate = [&](Dim d) {
      if (d->form != DimForm::atom || !d->dynamic() || d->kind == DimKind::batch || d->marker) return;
      if (d->id >= first_.size()) first_.resize(d->id + 1);
      first_[d->id].may_go = true;
    };
    for (const auto& [d, from] : graph.lengths_of) candidate(d);
    for (const Layer* layer : layers)
      if (layer->cls == "range_from_length") candidate(std::get<DimRef>(layer->option("out_spatial_dim")->data).dim);
    if (first_.empty()) return;
    for (const Extern& source : graph.externs)
      for (Dim d : source.type.dims) keep(d);
    for (const auto& [key, option] : graph.entries) for_each_dim(option, [&](const DimRef& ref) { keep(ref.dim); });
    for (const Layer* layer : layers) note(*layer);
  }

  Dim now(Dim d) const {
    if (replaced_.empty()) return d;
    auto it = replaced_.find(d);
    return it == replaced_.end() ? d : it->second;
  }
  bool replaces() const { return !replaced_.empty(); }

  // Whether `mine`, which the layer makes, can be `theirs`; then it is from now on.
  bool unite(Dim theirs, Dim mine, const Layer& maker) {
    if (!may_go(mine) || !may_go(theirs) || first_[mine->id].layer != &maker || theirs->kind != mine->kind) return false;
    std::vector<Dim>& group = groups_.try_emplace(theirs, std::vector<Dim>{theirs}).first->second;
    for (Dim d : group)
      if (meet_.contains({std::min(d->id, mine->id), std::max(d->id, mine->id)})) return false;
    group.push_back(mine);
    replaced_.emplace(mine, theirs);
    return true;
  }

 private:
  bool may_go(Dim d) const { return d->id < first_.size() && first_[d->id].may_go; }
  void keep(Dim d) {
    if (d->id < first_.size()) first_[d->id].may_go = false;
  }

  void note(const Layer& layer) {
    met_.clear();
    auto mention = [&](Dim d) {
      if (d->form != DimForm::atom && composed_.insert(d).second)
        for (Dim atom : atoms(d)) keep(atom);
      if (!may_go(d)) return;
      if (!first_[d->id].layer) first_[d->id].layer = &layer;
      if (layer.root || in_loop(layer.region)) return keep(d);
      met_.push_back(d);
    };
    for (Dim d : layer.type.dims) mention(d);
    if (layer.type.sparse_dim) mention(layer.type.sparse_dim);
    for (const auto& [key, option] : layer.options) {
      for_each_dim(option, [&](const DimRef& ref) { mention(ref.dim); });
      for_each_layer(option, [&](const LayerRef& ref) {
        for (Dim d : ref.layer->type.dims)
          if (may_go(d)) met_.push_back(d);
      });
    }
    for (Dim a : met_)
      for (Dim b : met_)
        if (a->id < b->id) meet_.emplace(a->id, b->id);
  }

  struct First {
    bool may_go = false;
    const Layer* layer = nullptr;  // that mentions it first
  };
  std::vector<First> first_;  // by Dim::id
  std::unordered_set<Dim> composed_;  // dims of several atoms so far
  std::vector<Dim> met_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> meet_;  // pairs that some layer has both of, by Dim::id
  std::unordered_map<Dim, Dim> replaced_;
  std::unordered_map<Dim, std::vector<Dim>> groups_;  // which dims one stands for
};

class Merger {
 public:
  Merger(Graph& graph, const LiveLayers& layers) : graph_(graph), all_(layers.all()), dims_(graph, all_) { known_.reserve(all_.size()); }

  // Whether some layer stands for others now.
  bool run() {
    for (const Layer* layer : all_)
      if (layer->cls == "dropout")
        for (const auto& [key, option] : layer->options) for_each_layer(option, [&](const LayerRef& ref) { dropped_.insert(ref.layer); });
    for (Layer* layer : all_) {
      // RETURNN knows a dim by the tensor of its lengths: each keeps a layer of its own for them.
      Option* lengths = layer->cls == "range_from_length" ? &layer->options.front().second : nullptr;
      Option own = lengths ? *lengths : Option();
      renew(*layer);
      if (!in_loop(layer->region)) {
        rename_of_same_lengths(*layer);
        if (pure(*layer) && merge(*layer)) continue;
      }
      if (lengths) *lengths = std::move(own);
    }
    for (auto& [key, option] : graph_.entries) renew(option);
    return !replaced_.empty();
  }

 private:
  void renew(Option& option) {
    change_parts<LayerRef>(option, [&](LayerRef& ref) {
      if (auto it = replaced_.find(ref.layer); it != replaced_.end()) ref.layer = it->second;
    });
    if (dims_.replaces()) change_parts<DimRef>(option, [&](DimRef& ref) { ref.dim = dims_.now(ref.dim); });
  }

  void renew(Layer& layer) {
    if (replaced_.empty() && !dims_.replaces()) return;
    for (auto& [key, option] : layer.options) renew(option);
    if (!dims_.replaces()) return;
    for (Dim& d : layer.type.dims) d = dims_.now(d);
    if (layer.type.sparse_dim) layer.type.sparse_dim = dims_.now(layer.type.sparse_dim);
  }

  // A dim that gets the lengths of another one here: the dim that got them before.
  void rename_of_same_lengths(Layer& layer) {
    if (layer.cls != "reinterpret_data" || layer.region != graph_.root_region()) return;
    for (const auto& [key, option] : layer.options) {
      if (key != "set_dim_tags") continue;
      for_each_part<OptionTuple>(option, [&](const OptionTuple& pair) {
        Dim to = std::get<DimRef>(pair.items[1].data).dim;
        auto from = graph_.lengths_of.find(to);
        if (from == graph_.lengths_of.end()) return;
        std::vector<Dim>& known = renamed_[dims_.now(from->second)];
        bool united = std::any_of(known.begin(), known.end(), [&](Dim d) { return dims_.unite(d, to, layer); });
        if (!united && !contains(known, to)) known.push_back(to);
      });
    }
    renew(layer);
  }

  // Whether another layer stands for this one now.
  bool merge(Layer& layer) {
    Dim made = nullptr;  // by the layer
    auto without_own = [&](Layer& copy) {
      for (auto& [key, option] : copy.options)
        if (key == "out_spatial_dim") option = Option();
      if (reads_only_a_dim(copy)) std::erase_if(copy.options, [](const auto& entry) { return entry.first == "from"; });
    };
    bool changes = layer.cls == "range_from_length" || reads_only_a_dim(layer);
    Layer key;
    if (changes) {
      key.id = layer.id;
      key.cls = layer.cls;
      key.options = layer.options;
      for (const auto& [name, option] : layer.options)
        if (name == "out_spatial_dim") made = std::get<DimRef>(option.data).dim;
      without_own(key);
    }
    const Layer& seen = changes ? key : layer;
    std::vector<Known>& candidates = known_[hash_of(seen)];
    for (const Known& other : candidates) {
      if (other.layer->region != layer.region || other.layer->cls != layer.cls || !same(other.options ? *other.options : other.layer->options, seen.options)) continue;
      if (dropped_.contains(&layer) && dropped_.contains(other.layer)) continue;  // RETURNN would draw one mask for both
      if (made && !dims_.unite(other.made, made, layer)) continue;
      if (!made && other.layer->type.sparse_dim != layer.type.sparse_dim) continue;
      replaced_.emplace(&layer, other.layer);
      if (dropped_.contains(&layer)) dropped_.insert(other.layer);
      other.layer->parts.push_back(layer.span);
      return true;
    }
    candidates.push_back({&layer, made, changes ? std::optional<OptionDict>(std::move(key.options)) : std::nullopt});
    return false;
  }

  struct Known {
    Layer* layer;
    Dim made;                           // the dim that it makes
    std::optional<OptionDict> options;  // what counts of its options, if not all do
  };

  Graph& graph_;
  std::vector<Layer*> all_;
  Dims dims_;
  std::unordered_map<const Layer*, const Layer*> replaced_;
  std::unordered_map<std::size_t, std::vector<Known>> known_;  // by hash
  std::unordered_map<Dim, std::vector<Dim>> renamed_;          // by the dim whose lengths they got
  std::unordered_set<const Layer*> dropped_;                   // what dropouts read
};

}  // namespace

void merge_equal(Graph& graph, LiveLayers& layers) {
  if (Merger(graph, layers).run()) layers = drop_dead(graph);
}

}  // namespace rcn
