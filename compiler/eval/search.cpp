// Where a search may choose, and what is decided and what not.
#include <algorithm>

#include "compiler/dims/dim_list.h"
#include "compiler/eval/bind_op.h"
#include "compiler/eval/interpreter.h"

namespace rcn {

// Scores of other kinds become log probabilities before the operation sees them.
void Interpreter::prepare_choice(std::vector<Value>& values, const std::vector<Span>& spans, Span span) {
  constexpr std::size_t kScores = 0, kAxis = 1, kInputType = 3;
  const std::string& kind = values[kInputType].str();
  if (kind == "prob") {
    values[kScores] = apply("safe_log", {values[kScores], 1e-20}, span, {});
  } else if (kind == "logits") {
    values[kScores] = apply("log_softmax", {values[kScores], values[kAxis]}, span, {});
  } else if (kind != "log_prob") {
    fail(Diag::choice_input_type, spans[kInputType], {kind});
  }
  values[kInputType] = "log_prob";
}

int Interpreter::joined_search(int a, int b, Span span) {
  if (!a || !b || a == b) return a ? a : b;
  Span first = searches_[static_cast<std::size_t>(a - 1)].loop, second = searches_[static_cast<std::size_t>(b - 1)].loop;
  bool same = first == second;
  auto builder = report(Diag::searches_meet, span);
  builder.note(Diag::note_more, first, {same ? "both are searches of this loop" : "one is the search of this loop"});
  if (!same) builder.note(Diag::note_more, second, {"the other is the search of this loop"});
  builder.help(Diag::help_text, {"`nn.decide` keeps the best hypothesis of a search"});
  throw EvalError{};
}

bool Interpreter::merge_traits(Traits& traits, const Traits& other, Span span) {
  joined_search(traits.search, other.search, span);
  return traits.merge(other);
}

// The search whose hypotheses have lengths of their own; 0: there is none, or they are decided.
int Interpreter::search_of(Dim d) const {
  for (Dim atom : atoms(d))
    if (auto it = search_dims_.find(atom); it != search_dims_.end() && !contains(decided_dims_, atom)) return it->second;
  return 0;
}

bool Interpreter::is_decided(Dim d) const {
  std::vector<Dim> parts = atoms(d);
  return std::any_of(parts.begin(), parts.end(), [&](Dim atom) { return contains(decided_dims_, atom); });
}

namespace {

void collect_dims(const Value& value, std::vector<Dim>& dims) {
  if (value.is_dim()) dims.push_back(value.dim());
  if (value.is_list())
    for (const Value& item : value.list()) collect_dims(item, dims);
}

// Those that the operation is given.
std::vector<Dim> attr_dims(const OpNode& node) {
  std::vector<Dim> dims;
  for (const auto& [name, value] : node.attrs) collect_dims(value, dims);
  return dims;
}

// Of inputs and results as well.
std::vector<Dim> dims_of(const OpNode& node) {
  std::vector<Dim> dims = attr_dims(node);
  for (const Operand& input : node.inputs)
    if (const Tensor* t = as_tensor(input)) dims.insert(dims.end(), (*t)->type.dims.begin(), (*t)->type.dims.end());
  for (const TensorType& type : node.outputs) dims.insert(dims.end(), type.dims.begin(), type.dims.end());
  return dims;
}

}  // namespace

int Interpreter::choice_search(OpNode& node, Span span) {
  static const Symbol kSearch("search");
  Value flag = flag_value(frame_->flags, kSearch, span);
  if (!flag.is<bool>() || !flag.get<bool>()) {
    report(Diag::choice_without_search, span)
        .help(Diag::help_text, {"`label = nn.choice(...) if search else targets[t]` serves both; `--mode search` turns the flag on"});
    throw EvalError{};
  }
  if (loops_.empty()) fail(Diag::choice_outside_loop, span);
  if (regions_.back() != RegionKind::loop) fail(Diag::not_in_region, span, {"nn.choice", region_text(regions_.back())});
  if (loops_.size() > 1) {
    report(Diag::not_in_region, span, {"nn.choice", "a loop inside of another loop"})
        .help(Diag::help_text, {"RETURNN follows the hypotheses of one loop only: choose in a loop of its own, or several times in each "
                                "step of the outer one (`for i in range(n) { ... }`)"});
    throw EvalError{};
  }
  LoopRun& run = *loops_.back();
  std::int64_t beam = node.integer("beam_size");
  if (run.beam_size && *run.beam_size != beam) fail(Diag::choice_beams, span, {std::to_string(*run.beam_size), std::to_string(beam)});
  Value* normalize = nullptr;
  for (auto& [name, value] : node.attrs)
    if (name == "length_normalization") normalize = &value;
  run.normalized = run.normalized || normalize->get<bool>();
  if (!run.known && run.normalized && run.beam_size) fail(Diag::choice_normalization, span, {to_string(run.axis)});
  run.beam_size = beam;
  if (!*run.search) {
    searches_.push_back({run.loop->over->span});
    *run.search = static_cast<int>(searches_.size());
  }
  if (run.known) {  // all hypotheses of a sequence have one length, which compares nothing
    if (run.normalized) searches_[static_cast<std::size_t>(*run.search - 1)].divided_by = run.axis;
    *normalize = false;
  }
  return joined_search(*run.search, node.tensor(0)->traits.search, span);
}

// The score of each hypothesis, from the sum that the operation gives.
Value Interpreter::score(const Tensor& sums, int search, Span span) {
  Dim over = searches_[static_cast<std::size_t>(search - 1)].divided_by;
  if (!over) return sums;
  Value frames = over->size ? Value(static_cast<double>(*over->size)) : apply("length", {over, DType::float32}, span, "frames");
  if (!over->size) frames = apply("maximum", {frames, 1.0}, span, "frames");
  return apply("truediv", {sums, frames}, span, "beam_scores");
}

// The search that the results have values for each hypothesis of.
int Interpreter::require_search(OpNode& node, Span span) {
  if (node.op->name == "choice") return choice_search(node, span);
  int search = 0;
  for (const Operand& input : node.inputs)
    if (const Tensor* t = as_tensor(input)) search = joined_search(search, (*t)->traits.search, span);
  if (node.op->name == "decide" || node.op->name == "beam_scores") {
    std::string name = "nn." + std::string(node.op->name);
    if (!regions_.empty()) fail(Diag::not_in_region, span, {name, region_text(regions_.back())});
    const TensorType& type = node.tensor(0)->type;
    if (!search || !type.has(in_.context.dims.batch())) fail(Diag::nothing_to_decide, span, {name});
    if (node.op->name == "beam_scores") return search;
    for (Dim d : type.dims)
      for (Dim atom : atoms(d))
        if (search_of(atom)) decided_dims_.push_back(atom);
    return 0;
  }
  if (search_dims_.empty()) return search;
  std::vector<Dim> dims = dims_of(node);
  for (Dim d : dims) search = joined_search(search, search_of(d), span);
  for (Dim d : dims)
    for (Dim atom : atoms(d))
      if (auto it = search_dims_.find(atom); search && it != search_dims_.end() && it->second == search && !search_of(atom))
        fail(Diag::decided_mixed, span, {to_string(atom), op_text(*node.op)});
  return search;
}

// Besides the search: what depends on an input that is absent in inference, or has a dim that only such inputs give a
// length.
void Interpreter::set_traits(const OpNode& node, int search, const std::vector<Tensor>& results) {
  Traits traits;
  for (const Operand& input : node.inputs)
    if (const Tensor* t = as_tensor(input)) traits.merge((*t)->traits);
  auto step = [&](const std::shared_ptr<const Origin>& from) {
    return std::make_shared<const Origin>(Origin{op_text(*node.op), node.span, from});
  };
  if (!traits.training_only) traits.training_only = dims_origin(attr_dims(node));
  if (traits.training_only && traits.training_only->span != node.span) traits.training_only = step(traits.training_only);
  for (const NewDim& d : node.new_dims) {
    if (int own = d.computed ? search_of(d.computed) : search) search_dims_.emplace(d.dim, own);
    set_training_dim(d.dim, d.computed ? dims_origin({d.computed}) : traits.training_only);
  }
  for (const Tensor& t : results) {
    t->traits = traits;
    // what has neither sequences nor their lengths is the same for all hypotheses
    const std::vector<Dim>& dims = t->type.dims;
    bool differs = t->type.history || t->type.has(in_.context.dims.batch()) ||
                   std::any_of(dims.begin(), dims.end(), [&](Dim d) { return search_of(d) != 0; });
    t->traits.search = differs ? search : 0;
    if (!traits.training_only)
      if (std::shared_ptr<const Origin> origin = dims_origin(t->type.dims)) t->traits.training_only = step(origin);
  }
}

void Interpreter::find_training_dims() {
  std::vector<Dim> available;
  for (const ExternInput& input : externs_)
    if (input.available_for_inference)
      for (Dim d : input.type.dims) available = united(available, atoms(d));
  for (const ExternInput& input : externs_)
    for (Dim d : input.type.dims)
      for (Dim atom : atoms(d)) {
        if (!atom->dynamic() || atom->kind == DimKind::batch || contains(available, atom)) continue;
        available.push_back(atom);
        training_dims_.emplace_back(atom, std::make_shared<const Origin>(Origin{input.name, input.span, nullptr}));
      }
}

void Interpreter::set_training_dim(Dim d, const std::shared_ptr<const Origin>& origin) {
  if (origin && !dims_origin({d})) training_dims_.emplace_back(d, origin);
}

std::shared_ptr<const Origin> Interpreter::dims_origin(const std::vector<Dim>& dims) const {
  if (training_dims_.empty()) return nullptr;
  for (Dim d : dims)
    for (Dim atom : atoms(d))
      for (const auto& [own, origin] : training_dims_)
        if (own == atom) return origin;
  return nullptr;
}

// In inference there are no targets.
void Interpreter::require_available(const Mark& mark, const Tensor& value) {
  if (mark.role != MarkRole::output) return;
  static const Symbol kSearch("search");
  Value search = flag_value(network_, kSearch, mark.span);
  if (!search.is<bool>() || !search.get<bool>()) return;
  std::shared_ptr<const Origin> origin = value->traits.training_only;
  if (!origin) origin = dims_origin(value->type.dims);
  if (!origin) return;
  const Origin* input = origin.get();
  while (input->from) input = input->from.get();
  auto builder = report(Diag::output_unavailable, mark.span, {mark.name, input->what});
  std::vector<const Origin*> path;
  for (const Origin* o = origin.get(); o->from; o = o->from.get()) path.push_back(o);
  if (path.size() > 6) path.erase(path.begin() + 3, path.end() - 3);
  for (const Origin* o : path) builder.note(Diag::note_depends_by, o->span, {o->what});
  builder.note(Diag::note_declared_here, input->span, {input->what});
  builder.help(Diag::help_text, {"under `search` an output depends on what there is in inference; an `error` may depend on targets"});
  throw EvalError{};
}

}  // namespace rcn
