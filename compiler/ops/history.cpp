// The frames so far: what a causal attention sees, step by step or over a whole sequence.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

namespace rcn {

namespace {

void infer_empty_history(OpCall& call) {
  std::vector<Dim> dims = call.dims_arg(0);
  for (Dim d : dims) call.require_length(d, 0);
  TensorType type{dims, call.arg(1).get<DType>(), nullptr};
  type.history = true;
  call.attr("dims", dims_value(dims));
  call.output(type);
}

// RETURNN's layer keeps the frames itself; there is nothing to make.
void lower_empty_history(Lowering& l) { l.result({}); }

constexpr std::size_t kSource = 0, kAxis = 1, kState = 2, kOut = 3;

void infer_cum_concat(OpCall& call) {
  Dim axis = call.arg(kAxis).dim();
  const TensorType& x = single_type(call, kSource);
  const TensorType& state = call.type(kState);
  if (!state.history) call.fail_at(call.arg_span(kState), Diag::op_argument_type, {op_text(call.info()), "state", "a state of `nn.cum_concat`", kind_text(call.arg(kState))});
  std::vector<Dim> frame = x.dims;
  if (!axis->marker) {
    call.require_dim(kSource, axis, kAxis);
    require_length_dims(call, kSource, axis);
    require_no_dependents(call, kSource, axis, kAxis);
    reject_batch(call, axis, kAxis);
    frame = without(frame, {axis});
  }
  if (!same_dims(frame, state.dims) || x.dtype != state.dtype || x.sparse_dim)
    call.fail_at(call.arg_span(kState), Diag::history_type, {to_string(state), to_string(x)});
  std::string name = axis->marker ? "history" : axis->name.empty() ? "history" : axis->name + "_history";
  Dim out = call.out_dim_fresh(kOut, name, DimKind::spatial, axis->marker ? std::vector<Dim>{} : std::vector<Dim>{axis});
  call.input(call.operand(kSource));
  call.input(call.operand(kState));
  call.attr("spatial_dim", axis);
  call.attr("out_spatial_dim", out);
  TensorType result = x;
  if (axis->marker) {
    result.dims.push_back(out);
  } else {
    result.dims = with_replaced(x.dims, axis, {out});
  }
  call.output(result);
  call.output(state);
  call.also_return_second(out);
}

// In a loop RETURNN's own layer. Over a whole sequence the same frames under a dim whose lengths are 1, 2, ...: what
// reads it masks by them.
void lower_cum_concat(Lowering& l) {
  Dim axis = l.node().dim("spatial_dim"), out = l.node().dim("out_spatial_dim");
  TensorType type = l.out();
  if (l.raw(0).wild_padding) l.guard(0, 0.0);  // what reads it multiplies it by 0, and adds it
  if (axis->marker) {
    l.made_history(out);
    // Outside of its loop, where RETURNN moves what is the same in all steps, it has no history, nor has it one without a batch.
    LayerRef frame = l.varying(l.full(0), l.type(0));
    Dim batch = l.dims().batch();
    if (type.has(batch)) {
      l.result(l.layer("cum_concat", {{"from", frame}, {"out_spatial_dim", out}}, type));
      return l.result({});
    }
    TensorType frames = l.type(0), all = type;
    for (TensorType* t : {&frames, &all}) t->dims.insert(t->dims.begin(), batch);
    LayerRef each = l.layer("cum_concat", {{"from", l.full(GraphTensor(frames, frame, {batch}))}, {"out_spatial_dim", out}}, all, "each");
    l.result(l.layer("gather", {{"from", each}, {"position", 0}, {"axis", batch}}, type));
  } else {
    LayerRef lengths = l.eval({l.range(axis)}, "source(0) + 1", type_of({axis}, DType::int32), "lengths");
    LayerRef frames = l.sequence_dim(out, lengths);
    l.result(l.layer("gather", {{"from", l.full(0)}, {"position", frames}, {"axis", axis}}, type));
  }
  l.result({});
}

constexpr OpParam kEmpty[] = {{"dims", arg::dims}, {"dtype", arg::dtype, false, "float32"}};
constexpr OpParam kCumConcat[] = {{"source", arg::tensor},
                                  {"spatial_dim", arg::dim, true},
                                  {"state", arg::history, true},
                                  {"out_spatial_dim", arg::dim | arg::none, true, "none"}};

constexpr OpDef kOps[] = {
    {{"empty_history", kEmpty, "Tensor",
      "The first state of `nn.cum_concat`: no frames yet, each of the dims `dims`.", infer_empty_history},
     lower_empty_history},
    {{"cum_concat", kCumConcat, "(Tensor, Dim, Tensor)",
      "All frames up to each one. In a loop, with `spatial_dim=nn.single_step_dim`: `source` is one frame, and the result has "
      "the frames so far along a new dim of length t + 1; `state` goes from `nn.empty_history` from step to step. Over a whole "
      "sequence (`state` is `nn.empty_history`): the frames of `source` with `spatial_dim` replaced by a dim whose lengths are "
      "1, 2, ... along `spatial_dim`, so that a softmax over it is causal. Gives the tensor, its new dim, and the new state.",
      infer_cum_concat},
     lower_cum_concat},
};

}  // namespace

std::span<const OpDef> history_ops() { return kOps; }

}  // namespace rcn
