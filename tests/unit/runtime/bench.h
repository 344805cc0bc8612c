// Calls kernels on hand-made nodes.
#pragma once

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "runtime/eager_backend.h"
#include "runtime/kernel.h"
#include "runtime/show/view.h"

namespace rcn::test {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// How the same data lies in memory and what is in its padding: nothing of it may change a result.
struct Layout {
  bool reversed = false;  // the axes in reversed order
  double poison = 0;      // in the padding of floats
};
inline const std::vector<Layout> kLayouts = {{false, 0}, {true, 0}, {false, 1e3}, {false, kNan}, {true, kNan}};

class Bench {
 public:
  explicit Bench(std::int64_t batch_size = 2, Layout layout_used = {}) : layout(layout_used) {
    run.lengths.set_batch(batch_size);
  }

  DimTable dims;
  RunState run{dims.batch()};
  DiagnosticSink sink;
  Layout layout;
  std::vector<at::Tensor> leaves;  // what `leaf` made, with axes in the declared order
  Dim batch = dims.batch();

  Dim feature(const std::string& name, std::int64_t size) { return dims.declare(name, DimKind::feature, size); }
  Dim spatial(const std::string& name, const std::vector<std::int64_t>& lengths) {
    Dim d = dims.declare(name, DimKind::spatial, std::nullopt);
    run.lengths.define(d, {at::tensor(at::ArrayRef<std::int64_t>(lengths), at::kLong), {batch}});
    return d;
  }
  Dim fresh(const std::string& name) { return dims.declare(name, DimKind::spatial, std::nullopt); }

  // A tensor from its values in the order of `axes`, padded; what is padding gets the poison.
  Tensor make(const Axes& axes, const std::vector<double>& values, DType dtype = DType::float32, Dim sparse = nullptr) {
    return wrapped(raw(axes, values, dtype), axes, dtype, sparse);
  }
  // The same with a gradient; at::Tensor(s) in `leaves`.
  Tensor leaf(const Axes& axes, const std::vector<double>& values, DType dtype = DType::float64) {
    at::Tensor value = raw(axes, values, dtype).set_requires_grad(true);
    leaves.push_back(value);
    leaf_axes_.push_back(axes);
    return wrapped(value, axes, dtype, nullptr);
  }
  // Pseudo-random numbers, the same in each layout.
  std::vector<double> noise(const Axes& axes, std::string_view name) {
    std::int64_t count = 1;
    for (std::int64_t s : run.lengths.shape(axes)) count *= s;
    Random random(1, name);
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(random.normal());
    return values;
  }

  std::vector<Tensor> call(std::string_view name, std::vector<Operand> inputs,
                           std::vector<std::pair<std::string_view, Value>> attrs, std::vector<TensorType> outputs) {
    OpInfo info{name, {}, "", "", nullptr};
    OpNode node;
    node.op = &info;
    node.inputs = std::move(inputs);
    node.attrs = std::move(attrs);
    node.outputs = std::move(outputs);
    if (const Value* made = node.find("out_dim"); made && !run.lengths.has(made->dim()))
      node.new_dims.push_back({made->dim(), nullptr, {}});
    Kernel kernel = find_kernel(name);
    bool known = kernel != nullptr;
    REQUIRE(known);
    KernelCall kernel_call(node, run, sink);
    return kernel(kernel_call);
  }
  Tensor call1(std::string_view name, std::vector<Operand> inputs,
               std::vector<std::pair<std::string_view, Value>> attrs, TensorType output) {
    return call(name, std::move(inputs), std::move(attrs), {std::move(output)}).at(0);
  }

  // Valid frames are as they are, padding is 0; the dims in the order of the type (each after those its length needs).
  std::vector<double> values(const Tensor& tensor) {
    at::Tensor flat = shown_values(tensor, run.lengths).to(at::kDouble).reshape({-1});
    return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
  }

  // Gradients of the sum of the valid entries of `tensors`, each weighted by its place, for all leaves; 0 in the
  // padding.
  std::vector<double> gradients(const std::vector<Tensor>& tensors) {
    at::Tensor total = at::zeros({}, at::TensorOptions(at::kDouble));
    for (const Tensor& tensor : tensors) {
      Axes order = printed_dims(tensor->type.dims, run.lengths);
      at::Tensor value = aligned(eager(tensor), order);
      at::Tensor padding = run.lengths.padding(order);
      if (padding.defined()) value = value.masked_fill(padding, 0);
      at::Tensor weights =
          at::arange(1, value.numel() + 1, at::TensorOptions(at::kDouble)).cos().reshape(value.sizes());
      total = total + (value.to(at::kDouble) * weights).sum();
    }
    std::vector<double> result;
    std::vector<at::Tensor> grads = torch::autograd::grad({total}, leaves, {}, true, false, true);
    for (std::size_t i = 0; i < grads.size(); ++i) {
      at::Tensor g = grads[i];
      if (!g.defined()) continue;
      at::Tensor padding = run.lengths.padding(leaf_axes_[i]);
      if (padding.defined()) g = g.masked_fill(padding, 0);
      at::Tensor flat = g.to(at::kDouble).contiguous().reshape({-1});
      result.insert(result.end(), flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
    }
    return result;
  }

  std::string error() const {
    return sink.items().empty() ? "" : format_message(sink.items().back().kind, sink.items().back().args);
  }

 private:
  std::vector<Axes> leaf_axes_;

  at::Tensor raw(const Axes& axes, const std::vector<double>& values, DType dtype) {
    std::vector<std::int64_t> shape = run.lengths.shape(axes);
    at::Tensor value = at::empty(shape, at::TensorOptions(at::kDouble));
    REQUIRE(value.numel() == static_cast<std::int64_t>(values.size()));
    std::copy(values.begin(), values.end(), value.data_ptr<double>());
    at::Tensor padding = run.lengths.padding(axes);
    if (padding.defined() && is_float(dtype)) value = value.masked_fill(padding, layout.poison);
    return value.to(scalar_type(dtype));
  }
  Tensor wrapped(at::Tensor value, Axes axes, DType dtype, Dim sparse) {
    TensorType type{axes, dtype, sparse};
    bool twice = false;
    for (Dim d : axes) twice = twice || std::count(axes.begin(), axes.end(), d) > 1;
    if (layout.reversed && !twice) {
      std::vector<std::int64_t> order;
      for (std::size_t i = axes.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
      value = value.permute(order);
      std::reverse(axes.begin(), axes.end());
    }
    return std::make_shared<const EagerTensor>(type, Named{value, axes});
  }
};

inline void check_close(const std::vector<double>& actual, const std::vector<double>& expected,
                        double tolerance = 1e-5) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    CAPTURE(i);
    CHECK(actual[i] == doctest::Approx(expected[i]).epsilon(tolerance).scale(1));
  }
}

inline Value dim_list(const std::vector<Dim>& dims) {
  List list;
  for (Dim d : dims) list.emplace_back(d);
  return Value(std::move(list));
}

inline TensorType type(Axes axes, DType dtype = DType::float32, Dim sparse = nullptr) {
  return {std::move(axes), dtype, sparse};
}

}  // namespace rcn::test
