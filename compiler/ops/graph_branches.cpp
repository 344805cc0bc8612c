// Branches, masked parts, and what stands outside of loops and branches.
#include <algorithm>
#include <tuple>
#include <utility>

#include "compiler/graph/passes.h"
#include "compiler/ops/graph_backend.h"
#include "compiler/ops/rules.h"

namespace rcn {

// ---- branches

std::vector<Tensor> GraphBackend::cond(const CondSpec& spec, const CondBranch& then, const CondBranch& otherwise) {
  Unwind unwind(*this);
  LayerRef condition = guarded(graph_tensor(spec.condition), spec.span).layer;
  std::uint64_t stays = 0;
  const std::size_t first_layer = graph_.layers.size();
  const CondBranch* bodies[2] = {&then, &otherwise};
  const Region* regions[2];
  std::unordered_map<Dim, Dim> joined[2];
  std::vector<LayerRef> assigns[2], results[2];
  std::vector<std::string> names;
  std::vector<bool> wild(spec.results.size());
  bool permuted = false;
  // Of the result that is its own output `cond` looks at the lengths, which must be one for each sequence. In a loop that is
  // the only result; elsewhere any result may be it, or none.
  auto declared = [&](Dim d) { return std::find(spec.joined.begin(), spec.joined.end(), d) != spec.joined.end(); };
  auto unfit = [&](const TensorType& type) {
    auto found = std::find_if(type.dims.begin(), type.dims.end(), [&](Dim d) {
      if (!d->dynamic() || d->kind == DimKind::batch || declared(d)) return false;
      return context_.lengths.length_dims(d).size() != 1;
    });
    return found == type.dims.end() ? nullptr : *found;
  };
  auto made_in_loop = [&](const TensorType& type) -> Dim {
    for (Dim d : type.dims)
      for (Dim atom : atoms(d))
        if (atom->dynamic() && atom->kind != DimKind::batch && !declared(atom) && !open_.front().carriers.contains(atom)) return d;
    return nullptr;
  };
  std::optional<std::size_t> main;
  for (std::size_t i = 0; i < spec.results.size(); ++i) {
    Dim dim = unfit(spec.results[i]);
    if (!dim && !main) main = i;
    if (!open_loops()) continue;
    if (!dim || !context_.lengths.length_dims(dim).empty()) dim = made_in_loop(spec.results[i]);
    if (!dim) continue;
    std::string why = context_.lengths.length_dims(dim).empty() ? "is as long in all sequences" : "gets its length in the loop";
    context_.diagnostics.report(Diag::branch_lengths, spec.span, {spec.names[i], to_string(dim), why})
        .help(Diag::help_text, {"`nn.where` chooses between values that both are computed"});
    throw EvalError{};
  }
  for (std::size_t i = 0; i < spec.results.size(); ++i) {
    std::string name = i == main ? "output" : part_name(spec.names[i]);
    while ((i != main && name == "output") || std::find(names.begin(), names.end(), name) != names.end()) name += "_";
    names.push_back(name);
  }
  TensorType counts{{}, DType::int32, nullptr};
  auto fix = [](Layer& layer, const std::string& name) {
    layer.name = name;
    layer.fixed_name = true;
    layer.root = name == "output" || name == "assigned";
    if (name != "output") layer.options.emplace_back("is_output_layer", true);
  };
  for (int side : {0, 1}) {
    std::unordered_map<Dim, Dim>* around = joined_;
    open_region(false);
    joined_ = &joined[side];
    std::vector<Tensor> values = (*bodies[side])();
    joined_ = around;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const GraphTensor& tensor = graph_tensor(values[i]);
      LayerRef value = expanded(tensor, tensor.missing, part_name(spec.names[i]) + "_expanded", spec.span);
      Layer& layer = add("copy", {{"from", value}}, spec.results[i], part_name(spec.names[i]), spec.span);
      permuted = permuted || permuted_.contains(&layer);
      fix(layer, names[i]);
      results[side].push_back({&layer, {}});
      wild[i] = wild[i] || tensor.wild_padding;
    }
    assigns[side] = open_.back().assigns;
    stays |= open_.back().stays;
    regions[side] = close_region();
  }
  bool assigned = !assigns[0].empty() || !assigns[1].empty();
  std::string assigned_name = main ? "assigned" : "output";
  for (int side : {0, 1}) {
    if (!assigned && main) continue;
    Layer* sum = nullptr;
    if (assigns[side].empty()) {
      sum = &graph_.add("constant", {{"value", 0}, {"dtype", "int32"}}, counts, regions[side]->scope, assigned_name, spec.span, regions[side]);
    } else if (assigns[side].size() == 1) {
      sum = &graph_.add("copy", {{"from", assigns[side][0]}}, counts, regions[side]->scope, assigned_name, spec.span, regions[side]);
    } else {
      OptionList from(assigns[side].begin(), assigns[side].end());
      sum = &graph_.add("combine", {{"from", from}, {"kind", "add"}}, counts, regions[side]->scope, assigned_name, spec.span, regions[side]);
    }
    fix(*sum, assigned_name);
  }

  // A joined dim gets its lengths outside, where both branches can see them.
  OptionList first;
  for (Dim d : spec.joined) {
    LayerRef lengths[2];
    for (int side : {0, 1}) {
      if (open_loops()) {
        context_.diagnostics.report(Diag::joined_inside, spec.span, {to_string(d)})
            .help(Diag::help_text, {"put the `if` outside of the loop, or give its results the same dims in both branches"});
        throw EvalError{};
      }
      auto made = joined[side].find(d);
      bool outside = made != joined[side].end();
      if (outside)
        for (Dim atom : atoms(made->second)) outside = outside && (atom->size || known(&Open::carriers, atom));
      if (!outside) {
        context_.diagnostics.report(Diag::joined_inside, spec.span, {to_string(d)})
            .help(Diag::help_text, {"its length must come from dims that are there before the `if`: `time + 1`, as `nn.pad`, `nn.concat` and `nn.slice` without `step` make it"});
        throw EvalError{};
      }
      lengths[side] = length(made->second, spec.span);
    }
    TensorType type{context_.lengths.length_dims(joined[0].at(d)), DType::int32, nullptr};
    type.dims = united(type.dims, context_.lengths.length_dims(joined[1].at(d)));
    Layer& taken = add("switch", {{"condition", condition}, {"true_from", lengths[0]}, {"false_from", lengths[1]}}, type, name_of(d) + "_length", spec.span);
    first.emplace_back(sequence_dim(d, {&taken, {}}, name_of(d) + "_range", spec.span));
  }

  auto branch = [&](int side) {
    return OptionDict{{"class", "subnetwork"}, {"from", OptionList{}}, {"subnetwork", RegionRef{regions[side]}}};
  };
  TensorType type = main ? spec.results[*main] : counts;
  std::uint64_t varies = variation(condition);
  for (std::size_t i = first_layer; i < graph_.layers.size(); ++i) varies |= variation({&graph_.layers[i], {}});
  if (spec.hypotheses || (varies & choosing_loops())) {
    context_.diagnostics.report(Diag::branch_of_search, spec.span, {varies & choosing_loops() ? "step" : "hypotheses"})
        .help(Diag::help_text, {"`nn.where` chooses between values that both are computed"});
    throw EvalError{};
  }
  stays |= varies & open_loops();  // outside, the loop's axis would come into one branch only, or with lengths that `cond` does not take
  OptionDict options{{"from", first}, {"condition", condition}, {"name_scope", ""}};
  stay_inside(options, stays, spec.span);
  options.emplace_back("true_layer", branch(0));
  options.emplace_back("false_layer", branch(1));
  Layer& layer = add("cond", std::move(options), type, spec.name, spec.span);
  for (const Region* region : regions) const_cast<Region*>(region)->owner = &layer;
  if (permuted) permuted_.insert(&layer);
  if (varies) varying_[&layer] |= varies;
  if (assigned) open_.back().assigns.push_back({&layer, main ? assigned_name : std::string()});
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < spec.results.size(); ++i) {
    LayerRef ref = results[0][i];
    if (std::uint64_t bits = variation(condition) | variation(results[0][i]) | variation(results[1][i])) varying_[ref.layer] |= bits;
    carries(ref, spec.results[i]);
    result.push_back(made(spec.results[i], ref, {}, wild[i]));
  }
  return result;
}

// ---- masked parts

// True where a step of this loop belongs to the sequence; nothing where all do, or that shows at the end only.
std::optional<GraphBackend::Mask> GraphBackend::live(std::size_t open, Span span) {
  Open& loop = open_[open];
  if (!loop.loop || !loop.axis->dynamic() || !context_.lengths.defined(loop.axis)) return {};
  std::vector<Dim> over = context_.lengths.length_dims(loop.axis);
  if (over.empty()) return {};
  TensorType type{over, DType::bool_, nullptr};
  if (!loop.live.layer) {
    LayerRef lengths = length(loop.axis, span);
    loop.live = {&add_in(open, "compare", {{"from", OptionList{LayerRef{loop.index, {}}, lengths}}, {"kind", "less"}}, type, "live", span), {}};
  }
  return Mask{loop.live, type, {}, {}, {}};
}

LayerRef GraphBackend::step() const {
  const Layer* index = nullptr;
  for (const Open& open : open_)
    if (open.loop) index = open.index;
  return {index, {}};
}

LayerRef GraphBackend::search_live(Span span) {
  for (std::size_t i = open_.size() - 1; i > 0; --i) {
    if (!open_[i].loop) continue;
    if (open_[i].search_live.layer) return open_[i].search_live;
    std::optional<Mask> mask = live(i, span);
    return mask ? mask->mask : LayerRef{};
  }
  return {};
}

// The layer with the value where it does not count: in steps beyond a sequence, and where a mask is false.
LayerRef GraphBackend::guarded_value(LayerRef ref, const TensorType& type, const Operand& value, const std::string& base, Span span) {
  auto choose = [&](const Mask& mask) {
    if (without(mask.type.dims, type.dims).empty()) ref = chosen(mask.mask, ref, type, value, base, span);
  };
  if (variation(ref))
    for (std::size_t i = open_of(*ref.layer); i > 0; --i)
      if (std::optional<Mask> mask = live(i, span)) choose(*mask);
  if (!masks_.empty()) choose(masks_.back());
  return ref;
}

LayerRef GraphBackend::chosen(LayerRef mask, LayerRef ref, const TensorType& type, const Operand& value, const std::string& base, Span span) {
  Option other = number_option(value, type.dtype);
  if (type.sparse_dim || !takes_numbers(type.dtype)) {
    OptionDict constant{{"value", other}, {"dtype", to_string(type.dtype)}};
    if (type.sparse_dim) constant.emplace_back("sparse_dim", type.sparse_dim);
    other = &add_shared("constant", std::move(constant), {{}, type.dtype, type.sparse_dim}, base + "_value", span);
  }
  return {&add("switch", {{"condition", mask}, {"true_from", ref}, {"false_from", other}}, type, base, span), {}};
}

// A tensor from outside of a masked part as the part sees it: 0 where it does not count, so that no value there makes an
// operation fail, or comes into gradients.
GraphTensor GraphBackend::guarded(const GraphTensor& tensor, Span span) {
  if (masks_.empty() || tensor.masks >= masks_.size() || tensor.type.history) return tensor;
  Mask& mask = masks_.back();
  if (!without(mask.type.dims, tensor.type.dims).empty()) return tensor;
  std::tuple<const Region*, const Layer*, std::string> key{open_.back().region, tensor.layer.layer, tensor.layer.sub};
  if (tensor.layer.kind == RefKind::previous) std::get<2>(key) += "@prev";
  auto it = mask.guarded.find(key);
  if (it == mask.guarded.end()) {
    GraphTensor whole = along_mask(tensor, span);
    Operand zero = std::int64_t{0};
    if (is_float(tensor.type.dtype)) zero = 0.0;
    if (tensor.type.dtype == DType::bool_) zero = false;
    it = mask.guarded.emplace(key, chosen(mask.mask, whole.layer, whole.layer_type, zero, "masked_input", span)).first;
  }
  GraphTensor result(tensor.type, it->second, without(tensor.missing, mask.type.dims));
  result.traits = tensor.traits;
  result.wild_padding = tensor.wild_padding;
  result.masks = masks_.size();
  return result;
}

// With the dims of the mask in its layer, if its type has them.
GraphTensor GraphBackend::along_mask(const GraphTensor& tensor, Span span) {
  if (masks_.empty() || !without(masks_.back().type.dims, tensor.type.dims).empty()) return tensor;
  const std::vector<Dim>& wanted = masks_.back().type.dims;
  LayerRef ref = expanded(tensor, wanted, "masked_input_expanded", span);
  GraphTensor result = tensor;
  result.layer = ref;
  result.missing = without(tensor.missing, wanted);
  result.layer_type.dims = without(tensor.type.dims, result.missing);
  return result;
}

std::vector<Tensor> GraphBackend::masked(const MaskedSpec& spec, const CondBranch& body) {
  Unwind unwind(*this);
  const GraphTensor& given = graph_tensor(spec.mask);
  LayerRef mask = expanded(given, given.missing, "mask_expanded", spec.span);
  TensorType type = given.type;
  auto both = [&](LayerRef other, const TensorType& other_type) {
    type.dims = united(type.dims, other_type.dims);
    mask = {&add("combine", {{"from", OptionList{mask, other}}, {"kind", "logical_and"}}, type, "mask", spec.span), {}};
  };
  if (!masks_.empty()) both(masks_.back().given, masks_.back().given_type);
  LayerRef own = mask;
  TensorType own_type = type;
  for (std::size_t i = open_.size() - 1; i > 0; --i) {  // padded frames do not count either
    std::optional<Mask> frames = live(i, spec.span);
    if (frames) both(frames->mask, frames->type);
  }
  masks_.push_back({mask, type, own, own_type, {}});
  std::vector<Tensor> now = body();
  masks_.pop_back();
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const GraphTensor &a = graph_tensor(now[i]), &b = graph_tensor(spec.before[i]);
    std::string base = part_name(spec.names[i]);
    LayerRef x = expanded(a, a.missing, base + "_expanded", spec.span), y = expanded(b, b.missing, base + "_before", spec.span);
    bool shared = !without(type.dims, a.type.dims).empty();
    Layer& layer = add("switch", {{"condition", shared ? own : mask}, {"true_from", x}, {"false_from", y}}, a.type, base, spec.span);
    result.push_back(made(b.type, LayerRef{&layer, {}}, {}, a.wild_padding || b.wild_padding));
  }
  return result;
}

// ---- what stands outside of all of it

void GraphBackend::outside(const std::function<void()>& make) {
  std::deque<Open> open(std::make_move_iterator(open_.begin() + 1), std::make_move_iterator(open_.end()));
  open_.resize(1);
  std::deque<Mask> masks;
  masks.swap(masks_);
  std::vector<const NameScope*> scopes{graph_.root_scope()};
  scopes.swap(scopes_);
  std::unordered_map<Dim, Dim>* joined = nullptr;
  std::swap(joined, joined_);
  struct Restore {
    GraphBackend& self;
    std::deque<Open>& open;
    std::deque<Mask>& masks;
    std::vector<const NameScope*>& scopes;
    std::unordered_map<Dim, Dim>* joined;
    ~Restore() {
      for (Open& o : open) self.open_.push_back(std::move(o));
      self.masks_.swap(masks);
      self.scopes_.swap(scopes);
      self.joined_ = joined;
    }
  } restore{*this, open, masks, scopes, joined};
  make();
}

void GraphBackend::assign(const Parameter& parameter, const Tensor&, const Tensor& value, Span span) {
  const GraphTensor& tensor = graph_tensor(value);
  LayerRef next = expanded(tensor, tensor.missing, "assign_expanded", span);
  Layer& layer = add("variable_assign", {{"var", variables_.at(parameter.path)}, {"value", next}}, {{}, DType::int32, nullptr}, "assign", span);
  assigned_.emplace(&layer, parameter.path);
  open_.back().assigns.push_back({&layer, {}});
}

void GraphBackend::finish() {
  const std::vector<LayerRef>& assigns = open_.front().assigns;
  for (std::size_t i = 0; i < assigns.size(); ++i) {
    Layer& layer = graph_.add("eval", {{"from", assigns[i]},
                                       {"eval", "(source(0), tf.compat.v1.add_to_collection('update_ops', source(0).op))[0]"},
                                       {"out_type", OptionDict{{"dtype", "int32"}}},
                                       {"is_output_layer", true}},
                              {{}, DType::int32, nullptr}, graph_.root_scope(), "", {});
    layer.name = assigns.size() == 1 ? ".update" : ".update." + std::to_string(i);  // behind `.order`: RETURNN goes by names
    layer.fixed_name = true;
    layer.root = true;
  }
  if (assigned_.empty()) return;
  // RETURNN orders an assignment by nothing else against what reads the old value.
  std::unordered_map<const Layer*, OptionList> readers;
  std::unordered_map<const Layer*, std::vector<const Layer*>> assigns_of;  // by variable
  for (const auto& [assign, path] : assigned_) assigns_of[variables_.at(path)].push_back(assign);
  for (const Layer* layer : drop_dead(graph_).all()) {
    if (assigned_.contains(layer)) continue;
    for (const auto& [key, option] : layer->options)
      for_each_layer(option, [&](const LayerRef& ref) {
        auto assigned = assigns_of.find(ref.layer);
        if (assigned == assigns_of.end()) return;
        for (const Layer* assign : assigned->second) {
          const Layer* visible = nullptr;
          for (const Region* region = assign->region; region && !visible; region = region->parent) visible = seen_in(region, layer);
          bool around = false;  // the reader has the assignment inside
          for (const Region* region = assign->region; region; region = region->parent) around = around || region->owner == visible;
          if (!visible || around) continue;
          OptionList& list = readers[assign];
          bool listed = std::any_of(list.begin(), list.end(), [&](const Option& o) { return std::get<LayerRef>(o.data).layer == visible; });
          if (!listed) list.emplace_back(visible);
        }
      });
  }
  for (auto& [assign, list] : readers) const_cast<Layer*>(assign)->options.emplace_back("control_dependencies", std::move(list));
}

}  // namespace rcn
