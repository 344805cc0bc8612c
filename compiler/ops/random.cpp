// Random numbers.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"

namespace rcn {

namespace {

struct Distribution {
  std::string_view name;
  std::string_view function;  // of TensorFlow, of a shape
  Bounds bounds;
};

constexpr Distribution kDistributions[] = {
    {"uniform", "tf.random.uniform", {0, 1}},
    {"normal", "tf.random.normal", {}},
    {"truncated_normal", "tf.random.truncated_normal", {-2, 2}},
};

const Distribution* distribution(std::string_view name) {
  for (const Distribution& d : kDistributions)
    if (d.name == name) return &d;
  return nullptr;
}

void infer_random(OpCall& call) {
  require_lengths(call, 0);
  if (!distribution(call.arg(1).str()))
    call.fail_at(call.arg_span(1), Diag::op_argument_value,
                 {op_text(call.info()), "distribution", "\"uniform\", \"normal\" or \"truncated_normal\"", to_text(call.arg(1))});
  call.attr("distribution", call.arg(1));
  call.output({call.dims_arg(0), DType::float32, nullptr});
}

// Not RETURNN's layer of that name, which keeps its state in a variable, among the parameters of the model.
void lower_random(Lowering& l) {
  const Distribution& d = *distribution(l.node().str("distribution"));
  TensorType type = l.out();
  LayerRef shape = l.constant(0.0, type, "shape");
  if (l.in_loop()) shape = l.varying(shape, type);  // drawn anew in each step
  l.bounds(d.bounds);
  l.result(l.eval({shape}, std::string(d.function) + "(tf.shape(source(0)))", type));
}

void infer_train_step(OpCall& call) { call.output({{}, DType::int64, nullptr}); }
void lower_train_step(Lowering& l) { l.result(l.layer("global_train_step", {}, l.out())); }

constexpr OpParam kRandom[] = {{"dims", arg::dims}, {"distribution", arg::str, true, "\"uniform\""}};

constexpr OpDef kOps[] = {
    {{"random", kRandom, "Tensor",
      "float32 random numbers of the given dims, drawn anew in each run and in each step of a loop: \"uniform\" in [0, 1), \"normal\" "
      "with mean 0 and standard deviation 1, or \"truncated_normal\", the same without what is further than 2 from 0.",
      infer_random},
     lower_random},
    {{"global_train_step", {}, "Tensor", "int64: the number of training steps before this one. In eager runs it is `--step`.", infer_train_step},
     lower_train_step},
};

}  // namespace

std::span<const OpDef> random_ops() { return kOps; }

}  // namespace rcn
