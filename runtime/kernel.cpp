#include "runtime/kernel.h"

#include <algorithm>
#include <stdexcept>

#include "runtime/kernels/families.h"

namespace rcn {

Random RunState::random_for(std::string_view op) {
  std::string name = scope + "/" + std::string(op);
  std::uint64_t count = draws[name]++;
  last_draw = name + "#" + std::to_string(count);
  return Random(seed, last_draw);
}

at::Tensor gated(const at::Tensor& x, const at::Tensor& stopped) {
  if (!stopped.defined() || !x.requires_grad() || !at::GradMode::is_enabled()) return x;
  at::Tensor passed = x.view_as(x);
  passed.register_hook([stopped](const at::Tensor& grad) { return grad.masked_fill(stopped, 0); });
  return passed;
}

KernelCall::KernelCall(const OpNode& op_node, RunState& run_state, DiagnosticSink& sink)
    : node(op_node), run(run_state), lengths(run_state.lengths), sink_(sink) {
  for (const Operand& input : node.inputs) {
    const Tensor* t = as_tensor(input);
    Named named = t ? static_cast<const Named&>(eager(*t)) : Named{};
    if (t && named.value.requires_grad() && lengths.region() != 0 && eager(*t).region != lengths.region())
      named.value = gated(named.value, lengths.masked_out(named.axes));
    if (t && named.value.scalar_type() == at::kHalf && named.value.device().is_cpu())
      named.value = named.value.to(at::kFloat);
    tensors_.push_back(std::move(named));
  }
}

at::ScalarType KernelCall::dtype() const {
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (is_tensor(i)) return tensors_[i].value.scalar_type();
  return scalar_type(node.outputs.at(0).dtype);
}

at::Tensor KernelCall::operand(std::size_t i, const Axes& axes, at::ScalarType dtype) {
  const Operand& input = node.inputs[i];
  at::TensorOptions options(dtype);
  if (const auto* v = std::get_if<std::int64_t>(&input)) return at::scalar_tensor(*v, options);
  if (const auto* v = std::get_if<double>(&input)) return at::scalar_tensor(*v, options);
  if (const auto* v = std::get_if<bool>(&input)) return at::scalar_tensor(*v, options);
  const Named& x = tensors_[i];
  at::Tensor value = aligned(x, axes);
  if (value.requires_grad() && at::GradMode::is_enabled()) {
    for (Dim d : lengths.padded(axes)) {
      if (x.has(d)) continue;
      value = value.expand(lengths.shape(axes));
      gate(value, axes);
      break;
    }
  }
  return value;
}

Named KernelCall::filled(const Named& x, const at::Scalar& fill, const Axes& by) {
  at::Tensor mask = lengths.padding(x.axes, by);
  return mask.defined() ? Named{x.value.masked_fill(mask, fill), x.axes} : x;
}

Named KernelCall::cleared_for_grad(const Named& x) {
  return at::GradMode::is_enabled() && at::isFloatingType(x.value.scalar_type()) ? filled(x, 0, x.axes) : x;
}

void KernelCall::gate(const at::Tensor& value, const Axes& axes) {
  if (!value.requires_grad() || !at::GradMode::is_enabled()) return;
  at::Tensor mask = lengths.padding(axes);
  if (mask.defined()) value.register_hook([mask](const at::Tensor& grad) { return grad.masked_fill(mask, 0); });
}

Tensor KernelCall::result(Named value, std::size_t output) {
  const TensorType& type = node.outputs.at(output);
  at::ScalarType wanted = scalar_type(type.dtype);
  if (value.value.scalar_type() != wanted) value.value = value.value.to(wanted);
  if (value.axes.size() != type.dims.size() || united(type.dims, value.axes).size() != type.dims.size())
    throw std::logic_error("kernel " + std::string(node.op->name) + " gave [" + dims_text(value.axes) + "] for [" +
                           dims_text(type.dims) + "]");
  at::IntArrayRef sizes = value.value.sizes();
  if (type.history) sizes = sizes.slice(1);
  if (sizes != at::IntArrayRef(lengths.shape(value.axes)))
    throw std::logic_error("kernel " + std::string(node.op->name) + " gave sizes that do not fit [" +
                           dims_text(value.axes) + "]");
  return std::make_shared<const EagerTensor>(type, std::move(value), lengths.region());
}

void KernelCall::fail(Diag kind, std::vector<std::string> args) {
  sink_.report(kind, node.span, std::move(args));
  throw EvalError{};
}

std::string first_index(const at::Tensor& bad, const Axes& axes, std::vector<std::int64_t>* index) {
  // Batch first, then as declared: what is named must not depend on the order in memory.
  std::vector<std::int64_t> order(axes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    Dim x = axes[static_cast<std::size_t>(a)], y = axes[static_cast<std::size_t>(b)];
    bool x_batch = x->kind == DimKind::batch, y_batch = y->kind == DimKind::batch;
    return x_batch != y_batch ? x_batch : x->id < y->id;
  });
  at::Tensor found = bad.permute(order).nonzero();
  if (found.size(0) == 0) return "";
  std::string text;
  if (index) index->assign(axes.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto axis = static_cast<std::size_t>(order[i]);
    std::int64_t at = found[0][static_cast<std::int64_t>(i)].item<std::int64_t>();
    if (index) (*index)[axis] = at;
    text += (i ? ", " : "") + to_string(axes[axis]) + "=" + std::to_string(at);
  }
  return text.empty() ? "a scalar" : text;
}

void KernelCall::fail_where(const at::Tensor& bad, const Axes& axes, Diag kind, std::vector<std::string> args,
                            const at::Tensor& value, const at::Tensor& limit) {
  std::vector<std::int64_t> shape = lengths.shape(axes);
  at::Tensor all = bad.expand(shape);
  at::Tensor mask = lengths.padding(axes);
  if (mask.defined()) all = all.logical_and(mask.logical_not());
  if (!all.any().item<bool>()) return;
  std::vector<std::int64_t> index;
  std::vector<std::string> all_args{first_index(all, axes, &index)};
  auto entry = [&](at::Tensor t) {
    t = t.expand(shape);
    for (std::int64_t i : index) t = t[i];
    return std::to_string(t.item<std::int64_t>());
  };
  if (value.defined()) all_args.push_back(entry(value));
  all_args.insert(all_args.end(), args.begin(), args.end());
  if (limit.defined()) all_args.push_back(entry(limit));
  fail(kind, std::move(all_args));
}

namespace {

std::unordered_map<std::string_view, Kernel> make_table() {
  std::unordered_map<std::string_view, Kernel> table;
  for (auto family : {elementwise_kernels(), reduce_kernels(), linear_kernels(), conv_kernels(), shape_kernels(),
                      index_kernels(), order_kernels(), generate_kernels(), recurrent_kernels(), loss_kernels(),
                      random_kernels(), history_kernels(), search_kernels()})
    for (const KernelEntry& k : family)
      if (!table.emplace(k.name, k.run).second) throw std::logic_error("two kernels " + std::string(k.name));
  return table;
}

const std::unordered_map<std::string_view, Kernel>& table() {
  static const auto made = make_table();
  return made;
}

}  // namespace

Kernel find_kernel(std::string_view name) {
  auto it = table().find(name);
  return it == table().end() ? nullptr : it->second;
}

std::vector<std::string_view> kernel_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, kernel] : table()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace rcn
