// Reduction over axes, with the padding left out.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rcn {

namespace {

void infer_reduce(OpCall& call) {
  const TensorType& type = single_type(call, 0);
  require_one_of(call, 1, {"sum", "max", "min", "mean", "argmax", "argmin", "logsumexp", "any", "all"});
  const std::string& mode = call.arg(1).str();
  std::vector<Dim> axes = call.dims_arg(2);
  for (Dim axis : axes) call.require_dim(0, axis, 2);
  bool position = mode == "argmax" || mode == "argmin";
  if (axes.empty() || (position && axes.size() != 1))
    call.fail_argument(2, position ? "one dim" : "at least one dim", std::to_string(axes.size()) + " dims");
  for (Dim axis : axes) {
    require_length_dims(call, 0, axis);
    if (axis->kind == DimKind::batch) continue;  // frames that are left are over the sequences which reach there
    for (Dim d : type.dims)
      if (!contains(axes, d) && contains(call.context().lengths.length_dims(d), axis))
        call.fail_at(call.arg_span(2), Diag::lengths_depend, {to_string(d), to_string(axis)});
  }
  require_dtype(call, 0, mode == "any" || mode == "all" ? Wanted::bools
                         : mode == "mean" || mode == "logsumexp" ? Wanted::floats : Wanted::numbers);
  call.input(call.operand(0));
  call.attr("mode", mode);
  call.attr("axes", dims_value(axes));
  call.output({without(type.dims, axes), position ? DType::int32 : type.dtype, position ? axes[0] : nullptr});
}

// What the mode's result does not depend on.
Operand neutral(std::string_view mode, DType dtype) {
  if (mode == "any") return false;
  if (mode == "all") return true;
  bool low = mode == "max" || mode == "argmax" || mode == "logsumexp", high = mode == "min" || mode == "argmin";
  if (low) return least_number(dtype);
  if (high) return greatest_number(dtype);
  return is_float(dtype) ? Operand(0.0) : Operand(std::int64_t{0});
}

// Over dynamic axes there may be nothing to reduce: then a sum or mean is 0, and the greatest or smallest is `neutral`.
Bounds result_bounds(std::string_view mode, Bounds x, const std::vector<Dim>& axes) {
  double count = 1;
  for (Dim axis : axes) count *= axis->size ? static_cast<double>(*axis->size) : std::numeric_limits<double>::infinity();
  bool dynamic = std::isinf(count);
  if (mode == "sum" && !dynamic) return x * Bounds{count, count};
  if (mode == "sum") return x * Bounds{0, count};
  if (mode == "mean") return dynamic ? united(x, {0, 0}) : x;
  if ((mode == "max" || mode == "min") && !dynamic) return x;
  return {};
}

void lower_reduce(Lowering& l) {
  const std::string& mode = l.node().str("mode");
  std::vector<Dim> axes = l.node().dims("axes"), needed = l.dims_for(0, axes);
  LayerRef source = l.with_dims(0, needed);
  TensorType type = l.raw(0).layer_type;
  type.dims = without(l.type(0).dims, l.absent(0, needed));
  source = l.dense(source, type);
  type.sparse_dim = nullptr;
  l.padding(l.raw(0).wild_padding);
  l.bounds(result_bounds(mode, l.bounds(0), axes));
  std::vector<Dim> missing = without(l.absent(0, needed), axes);
  TensorType out = l.out();
  out.dims = without(out.dims, missing);

  std::vector<Dim> uneven = l.ragged(type, axes);
  bool dynamic = std::any_of(axes.begin(), axes.end(), [](Dim d) { return d->dynamic() && d->kind != DimKind::batch; });
  bool over_batch = std::any_of(axes.begin(), axes.end(), [](Dim d) { return d->kind == DimKind::batch; });
  bool nested = std::any_of(axes.begin(), axes.end(), [&](Dim d) {
    const std::vector<Dim> over = l.lengths().length_dims(d);
    return std::any_of(over.begin(), over.end(), [&](Dim o) { return o->kind != DimKind::batch && contains(axes, o); });
  });
  if (mode == "mean" && dynamic && out.dtype != DType::float32 && !nested && uneven.empty() && !over_batch) {
    // The float32 factor by which RETURNN corrects a mean is none for other dtypes.
    std::vector<LayerRef> from{l.reduce(source, type, "sum", axes, out.dtype, "sum")};
    std::string count;
    for (Dim d : axes) {
      if (d->size) {
        count += " * " + std::to_string(*d->size);
      } else {
        count += " * source(" + std::to_string(from.size()) + ")";
        from.push_back(l.length(d));
      }
    }
    std::string text = "source(0) / tf.cast(tf.maximum(" + count.substr(3) + ", 1), source(0).dtype)";
    return l.result(l.eval(from, std::move(text), out), missing);
  }
  if (mode == "mean" && (nested || !uneven.empty() || (dynamic && over_batch))) {
    // RETURNN corrects a mean by a float32 factor from the lengths of the reduced axes only, which may not depend on each other.
    std::vector<Dim> frames = uneven, counted;
    for (Dim d : axes)
      if (!d->size) frames = united(frames, {d});
    for (Dim d : std::vector<Dim>(frames)) frames = united(frames, l.lengths().length_dims(d));
    double each = 1;  // how many numbers a frame has
    for (Dim d : axes) {
      if (contains(frames, d)) {
        counted.push_back(d);
      } else {
        each *= static_cast<double>(*d->size);
      }
    }
    TensorType places = type_of(without(type.dims, without(type.dims, frames)), out.dtype);
    LayerRef count = l.shared([&] {
      LayerRef ones = l.constant(each, places, "ones");
      for (Dim d : uneven) ones = l.masked(ones, places, d, 0.0, "ones_masked");
      return l.reduce(ones, places, "sum", counted, out.dtype, "count");
    });
    for (Dim d : uneven) source = l.masked(source, type, d, 0.0);
    LayerRef sum = l.reduce(source, type, "sum", axes, out.dtype, "sum");
    return l.result(l.eval({sum, count}, "source(0) / tf.maximum(source(1), 1.0)", out), missing);
  }
  for (Dim d : uneven) source = l.masked(source, type, d, neutral(mode, type.dtype));
  l.result(l.reduce(source, type, mode, axes, out.dtype, "", out.sparse_dim), missing);
}

constexpr OpParam kReduce[] = {{"source", arg::tensor}, {"mode", arg::str, true}, {"axis", arg::axes, true}};

constexpr OpDef kOps[] = {
    {{"reduce", kReduce, "Tensor",
      "Reduces `axis`, one dim or several, by `mode`: sum, max, min, mean, argmax, argmin, logsumexp, any, all. The result has the "
      "other dims of `source`. Frames outside of a sequence do not count: `mean` divides by the number of valid frames. argmax and "
      "argmin take one axis and give int32 indices over it, the first one of equals. any and all take bools.",
      infer_reduce},
     lower_reduce},
};

}  // namespace

std::span<const OpDef> reduce_ops() { return kOps; }

}  // namespace rcn
