#include "compiler/graph/pack.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "compiler/dims/dim_list.h"
#include "compiler/graph/edit.h"

namespace rcn {

namespace {

bool is_cond(const Layer& owner) { return owner.cls == "cond"; }

// Whether the loop gives its axis the lengths.
bool ends_by_itself(const Layer& owner) { return owner.option("max_seq_len") || owner.option("max_seq_len_via"); }

std::vector<const Region*> regions_of(const Layer& owner) {
  std::vector<const Region*> result;
  for_each_region(owner, [&](const Region& region) { result.push_back(&region); });
  return result;
}

// Dims besides the batch, by id: results with the same ones can be joined.
std::vector<Dim> frames_of(const TensorType& type) {
  std::vector<Dim> result;
  for (Dim d : type.dims)
    if (d->dynamic() && d->kind != DimKind::batch) result.push_back(d);
  std::sort(result.begin(), result.end(), [](Dim a, Dim b) { return a->id < b->id; });
  return result;
}

bool has_batch(const TensorType& type) {
  return std::any_of(type.dims.begin(), type.dims.end(), [](Dim d) { return d->kind == DimKind::batch; });
}

std::vector<Dim> static_dims(const TensorType& type) {
  std::vector<Dim> result;
  for (Dim d : type.dims)
    if (!d->dynamic()) result.push_back(d);
  return result;
}

// What a read layer is a plain copy of, in its dict.
const Layer* copied(const Layer* layer) {
  while (layer->cls == "copy" || layer->cls == "cast") {
    const auto* from = std::get_if<LayerRef>(&layer->option("from")->data);
    if (!from || from->layer->type.dtype != layer->type.dtype || from->kind != RefKind::value || !from->sub.empty() || from->layer->region != layer->region) break;
    layer = from->layer;
  }
  return layer;
}

// One part of what is joined: the layer of each dict of the owner.
struct Slot {
  std::vector<const Layer*> layers;
  const Layer& first() const { return *layers.front(); }
  const TensorType& type() const { return first().type; }
};

// Where ints and floats meet, ints go as the bits of floats; bool and smaller types fit into all.
DType common_dtype(const std::vector<Slot>& slots) {
  auto any = [&](auto&& test) { return std::any_of(slots.begin(), slots.end(), [&](const Slot& s) { return test(s.type().dtype); }); };
  DType first = slots.front().type().dtype;
  if (!any([&](DType t) { return t != first; })) return first;
  bool wide = any([](DType t) { return t == DType::int64 || t == DType::float64; });
  if (any([](DType t) { return is_float(t); })) return wide ? DType::float64 : DType::float32;
  return wide ? DType::int64 : DType::int32;
}

// Whether the dtype goes into the float by its bits: they have one size, and the float does not hold all of its ints.
bool by_bits(DType inner, DType common) {
  return (inner == DType::int32 && common == DType::float32) || (inner == DType::int64 && common == DType::float64);
}

class Packer {
 public:
  Packer(Graph& graph, DimTable& dims, DiagnosticSink& diagnostics) : graph_(graph), dims_(dims), diagnostics_(diagnostics), edit_(graph) {}

  void run() {
    if (std::none_of(graph_.regions.begin(), graph_.regions.end(), only_output)) return;
    for (std::size_t level = 1;; ++level) {
      LiveLayers live = drop_dead(graph_);
      if (live.dicts.size() == 1) return;
      std::vector<std::pair<const Layer*, std::vector<const Layer*>>> owners = read_from_outside(live, level);
      bool deeper = std::any_of(graph_.regions.begin(), graph_.regions.end(), [&](const Region& region) {
        return region.parent && *levels_out(&region, graph_.root_region()) >= level && !live.in(&region).empty();
      });
      if (!deeper) return;
      for (const auto& [owner, results] : owners) pack(*owner, results, live);
      if (replaced_.empty() && owners.empty()) continue;
      for (Layer& layer : graph_.layers) replace_in(layer);  // those of clones, too
      edit_.renumber();
      replaced_.clear();
    }
  }

 private:
  using Owners = std::vector<std::pair<const Layer*, std::vector<const Layer*>>>;

  // Owners of dicts that are `level` deep, with the layers in these that others read; of a branch those of the first.
  Owners read_from_outside(const LiveLayers& live, std::size_t level) const {
    std::map<std::uint32_t, std::vector<const Layer*>> found;  // by id of the owner
    std::unordered_map<std::uint32_t, const Layer*> owners;
    for (const Layer* reader : live.all())
      for (const auto& [key, option] : reader->options)
        for_each_layer(option, [&](const LayerRef& ref) {
          const Region* region = ref.layer->region;
          if (ref.kind != RefKind::value || !only_output(*region) || levels_out(reader->region, region)) return;
          if (*levels_out(region, graph_.root_region()) != level) return;
          owners.emplace(region->owner->id, region->owner);
          std::vector<const Layer*>& list = found[region->owner->id];
          if (std::find(list.begin(), list.end(), ref.layer) == list.end()) list.push_back(ref.layer);
        });
    Owners result;
    for (auto& [id, list] : found) {
      std::sort(list.begin(), list.end(), [](const Layer* a, const Layer* b) { return a->id < b->id; });
      result.emplace_back(owners.at(id), std::move(list));
    }
    return result;
  }

  static std::vector<const Layer*> in_all_dicts(const Layer& owner, const Layer* result, const LiveLayers& live) {
    if (!is_cond(owner)) return {result};
    std::vector<const Layer*> layers;
    for (const Region* region : regions_of(owner))
      for (const Layer* layer : live.in(region))
        if (layer->fixed_name && layer->name == result->name) layers.push_back(layer);
    return layers;
  }

  void pack(const Layer& owner, const std::vector<const Layer*>& results, const LiveLayers& live) {
    const bool ends = ends_by_itself(owner);
    if (results.size() == 1 && results[0]->name == "output" && !(ends && !frames_of(results[0]->type).empty())) return;
    // ---- the parts, each once
    std::vector<std::vector<const Layer*>> sources;
    std::vector<std::pair<Slot, std::vector<const Layer*>>> slots;  // with what is read from it
    for (const Layer* result : results) {
      std::vector<const Layer*> layers = in_all_dicts(owner, result, live), from;
      for (const Layer* layer : layers) from.push_back(copied(layer));
      auto known = std::find(sources.begin(), sources.end(), from);
      if (known == sources.end()) {
        sources.push_back(from);
        slots.push_back({Slot{layers}, {result}});
      } else {
        slots[static_cast<std::size_t>(known - sources.begin())].second.push_back(result);
      }
    }
    std::map<std::vector<std::uint32_t>, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      std::vector<std::uint32_t> key;
      for (Dim d : frames_of(slots[i].first.type())) key.push_back(d->id);
      groups[key].push_back(i);
    }
    std::vector<std::vector<std::size_t>> order;
    for (auto& [key, list] : groups) order.push_back(std::move(list));
    std::sort(order.begin(), order.end());
    if (ends) {  // RETURNN takes the lengths of another dim of the output for those of the loop
      auto plain = std::find_if(order.begin(), order.end(), [&](const auto& group) { return frames_of(slots[group[0]].first.type()).empty(); });
      if (plain == order.end()) {
        slots.push_back({Slot{{named(*regions_of(owner)[0], ".end")}}, {}});
        order.insert(order.begin(), {slots.size() - 1});
      } else {
        std::rotate(order.begin(), plain, plain + 1);
      }
    }

    // ---- one layer for each group; clones first, while the first is as it was
    Layer* range = nullptr;  // of the loop's frames: what gets a copy goes over them
    if (ends && order.size() > 1) {
      Dim axis = axis_of(owner);
      OptionDict options{{"from", Option()}, {"axis", axis}, {"dtype", "int32"}, {"sparse", false}};
      range = &edit_.insert_behind(owner, owner.region, "range_in_axis", std::move(options), {{axis}, DType::int32, nullptr}, owner.base + "_range");
    }
    std::vector<GraphEdit::Clone> clones(order.size());
    std::unordered_map<Dim, Dim> own_dims;
    for (std::size_t g = 1; g < order.size(); ++g) {
      if (g == 1 && !may_clone(owner, slots[order[1][0]].first, live)) return;
      own_dims = dims_made_inside(owner, live);
      if (ends) own_dims.erase(axis_of(owner));
      clones[g] = edit_.clone(owner, live, own_dims);
      clone_dims_.push_back(own_dims);
      if (range) go_over(*clones[g].owner, *range);
    }
    for (std::size_t g = 0; g < order.size(); ++g) {
      std::vector<Slot> group;
      std::vector<std::vector<const Layer*>> readers;
      for (std::size_t i : order[g]) {
        Slot slot = slots[i].first;
        if (g > 0)
          for (const Layer*& layer : slot.layers) layer = clones[g].layers.at(layer);
        group.push_back(std::move(slot));
        readers.push_back(slots[i].second);
      }
      const Layer& place = g > 0 ? *clones[g].owner : owner;
      std::vector<LayerRef> parts = join(place, group);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        LayerRef ref = g > 0 ? own_names(place, parts[i], clone_dims_[clone_dims_.size() - order.size() + g]) : parts[i];
        for (const Layer* read : readers[i]) replaced_.emplace(read, ref);
      }
      if (g == 0 && range) range->options.front().second = named(*regions_of(owner)[0], "output");
    }
  }

  const Layer* named(const Region& region, std::string_view name) const {
    for (const Layer& layer : graph_.layers)
      if (layer.region == &region && layer.name == name) return &layer;
    throw std::logic_error("no layer " + std::string(name));
  }

  static Dim axis_of(const Layer& owner) { return std::get<DimRef>(owner.option("axis")->data).dim; }

  // Makes a loop that ended by itself go over frames that are there.
  void go_over(Layer& owner, const Layer& frames) {
    std::erase_if(owner.options, [](const auto& entry) { return entry.first == "max_seq_len" || entry.first == "max_seq_len_via" || entry.first == "include_eos"; });
    for (auto& [key, option] : owner.options)
      if (key == "from") option = OptionList{&frames};
    const Region* region = regions_of(owner)[0];
    for (Layer& layer : graph_.layers) {
      if (layer.region != region || (layer.name != "end" && layer.name != ".end")) continue;
      layer.fixed_name = layer.root = false;
      layer.name.clear();
    }
  }

  bool may_clone(const Layer& owner, const Slot& slot, const LiveLayers& live) {
    for (const Layer* layer : layers_inside(owner, live)) {
      if (!draws(*layer)) continue;
      std::vector<Dim> frames = frames_of(slot.type());
      diagnostics_.report(Diag::packed_random, owner.span, {slot.first().base, dims_text(frames)}).note(Diag::note_random_here, layer->span);
      return false;
    }
    return true;
  }

  // Dynamic dims that nothing outside has, with others for a copy.
  std::unordered_map<Dim, Dim> dims_made_inside(const Layer& owner, const LiveLayers& live) {
    std::vector<const Layer*> inside = layers_inside(owner, live);
    inside.push_back(&owner);
    std::unordered_map<const Layer*, bool> is_inside;
    for (const Layer* layer : inside) is_inside.emplace(layer, true);
    std::unordered_map<Dim, bool> outside;
    auto note_outside = [&](Dim d) {
      outside.emplace(d, true);
      for (Dim atom : atoms(d)) outside.emplace(atom, true);
    };
    for (const Layer* layer : live.all()) {
      if (is_inside.contains(layer) || layer->id > owner.id) continue;
      for (Dim d : layer->type.dims) note_outside(d);
      for (const auto& [key, option] : layer->options) for_each_dim(option, [&](const DimRef& ref) { note_outside(ref.dim); });
    }
    for (const Extern& source : graph_.externs)
      for (Dim d : source.type.dims) note_outside(d);
    std::unordered_map<Dim, Dim> result;
    auto use = [&](Dim d) {
      if (!d->dynamic() || d->kind == DimKind::batch || d->marker || outside.contains(d) || result.contains(d)) return;
      result.emplace(d, dims_.declare(d->form == DimForm::atom ? d->name : "part", d->kind, std::nullopt));
    };
    for (const Layer* layer : inside) {
      for (Dim d : layer->type.dims) use(d);
      for (const auto& [key, option] : layer->options) for_each_dim(option, [&](const DimRef& ref) { use(ref.dim); });
    }
    return result;
  }

  // The part of a copy with the dims of the first.
  LayerRef own_names(const Layer& owner, LayerRef part, const std::unordered_map<Dim, Dim>& own_dims) {
    TensorType type = part_types_.at({part.layer, part.sub});
    OptionList pairs;
    for (const auto& [theirs, mine] : own_dims)
      if (type.has(mine)) {
        pairs.emplace_back(OptionTuple{{mine, theirs}});
        type.dims = with_replaced(type.dims, mine, {theirs});
      }
    if (pairs.empty()) return part;
    return {&edit_.insert_behind(owner, owner.region, "reinterpret_data", {{"from", part}, {"set_dim_tags", pairs}}, type, owner.base + "_part"), {}};
  }

  // Makes the slots the output of the owner; what stands for each of them outside.
  std::vector<LayerRef> join(const Layer& owner, const std::vector<Slot>& slots) {
    std::vector<const Region*> regions = regions_of(owner);
    if (slots.size() == 1) {
      for (std::size_t r = 0; r < regions.size(); ++r) make_output(*regions[r], mutable_layer(*slots[0].layers[r]));
      LayerRef ref{slots[0].layers[0], {}};
      part_types_[{ref.layer, ref.sub}] = outside_type(owner, slots[0].type());
      return {ref};
    }
    DType dtype = common_dtype(slots);
    bool batch = std::any_of(slots.begin(), slots.end(), [](const Slot& s) { return has_batch(s.type()); });
    std::vector<Dim> parts, out;
    std::int64_t size = 0;
    for (const Slot& slot : slots) {
      std::vector<Dim> dims = static_dims(slot.type());
      std::int64_t product = 1;
      for (Dim d : dims) product *= *d->size;
      out.push_back(dims_.declare(slot.first().base + "_flat", DimKind::feature, product));
      parts.push_back(dims.size() == 1 ? dims[0] : out.back());
      size += product;
    }
    Dim all = dims_.declare(owner.base + "_parts", DimKind::feature, size);
    std::vector<Dim> frames = frames_of(slots[0].type());
    TensorType joined{frames, dtype, nullptr};
    if (batch) joined.dims.insert(joined.dims.begin(), graph_.batch);
    joined.dims.push_back(all);

    const Layer* output = nullptr;
    for (std::size_t r = 0; r < regions.size(); ++r) {
      OptionList from;
      for (std::size_t i = 0; i < slots.size(); ++i) from.emplace_back(OptionTuple{{flat(owner, *slots[i].layers[r], dtype, parts[i]), parts[i]}});
      Layer& layer = edit_.insert_before(owner, regions[r], "concat", {{"from", from}, {"allow_broadcast", true}, {"out_dim", all}}, joined, "output");
      make_output(*regions[r], layer);
      if (!output) output = &layer;
    }

    // No `split`: of a dim that the loop around makes, RETURNN does not find the lengths by the name of a further output.
    TensorType outside = outside_type(owner, joined);
    std::vector<LayerRef> result;
    std::int64_t start = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      std::int64_t end = start + *out[i]->size;
      TensorType type = outside;
      type.dims = with_replaced(type.dims, all, {out[i]});
      Layer& slice = edit_.insert_behind(owner, owner.region, "slice", {{"from", output}, {"axis", all}, {"slice_start", start}, {"slice_end", end}, {"out_dim", out[i]}}, type, owner.base + "_part");
      result.push_back(unflat(owner, {&slice, {}}, type, slots[i].type(), out[i]));
      start = end;
    }
    return result;
  }

  // As a part of what is joined: without sparse dim, of the common dtype, its static dims as one.
  LayerRef flat(const Layer& owner, const Layer& layer, DType dtype, Dim part) {
    LayerRef ref{&layer, {}};
    TensorType type = layer.type;
    auto step = [&](std::string cls, OptionDict options) {
      options.insert(options.begin(), {"from", ref});
      ref = {&edit_.insert_before(owner, layer.region, std::move(cls), std::move(options), type, layer.base + "_flat"), {}};
    };
    if (type.sparse_dim) {
      type.sparse_dim = nullptr;
      step("reinterpret_data", {{"set_sparse", false}});
    }
    if (DType inner = type.dtype; inner != dtype) {
      type.dtype = dtype;
      std::string name(to_string(dtype));
      if (by_bits(inner, dtype)) {
        step("eval", {{"eval", "tf.bitcast(source(0), tf." + name + ")"}, {"out_type", OptionDict{{"dtype", name}, {"sparse_dim", Option()}}}});
      } else {
        step("cast", {{"dtype", name}});
      }
    }
    std::vector<Dim> dims = static_dims(type);
    type.dims = without(type.dims, dims);
    type.dims.push_back(part);
    if (dims.empty()) step("expand_dims", {{"axis", "f"}, {"dim", part}});
    if (dims.size() > 1) step("merge_dims", {{"axes", dims_option(dims)}, {"keep_order", true}, {"out_dim", part}});
    return ref;
  }

  // The other way round, of one part outside.
  LayerRef unflat(const Layer& owner, LayerRef ref, TensorType type, const TensorType& inner, Dim part) {
    std::string base = owner.base + "_part";
    auto step = [&](std::string cls, OptionDict options) {
      options.insert(options.begin(), {"from", ref});
      ref = {&edit_.insert_behind(owner, owner.region, std::move(cls), std::move(options), type, base), {}};
    };
    std::vector<Dim> dims = static_dims(inner);
    if (has_batch(type) && !has_batch(inner)) {  // the same in all sequences
      type.dims = without(type.dims, {graph_.batch});
      step("gather", {{"position", 0}, {"axis", graph_.batch}});
    }
    if (dims.empty()) {
      type.dims = without(type.dims, {part});
      step("squeeze", {{"axis", part}});
    }
    if (dims.size() == 1) {
      type.dims = with_replaced(type.dims, part, dims);
      step("reinterpret_data", {{"set_dim_tags", OptionList{OptionTuple{{part, dims[0]}}}}});
    }
    if (dims.size() > 1) {
      type.dims = with_replaced(type.dims, part, dims);
      step("split_dims", {{"axis", part}, {"dims", dims_option(dims)}, {"pad_to_multiples", false}});
    }
    if (type.dtype != inner.dtype) {
      DType common = type.dtype;
      type.dtype = inner.dtype;
      std::string name(to_string(inner.dtype));
      if (by_bits(inner.dtype, common)) {
        step("eval", {{"eval", "tf.bitcast(source(0), tf." + name + ")"}, {"out_type", OptionDict{{"dtype", name}, {"sparse_dim", Option()}}}});
      } else {
        step("cast", {{"dtype", name}});
      }
    }
    if (inner.sparse_dim) {
      type.sparse_dim = inner.sparse_dim;
      step("reinterpret_data", {{"set_sparse", true}, {"set_sparse_dim", inner.sparse_dim}});
    }
    part_types_[{ref.layer, ref.sub}] = type;
    return ref;
  }

  static TensorType outside_type(const Layer& owner, TensorType type) {
    if (owner.option("axis") && !is_cond(owner)) type.dims.insert(type.dims.begin(), axis_of(owner));
    return type;
  }

  Layer& mutable_layer(const Layer& layer) { return const_cast<Layer&>(layer); }

  // The layer as the `output` of the dict, in place of another.
  void make_output(const Region& region, Layer& layer) {
    for (Layer& other : graph_.layers) {
      if (other.region != &region || other.builtin || other.name == ".end" || &other == region.anchor) continue;
      std::erase_if(other.options, [](const auto& entry) { return entry.first == "is_output_layer"; });
      if (!other.fixed_name || other.name == "end") continue;
      other.fixed_name = other.root = false;
      other.name.clear();
    }
    layer.name = "output";
    layer.fixed_name = layer.root = true;
  }

  void replace_in(Layer& reader) {
    for (auto& [key, option] : reader.options)
      change_parts<LayerRef>(option, [&](LayerRef& ref) {
        auto it = replaced_.find(ref.layer);
        if (it == replaced_.end() || ref.kind != RefKind::value || levels_out(reader.region, ref.layer->region)) return;
        ref = it->second;
      });
  }

  Graph& graph_;
  DimTable& dims_;
  DiagnosticSink& diagnostics_;
  GraphEdit edit_;
  std::unordered_map<const Layer*, LayerRef> replaced_;
  std::map<std::pair<const Layer*, std::string>, TensorType> part_types_;
  std::vector<std::unordered_map<Dim, Dim>> clone_dims_;
};

}  // namespace

void pack_results(Graph& graph, DimTable& dims, DiagnosticSink& diagnostics) { Packer(graph, dims, diagnostics).run(); }

}  // namespace rcn
