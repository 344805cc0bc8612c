// Beam search: the choice of labels, what is best at the end, and the scores.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

namespace rcn {

namespace {

constexpr std::size_t kScores = 0, kAxis = 1, kBeamSize = 2, kNormalize = 4;

void set_option(LayerRef layer, std::string_view key, Option value) {
  for (auto& [name, option] : const_cast<Layer*>(layer.layer)->options)
    if (name == key) {
      option = std::move(value);
      return;
    }
}

void infer_choice(OpCall& call) {
  Dim axis = call.arg(kAxis).dim();
  require_dtype(call, kScores, Wanted::float32);
  call.require_dim(kScores, axis, kAxis);
  require_static(call, axis, kAxis);
  require_exact_dims(call, kScores, {call.dims().batch(), axis});
  std::int64_t beam = call.arg(kBeamSize).get<std::int64_t>();
  if (beam < 1) call.fail_argument(kBeamSize, "at least 1", to_text(call.arg(kBeamSize)));
  call.input(call.operand(kScores));
  call.attr("axis", axis);
  call.attr("beam_size", beam);
  call.attr("length_normalization", call.arg(kNormalize).get<bool>());
  call.output({{call.dims().batch()}, DType::int32, axis});
}

// Where a sequence has ended, one label goes on for free: RETURNN goes on to the longest. It sees an end by itself one
// step late, and then scales the sum of scores with the number of steps, so that means are compared; in the step
// before, the mean so far as a score does the same.
LayerRef live_scores(Lowering& l, LayerRef scores, LayerRef choice, LayerRef live) {
  const TensorType& type = l.type(kScores);
  Dim axis = l.node().dim("axis");
  std::string text = "tf.where(tf.equal(source(0), 0), 0.0, -1e30)";
  LayerRef pad;
  if (l.node().boolean("length_normalization")) {
    TensorType one = type_of({l.out().dims}, type.dtype);
    LayerRef chosen = l.layer("gather", {{"from", scores}, {"position", choice}, {"axis", axis}}, one, "score");
    LayerRef sum = l.layer("combine", {{"from", chosen}, {"kind", "add"}, {"initial_output", 0}}, one, "sum");
    LayerRef before{sum.layer, {}, RefKind::previous};
    set_option(sum, "from", OptionList{before, chosen});
    text = "tf.where(tf.equal(source(0), 0), source(1) / tf.cast(tf.maximum(source(2), 1), source(1).dtype), -1e30)";
    pad = l.eval({l.range(axis), before, l.step()}, text, type, "ended", true);
  } else {
    pad = l.eval({l.range(axis)}, text, type_of({axis}), "ended");
  }
  return l.layer("switch", {{"condition", live}, {"true_from", scores}, {"false_from", pad}}, type, "scores");
}

void lower_choice(Lowering& l) {
  LayerRef scores = l.full(kScores);
  LayerRef choice = l.layer("choice",
                            {{"from", scores},
                             {"input_type", "log_prob"},
                             {"target", Option()},
                             {"beam_size", l.node().integer("beam_size")},
                             {"search", true},
                             {"length_normalization", l.node().boolean("length_normalization")},
                             {"initial_output", 0}},
                            l.out());
  // RETURNN's layer wants the batch first, so what RETURNN could move out of the loop stays in it.
  if (l.may_be_permuted(scores)) {
    scores = l.depending(l.batch_major(scores, l.type(kScores)), {choice.layer, {}, RefKind::previous}, l.type(kScores));
    set_option(choice, "from", scores);
  }
  if (LayerRef live = l.search_live(); live.layer) set_option(choice, "from", live_scores(l, scores, choice, live));
  l.put_in_order(choice);
  l.result(choice);
}

void infer_decide(OpCall& call) {
  call.input(call.operand(0));
  call.output(call.type(0));
}

void lower_decide(Lowering& l) {
  l.result(l.layer("decide", {{"from", l.full(0)}, {"length_normalization", false}}, l.out()));
}

void infer_beam_scores(OpCall& call) {
  call.input(call.operand(0));
  call.output({{call.dims().batch()}, DType::float32, nullptr});
}

// Of a hypothesis that is not there RETURNN gives a huge negative number, which depends on the number of steps.
void lower_beam_scores(Lowering& l) {
  LayerRef scores = l.layer("choice_get_beam_scores", {{"from", l.full(0)}}, l.out(), "all");
  l.result(l.eval({scores}, "tf.where(source(0) < -1e20, -float('inf'), source(0))", l.out()));
}

constexpr OpParam kChoice[] = {{"scores", arg::tensor},
                               {"axis", arg::dim, true},
                               {"beam_size", arg::integer, true},
                               {"input_type", arg::str, true, "\"log_prob\""},
                               {"length_normalization", arg::boolean, true, "true"}};
constexpr OpParam kSource[] = {{"source", arg::tensor}};

constexpr OpDef kOps[] = {
    {{"choice", kChoice, "Tensor",
      "One label for each hypothesis of a beam search, in a loop where `search` is true: the best `beam_size` continuations over "
      "`axis` of all hypotheses, by the sum of their scores. `scores` [batch, axis] are log probabilities (`input_type` "
      "\"log_prob\"), probabilities (\"prob\") or logits (\"logits\"). With `length_normalization` hypotheses are compared by the "
      "mean of their scores over their own steps, else by the sum. Gives indices over `axis`.",
      infer_choice},
     lower_choice},
    {{"decide", kSource, "Tensor", "The value of the hypothesis with the best score, of what depends on `nn.choice`.", infer_decide}, lower_decide},
    {{"beam_scores", kSource, "Tensor", "float32[batch]: the score of each hypothesis of the search that made `source`, by which they are compared; -inf where there are fewer hypotheses than the beam has places.", infer_beam_scores},
     lower_beam_scores},
};

}  // namespace

std::span<const OpDef> search_ops() { return kOps; }

}  // namespace rcn
