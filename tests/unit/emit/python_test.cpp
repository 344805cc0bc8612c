// Whole texts of networks that models.cpp builds. RETURNN reads the same ones in tests/emit_returnn.
#include <doctest/doctest.h>

#include "tests/unit/emit/models.h"

using namespace rcn;

namespace {

std::string text(const char* model, OutputForm form, EmitPart part = EmitPart::all, bool sort_keys = false,
                 bool comments = true) {
  EmitOptions options;
  options.form = form;
  options.part = part;
  options.sort_keys = sort_keys;
  options.comments = comments;
  DiagnosticSink diagnostics;
  std::string result = test::make_model(model)->text(options, diagnostics);
  CHECK(diagnostics.size() == 0);
  return result;
}

}  // namespace

TEST_CASE("python: tagger") {
  CHECK(text("tagger", OutputForm::python) == R"text(#!rnn.py
# A network for RETURNN (TensorFlow net dict), written by rcnc.

from returnn.tensor import Dim, batch_dim

time_dim = Dim(None, name="time", kind=Dim.Types.Spatial)
input_dim = Dim(9, name="input", kind=Dim.Types.Feature)
classes_dim = Dim(2, name="classes", kind=Dim.Types.Feature)
hidden_dim = Dim(4, name="hidden", kind=Dim.Types.Feature)
hidden_times_4_dim = Dim(16, name="4 * hidden", kind=Dim.Types.Feature)

backend = "tensorflow-net-dict"
behavior_version = 30

extern_data = {
    "data": {
        "dim_tags": [batch_dim, time_dim, input_dim],
        "dtype": "float32",
        "available_for_inference": True,
    },
    "classes": {
        "dim_tags": [batch_dim, time_dim],
        "dtype": "int32",
        "sparse_dim": classes_dim,
        "available_for_inference": False,
    },
}

network = {
    "drop.copy": {"class": "copy", "from": "data:data"},  # model.rcn:1
    "drop.dropout": {  # model.rcn:2
        "class": "dropout",
        "from": "drop.copy",
        "dropout": 0.1,
        "dropout_noise_shape": {"*": None},
    },
    "lstm.param_W": {  # model.rcn:3
        "class": "variable",
        "shape": [input_dim, hidden_times_4_dim],
        "param_name": "param",
        "name_scope": "/lstm/param_W",
        "init": "VarianceScaling(scale=1.0, mode='fan_avg', distribution='uniform')",
    },
    "lstm.param_W_re": {  # model.rcn:4
        "class": "variable",
        "shape": [hidden_dim, hidden_times_4_dim],
        "param_name": "param",
        "name_scope": "/lstm/param_W_re",
        "init": "VarianceScaling(scale=1.0, mode='fan_avg', distribution='uniform')",
    },
    "lstm.param_b": {  # model.rcn:5
        "class": "variable",
        "shape": [hidden_times_4_dim],
        "param_name": "param",
        "name_scope": "/lstm/param_b",
        "init": 0.0,
    },
    "lstm.rec": {  # model.rcn:6
        "class": "rec",
        "from": "drop.dropout",
        "in_dim": input_dim,
        "out_dim": hidden_dim,
        "axis": time_dim,
        "unit": "nativelstm2",
        "direction": 1,
        "name_scope": "/lstm",
        "reuse_params": {
            "map": {
                "W": {"layer_output": "lstm.param_W"},
                "W_re": {"layer_output": "lstm.param_W_re"},
                "b": {"layer_output": "lstm.param_b"},
            },
        },
    },
    "out.weight": {  # model.rcn:8
        "class": "variable",
        "shape": [hidden_dim, classes_dim],
        "param_name": "param",
        "name_scope": "/out/weight",
        "init": "VarianceScaling(scale=1.0, mode='fan_avg', distribution='uniform')",
    },
    "out.bias": {  # model.rcn:9
        "class": "variable",
        "shape": [classes_dim],
        "param_name": "param",
        "name_scope": "/out/bias",
        "init": 0.0,
    },
    "out.linear": {  # model.rcn:10
        "class": "linear",
        "from": "lstm.rec",
        "in_dim": hidden_dim,
        "out_dim": classes_dim,
        "with_bias": True,
        "activation": None,
        "reuse_params": {"map": {"W": {"layer_output": "out.weight"}, "b": {"layer_output": "out.bias"}}},
    },
    "log_softmax": {  # model.rcn:11
        "class": "softmax_over_spatial",
        "from": "out.linear",
        "axis": classes_dim,
        "log_space": True,
    },
    "cross_entropy": {  # model.rcn:12
        "class": "sparse_softmax_cross_entropy_with_logits",
        "logits": "out.linear",
        "targets": "data:classes",
        "axis": classes_dim,
    },
    "ce": {"class": "copy", "from": "cross_entropy", "loss": "as_is", "loss_scale": 1.0},  # model.rcn:13
    "argmax": {"class": "reduce", "mode": "argmax", "from": "out.linear", "axis": classes_dim},  # model.rcn:14
    "not_equal": {"class": "compare", "kind": "not_equal", "from": ["argmax", "data:classes"]},  # model.rcn:15
    "cast": {"class": "cast", "from": "not_equal", "dtype": "float32"},  # model.rcn:16
    "fer": {"class": "copy", "from": "cast", "loss": "as_is", "loss_opts": {"as_error": True}},  # model.rcn:17
    "log_probs": {"class": "copy", "from": "log_softmax", "is_output_layer": True},  # model.rcn:18
    "output": {"class": "copy", "from": "log_softmax"},  # model.rcn:19
}
)text");
}

TEST_CASE("python: values of all kinds") {
  CHECK(text("odd", OutputForm::python) == R"text(#!rnn.py
# A network for RETURNN (TensorFlow net dict), written by rcnc.

from returnn.tensor import Dim, batch_dim, single_step_dim

time_dim = Dim(None, name="time", kind=Dim.Types.Spatial)
time_dim_1 = Dim(None, name="time", kind=Dim.Types.Spatial)
input_dim = Dim(9, name="input", kind=Dim.Types.Feature)
gr__e_dim = Dim(3, name="größe dim", kind=Dim.Types.Feature)
time_plus_1_ceildiv_2_dim = Dim(None, name="ceildiv(time + 1, 2)", kind=Dim.Types.Spatial)

backend = "tensorflow-net-dict"
behavior_version = 30

extern_data = {
    "data": {
        "dim_tags": [batch_dim, time_dim, input_dim],
        "dtype": "float32",
        "available_for_inference": True,
    },
}

network = {
    "#copy_param_mode": "subset",
    "raw": {"class": "odd", "from": "gr__e", "axis": time_dim},
    "gr__e": {"class": "odd", "from": "data:data", "$dim": "x", "$$": {"$set": 1, "plain": []}},  # model.rcn:1
    "output": {  # model.rcn:2
        "class": "odd",
        "from": "gr__e/0",
        "numbers": [
            0.05,
            100.0,
            100,
            1e-06,
            1e+22,
            0.3333333333333333,
            -0.0,
            5e-324,
            1.2345678901234568e+17,
            -9007199254740993,
        ],
        "special": [float("inf"), float("-inf"), float("nan")],
        "text": "a \"b\" 'c' \\ // /* \t\n\x01 é 😀",
        "flags": [True, False, None],
        "single_tuple": (time_dim,),
        "tuple": (),
        "no_set": set(),
        "set": {time_dim_1, batch_dim, input_dim},
        "map": {time_dim: time_dim_1, time_plus_1_ceildiv_2_dim: gr__e_dim},
        "square": [input_dim.copy(match_priority=1), input_dim],
        "step": single_step_dim,
    },
}
)text");
}

TEST_CASE("python: parts") {
  CHECK(text("chain-1", OutputForm::python, EmitPart::dims) == R"text(#!rnn.py
# A network for RETURNN (TensorFlow net dict), written by rcnc.

from returnn.tensor import Dim, batch_dim

time_dim = Dim(None, name="time", kind=Dim.Types.Spatial)
input_dim = Dim(9, name="input", kind=Dim.Types.Feature)
)text");
  CHECK(text("chain-1", OutputForm::python, EmitPart::extern_data) == R"text(#!rnn.py
# A network for RETURNN (TensorFlow net dict), written by rcnc.
# It uses the names that `rcnc --emit dims` writes.

extern_data = {
    "data": {
        "dim_tags": [batch_dim, time_dim, input_dim],
        "dtype": "float32",
        "available_for_inference": True,
    },
}
)text");
  CHECK(text("chain-1", OutputForm::python, EmitPart::net) == R"text(#!rnn.py
# A network for RETURNN (TensorFlow net dict), written by rcnc.
# It uses the names that `rcnc --emit dims` writes.

backend = "tensorflow-net-dict"
behavior_version = 30

network = {
    "add.eval": {"class": "eval", "from": "data:data", "eval": "source(0) + 0.5"},
    "output": {"class": "copy", "from": "add.eval"},  # model.rcn:1
}
)text");
}

TEST_CASE("python: the layout does not depend on comments") {
  std::string with = text("tagger", OutputForm::python),
              without = text("tagger", OutputForm::python, EmitPart::all, false, false);
  for (std::size_t at = 0; (at = with.find("  # model.rcn:")) != std::string::npos;)
    with.erase(at, with.find('\n', at) - at);
  CHECK(with == without);
}

TEST_CASE("python: sorted keys") {
  CHECK(text("chain-2", OutputForm::python, EmitPart::net, true) == R"text(#!rnn.py
# A network for RETURNN (TensorFlow net dict), written by rcnc.
# It uses the names that `rcnc --emit dims` writes.

backend = "tensorflow-net-dict"
behavior_version = 30

network = {
    "add.eval": {"class": "eval", "eval": "source(0) + 0.5", "from": "data:data"},
    "add_1.eval": {"class": "eval", "eval": "source(0) + 0.5", "from": "add.eval"},
    "output": {"class": "copy", "from": "add_1.eval"},  # model.rcn:1
}
)text");
}

TEST_CASE("one network, one text") {
  for (OutputForm form : {OutputForm::python, OutputForm::json, OutputForm::json_plain})
    for (const char* model : {"tagger", "hybrid", "chain-300"}) CHECK(text(model, form) == text(model, form));
}
