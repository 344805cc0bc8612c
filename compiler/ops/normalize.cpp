// Normalisation over axes: softmax and layer norm.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

#include <limits>

namespace rcn {

namespace {

void infer_softmax(OpCall& call) {
  const TensorType& type = axis_type(call, 0, 1);
  require_length_dims(call, 0, call.arg(1).dim());
  require_dtype(call, 0, Wanted::floats);
  call.input(call.operand(0));
  call.attr("axis", call.arg(1));
  call.output({type.dims, type.dtype, nullptr});
}

void lower_softmax(Lowering& l) {
  Dim axis = l.node().dim("axis");
  bool log_space = l.node().op->name == "log_softmax", dynamic = axis->dynamic();
  std::vector<Dim> needed = united({axis}, l.lengths().length_dims(axis));
  TensorType type = l.out();
  std::vector<Dim> missing = l.absent(0, needed);
  type.dims = without(type.dims, missing);
  LayerRef source = l.with_dims(0, needed);
  if (dynamic && type.dtype != DType::float32) {  // RETURNN masks float32 only
    source = l.masked(source, type, axis, -std::numeric_limits<double>::infinity());
    dynamic = false;
  }
  OptionDict options{{"from", source}, {"axis", axis}, {"log_space", log_space}, {"use_time_mask", dynamic}};
  LayerRef result = l.layer("softmax_over_spatial", std::move(options), type);
  // The logarithm is -inf there, and in a sequence without frames both are nan.
  std::vector<Dim> padded = l.padded(type);
  if (contains(padded, axis)) {
    result = l.masked(result, type, axis, 0.0);
    l.zeros({axis});
  }
  if (padded == std::vector<Dim>{axis}) l.padding(false);
  l.bounds(log_space ? Bounds{Bounds().low, 0} : Bounds{0, 1});
  l.result(result, missing);
}

void infer_layer_norm(OpCall& call) {
  Dim in = call.arg(3).dim();
  const TensorType& type = axis_type(call, 0, 3);
  require_static(call, in, 3);
  require_exact_dims(call, 1, {in});
  require_exact_dims(call, 2, {in});
  require_dtype(call, 0, Wanted::floats);
  joined_dtype(call, {0, 1, 2}, Operation::arithmetic);
  for (std::size_t i : {0, 1, 2}) call.input(call.operand(i));
  call.attr("in_dim", in);
  call.attr("eps", call.arg(4));
  call.output({type.dims, type.dtype, nullptr});
}

void lower_layer_norm(Lowering& l) {
  Dim in = l.node().dim("in_dim");
  TensorType type = l.out();
  std::vector<Dim> missing = l.absent(0, {in});
  type.dims = without(type.dims, missing);
  l.result(l.layer("layer_norm", {{"from", l.with_dims(0, {in})}, {"in_dim", in}, {"out_dim", in}, {"epsilon", l.node().real("eps")},
                                  {"reuse_params", reuse_params({{"scale", l.full(1)}, {"bias", l.full(2)}})}}, type), missing);
}

constexpr OpParam kSoftmax[] = {{"source", arg::tensor}, {"axis", arg::dim, true}};
constexpr OpParam kLayerNorm[] = {{"source", arg::tensor}, {"scale", arg::tensor}, {"bias", arg::tensor},
                                  {"in_dim", arg::dim, true}, {"eps", arg::real, true, "1e-6"}};

constexpr OpDef kOps[] = {
    {{"softmax", kSoftmax, "Tensor",
      "`exp(x) / sum(exp(x))` over `axis`, with the dims of `source`. Over a dynamic axis, frames outside of a sequence do not count "
      "and get 0.",
      infer_softmax},
     lower_softmax},
    {{"log_softmax", kSoftmax, "Tensor",
      "`x - logsumexp(x)` over `axis`, with the dims of `source`. Over a dynamic axis, frames outside of a sequence do not count.",
      infer_softmax},
     lower_softmax},
    {{"layer_norm", kLayerNorm, "Tensor",
      "`(x - m) * rsqrt(v + eps) * scale + bias` with the mean `m` and the mean `v` of `(x - m) ** 2` over `in_dim`, for every "
      "frame (Ba et al. 2016); `scale` and `bias` have the dim `in_dim`. The result has the dims of `source`.",
      infer_layer_norm},
     lower_layer_norm},
};

}  // namespace

std::span<const OpDef> normalize_ops() { return kOps; }

}  // namespace rcn
