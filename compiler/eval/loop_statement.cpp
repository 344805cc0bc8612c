// The statement `loop`. Its body first runs on types alone: that gives the types of the state and of what is stacked.
#include <algorithm>
#include <utility>

#include "compiler/dims/dim_list.h"
#include "compiler/eval/interpreter.h"

namespace rcn {

using namespace ast;

// One loop, from what it goes over to what is known behind it. The steps of run() follow each other.
class Interpreter::LoopEvaluation {
 public:
  LoopEvaluation(Interpreter& in, const LoopStmt& s) : in_(in), s_(s) {}

  void run() {
    find_axis();
    evaluate_initial_state();
    find_types();
    find_stacked();
    find_lengths();
    find_search();
    make_initial_state();
    LoopResult result = in_.backend_->loop(spec_, [&](const LoopStep& at) { return step(at); });
    define_lengths();
    assign_results(result);
  }

 private:
  // One leaf of the state that is a tensor.
  struct Leaf {
    std::string name;
    Value initial;
    TensorType type;
    bool number = false;  // the initial value is a number, which takes the type that the body gives
    Traits traits;
  };
  // The state as the body leaves it.
  struct Next {
    std::vector<Value> state;
    std::vector<Span> spans;  // where each got its value
  };

  static bool is_tensor_leaf(const Value& leaf) { return leaf.is_tensor() || is_number_leaf(leaf); }
  DimLengths& lengths() const { return in_.in_.context.lengths; }

  void find_axis();
  Tensor max_steps(Expr& e);
  void evaluate_initial_state();
  Next body(const Tensor& index, const std::vector<Tensor>& tensors);
  Next body_on_types(const std::vector<Tensor>& tensors);
  void find_types();
  bool check_state(const Next& next, const std::vector<Tensor>& tensors);
  bool check_leaf(Leaf& leaf, const Tensor& given, const std::string& path, const Value& before, const Value& now,
                  const Next& next, std::size_t i);
  void suggest_floats(std::vector<Tensor> tensors, DiagnosticSink::Mark reported);
  void report_floats(const Next& next, const std::vector<std::size_t>& floats, DiagnosticSink::Mark reported);
  void find_stacked();
  void find_lengths();
  void find_search();
  void make_initial_state();
  LoopNext step(const LoopStep& at);
  void define_lengths();
  void assign_results(const LoopResult& result);

  // An error at the new value of the i-th state, with the place of the initial one.
  DiagnosticSink::Builder report_state(Diag kind, const Next& next, std::size_t i, std::vector<std::string> args) {
    DiagnosticSink::Builder builder = in_.report(kind, next.spans[i], std::move(args));
    builder.note(Diag::note_initial_here, s_.state[i].initial->span);
    return builder;
  }

  Interpreter& in_;
  const LoopStmt& s_;
  LoopSpec spec_;
  std::vector<Value> initial_;  // of each state
  std::vector<Leaf> leaves_;    // of all states
  DimTable::Record dims_;       // that the body makes: the same in all of its runs
  std::size_t lengths_before_ = 0;
  LoopRun run_;                 // the body's last run
  int search_ = 0;              // that the choices of the body are of
  int axis_search_ = 0;         // the frames of each sequence differ between this search's hypotheses
  std::vector<Traits> stacked_traits_;
  std::vector<Span> stacked_spans_;
};

void Interpreter::exec_loop(const LoopStmt& s) {
  if (!main_running_) fail(Diag::tensor_outside_main, s.span, {"loop"});
  LoopEvaluation(*this, s).run();
}

void Interpreter::LoopEvaluation::find_axis() {
  Span span = s_.over->span;
  Value over = in_.eval(*s_.over);
  if (!over.is_dim()) in_.fail(Diag::loop_over, span, {kind_text(over)});
  Dim axis = over.dim();
  auto refuse = [&](const char* why, const std::string& help = {}) {
    auto builder = in_.report(Diag::loop_over_dim, span, {to_string(axis), why});
    if (!help.empty()) builder.help(Diag::help_text, {help});
    throw EvalError{};
  };
  if (axis->marker) refuse("it stands for one step");
  if (axis->kind == DimKind::batch) refuse("sequences are computed side by side");
  for (const LoopRun* outer : in_.loops_)
    if (outer->axis == axis)
      refuse("a loop around it goes over this dim already",
             "`y, other = nn.replace_dim(x, in_dim=" + to_string(axis) + ")` gives the frames of `x` another dim, which a loop inside can go over");
  spec_.name = "loop";
  spec_.axis = axis;
  spec_.axis_known = lengths().defined(axis);
  spec_.span = s_.span;
  if (!spec_.axis_known && axis->form != DimForm::atom) refuse("its parts have no length yet");
  if (s_.max) spec_.max = max_steps(*s_.max);
}

// Checked, but of no use, where the length is known: null.
Tensor Interpreter::LoopEvaluation::max_steps(Expr& e) {
  Value value;
  {
    Restore<Backend*> types(in_.backend_, spec_.axis_known ? &in_.types_ : in_.backend_);
    value = in_.eval(e);
    if (value.is_poison()) throw EvalError{};
    if (value.is<std::int64_t>() && value.get<std::int64_t>() < 0) in_.fail(Diag::loop_max_negative, e.span, {to_text(value)});
    if (value.is<std::int64_t>()) value = in_.apply("constant", {value, List{}, DType::int32, None{}}, e.span, "max");
  }
  const TensorType* type = value.is_tensor() ? &value.tensor()->type : nullptr;
  bool right = type && is_int(type->dtype) && !type->history &&
               (type->dims.empty() || type->dims == std::vector<Dim>{in_.in_.context.dims.batch()});
  if (!right) in_.fail(Diag::loop_max, e.span, {kind_text(value)});
  return spec_.axis_known ? nullptr : value.tensor();
}

void Interpreter::LoopEvaluation::evaluate_initial_state() {
  for (const ast::LoopState& state : s_.state) {
    Value value = in_.eval(*state.initial);
    if (state.type) value = in_.check_type(value, *state.type, state.initial->span, "the state `" + state.name.str() + "`");
    for_each_leaf(value, state.name.str(), [&](const std::string& name, const Value& leaf) {
      if (leaf.is_poison()) throw EvalError{};
      if (leaf.is_tensor()) {
        leaves_.push_back({name, leaf, leaf.tensor()->type, false, leaf.tensor()->traits});
      } else if (is_number_leaf(leaf)) {
        leaves_.push_back({name, leaf, number_type(leaf), true, {}});
      }
    });
    initial_.push_back(std::move(value));
  }
  lengths_before_ = lengths().mark();
}

// ---- the body, given the tensors of the state

Interpreter::LoopEvaluation::Next Interpreter::LoopEvaluation::body(const Tensor& index, const std::vector<Tensor>& tensors) {
  DimTable::Replay replay(in_.in_.context.dims, dims_);
  lengths().rollback(lengths_before_);
  run_ = LoopRun{};
  run_.frame = in_.frame_;
  run_.loop = &s_;
  run_.axis = spec_.axis;
  run_.known = spec_.axis_known;
  run_.index_name = s_.index;
  run_.index = index;
  run_.state = tensors;
  run_.search = &search_;
  Scope scope;
  scope.parent = in_.frame_->scope;
  scope.kind = ScopeKind::loop;
  scope.vars.emplace_back(s_.index, index);
  std::size_t k = 0;
  for (std::size_t i = 0; i < s_.state.size(); ++i)
    scope.vars.emplace_back(s_.state[i].name, map_leaves(initial_[i], [&](const Value& leaf) -> Value {
      return is_tensor_leaf(leaf) ? Value(tensors[k++]) : leaf;
    }));
  std::size_t errors = in_.diag_.error_count();
  Pushed<LoopRun*> in_loop(in_.loops_, &run_);
  Pushed<RegionKind> in_region(in_.regions_, RegionKind::loop);
  Restore<Scope*> inner(in_.frame_->scope, &scope);
  in_.exec_block(s_.body);
  in_.throw_if_errors_since(errors);
  Next next;
  for (const ast::LoopState& state : s_.state) {
    next.state.push_back(*scope.find(state.name));
    Span span = state.name_span;
    for (const auto& [name, where] : scope.assigned)
      if (name == state.name) span = where;
    next.spans.push_back(span);
  }
  return next;
}

Interpreter::LoopEvaluation::Next Interpreter::LoopEvaluation::body_on_types(const std::vector<Tensor>& tensors) {
  Restore<Backend*> types(in_.backend_, &in_.types_);
  return body(TypeBackend::tensor({{}, DType::int32, nullptr}), tensors);
}

// ---- the types of the state: the body runs until nothing changes

void Interpreter::LoopEvaluation::find_types() {
  constexpr int kMaxRounds = 8;  // each leaf changes its type once, and traits only grow
  bool changed = true;
  for (int round = 0; changed && round < kMaxRounds; ++round) {
    std::vector<Tensor> tensors;
    for (const Leaf& leaf : leaves_) {
      tensors.push_back(TypeBackend::tensor(leaf.type));
      tensors.back()->traits = leaf.traits;
    }
    Next next;
    DiagnosticSink::Mark reported = in_.diag_.mark();
    try {
      next = body_on_types(tensors);
    } catch (const EvalError&) {
      if (round == 0) suggest_floats(std::move(tensors), reported);
      throw;
    }
    changed = check_state(next, tensors);
  }
}

// Whether types or traits changed.
bool Interpreter::LoopEvaluation::check_state(const Next& next, const std::vector<Tensor>& tensors) {
  bool changed = false;
  std::size_t k = 0;
  std::size_t errors = in_.diag_.error_count();
  for (std::size_t i = 0; i < s_.state.size(); ++i) {
    const std::string& name = s_.state[i].name.str();
    if (next.state[i].is_poison()) throw EvalError{};
    if (!same_form(initial_[i], next.state[i])) {
      FormDifference form = form_difference(initial_[i], next.state[i], name);
      report_state(Diag::state_changes, next, i, {form.path, shown_text(*form.first), shown_text(*form.second), ""});
      for_each_leaf(initial_[i], name, [&](const std::string&, const Value& leaf) { k += is_tensor_leaf(leaf); });
      continue;
    }
    for_each_pair(initial_[i], next.state[i], name, [&](const std::string& path, const Value& before, const Value& now) {
      if (now.is_poison()) throw EvalError{};
      if (is_tensor_leaf(before)) {
        changed |= check_leaf(leaves_[k], tensors[k], path, before, now, next, i);
        ++k;
      } else if (now.is_tensor() || !same_value(before, now)) {
        report_state(Diag::state_static, next, i, {path, shown_text(before), shown_text(now)});
      }
    });
  }
  in_.throw_if_errors_since(errors);
  return changed;
}

// `given`: the tensor that stood for the leaf in the body; `now`: what the body made of it.
bool Interpreter::LoopEvaluation::check_leaf(Leaf& leaf, const Tensor& given, const std::string& path, const Value& before,
                                             const Value& now, const Next& next, std::size_t i) {
  if (leaf.type.history && now.is_tensor() && now.tensor()->type.history) {
    bool grown = now.tensor() == given;
    for (const auto& [from, to] : run_.histories) grown = grown || (from == given && to == now.tensor());
    if (!grown) in_.report(Diag::history_use, next.spans[i], {"`" + path + "`"});
  }
  if (number_fits(now, leaf.type)) return false;
  const TensorType* type = now.is_tensor() ? &now.tensor()->type : nullptr;
  bool changed = false;
  if (type && leaf.number && !same_type(leaf.type, *type) && number_fits(before, *type)) {
    leaf.type = *type;
    leaf.number = false;  // once
    changed = true;
  } else if (!type || !same_type(leaf.type, *type)) {
    std::string was = "`" + to_string(leaf.type) + "`";
    if (!before.is_tensor()) was += " (" + to_text(before) + ")";
    report_state(Diag::state_changes, next, i,
                 {path, was, type ? "`" + to_string(*type) + "`" : kind_text(now), type ? in_.changed_dims(leaf.type, *type) : ""});
  }
  if (type && in_.merge_traits(leaf.traits, now.tensor()->traits, next.spans[i])) changed = true;
  return changed;
}

// Where the body fails on the ints that states begin with, and works on floats, these are the mistake.
void Interpreter::LoopEvaluation::suggest_floats(std::vector<Tensor> tensors, DiagnosticSink::Mark reported) {
  Restore<Debugger*> silent(in_.debugger_, nullptr);
  auto scalar = [](DType dtype) { return TypeBackend::tensor({{}, dtype, nullptr}); };
  Next next;
  auto works = [&] {
    DiagnosticSink::Mark tried = in_.diag_.mark();
    bool right = true;
    try {
      next = body_on_types(tensors);
    } catch (const EvalError&) {
      right = false;
    }
    in_.diag_.rollback(tried);
    return right;
  };
  std::vector<std::size_t> floats;
  for (std::size_t i = 0; i < leaves_.size(); ++i)
    if (leaves_[i].number && leaves_[i].initial.is<std::int64_t>()) floats.push_back(i);
  for (std::size_t i : floats) tensors[i] = scalar(DType::float32);
  if (floats.empty() || !works()) return;
  std::erase_if(floats, [&](std::size_t i) {  // that may be an int
    tensors[i] = scalar(DType::int32);
    bool right = works();
    if (!right) tensors[i] = scalar(DType::float32);
    return right;
  });
  works();
  report_floats(next, floats, reported);
}

// In the place of what was reported since `reported`.
void Interpreter::LoopEvaluation::report_floats(const Next& next, const std::vector<std::size_t>& floats, DiagnosticSink::Mark reported) {
  bool found = false;
  std::size_t k = 0;
  for (std::size_t i = 0; i < s_.state.size(); ++i) {
    std::vector<Value> after;
    for_each_leaf(next.state[i], {}, [&](const std::string&, const Value& leaf) { after.push_back(leaf); });
    std::size_t n = 0;
    for_each_leaf(initial_[i], s_.state[i].name.str(), [&](const std::string& path, const Value& leaf) {
      const Value& now = n < after.size() ? after[n] : leaf;
      ++n;
      if (!is_tensor_leaf(leaf)) return;
      bool changes = std::find(floats.begin(), floats.end(), k++) != floats.end();
      if (!changes || !now.is_tensor() || !is_float(now.tensor()->type.dtype)) return;
      if (!std::exchange(found, true)) in_.diag_.rollback(reported);
      report_state(Diag::state_changes, next, i, {path, "an int", "`" + to_string(now.tensor()->type) + "`", ""})
          .help(Diag::help_text, {"begin with a float: `" + to_text(leaf) + ".0`"});
    });
  }
}

// ---- what comes out

void Interpreter::LoopEvaluation::find_stacked() {
  std::size_t errors = in_.diag_.error_count();
  for (std::size_t i = 0; i < run_.stacked.size(); ++i)
    for_each_leaf(run_.stacked[i].second, run_.stacked[i].first.str(), [&](const std::string& name, const Value& leaf) {
      Span span = run_.stacked_spans[i];
      TensorType type = is_number_leaf(leaf) ? number_type(leaf) : TensorType{};
      if (leaf.is_tensor()) {
        type = leaf.tensor()->type;
        if (type.history) in_.report(Diag::history_use, span, {kind_text(leaf)});
        if (type.has(spec_.axis)) in_.report(Diag::stack_axis, span, {name, to_string(spec_.axis)});
      } else if (!is_number_leaf(leaf)) {
        in_.report(Diag::stack_not_tensor, span, {shown_text(leaf)});
      }
      spec_.stacked_names.push_back(name);
      spec_.stacked.push_back(type);
      stacked_spans_.push_back(span);
      stacked_traits_.push_back(leaf.is_tensor() ? leaf.tensor()->traits : Traits{});
    });
  if (s_.state.empty() && run_.stacked.empty()) in_.report(Diag::loop_without_result, s_.span);
  spec_.has_end = run_.end != nullptr;
  spec_.include_eos = run_.include_eos;
  if (!spec_.axis_known && !spec_.has_end && !spec_.max) in_.report(Diag::loop_no_length, s_.over->span, {to_string(spec_.axis)});
  in_.throw_if_errors_since(errors);
}

void Interpreter::LoopEvaluation::find_lengths() {
  Dim batch = in_.in_.context.dims.batch();
  if (spec_.axis_known) {
    spec_.length_dims = lengths().length_dims(spec_.axis);
  } else if ((run_.end && run_.end->type.has(batch)) || (spec_.max && spec_.max->type.has(batch))) {
    spec_.length_dims = {batch};
  }
}

// Where the frames of each sequence differ between hypotheses, all that comes out does.
void Interpreter::LoopEvaluation::find_search() {
  std::size_t errors = in_.diag_.error_count();
  Dim batch = in_.in_.context.dims.batch();
  for (const Leaf& leaf : leaves_) search_ = in_.joined_search(search_, leaf.traits.search, s_.span);
  for (std::size_t i = 0; i < stacked_traits_.size(); ++i)
    search_ = in_.joined_search(search_, stacked_traits_[i].search, stacked_spans_[i]);
  spec_.search = search_ != 0;
  spec_.chooses = run_.beam_size.has_value();
  if (spec_.search && !spec_.axis_known) spec_.length_dims = {batch};
  axis_search_ = spec_.axis_known ? in_.search_of(spec_.axis) : run_.beam_size ? search_ : 0;
  for (const Tensor& t : {run_.end, spec_.max})
    if (t) axis_search_ = in_.joined_search(axis_search_, t->traits.search, s_.span);
  in_.joined_search(search_, axis_search_, s_.span);
  for (std::size_t i = 0; axis_search_ && i < spec_.stacked.size(); ++i)
    if (!spec_.stacked[i].has(batch))
      in_.report(Diag::stack_hypotheses, stacked_spans_[i], {spec_.stacked_names[i]})
          .help(Diag::help_text, {"stack `nn.expand_dims(x, [batch])`"});
  in_.throw_if_errors_since(errors);
}

// ---- on tensors

void Interpreter::LoopEvaluation::make_initial_state() {
  for (const Leaf& leaf : leaves_) {
    rcn::LoopState state;
    state.name = leaf.name;
    state.type = leaf.type;
    state.hypotheses = leaf.traits.search != 0;
    state.initial = in_.leaf_tensor(leaf.initial, leaf.type, s_.span);
    state.span = s_.span;
    spec_.state.push_back(std::move(state));
  }
}

LoopNext Interpreter::LoopEvaluation::step(const LoopStep& at) {
  for (std::size_t i = 0; i < leaves_.size(); ++i) at.state[i]->traits = leaves_[i].traits;
  Next next = body(at.index, at.state);
  LoopNext result;
  for (std::size_t i = 0; i < next.state.size(); ++i)
    for_each_pair(initial_[i], next.state[i], {}, [&](const std::string&, const Value& before, const Value& leaf) {
      if (is_tensor_leaf(before))
        result.state.push_back(in_.leaf_tensor(leaf, leaves_[result.state.size()].type, next.spans[i]));
    });
  for (const auto& [name, value] : run_.stacked)
    for_each_leaf(value, {}, [&](const std::string&, const Value& leaf) {
      result.stacked.push_back(in_.leaf_tensor(leaf, spec_.stacked[result.stacked.size()], s_.span));
    });
  result.end = run_.end;
  return result;
}

// Lengths of dims that the body made may differ from step to step.
void Interpreter::LoopEvaluation::define_lengths() {
  Dim axis = spec_.axis;
  for (Dim d : lengths().defined_since(lengths_before_))
    if (!spec_.axis_known || d != axis) lengths().define(d, united({axis}, lengths().length_dims(d)));
  if (spec_.axis_known) return;
  lengths().define(axis, spec_.length_dims);
  for (const Tensor& t : {run_.end, spec_.max})
    if (t) in_.set_training_dim(axis, t->traits.training_only);
  if (axis_search_) in_.search_dims_.emplace(axis, axis_search_);
}

void Interpreter::LoopEvaluation::assign_results(const LoopResult& result) {
  std::shared_ptr<const Origin> frames = in_.dims_origin({spec_.axis});  // how many there are
  if (frames) frames = std::make_shared<const Origin>(Origin{"loop over " + to_string(spec_.axis), s_.over->span, frames});
  auto set_traits = [&](const Tensor& tensor, const Traits& traits) {
    tensor->traits = traits;
    if (axis_search_) tensor->traits.search = axis_search_;
    if (!tensor->traits.training_only) tensor->traits.training_only = frames;
  };
  std::size_t k = 0;
  for (std::size_t i = 0; i < s_.state.size(); ++i) {
    Value last = map_leaves(initial_[i], [&](const Value& leaf) -> Value {
      if (!is_tensor_leaf(leaf)) return leaf;
      const Tensor& tensor = result.last[k];
      const Traits& traits = leaves_[k++].traits;
      if (!tensor) return None{};
      set_traits(tensor, traits);
      return tensor;
    });
    in_.assign(s_.state[i].name, last, s_.state[i].name_span);
  }
  k = 0;
  for (const auto& [name, form] : run_.stacked) {
    Value value = map_leaves(form, [&](const Value&) -> Value {
      const Tensor& tensor = result.stacked[k];
      set_traits(tensor, stacked_traits_[k++]);
      return tensor;
    });
    in_.assign(name, value, s_.span);
  }
}

}  // namespace rcn
