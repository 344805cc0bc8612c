// Operations on what has a value for each hypothesis, and the operations that a search is made of.
//
// Kernels know nothing of hypotheses: they run for one after the other.
#include <algorithm>
#include <stdexcept>

#include "runtime/eager_backend.h"
#include "runtime/eager_loop.h"
#include "runtime/kernels/families.h"

namespace rcn {

namespace {

// Of a sequence that has ended, one label goes on for free; no other can be among the best.
constexpr double kNoLabel = -1e30;

// The dims that an operation makes itself, with the lengths that they got for each hypothesis.
struct MadeDim {
  Dim dim;
  std::optional<Named> before;
  std::vector<Named> lengths;
};

void collect_dims(const Value& value, Axes& dims) {
  if (value.is_dim()) dims.push_back(value.dim());
  if (value.is_list())
    for (const Value& v : value.list()) collect_dims(v, dims);
}

bool same(const std::vector<Named>& all) {
  return std::all_of(all.begin(), all.end(), [&](const Named& n) {
    return n.axes == all[0].axes && n.value.sizes() == all[0].value.sizes() && at::equal(n.value, all[0].value);
  });
}

// Along the beam's axis in front.
Named joined(const std::vector<Named>& all, const Beam& beam) {
  Axes axes{beam.search->batch};
  for (const Named& n : all) axes = united(axes, n.axes);
  std::vector<at::Tensor> parts;
  for (const Named& n : all) parts.push_back(aligned(n, axes));
  std::vector<std::int64_t> shape = at::broadcast_tensors(parts)[0].sizes().vec();
  shape[0] = beam.source.size(0);
  for (at::Tensor& p : parts) p = p.expand(shape);
  axes.insert(axes.begin(), beam.axis);
  return {at::stack(parts), axes};
}

[[noreturn]] std::vector<Tensor> no_kernel(KernelCall&) { throw std::logic_error("a search operation as a kernel"); }
const KernelEntry kTable[] = {{"choice", no_kernel}, {"decide", no_kernel}, {"beam_scores", no_kernel}};

}  // namespace

std::span<const KernelEntry> search_kernels() { return kTable; }

bool is_search_op(std::string_view name) {
  return std::any_of(std::begin(kTable), std::end(kTable), [&](const KernelEntry& e) { return e.name == name; });
}

BeamPtr EagerBackend::beam_of(const OpNode& node) const {
  if (searches_.empty()) return nullptr;
  BeamPtr beam;
  Axes dims;
  for (const Operand& input : node.inputs)
    if (const Tensor* t = as_tensor(input)) {
      beam = common_beam(beam, eager(*t).beam);
      dims.insert(dims.end(), (*t)->type.dims.begin(), (*t)->type.dims.end());
    }
  if (beam) return beam;
  // What has no beam, over a dim that differs between hypotheses, is decided. What is made from a dim alone has the
  // beam of its lengths.
  auto of_dims = [&] {
    for (Dim d : dims)
      if (d->dynamic() && run_.lengths.has(d))
        beam = common_beam(beam, searches_.beam_of(run_.lengths.decided(d).axes));
    return beam;
  };
  if (of_dims()) return nullptr;
  for (const TensorType& type : node.outputs) dims.insert(dims.end(), type.dims.begin(), type.dims.end());
  for (const auto& [name, value] : node.attrs) collect_dims(value, dims);
  return of_dims();
}

std::vector<Tensor> EagerBackend::run_kernel(Kernel kernel, const OpNode& node, const BeamPtr& beam) {
  Lengths& lengths = run_.lengths;
  std::vector<MadeDim> made;
  for (const NewDim& d : node.new_dims) {
    if (d.computed) continue;
    made.push_back({d.dim, std::nullopt, {}});
    if (lengths.has(d.dim)) made.back().before = lengths.of(d.dim);
  }
  OpNode whole = node;
  for (Operand& input : whole.inputs)
    if (const Tensor* t = as_tensor(input)) input = latest(*t);

  OpNode one = whole;
  std::vector<std::vector<Tensor>> parts;
  for (std::int64_t k = 0; k < *beam->axis->size; ++k) {
    Lengths::Inside inside(lengths);
    inside.step(beam->axis, k);
    for (std::size_t i = 0; i < one.inputs.size(); ++i) {
      const Tensor* t = as_tensor(whole.inputs[i]);
      if (!t || !eager(*t).beam) continue;
      const EagerTensor& x = eager(*t);
      std::int64_t before = x.value.dim() - static_cast<std::int64_t>(x.axes.size());  // 1 for a history
      Named entry{x.value.select(x.index(beam->axis) + before, k), without(x.axes, {beam->axis})};
      one.inputs[i] = std::make_shared<const EagerTensor>(x.type, entry, x.region);
    }
    for (MadeDim& d : made) d.before ? lengths.define(d.dim, *d.before) : lengths.forget(d.dim);
    parts.push_back(run_kernel(kernel, one));
    for (MadeDim& d : made)
      if (lengths.has(d.dim)) d.lengths.push_back(lengths.of(d.dim));
  }
  for (const MadeDim& d : made)
    if (!same(d.lengths)) lengths.define(d.dim, joined(d.lengths, *beam));

  std::vector<Tensor> results;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const TensorType& type = node.outputs[i];
    if (!contains(type.dims, beam->search->batch)) {  // the size of a dim and the like
      for (const std::vector<Tensor>& p : parts)
        if (!at::equal(eager(p[i]).value, eager(parts[0][i]).value))
          throw std::logic_error("hypotheses without sequences: " + std::string(node.op->name));
      results.push_back(parts[0][i]);
      continue;
    }
    std::vector<at::Tensor> values;
    Axes axes = eager(parts[0][i]).axes, all_axes = axes;
    all_axes.insert(all_axes.begin(), beam->axis);
    at::Tensor value;
    if (type.history) {
      for (const std::vector<Tensor>& p : parts) values.push_back(eager(p[i]).value);
      value = at::stack(values, 1);
    } else {
      for (const std::vector<Tensor>& p : parts) values.push_back(aligned(eager(p[i]), axes));
      std::vector<std::int64_t> shape = lengths.shape(all_axes);
      value = stacked(values, shape[0], {shape.begin() + 1, shape.end()}, scalar_type(type.dtype));
    }
    results.push_back(std::make_shared<const EagerTensor>(type, Held{{value, all_axes}, beam}, lengths.region()));
  }
  return results;
}

std::vector<Tensor> EagerBackend::apply_search(const OpNode& node) {
  if (node.op->name == "choice") return {choice(node)};
  return {node.op->name == "decide" ? decide(node.tensor(0)) : beam_scores(node.tensor(0))};
}

// As RETURNN's `choice` layer: it sums the scores, and looks for the best among the continuations of all hypotheses.
Tensor EagerBackend::choice(const OpNode& node) {
  at::NoGradGuard no_grad;
  Lengths& lengths = run_.lengths;
  Held scores = latest(eager(node.tensor(0)));
  if (!search_) throw std::logic_error("choice outside of a search");
  const BeamPtr base = search_->latest;
  Dim batch = search_->batch, axis = node.dim("axis");
  std::int64_t sequences = lengths.extent(batch), labels = lengths.extent(axis), size = node.integer("beam_size");
  std::int64_t hypotheses = base ? *base->axis->size : 1;

  at::Tensor base_scores = base ? base->scores : at::zeros({sequences, 1}, at::TensorOptions(at::kFloat));
  at::Tensor added =
      base && scores.beam ? aligned(scores, {batch, base->axis, axis}) : aligned(scores, {batch, axis}).unsqueeze(1);
  added = added.to(at::kFloat);
  // What takes no part: sequences that have ended.
  at::Tensor ended = base ? lengths.masked_out({batch, base->axis}) : lengths.masked_out({batch});
  if (ended.defined()) {
    if (!base) ended = ended.unsqueeze(1);
    at::Tensor only_first = at::full({labels}, kNoLabel, at::TensorOptions(at::kFloat));
    only_first[0] = 0;
    added = at::where(ended.unsqueeze(-1), only_first, added);
    // What is compared is the mean score of the steps, times the steps so far.
    auto t = static_cast<float>(search_step_);
    if (node.boolean("length_normalization") && search_step_ > 0)
      base_scores = base_scores * at::where(ended, (t + 1) / t, 1.0F);
  }
  at::Tensor sums = (base_scores.unsqueeze(-1) + added).expand({sequences, hypotheses, labels}).flatten(1);
  auto [values, order] = at::sort(sums, /*stable=*/true, /*dim=*/1, /*descending=*/true);
  std::int64_t found = std::min(size, hypotheses * labels);
  values = values.narrow(1, 0, found);
  order = order.narrow(1, 0, found);
  if (found < size) {
    values = at::constant_pad_nd(values, {0, size - found}, -std::numeric_limits<double>::infinity());
    order = at::constant_pad_nd(order, {0, size - found}, 0);
  }

  auto beam = std::make_shared<Beam>();
  beam->search = search_;
  beam->axis = search_->axis(size);
  beam->parent = base;
  beam->source = at::div(order, labels, "floor");
  beam->scores = values.contiguous();
  beam->labels = order.remainder(labels);
  if (ended.defined()) beam->ended = ended.expand({sequences, hypotheses}).gather(1, beam->source);
  if (node.boolean("length_normalization")) beam->divisor = static_cast<double>(search_step_ + 1);
  if (base)
    lengths.follow(base->axis, [&](const Named& x) { return taken(x, batch, base->axis, beam->source, beam->axis); });
  search_->latest = beam;
  Named chosen_labels{beam->labels.to(scalar_type(node.outputs[0].dtype)), {batch, beam->axis}};
  return std::make_shared<const EagerTensor>(node.outputs[0], Held{chosen_labels, beam}, lengths.region());
}

Tensor EagerBackend::decide(const Tensor& tensor) {
  Lengths& lengths = run_.lengths;
  Held x = latest(eager(tensor));
  if (x.beam) {
    Dim batch = x.beam->search->batch, axis = x.beam->axis;
    at::Tensor index = x.beam->scores.argmax(1, true);
    auto best = [&](const Named& from) {
      Named all = taken(from, batch, axis, index, axis);
      return Named{all.value.select(all.index(axis), 0), without(all.axes, {axis})};
    };
    for (Dim d : tensor->type.dims) lengths.decide(d, axis, best);
    x = best(x);
    std::vector<std::int64_t> shape = lengths.shape(x.axes);  // dims may be shorter now
    for (std::size_t i = 0; i < shape.size(); ++i) x.value = x.value.narrow(static_cast<std::int64_t>(i), 0, shape[i]);
  }
  return std::make_shared<const EagerTensor>(tensor->type, x, lengths.region());
}

Tensor EagerBackend::beam_scores(const Tensor& tensor) {
  TensorType type{{searches_.batch()}, DType::float32, nullptr};
  BeamPtr beam = common_beam(eager(tensor).beam, nullptr);
  // Without a step there was no choice: one hypothesis, of which nothing is known.
  auto given = [&] {  // a hypothesis that is not there has kNoLabel in its sum
    return at::where(beam->scores < kNoLabel * 1e-10, -std::numeric_limits<float>::infinity(), beam->scores / beam->divisor);
  };
  Held scores = beam ? Held{{given(), {beam->search->batch, beam->axis}}, beam}
                     : Held{{at::zeros(run_.lengths.shape(type.dims)), type.dims}, nullptr};
  return std::make_shared<const EagerTensor>(std::move(type), std::move(scores), run_.lengths.region());
}

}  // namespace rcn
