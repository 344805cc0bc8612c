// Control flow over tensors: loops run step by step, of an `if` the branch taken, and masked parts under a mask.
//
// A mask makes padding of what takes no part: ended sequences in a step, and those that a masked part leaves out. So
// all that holds for padding holds for them: no operation mixes them into others, checks skip them, and gradients stop
// where a tensor enters (see KernelCall).
#include "runtime/eager_backend.h"
#include "runtime/eager_loop.h"

namespace rcn {

// While one lives, what is made is named after a step of a loop, or (without one) as if no loop ran.
class EagerBackend::Names {
 public:
  Names(EagerBackend& backend, const std::string& loop, Dim axis, std::int64_t index) : Names(backend) {
    backend_.running_loops_.emplace_back(axis, index);
    std::string step = loop + "[" + std::to_string(index) + "]";
    if (steps_.empty()) backend_.around_loops_ = scope_;
    backend_.run_.scope = backend_.scoped(step);
    backend_.steps_ += step + ".";
  }
  explicit Names(EagerBackend& backend)
      : backend_(backend), scope_(backend.run_.scope), steps_(backend.steps_), around_loops_(backend.around_loops_),
        running_(backend.running_loops_.size()) {}
  ~Names() {
    backend_.run_.scope = std::move(scope_);
    backend_.steps_ = std::move(steps_);
    backend_.around_loops_ = std::move(around_loops_);
    backend_.running_loops_.resize(running_);
  }
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  void leave_loops() {
    if (steps_.empty()) return;
    backend_.run_.scope = around_loops_;
    backend_.steps_.clear();
  }

 private:
  EagerBackend& backend_;
  std::string scope_, steps_, around_loops_;
  std::size_t running_;
};

// While one lives, a loop runs. Choices in it are of one search; loops in it belong to that.
class EagerBackend::Searching {
 public:
  Searching(EagerBackend& backend, bool search) : backend_(backend), began_(search && !backend.search_) {
    if (began_) backend_.search_ = &backend_.searches_.begin();
  }
  ~Searching() {
    if (began_) backend_.search_ = nullptr;
  }
  Searching(const Searching&) = delete;
  Searching& operator=(const Searching&) = delete;

  void step(std::int64_t t) {
    if (began_) backend_.search_step_ = t;
  }

 private:
  EagerBackend& backend_;
  bool began_;
};

Tensor EagerBackend::frame(const Tensor& x, Dim axis, const Tensor& index, Span) {
  at::AutoGradMode grad_mode(with_grad_);
  Held source = latest(eager(x));
  TensorType type = x->type;
  type.dims = without(type.dims, {axis});
  Held frame{
      {source.value.select(source.index(axis), eager(index).value.item<std::int64_t>()), without(source.axes, {axis})},
      source.beam};
  frame.value = gated(frame.value, run_.lengths.masked_out(frame.axes));
  return std::make_shared<const EagerTensor>(std::move(type), std::move(frame), run_.lengths.region());
}

LoopResult EagerBackend::loop(const LoopSpec& spec, const LoopBody& body) {
  at::AutoGradMode grad_mode(with_grad_);
  Lengths& lengths = run_.lengths;
  Searching searching(*this, spec.search);
  LoopProgress progress(spec, lengths, searches_);
  LoopFrames frames(spec, lengths, searches_);
  LoopStep step;
  std::vector<LastState> last;
  for (const LoopState& s : spec.state) {
    step.state.push_back(retyped(s.initial, s.type));
    last.emplace_back(s);
  }

  for (std::int64_t t = 0; progress.begin_step(t); ++t) {
    if (!spec.axis_known && !spec.max && t == run_.loop_frames) {
      sink_.report(Diag::eager_loop_frames, spec.span,
                   {std::to_string(t), first_index(progress.active().value, progress.active().axes)});
      throw EvalError{};
    }
    searching.step(t);
    step.index = std::make_shared<const EagerTensor>(TensorType{{}, DType::int32},
                                                     Named{at::scalar_tensor(t, at::TensorOptions(at::kInt)), {}});
    LoopNext next;
    {
      Names names(*this, spec.name, spec.axis, t);
      Lengths::Inside inside(lengths);
      if (spec.axis_known) inside.step(spec.axis, t);
      if (!progress.all_active()) inside.mask(progress.active());
      next = body(step);
    }
    Held counts = progress.end_step(next.end ? &eager(next.end) : nullptr);
    for (std::size_t i = 0; i < spec.state.size(); ++i) {
      step.state[i] = latest(retyped(next.state[i], spec.state[i].type));
      if (!spec.state[i].type.history) last[i].update(eager(step.state[i]), counts);
    }
    frames.add(next.stacked);
  }

  if (!spec.axis_known) lengths.define(spec.axis, progress.frames());
  LoopResult result;
  result.stacked = frames.finish();
  std::string name = scoped(spec.name);
  for (std::size_t i = 0; i < spec.state.size(); ++i) {
    result.last.push_back(spec.state[i].type.history ? nullptr : last[i].finish(spec, lengths));
    if (result.last[i]) produced(name + "." + spec.state[i].name, result.last[i], spec.span, MadeBy::loop);
  }
  for (std::size_t i = 0; i < result.stacked.size(); ++i)
    produced(name + "." + spec.stacked_names[i], result.stacked[i], spec.span, MadeBy::loop);
  return result;
}

std::vector<Tensor> EagerBackend::cond(const CondSpec& spec, const CondBranch& then, const CondBranch& otherwise) {
  bool condition = eager(spec.condition).value.item<bool>();
  happened(scoped(spec.name), condition ? "branch: then" : "branch: else", spec.span);
  std::vector<Tensor> results = condition ? then() : otherwise();
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = retyped(results[i], spec.results[i]);
  return results;
}

std::vector<Tensor> EagerBackend::masked(const MaskedSpec& spec, const CondBranch& body) {
  at::AutoGradMode grad_mode(with_grad_);
  Lengths& lengths = run_.lengths;
  Held mask = latest(eager(spec.mask));
  at::Tensor padding = lengths.padding(mask.axes);
  bool everywhere = (padding.defined() ? mask.value.logical_or(padding) : mask.value).all().item<bool>();
  if (padding.defined()) mask.value = mask.value.logical_and(padding.logical_not());
  if (event_observer)
    happened(scoped(spec.name),
             "masked: " + std::to_string(mask.value.sum().item<std::int64_t>()) + " of " +
                 std::to_string(mask.value.numel()) + " take part",
             spec.span);
  std::vector<Tensor> results;
  if (!mask.value.any().item<bool>()) {
    for (const Tensor& t : spec.before) results.push_back(retyped(t, t->type));
    return results;
  }

  {
    Lengths::Inside inside(lengths);
    if (!everywhere) inside.mask(mask);
    results = body();
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const TensorType& type = spec.before[i]->type;
    results[i] = everywhere ? retyped(results[i], type)
                            : std::make_shared<const EagerTensor>(
                                  type, chosen(mask, eager(results[i]), eager(spec.before[i])), lengths.region());
  }
  return results;
}

void EagerBackend::outside(const std::function<void()>& make) {
  Names names(*this);
  names.leave_loops();
  Lengths::Inside inside(run_.lengths);
  inside.leave_all();
  make();
}

void EagerBackend::assign(const Parameter& parameter, const Tensor&, const Tensor& value, Span) {
  params_.assign(parameter, aligned(eager(value), parameter.type.dims).detach().clone());
}

}  // namespace rcn
