// Loops over tensors. The body first runs on types alone: that gives the types of the state and of what is stacked.
#include <algorithm>
#include <utility>

#include "compiler/dims/dim_list.h"
#include "compiler/eval/interpreter.h"

namespace rcn {

using namespace ast;

void Interpreter::throw_if_errors_since(std::size_t before) {
  if (diag_.error_count() > before) throw EvalError{};
}

// `; missing: a; new: b`
std::string Interpreter::changed_dims(const TensorType& before, const TensorType& after) const {
  std::string text;
  auto list = [&](const char* word, const std::vector<Dim>& dims) {
    if (!dims.empty()) text += std::string(text.empty() ? " (" : "; ") + word + " `" + dims_text(dims) + "`";
  };
  list("without", without(before.dims, after.dims));
  list("with", without(after.dims, before.dims));
  return text.empty() ? text : text + ")";
}

// A leaf as a tensor of the type: numbers become constants.
Tensor Interpreter::leaf_tensor(const Value& leaf, const TensorType& type, Span span) {
  if (leaf.is_tensor()) return leaf.tensor();
  List dims;
  for (Dim d : type.dims) dims.push_back(d);
  Value value = leaf;
  if (is_float(type.dtype) && value.is<std::int64_t>()) value = value.as_double();
  return apply("constant", {value, dims, type.dtype, type.sparse_dim ? Value(type.sparse_dim) : Value(None{})}, span, {}).tensor();
}

namespace {

// One leaf of the state that is a tensor.
struct StateLeaf {
  std::string name;
  Value initial;
  TensorType type;
  bool number = false;     // the initial value is a number, which takes the type that the body gives
  Traits traits;
};

}  // namespace

Tensor Interpreter::loop_max(Expr& e, bool known) {
  Value value;
  {
    // not looked at where the length is known, but checked
    Restore<Backend*> types(backend_, known ? &types_ : backend_);
    value = eval(e);
    if (value.is_poison()) throw EvalError{};
    if (value.is<std::int64_t>()) value = apply("constant", {value, List{}, DType::int32, None{}}, e.span, "max");
  }
  const TensorType* type = value.is_tensor() ? &value.tensor()->type : nullptr;
  bool right = type && is_int(type->dtype) && !type->history &&
               (type->dims.empty() || type->dims == std::vector<Dim>{in_.context.dims.batch()});
  if (!right) fail(Diag::loop_max, e.span, {kind_text(value)});
  return known ? nullptr : value.tensor();
}

void Interpreter::exec_loop(const LoopStmt& s) {
  if (!main_running_) fail(Diag::tensor_outside_main, s.span, {"loop"});
  Value over = eval(*s.over);
  if (!over.is_dim()) fail(Diag::loop_over, s.over->span, {kind_text(over)});
  Dim axis = over.dim();
  if (axis->marker) fail(Diag::loop_over_dim, s.over->span, {to_string(axis), "it stands for one step"});
  if (axis->kind == DimKind::batch) fail(Diag::loop_over_dim, s.over->span, {to_string(axis), "sequences are computed side by side"});
  for (const LoopRun* outer : loops_)
    if (outer->axis == axis) fail(Diag::loop_over_dim, s.over->span, {to_string(axis), "a loop around it goes over this dim already"});

  LoopSpec spec;
  spec.name = "loop";
  spec.axis = axis;
  spec.axis_known = in_.context.lengths.defined(axis);
  spec.span = s.span;
  if (!spec.axis_known && axis->form != DimForm::atom) fail(Diag::loop_over_dim, s.over->span, {to_string(axis), "its parts have no length yet"});
  if (s.max) spec.max = loop_max(*s.max, spec.axis_known);

  // ---- initial state
  std::vector<Value> initial;
  std::vector<StateLeaf> leaves;
  for (const ast::LoopState& state : s.state) {
    initial.push_back(eval(*state.initial));
    if (state.type) initial.back() = check_type(initial.back(), *state.type, state.initial->span, "the state `" + state.name.str() + "`");
    for_each_leaf(initial.back(), state.name.str(), [&](const std::string& name, const Value& leaf) {
      if (leaf.is_poison()) throw EvalError{};
      if (leaf.is_tensor()) {
        leaves.push_back({name, leaf, leaf.tensor()->type, false, leaf.tensor()->traits});
      } else if (is_number_leaf(leaf)) {
        leaves.push_back({name, leaf, number_type(leaf), true, {}});
      }
    });
  }

  // ---- the body, given the tensors of the state
  DimTable::Record dims;
  std::size_t lengths = in_.context.lengths.mark();
  LoopRun run;
  int search = 0;  // that the choices of the body are of
  struct Next {
    std::vector<Value> state;
    std::vector<Span> spans;  // where each got its value
  };
  auto body = [&](const Tensor& index, const std::vector<Tensor>& tensors) {
    DimTable::Replay replay(in_.context.dims, dims);
    in_.context.lengths.rollback(lengths);
    run = LoopRun{};
    run.frame = frame_;
    run.loop = &s;
    run.axis = axis;
    run.known = spec.axis_known;
    run.index_name = s.index;
    run.index = index;
    run.state = tensors;
    run.search = &search;
    Scope scope;
    scope.parent = frame_->scope;
    scope.kind = ScopeKind::loop;
    scope.vars.emplace_back(s.index, index);
    std::size_t next_leaf = 0;
    for (std::size_t i = 0; i < s.state.size(); ++i) {
      Value value = map_leaves(initial[i], [&](const Value& leaf) -> Value {
        return leaf.is_tensor() || is_number_leaf(leaf) ? Value(tensors[next_leaf++]) : leaf;
      });
      scope.vars.emplace_back(s.state[i].name, std::move(value));
    }
    std::size_t errors = diag_.error_count();
    Pushed<LoopRun*> in_loop(loops_, &run);
    Pushed<RegionKind> in_region(regions_, RegionKind::loop);
    Restore<Scope*> inner(frame_->scope, &scope);
    exec_block(s.body);
    throw_if_errors_since(errors);
    Next next;
    for (const ast::LoopState& state : s.state) {
      next.state.push_back(*scope.find(state.name));
      Span span = state.name_span;
      for (const auto& [name, where] : scope.assigned)
        if (name == state.name) span = where;
      next.spans.push_back(span);
    }
    return next;
  };

  // ---- on types, until nothing changes
  auto on_types = [&](const std::vector<Tensor>& tensors) {
    Restore<Backend*> types(backend_, &types_);
    return body(TypeBackend::tensor({{}, DType::int32, nullptr}), tensors);
  };
  // Where the body fails on the ints that states begin with, and works on floats, these are the mistake.
  auto suggest_floats = [&](std::vector<Tensor> tensors, DiagnosticSink::Mark reported) {
    Restore<Debugger*> silent(debugger_, nullptr);
    auto is_int = [](const StateLeaf& leaf) { return leaf.number && leaf.initial.is<std::int64_t>(); };
    auto scalar = [](DType dtype) { return TypeBackend::tensor({{}, dtype, nullptr}); };
    Next next;
    auto works = [&] {
      DiagnosticSink::Mark tried = diag_.mark();
      bool right = true;
      try {
        next = on_types(tensors);
      } catch (const EvalError&) {
        right = false;
      }
      diag_.rollback(tried);
      return right;
    };
    std::vector<std::size_t> floats;
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (is_int(leaves[i])) floats.push_back(i);
    for (std::size_t i : floats) tensors[i] = scalar(DType::float32);
    if (floats.empty() || !works()) return;
    std::erase_if(floats, [&](std::size_t i) {  // that may be an int
      tensors[i] = scalar(DType::int32);
      bool right = works();
      if (!right) tensors[i] = scalar(DType::float32);
      return right;
    });
    works();
    bool found = false;
    std::size_t k = 0;
    for (std::size_t i = 0; i < s.state.size(); ++i) {
      std::vector<Value> after;
      for_each_leaf(next.state[i], {}, [&](const std::string&, const Value& leaf) { after.push_back(leaf); });
      std::size_t n = 0;
      for_each_leaf(initial[i], s.state[i].name.str(), [&](const std::string& path, const Value& leaf) {
        const Value& now = n < after.size() ? after[n] : leaf;
        ++n;
        if (!leaf.is_tensor() && !is_number_leaf(leaf)) return;
        bool changes = std::find(floats.begin(), floats.end(), k++) != floats.end();
        if (!changes || !now.is_tensor() || !is_float(now.tensor()->type.dtype)) return;
        if (!std::exchange(found, true)) diag_.rollback(reported);
        report(Diag::state_changes, next.spans[i], {path, "an int", "`" + to_string(now.tensor()->type) + "`", ""})
            .note(Diag::note_initial_here, s.state[i].initial->span)
            .help(Diag::help_text, {"begin with a float: `" + to_text(leaf) + ".0`"});
      });
    }
  };
  bool changed = true;
  for (int round = 0; changed && round < 8; ++round) {
    changed = false;
    std::vector<Tensor> tensors;
    for (const StateLeaf& leaf : leaves) {
      tensors.push_back(TypeBackend::tensor(leaf.type));
      tensors.back()->traits = leaf.traits;
    }
    Next next;
    DiagnosticSink::Mark reported = diag_.mark();
    try {
      next = on_types(tensors);
    } catch (const EvalError&) {
      if (round == 0) suggest_floats(tensors, reported);
      throw;
    }
    std::size_t k = 0;
    std::size_t errors = diag_.error_count();
    for (std::size_t i = 0; i < s.state.size(); ++i) {
      const std::string& name = s.state[i].name.str();
      auto initial_note = [&](DiagnosticSink::Builder builder) { builder.note(Diag::note_initial_here, s.state[i].initial->span); };
      if (next.state[i].is_poison()) throw EvalError{};
      if (!same_form(initial[i], next.state[i])) {
        FormDifference form = form_difference(initial[i], next.state[i], name);
        initial_note(report(Diag::state_changes, next.spans[i], {form.path, shown_text(*form.first), shown_text(*form.second), ""}));
        for_each_leaf(initial[i], name, [&](const std::string&, const Value& leaf) { k += leaf.is_tensor() || is_number_leaf(leaf); });
        continue;
      }
      for_each_pair(initial[i], next.state[i], name, [&](const std::string& path, const Value& before, const Value& now) {
        if (now.is_poison()) throw EvalError{};
        if (!before.is_tensor() && !is_number_leaf(before)) {
          if (now.is_tensor() || !same_value(before, now))
            initial_note(report(Diag::state_static, next.spans[i], {path, shown_text(before), shown_text(now)}));
          return;
        }
        StateLeaf& leaf = leaves[k++];
        if (leaf.type.history && now.is_tensor() && now.tensor()->type.history) {
          bool grown = now.tensor() == tensors[k - 1];
          for (const auto& [from, to] : run.histories) grown = grown || (from == tensors[k - 1] && to == now.tensor());
          if (!grown) report(Diag::history_use, next.spans[i], {"`" + path + "`"});
        }
        if (number_fits(now, leaf.type)) return;
        const TensorType* type = now.is_tensor() ? &now.tensor()->type : nullptr;
        if (type && leaf.number && !same_type(leaf.type, *type) && number_fits(before, *type)) {
          leaf.type = *type;
          leaf.number = false;  // once
          changed = true;
        } else if (!type || !same_type(leaf.type, *type)) {
          initial_note(report(Diag::state_changes, next.spans[i],
                              {path, before.is_tensor() ? "`" + to_string(leaf.type) + "`" : "`" + to_string(leaf.type) + "` (" + to_text(before) + ")",
                               type ? "`" + to_string(*type) + "`" : kind_text(now), type ? changed_dims(leaf.type, *type) : ""}));
        }
        if (type && merge_traits(leaf.traits, now.tensor()->traits, next.spans[i])) changed = true;
      });
    }
    throw_if_errors_since(errors);
  }

  // ---- what comes out
  std::vector<Traits> stacked_traits;
  std::vector<Span> stacked_spans;
  std::vector<std::pair<Symbol, Value>> stacked_forms = run.stacked;
  std::size_t errors = diag_.error_count();
  for (std::size_t i = 0; i < run.stacked.size(); ++i)
    for_each_leaf(run.stacked[i].second, run.stacked[i].first.str(), [&](const std::string& name, const Value& leaf) {
      TensorType type = is_number_leaf(leaf) ? number_type(leaf) : TensorType{};
      if (leaf.is_tensor()) {
        type = leaf.tensor()->type;
        if (type.history) report(Diag::history_use, run.stacked_spans[i], {kind_text(leaf)});
        if (type.has(axis)) report(Diag::stack_axis, run.stacked_spans[i], {name, to_string(axis)});
      } else if (!is_number_leaf(leaf)) {
        report(Diag::stack_not_tensor, run.stacked_spans[i], {shown_text(leaf)});
      }
      spec.stacked_names.push_back(name);
      spec.stacked.push_back(type);
      stacked_spans.push_back(run.stacked_spans[i]);
      stacked_traits.push_back(leaf.is_tensor() ? leaf.tensor()->traits : Traits{});
    });
  if (s.state.empty() && run.stacked.empty()) report(Diag::loop_without_result, s.span);
  spec.has_end = run.end != nullptr;
  spec.include_eos = run.include_eos;
  if (!spec.axis_known && !spec.has_end && !spec.max) report(Diag::loop_no_length, s.over->span, {to_string(axis)});
  throw_if_errors_since(errors);
  Dim batch = in_.context.dims.batch();
  if (spec.axis_known) {
    spec.length_dims = in_.context.lengths.length_dims(axis);
  } else if ((spec.has_end && run.end->type.has(batch)) || (spec.max && spec.max->type.has(batch))) {
    spec.length_dims = {batch};
  }
  for (const StateLeaf& leaf : leaves) search = joined_search(search, leaf.traits.search, s.span);
  for (std::size_t i = 0; i < stacked_traits.size(); ++i) search = joined_search(search, stacked_traits[i].search, stacked_spans[i]);
  spec.search = search != 0;
  if (spec.search && !spec.axis_known) spec.length_dims = {batch};
  // Where the frames of each sequence differ between hypotheses, all that comes out does.
  int axis_search = spec.axis_known ? search_of(axis) : run.beam_size ? search : 0;
  for (const Tensor& t : {run.end, spec.max})
    if (t) axis_search = joined_search(axis_search, t->traits.search, s.span);
  joined_search(search, axis_search, s.span);
  for (std::size_t i = 0; axis_search && i < spec.stacked.size(); ++i)
    if (!spec.stacked[i].has(batch))
      report(Diag::stack_hypotheses, stacked_spans[i], {spec.stacked_names[i]})
          .help(Diag::help_text, {"stack `nn.expand_dims(x, [batch])`"});
  throw_if_errors_since(errors);

  for (StateLeaf& leaf : leaves) {
    rcn::LoopState state;
    state.name = leaf.name;
    state.type = leaf.type;
    state.initial = leaf_tensor(leaf.initial, leaf.type, s.span);
    state.span = s.span;
    spec.state.push_back(std::move(state));
  }

  // ---- on tensors
  auto step = [&](const LoopStep& at) {
    for (std::size_t i = 0; i < leaves.size(); ++i) at.state[i]->traits = leaves[i].traits;
    Next next = body(at.index, at.state);
    LoopNext result;
    std::size_t k = 0;
    for (std::size_t i = 0; i < next.state.size(); ++i) {
      for_each_pair(initial[i], next.state[i], {}, [&](const std::string&, const Value& before, const Value& leaf) {
        if (before.is_tensor() || is_number_leaf(before)) result.state.push_back(leaf_tensor(leaf, leaves[k++].type, next.spans[i]));
      });
    }
    k = 0;
    for (const auto& [name, value] : run.stacked)
      for_each_leaf(value, {}, [&](const std::string&, const Value& leaf) {
        result.stacked.push_back(leaf_tensor(leaf, spec.stacked[k++], s.span));
      });
    result.end = run.end;
    return result;
  };
  LoopResult result = backend_->loop(spec, step);

  // ---- lengths of dims that the body made may differ from step to step
  for (Dim d : in_.context.lengths.defined_since(lengths))
    if (!spec.axis_known || d != axis)
      in_.context.lengths.define(d, united({axis}, in_.context.lengths.length_dims(d)));
  if (!spec.axis_known) in_.context.lengths.define(axis, spec.length_dims);
  if (axis_search && !spec.axis_known) search_dims_.emplace(axis, axis_search);

  std::size_t k = 0;
  for (std::size_t i = 0; i < s.state.size(); ++i) {
    Value last = map_leaves(initial[i], [&](const Value& leaf) -> Value {
      if (!leaf.is_tensor() && !is_number_leaf(leaf)) return leaf;
      Tensor tensor = result.last[k];
      const Traits& traits = leaves[k++].traits;
      if (!tensor) return None{};
      tensor->traits = traits;
      if (axis_search) tensor->traits.search = axis_search;
      return tensor;
    });
    assign(s.state[i].name, last, s.state[i].name_span);
  }
  k = 0;
  for (const auto& [name, form] : stacked_forms) {
    Value value = map_leaves(form, [&](const Value&) -> Value {
      result.stacked[k]->traits = stacked_traits[k];
      if (axis_search) result.stacked[k]->traits.search = axis_search;
      return result.stacked[k++];
    });
    assign(name, value, s.span);
  }
}

// One call in each step, which all sequences come along; over a whole sequence nothing came before.
void Interpreter::require_history_step(const OpNode& node, Span span) {
  const Tensor& state = node.tensor(1);
  bool step = node.dim("spatial_dim")->marker;
  auto wrong = [&](const char* help) {
    report(Diag::history_use, span, {"`" + to_string(state->type) + "`"}).help(Diag::help_text, {help});
    throw EvalError{};
  };
  bool from_loop = false;
  for (const LoopRun* run : loops_)
    for (const auto& [from, to] : run->histories)
      if (from == state || to == state) wrong("it is used twice in this step");
  for (const LoopRun* run : loops_)
    for (const Tensor& t : run->state) from_loop = from_loop || t == state;
  if (!step) {
    if (from_loop) wrong("over a whole sequence it begins with `nn.empty_history`");
    return;
  }
  if (loops_.empty()) wrong("one step, `spatial_dim=nn.single_step_dim`, stands in a loop");
  bool here = false;
  for (const Tensor& t : loops_.back()->state) here = here || t == state;
  if (!here) wrong("in a loop it is state of that loop: `with h = nn.empty_history(...)`");
  if (regions_.back() != RegionKind::loop) wrong("in a branch or masked part it would not grow in each step");
}

void Interpreter::exec_stack(const StackStmt& s) {
  LoopRun& run = *loops_.back();
  if (frame_->scope->kind != ScopeKind::loop) fail_in_region(s.span, "stack");
  Value value = eval_named(*s.value, s.name.str());
  if (value.is_poison()) throw EvalError{};
  for (std::size_t i = 0; i < run.stacked.size(); ++i)
    if (run.stacked[i].first == s.name) {
      report(Diag::stack_twice, s.name_span, {s.name.str()}).note(Diag::note_first_here, run.stacked_spans[i]);
      throw EvalError{};
    }
  run.stacked.emplace_back(s.name, value);
  run.stacked_spans.push_back(s.name_span);
}

void Interpreter::builtin_end(CallArgs& args) {
  if (loops_.empty() || loops_.back()->frame != frame_) fail(Diag::misplaced, args.span, {"end", "a function outside of a loop's body"});
  if (frame_->scope->kind != ScopeKind::loop) fail_in_region(args.span, "end");
  LoopRun& run = *loops_.back();
  if (run.known) {
    report(Diag::end_known_length, args.span, {to_string(run.axis)})
        .help(Diag::help_text, {"in a loop that also serves training write `if search { end(...) }`, and go over a dim without length there"});
    throw EvalError{};
  }
  if (run.end) {
    report(Diag::end_twice, args.span).note(Diag::note_first_here, run.end_span).help(Diag::help_text, {"`end(a or b)` joins two conditions"});
    throw EvalError{};
  }
  if (args.positional.size() != 1) fail(Diag::end_condition, args.span, {std::to_string(args.positional.size()) + " values are given"});
  Value condition = args.positional[0];
  for (CallArgs::Keyword& k : args.keywords) {
    if (k.name.str() != "include_eos") fail(Diag::unknown_keyword, k.name_span, {"end", k.name.str()});
    if (!k.value.is<bool>()) fail(Diag::end_condition, k.span, {"`include_eos` is " + kind_text(k.value)});
    run.include_eos = k.value.get<bool>();
  }
  if (condition.is<bool>()) condition = apply("constant", {condition, List{}, None{}, None{}}, args.span, "end");
  const TensorType* type = condition.is_tensor() ? &condition.tensor()->type : nullptr;
  bool right = type && type->dtype == DType::bool_ && (type->dims.empty() || type->dims == std::vector<Dim>{in_.context.dims.batch()});
  if (!right) fail(Diag::end_condition, args.spans[0], {kind_text(condition)});
  run.end = condition.tensor();
  run.end_span = args.span;
}

// ---- frames

Interpreter::LoopRun* Interpreter::loop_of_index(const Value& index) {
  if (!index.is_tensor()) return nullptr;
  for (LoopRun* run : loops_)
    if (run->index == index.tensor()) return run;
  return nullptr;
}

namespace {

bool any_frame(const Value& value, Dim axis) {
  bool any = false;
  for_each_leaf(value, {}, [&](const std::string&, const Value& leaf) { any = any || (leaf.is_tensor() && leaf.tensor()->type.has(axis)); });
  return any;
}

}  // namespace

Value Interpreter::frame_of(const Value& value, const Tensor& index, const IndexExpr& e) {
  LoopRun* run = loop_of_index(index);
  if (!run) {
    report(Diag::frame_index, e.index->span, {"a tensor `" + to_string(index->type) + "`"})
        .help(Diag::help_text, {"`nn.gather` takes the frames at computed positions, `nn.slice` a range of frames"});
    throw EvalError{};
  }
  if (value.is_record()) {
    Record record;
    bool any = false;
    for (const auto& [name, item] : value.record().fields) {
      bool has = (item.is_record() && any_frame(item, run->axis)) || (item.is_tensor() && item.tensor()->type.has(run->axis));
      any = any || has;
      record.fields.emplace_back(name, has ? frame_of(item, index, e) : item);
    }
    if (!any) fail(Diag::frame_dim, e.span, {shown_text(value), to_string(run->axis), run->index_name.str()});
    return record;
  }
  const TensorType& type = value.tensor()->type;
  if (type.history) fail(Diag::history_use, e.object->span, {kind_text(value)});
  if (!type.has(run->axis)) fail(Diag::frame_dim, e.span, {kind_text(value), to_string(run->axis), run->index_name.str()});
  for (Dim d : type.dims)
    if (contains(in_.context.lengths.length_dims(d), run->axis)) fail(Diag::frame_lengths, e.span, {to_string(d), to_string(run->axis)});
  if (value.tensor()->traits.undecided() && is_decided(run->axis)) fail(Diag::decided_mixed, e.span, {to_string(run->axis), "[" + run->index_name.str() + "]"});
  Tensor frame = backend_->frame(value.tensor(), run->axis, index, e.span);
  frame->traits = value.tensor()->traits;
  return frame;
}

}  // namespace rcn
