// `if` on a tensor, `masked`, and the assignment of parameters. Branches first run on types alone.
#include <algorithm>

#include "compiler/dims/dim_list.h"
#include "compiler/eval/interpreter.h"

namespace rcn {

using namespace ast;

namespace {

const Symbol kResult("if-else");  // of `a if c else b`; no name that a program can have

}  // namespace

std::string Interpreter::region_text(RegionKind kind) {
  switch (kind) {
    case RegionKind::loop: return "a loop";
    case RegionKind::branch: return "a branch that is decided while the network runs";
    case RegionKind::masked: return "a `masked` part";
  }
  return {};
}

// Losses, outputs and `return` stand where each run of the network comes along.
void Interpreter::require_plain_region(Span span, const std::string& word) {
  if (!regions_.empty()) fail_in_region(span, word);
}

void Interpreter::fail_in_region(Span span, const std::string& word) {
  auto builder = report(Diag::not_in_region, span, {word, region_text(regions_.back())});
  bool mark = word == "loss" || word == "error" || word == "output";
  const char* help = nullptr;
  if (regions_.back() == RegionKind::branch)
    help = mark              ? "mark a value that both branches give, after the `if`"
           : word == "return" ? "give a name its value in both branches, and return that after the `if`"
           : word == "stack"  ? "stack a value that both branches give, after the `if`"
           : word == "end"    ? "the condition of `end` can hold that of the branch: `end(a and b)`"
                              : nullptr;
  else if (mark)
    help = "collect the value with `stack` and mark it after the loop";
  if (help) builder.help(Diag::help_text, {help});
  throw EvalError{};
}

// Where sequences go different ways, an operation on the batch as a whole has no meaning.
void Interpreter::require_one_sequence(const OpNode& node, Span span) {
  Dim batch = in_.context.dims.batch();
  bool undecided = false, over_batch = false;
  for (const Operand& input : node.inputs)
    if (const Tensor* t = as_tensor(input)) {
      undecided = undecided || (*t)->traits.undecided();
      for (const TensorType& out : node.outputs) over_batch = over_batch || ((*t)->type.has(batch) && !out.has(batch) && !out.history);
    }
  if (!over_batch || (!undecided && !masked_)) return;
  fail(Diag::mixes_sequences, span, {std::string(node.op->name), undecided ? "which a search has not decided yet" : "in a `masked` part"});
}

const Value* Interpreter::Names::find(Symbol name) const {
  for (const auto& [n, value] : values)
    if (n == name) return &value;
  return nullptr;
}

const Span* Interpreter::Names::place(Symbol name) const {
  for (const auto& [n, span] : places)
    if (n == name) return &span;
  return nullptr;
}

const Value* Interpreter::outer_value(Symbol name) const {
  for (Scope* scope = frame_->scope; scope; scope = scope->parent)
    if (const Value* value = scope->find(name)) return value;
  return nullptr;
}

void Interpreter::collect_results(const ResultTree& tree, const Value& now, const std::vector<TensorType>& types, Span span,
                                  std::vector<Tensor>& results) {
  std::size_t k = 0;
  for_each_leaf(now, {}, [&](const std::string&, const Value& leaf) {
    int i = tree.result[k++];
    if (i >= 0) results[static_cast<std::size_t>(i)] = leaf_tensor(leaf, types[static_cast<std::size_t>(i)], span);
  });
}

// The names that a body assigns, with their values.
Interpreter::Names Interpreter::run_branch(const std::function<void()>& body) {
  Scope scope;
  scope.parent = frame_->scope;
  scope.kind = ScopeKind::branch;
  Restore<Scope*> inner(frame_->scope, &scope);
  body();
  Names names{std::move(scope.vars), std::move(scope.assigned), std::move(scope.only_branch)};
  std::erase_if(names.values, [&](const auto& entry) {
    return std::any_of(names.only_branch.begin(), names.only_branch.end(), [&](const auto& only) { return only.first == entry.first; });
  });
  return names;
}

void Interpreter::run_cond(const Tensor& condition, Span span, const std::function<void()>& then,
                           const std::function<void()>& otherwise, const std::string& name) {
  const std::function<void()>* bodies[2] = {&then, &otherwise};
  DimTable::Record dims[2];
  std::vector<std::pair<Dim, std::vector<Dim>>> defined[2];  // with what their lengths depend on
  Names names[2];
  std::vector<std::pair<const ParamState*, Span>> assigned_before = assigned_params_, assigned_after = assigned_params_;
  DimLengths& lengths = in_.context.lengths;
  std::size_t mark = lengths.mark();
  auto run = [&](int side) {
    DimTable::Replay replay(in_.context.dims, dims[side]);
    Pushed<RegionKind> in_region(regions_, RegionKind::branch);
    std::size_t errors = diag_.error_count();
    assigned_params_ = assigned_before;
    Names result = run_branch(*bodies[side]);
    throw_if_errors_since(errors);
    return result;
  };

  // ---- on types
  bool failed = false;
  {
    Restore<Backend*> types(backend_, &types_);
    for (int side : {0, 1}) {
      lengths.rollback(mark);
      try {
        names[side] = run(side);
      } catch (const EvalError&) {
        failed = true;  // the other branch is checked too
      }
      assigned_after.insert(assigned_after.end(), assigned_params_.begin() + static_cast<std::ptrdiff_t>(assigned_before.size()), assigned_params_.end());
      for (Dim d : lengths.defined_since(mark)) defined[side].emplace_back(d, lengths.length_dims(d));
    }
  }
  if (failed) throw EvalError{};

  // ---- the values of both
  std::vector<Symbol> order;
  for (const Names& side : names)
    for (const auto& [n, value] : side.values)
      if (std::find(order.begin(), order.end(), n) == order.end()) order.push_back(n);
  std::vector<ResultTree> merged;
  std::vector<std::pair<Symbol, Span>> only;
  for (const Names& side : names) only.insert(only.end(), side.only_branch.begin(), side.only_branch.end());
  auto place = [&](Symbol n) {
    const Span *first = names[0].place(n), *second = names[1].place(n);
    return second ? *second : first ? *first : span;
  };
  auto differ = [&](Diag kind, Symbol n, const std::string& path, const std::string& a, const std::string& b, const std::string& dims_) {
    std::string shown = n == kResult ? "the value" : "`" + path + "`";
    auto builder = report(kind, place(n), kind == Diag::branch_static ? std::vector{shown, a, b} : std::vector{shown, a, b, dims_});
    if (names[0].place(n) && names[1].place(n)) builder.note(Diag::note_branch_here, *names[0].place(n));
    return builder;
  };
  CondSpec spec;
  spec.name = name;
  spec.condition = condition;
  spec.span = span;
  std::vector<Traits> traits;
  std::size_t errors = diag_.error_count();
  for (Symbol n : order) {
    const Value *first = names[0].find(n), *second = names[1].find(n);
    if (!first) first = outer_value(n);
    if (!second) second = outer_value(n);
    if (!first || !second) {
      only.emplace_back(n, place(n));
      continue;
    }
    if (first->is_poison() || second->is_poison()) throw EvalError{};
    if (!same_form(*first, *second)) {
      FormDifference form = form_difference(*first, *second, n.str());
      differ(Diag::branch_types, n, form.path, shown_text(*form.first), shown_text(*form.second), "");
      continue;
    }
    ResultTree m{n, *first, {}};
    for_each_pair(*first, *second, n.str(), [&](const std::string& path, const Value& a, const Value& b) {
      if (!a.is_tensor() && !b.is_tensor()) {
        if (!same_value(a, b)) {
          auto builder = differ(Diag::branch_static, n, path, shown_text(a), shown_text(b), "");
          if (is_number_leaf(a) && is_number_leaf(b)) builder.help(Diag::help_text, {"`nn.constant(" + to_text(a) + ")` makes a tensor of it"});
        }
        m.result.push_back(-1);
        return;
      }
      const TensorType& type = a.is_tensor() ? a.tensor()->type : b.tensor()->type;
      if (type.history) report(Diag::history_use, place(n), {kind_text(a.is_tensor() ? a : b)});
      if (a.is_tensor() && b.is_tensor() && !same_type(a.tensor()->type, b.tensor()->type)) {
        auto builder = differ(Diag::branch_types, n, path, shown_text(a), shown_text(b), changed_dims(a.tensor()->type, b.tensor()->type));
        std::vector<Dim> x = without(a.tensor()->type.dims, b.tensor()->type.dims), y = without(b.tensor()->type.dims, a.tensor()->type.dims);
        if (x.size() == 1 && y.size() == 1 && x[0]->dynamic() && y[0]->dynamic())
          builder.help(Diag::help_text, {"declare a dim before the `if` (`dim joined: spatial`) and give it its length in both branches: "
                                         "as `out_dim` or `out_spatial_dim`, or by `nn.replace_dim(x, in_dim=" + to_string(y[0]) + ", out_dim=joined)`"});
      } else if (!a.is_tensor() || !b.is_tensor()) {
        if (!number_fits(a.is_tensor() ? b : a, type)) differ(Diag::branch_types, n, path, shown_text(a), shown_text(b), "");
      }
      m.result.push_back(static_cast<int>(spec.results.size()));
      spec.names.push_back(path);
      spec.results.push_back(type);
      traits.push_back(condition->traits);
      for (const Value* v : {&a, &b})
        if (v->is_tensor()) merge_traits(traits.back(), v->tensor()->traits, place(n));
      spec.hypotheses = spec.hypotheses || traits.back().search != 0;
    });
    merged.push_back(std::move(m));
  }
  throw_if_errors_since(errors);
  for (const auto& [d, over] : defined[0])
    if (std::any_of(defined[1].begin(), defined[1].end(), [&, dim = d](const auto& other) { return other.first == dim; })) spec.joined.push_back(d);

  // ---- on tensors
  auto branch = [&](int side) {
    return [&, side]() {
      lengths.rollback(mark);
      Names values = run(side);
      std::vector<Tensor> result(spec.results.size());
      for (const ResultTree& m : merged) {
        const Value* value = values.find(m.name);
        collect_results(m, value ? *value : *outer_value(m.name), spec.results, span, result);
      }
      return result;
    };
  };
  std::vector<Tensor> results = backend_->cond(spec, branch(0), branch(1));
  // The joined dims have a length now, and so have those that only one branch could see: nothing outside has them.
  std::unordered_map<Dim, std::vector<Dim>> over;
  for (const auto& side : defined)
    for (const auto& [d, dims_of_length] : side) over[d] = united(over[d], dims_of_length);
  for (const auto& side : defined)
    for (const auto& [d, unused] : side) lengths.define(d, over[d]);
  for (const ResultTree& m : merged) assign(m.name, with_results(m, results, traits), place(m.name));
  assigned_params_ = std::move(assigned_after);
  for (const auto& [n, where] : only) {
    assign(n, Poison{}, where);
    frame_->scope->only_branch.emplace_back(n, where);
  }
}

Interpreter::Flow Interpreter::exec_dynamic_if(const IfStmt& s, std::size_t index, const Tensor& condition_value) {
  auto block = [&](Block body) {
    if (exec_block(body) == Flow::returned && !frame().result.is_poison()) fail_in_region(s.span, "return");
  };
  auto rest = [&] {
    for (std::size_t i = index + 1; i < s.branches.size(); ++i) {
      Value value = eval(*s.branches[i].condition);
      if (value.is_tensor()) {
        exec_dynamic_if(s, i, condition_tensor(value, s.branches[i].condition->span, "`elif`"));
        return;
      }
      if (condition(value, s.branches[i].condition->span, "`elif`")) return block(s.branches[i].body);
    }
    block(s.otherwise);
  };
  run_cond(condition_value, s.branches[index].condition->span, [&] { block(s.branches[index].body); }, rest, "if");
  return Flow::next;
}

Value Interpreter::dynamic_conditional(const ConditionalExpr& e, const Tensor& condition_value) {
  Scope scope;
  scope.parent = frame_->scope;
  Restore<Scope*> inner(frame_->scope, &scope);
  auto side = [&](Expr& value) {
    return [&] {
      frame_->scope->vars.emplace_back(kResult, eval(value));
      frame_->scope->assigned.emplace_back(kResult, value.span);
    };
  };
  run_cond(condition_value, e.span, side(*e.then), side(*e.otherwise), "if");
  return *scope.find(kResult);
}

void Interpreter::exec_masked(const MaskedStmt& s) {
  Value mask = eval(*s.mask);
  if (mask.is<bool>()) {
    if (!mask.get<bool>()) return;
    Names names = run_branch([&] { exec_block(s.body); });
    for (const auto& [name, value] : names.values)
      if (outer_value(name)) assign(name, value, *names.place(name));
    return;
  }
  Dim batch = in_.context.dims.batch();
  const TensorType* type = mask.is_tensor() ? &mask.tensor()->type : nullptr;
  if (!type || type->dtype != DType::bool_ || !(type->dims.empty() || type->dims == std::vector<Dim>{batch}))
    fail(Diag::mask_type, s.mask->span, {kind_text(mask)});
  bool has_batch = type->has(batch);

  DimTable::Record dims;
  std::size_t mark = in_.context.lengths.mark();
  auto run = [&] {
    DimTable::Replay replay(in_.context.dims, dims);
    in_.context.lengths.rollback(mark);
    Pushed<RegionKind> in_region(regions_, RegionKind::masked);
    Restore<int> masks(masked_, masked_ + has_batch);
    std::size_t errors = diag_.error_count();
    Names names = run_branch([&] { exec_block(s.body); });
    throw_if_errors_since(errors);
    return names;
  };
  Names names;
  {
    Restore<Backend*> types(backend_, &types_);
    names = run();
  }

  // ---- each name that had a value before
  std::vector<ResultTree> kept;
  MaskedSpec spec;
  spec.name = "masked";
  spec.mask = mask.tensor();
  spec.span = s.span;
  std::vector<TensorType> types;
  std::vector<Traits> traits;
  std::vector<std::pair<Value, TensorType>> numbers;
  std::size_t errors = diag_.error_count();
  for (const auto& [name, now] : names.values) {
    const Value* before = outer_value(name);
    if (!before) continue;  // lives in the body only
    if (before->is_poison() || now.is_poison()) throw EvalError{};
    Span place = *names.place(name);
    if (!same_form(*before, now)) {
      FormDifference form = form_difference(*before, now, name.str());
      report(Diag::masked_type, place, {form.path, shown_text(*form.first), shown_text(*form.second), ""});
      continue;
    }
    ResultTree k{name, *before, {}};
    for_each_pair(*before, now, name.str(), [&](const std::string& path, const Value& old, const Value& value) {
      if (!old.is_tensor() && !value.is_tensor()) {
        if (!same_value(old, value)) report(Diag::masked_type, place, {path, shown_text(old), shown_text(value), ""});
        k.result.push_back(-1);
        return;
      }
      if (old.is_tensor() && value.is_tensor() && old.tensor() == value.tensor()) {
        k.result.push_back(-1);
        return;
      }
      const TensorType& t = old.is_tensor() ? old.tensor()->type : value.tensor()->type;
      if (t.history) {
        report(Diag::history_use, place, {kind_text(old.is_tensor() ? old : value)});
      } else if (old.is_tensor() && value.is_tensor() && !same_type(old.tensor()->type, value.tensor()->type)) {
        report(Diag::masked_type, place, {path, shown_text(old), shown_text(value), changed_dims(old.tensor()->type, value.tensor()->type)});
      } else if (has_batch && !t.has(batch)) {
        report(Diag::masked_dims, place, {path, to_string(batch)})
            .help(Diag::help_text, {"`nn.expand_dims(x, [batch])` is the tensor with that dim, before `masked`"});
      }
      k.result.push_back(static_cast<int>(types.size()));
      spec.names.push_back(path);
      types.push_back(t);
      traits.push_back(mask.tensor()->traits);
      for (const Value* v : {&old, &value})
        if (v->is_tensor()) merge_traits(traits.back(), v->tensor()->traits, place);
      numbers.emplace_back(old, t);
    });
    kept.push_back(std::move(k));
  }
  throw_if_errors_since(errors);
  for (const auto& [old, t] : numbers) spec.before.push_back(leaf_tensor(old, t, s.span));

  auto body = [&] {
    Names values = run();
    std::vector<Tensor> result(types.size());
    for (const ResultTree& k : kept) collect_results(k, *values.find(k.name), types, s.span, result);
    return result;
  };
  std::vector<Tensor> results = backend_->masked(spec, body);
  for (const ResultTree& k : kept) assign(k.name, with_results(k, results, traits), *names.place(k.name));
}

// nn.assign(parameter, value)
void Interpreter::builtin_assign(CallArgs& args) {
  if (!main_running_) fail(Diag::tensor_outside_main, args.span, {"nn.assign"});
  for (const CallArgs::Keyword& k : args.keywords) fail(Diag::unknown_keyword, k.name_span, {"nn.assign", k.name.str()});
  if (args.positional.size() != 2) fail(Diag::builtin_count, args.span, {"nn.assign", "2", std::to_string(args.positional.size())});
  for (RegionKind region : regions_)
    if (region != RegionKind::branch) fail(Diag::not_in_region, args.span, {"nn.assign", region_text(region)});
  const Value& target = args.positional[0];
  ParamState* param = nullptr;
  if (target.is_tensor())
    for (ParamState* p : used_params_)
      if (p->shown == target.tensor()) param = p;
  if (!param || !param->info.auxiliary) {
    auto builder = report(Diag::assign_target, args.spans[0], {param ? "the parameter `" + param->info.path + "`" : kind_text(target)});
    if (param)
      builder.note(Diag::note_declared_parameter, param->info.span).help(Diag::help_text, {"its declaration says so by `(auxiliary=true)`: then it is not trained"});
    throw EvalError{};
  }
  Value value = args.positional[1];
  const TensorType& type = param->info.type;
  bool fits = value.is_tensor() ? same_type(value.tensor()->type, type) : number_fits(value, type);
  if (!fits)
    fail(Diag::assign_type, args.spans[1], {shown_text(value), param->info.path, to_string(type)});
  if (value.is_tensor() && value.tensor()->traits.undecided()) fail(Diag::mixes_sequences, args.span, {"nn.assign", "which a search has not decided yet"});
  for (const auto& [assigned, where] : assigned_params_)
    if (assigned == param) {
      report(Diag::assign_twice, args.span, {param->info.path}).note(Diag::note_first_here, where);
      throw EvalError{};
    }
  assigned_params_.emplace_back(param, args.span);
  backend_->assign(param->info, param->raw, leaf_tensor(value, type, args.spans[1]), args.span);
}

}  // namespace rcn
