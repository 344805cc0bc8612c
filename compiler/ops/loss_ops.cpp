// Losses and error counts that RETURNN has as layers.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

namespace rcn {

namespace {

// ---- sparse_softmax_cross_entropy

void infer_cross_entropy(OpCall& call) {
  Dim axis = call.arg(2).dim();
  const TensorType& logits = axis_type(call, 0, 2);
  require_static(call, axis, 2);
  require_dtype(call, 0, Wanted::floats);
  const TensorType& targets = single_type(call, 1);
  require_sparse(call, 1, axis);
  std::vector<Dim> dims = without(logits.dims, {axis});
  if (std::vector<Dim> more = without(targets.dims, dims); !more.empty()) {
    call.context().diagnostics.report(Diag::dims_not_covered, call.span(), {op_text(call.info())})
        .note(Diag::note_operand_dims, call.arg_span(0), {dims_quoted(dims), dims_quoted(more)})
        .note(Diag::note_operand_dims, call.arg_span(1), {dims_quoted(targets.dims), dims_quoted(without(dims, targets.dims))});
    throw EvalError{};
  }
  call.input(call.operand(0));
  call.input(call.operand(1));
  call.attr("axis", axis);
  call.output({dims, logits.dtype, nullptr});
}

void lower_cross_entropy(Lowering& l) {
  Dim axis = l.node().dim("axis");
  std::vector<Dim> needed = united(l.raw(1).layer_type.dims, {axis});
  LayerRef logits = l.with_dims(0, needed);
  std::vector<Dim> missing = l.absent(0, needed);
  TensorType type = l.out();
  type.dims = without(type.dims, missing);
  TensorType full = l.type(1);
  full.dims = type.dims;
  GraphTensor targets(full, l.safe_indices(1), without(type.dims, l.raw(1).layer_type.dims));
  l.result(l.layer("sparse_softmax_cross_entropy_with_logits", {{"logits", logits}, {"targets", l.full(targets)}, {"axis", axis}}, type), missing);
}

// ---- sequences

// [batch, axis] with lengths, as RETURNN's kernels read them.
LayerRef marked(Lowering& l, LayerRef source, const TensorType& type, Dim time, Dim feature, std::string_view suffix) {
  OptionDict axes{{"T", time}};
  if (feature) axes.emplace_back("F", feature);
  return l.layer("reinterpret_data", {{"from", source}, {"set_axes", axes}}, type, suffix);
}

enum AlignArg : std::size_t { kLogits, kTargets, kAxis, kInSpatial, kTargetsSpatial, kBlank, kMaxApprox, kTopology = kMaxApprox };

// Scores over labels and a blank, and targets for them: what the functions that align the two have in common.
void infer_alignable(OpCall& call) {
  Dim axis = call.arg(kAxis).dim(), in = call.arg(kInSpatial).dim(), labels = call.arg(kTargetsSpatial).dim(), batch = call.dims().batch();
  call.require_dim(kLogits, axis, kAxis);
  call.require_dim(kLogits, in, kInSpatial);
  call.require_dim(kTargets, labels, kTargetsSpatial);
  require_static(call, axis, kAxis);
  for (std::size_t i : {kInSpatial, kTargetsSpatial})
    if (call.arg(i).dim()->size) call.fail_argument(i, "dynamic", "static");
  require_exact_dims(call, kLogits, {batch, in, axis});
  require_exact_dims(call, kTargets, {batch, labels});
  require_dtype(call, kLogits, Wanted::floats);
  require_dtype(call, kTargets, Wanted::ints);
  Dim sparse = call.type(kTargets).sparse_dim;
  if (!sparse || (sparse->size != *axis->size && sparse->size != *axis->size - 1)) require_sparse(call, kTargets, axis);
  std::int64_t blank = call.arg(kBlank).get<std::int64_t>();
  if (blank < -1 || blank >= *axis->size) call.fail_at(call.arg_span(kBlank), Diag::index_range, {std::to_string(blank), to_string(axis), std::to_string(*axis->size)});
  call.input(call.operand(kLogits));
  call.input(call.operand(kTargets));
  for (std::size_t i : {kAxis, kInSpatial, kTargetsSpatial}) call.attr(call.info().params[i].name, call.arg(i));
  call.attr(call.info().params[kBlank].name, blank == -1 ? *axis->size - 1 : blank);
}

void infer_ctc(OpCall& call) {
  infer_alignable(call);
  call.attr("max_approx", call.arg(kMaxApprox));
  call.output({{call.dims().batch()}, call.type(kLogits).dtype, nullptr});
}

void infer_topology(OpCall& call) {
  infer_alignable(call);
  require_one_of(call, kTopology, {"ctc", "rna"});
  call.attr("topology", call.arg(kTopology));
}

void infer_forced_alignment(OpCall& call) {
  infer_topology(call);
  Dim batch = call.dims().batch(), in = call.arg(kInSpatial).dim();
  call.output({{batch, in}, DType::int32, call.arg(kAxis).dim()});
  call.output({{batch}, call.type(kLogits).dtype, nullptr});
}

void infer_fast_baum_welch(OpCall& call) {
  infer_topology(call);
  call.output({{call.dims().batch(), call.arg(kInSpatial).dim(), call.arg(kAxis).dim()}, call.type(kLogits).dtype, nullptr});
}

void lower_ctc(Lowering& l) {
  Dim in = l.node().dim("in_spatial_dim"), labels = l.node().dim("targets_spatial_dim"), axis = l.node().dim("axis");
  bool max_approx = l.node().boolean("max_approx");
  LayerRef loss = l.layer("ctc_loss", {{"logits", marked(l, l.full(0), l.type(0), in, axis, "logits")},
                                       {"targets", marked(l, l.full(1), l.type(1), labels, nullptr, "targets")},
                                       {"logits_normalized", false}, {"blank_index", l.node().integer("blank_index")},
                                       {"max_approx", max_approx}, {"label_loop", true}}, l.out(), max_approx ? "viterbi" : "");
  // RETURNN's Viterbi gives infinity for a sequence without frames
  if (max_approx) loss = l.eval({loss, l.length(in)}, "tf.where(source(1) > 0, source(0), tf.zeros_like(source(0)))", l.out());
  l.result(loss);
}

// RETURNN's native operations take float32, and have no gradients: TensorFlow must not look for them.
struct Alignable {
  LayerRef scores, targets;
};

// `classes`: of what the targets are indices as far as RETURNN knows.
Alignable alignable(Lowering& l, Dim classes) {
  Dim in = l.node().dim("in_spatial_dim"), labels = l.node().dim("targets_spatial_dim"), axis = l.node().dim("axis");
  TensorType type = l.type(0);
  LayerRef scores = l.full(0);
  if (type.dtype != DType::float32) {
    type.dtype = DType::float32;
    scores = l.cast(scores, type, "float32");
  }
  TensorType targets = l.type(1);
  targets.sparse_dim = classes;
  return {marked(l, scores, type, in, axis, "source"),
          l.layer("reinterpret_data", {{"from", l.full(1)}, {"set_axes", OptionDict{{"T", labels}}}, {"set_sparse_dim", classes}}, targets, "targets")};
}

LayerRef without_gradient(Lowering& l, LayerRef source, TensorType type, std::string_view suffix) {
  DType dtype = type.dtype;
  type.dtype = DType::float32;
  LayerRef value = l.eval({source}, "tf.stop_gradient(source(0))", type, dtype == type.dtype ? suffix : "float");
  type.dtype = dtype;
  return dtype == DType::float32 ? value : l.cast(value, type, suffix);
}

void lower_forced_alignment(Lowering& l) {
  Dim axis = l.node().dim("axis");
  Alignable a = alignable(l, axis);
  LayerRef layer = l.layer("forced_align", {{"from", a.scores}, {"align_target", a.targets}, {"topology", l.node().str("topology")}, {"input_type", "log_prob"},
                                            {"blank_idx", l.node().integer("blank_idx")}, {"blank_included", true}}, l.out(), "native");
  l.padding(false);
  // RETURNN takes the layer for one that works frame by frame, and for a frame-wise loss would make it again on frames in
  // a row; not so what is in front of an `eval`.
  l.result(l.eval({layer}, "tf.identity(source(0))", l.out()));
  l.result(without_gradient(l, {layer.layer, "scores"}, l.out(1), "scores"));
}

void lower_fast_baum_welch(Lowering& l) {
  Dim axis = l.node().dim("axis");
  Dim labels = l.dims().declare("labels", axis->kind, *axis->size - 1);  // RETURNN wants as many, but asks no more
  Alignable a = alignable(l, labels);
  OptionDict ctc_opts{{"blank_idx", l.node().integer("blank_idx")}, {"label_loop", l.node().str("topology") == "ctc"}};
  TensorType type = l.out();
  type.dtype = DType::float32;
  LayerRef targets{a.targets.layer, {}, RefKind::target};
  LayerRef soft = l.layer("fast_bw", {{"from", a.scores}, {"out_dim", axis}, {"target", targets}, {"align_target", "ctc"}, {"align_target_key", targets}, {"ctc_opts", std::move(ctc_opts)}, {"input_type", "log_prob"}}, type, "native");
  l.padding(false);
  l.bounds({0, 1});
  l.result(without_gradient(l, soft, l.out(), {}));
}

enum EditArg : std::size_t { kA, kB, kASpatial, kBSpatial };

void infer_edit_distance(OpCall& call) {
  Dim a = call.arg(kASpatial).dim(), b = call.arg(kBSpatial).dim(), batch = call.dims().batch();
  call.require_dim(kA, a, kASpatial);
  call.require_dim(kB, b, kBSpatial);
  for (std::size_t i : {kASpatial, kBSpatial})
    if (call.arg(i).dim()->size) call.fail_argument(i, "dynamic", "static");
  require_exact_dims(call, kA, {batch, a});
  require_exact_dims(call, kB, {batch, b});
  for (std::size_t i : {kA, kB}) {
    require_dtype(call, i, Wanted::ints);
    call.input(call.operand(i));
  }
  if (call.type(kA).dtype != call.type(kB).dtype) joined_dtype(call, {kA, kB}, Operation::comparison);
  call.attr("a_spatial_dim", a);
  call.attr("b_spatial_dim", b);
  call.output({{batch}, DType::int32, nullptr});
}

void lower_edit_distance(Lowering& l) {
  LayerRef from[2];
  for (std::size_t i : {0, 1}) {
    from[i] = l.full(i);
    TensorType type = l.type(i);
    type.dtype = DType::int32;
    if (l.type(i).dtype != DType::int32) from[i] = l.cast(from[i], type, i == 0 ? "a" : "b");
  }
  l.result(l.layer("edit_distance", {{"a", from[0]}, {"b", from[1]}, {"a_spatial_dim", l.node().dim("a_spatial_dim")},
                                     {"b_spatial_dim", l.node().dim("b_spatial_dim")}}, l.out()));
}

constexpr OpParam kCrossEntropy[] = {{"logits", arg::tensor}, {"targets", arg::tensor}, {"axis", arg::dim, true}};
constexpr OpParam kCtc[] = {{"logits", arg::tensor, true}, {"targets", arg::tensor, true}, {"axis", arg::dim, true}, {"in_spatial_dim", arg::dim, true},
                            {"targets_spatial_dim", arg::dim, true}, {"blank_index", arg::integer, true, "-1"}, {"max_approx", arg::boolean, true, "false"}};
constexpr OpParam kAlignment[] = {{"source", arg::tensor}, {"align_target", arg::tensor, true}, {"axis", arg::dim, true}, {"in_spatial_dim", arg::dim, true},
                                  {"targets_spatial_dim", arg::dim, true}, {"blank_idx", arg::integer, true, "-1"}, {"topology", arg::str, true, "\"ctc\""}};
constexpr OpParam kEdit[] = {{"a", arg::tensor, true}, {"b", arg::tensor, true}, {"a_spatial_dim", arg::dim, true}, {"b_spatial_dim", arg::dim, true}};

constexpr OpDef kOps[] = {
    {{"sparse_softmax_cross_entropy", kCrossEntropy, "Tensor",
      "`-log_softmax(logits)[targets]` over `axis`, frame by frame. `targets` are indices over `axis`, with dims that `logits` has. The "
      "result has the dims of `logits` without `axis`.",
      infer_cross_entropy},
     lower_cross_entropy},
    {{"ctc_loss", kCtc, "Tensor",
      "Connectionist temporal classification (Graves et al. 2006): `-log` of the probability of all alignments of the targets, of the best "
      "one with `max_approx`. `logits: [batch, in_spatial_dim, axis]`, unnormalised; `targets: [batch, targets_spatial_dim]`, indices; "
      "`blank_index` -1 is the last. The result has `batch`; where no alignment exists it is 0, and so is its gradient.",
      infer_ctc},
     lower_ctc},
    {{"forced_alignment", kAlignment, "(Tensor, Tensor)",
      "The best alignment of `align_target` by the log probabilities `source: [batch, in_spatial_dim, axis]` (Viterbi 1967), indices over `axis`, and "
      "its log probability for each sequence. `align_target: [batch, targets_spatial_dim]`, indices; `blank_idx` -1 is the last. `topology` is \"ctc\", or "
      "\"rna\" where each label has one frame. Without any alignment the indices are 0 and the log probability is -inf. Neither has a gradient.",
      infer_forced_alignment},
     lower_forced_alignment},
    {{"fast_baum_welch", kAlignment, "Tensor",
      "How much of all alignments of `align_target` has each label at each frame, `[batch, in_spatial_dim, axis]` (Baum et al. 1970), by the log "
      "probabilities `source`; arguments as of `forced_alignment`. A distribution over `axis`; 0 without any alignment. It has no gradient.",
      infer_fast_baum_welch},
     lower_fast_baum_welch},
    {{"edit_distance", kEdit, "Tensor",
      "The least number of insertions, deletions and substitutions that turn `a` into `b` (Levenshtein 1966), for each sequence, int32.",
      infer_edit_distance},
     lower_edit_distance},
};

}  // namespace

std::span<const OpDef> loss_ops() { return kOps; }

}  // namespace rcn
