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

TEST_CASE("tagged json: tagger") {
  CHECK(text("tagger", OutputForm::json) == R"text({
"backend": "tensorflow-net-dict",
"behavior_version": 30,
"rcnc_dims": {
 "batch_dim": {},
 "time_dim": {"name": "time", "kind": "spatial", "size": null},
 "input_dim": {"name": "input", "kind": "feature", "size": 9},
 "classes_dim": {"name": "classes", "kind": "feature", "size": 2},
 "hidden_dim": {"name": "hidden", "kind": "feature", "size": 4},
 "hidden_times_4_dim": {"name": "4 * hidden", "kind": "feature", "size": 16}
},
"extern_data": {
 "data": {
  "dim_tags": [{"$dim": "batch_dim"}, {"$dim": "time_dim"}, {"$dim": "input_dim"}],
  "dtype": "float32",
  "available_for_inference": true
 },
 "classes": {
  "dim_tags": [{"$dim": "batch_dim"}, {"$dim": "time_dim"}],
  "dtype": "int32",
  "sparse_dim": {"$dim": "classes_dim"},
  "available_for_inference": false
 }
},
"network": {
 "drop.copy": {"class": "copy", "from": "data:data"},
 "drop.dropout": {
  "class": "dropout",
  "from": "drop.copy",
  "dropout": 0.1,
  "dropout_noise_shape": {"*": null}
 },
 "lstm.param_W": {
  "class": "variable",
  "shape": [{"$dim": "input_dim"}, {"$dim": "hidden_times_4_dim"}],
  "param_name": "param",
  "name_scope": "/lstm/param_W",
  "init": "VarianceScaling(scale=1.0, mode='fan_avg', distribution='uniform')"
 },
 "lstm.param_W_re": {
  "class": "variable",
  "shape": [{"$dim": "hidden_dim"}, {"$dim": "hidden_times_4_dim"}],
  "param_name": "param",
  "name_scope": "/lstm/param_W_re",
  "init": "VarianceScaling(scale=1.0, mode='fan_avg', distribution='uniform')"
 },
 "lstm.param_b": {
  "class": "variable",
  "shape": [{"$dim": "hidden_times_4_dim"}],
  "param_name": "param",
  "name_scope": "/lstm/param_b",
  "init": 0.0
 },
 "lstm.rec": {
  "class": "rec",
  "from": "drop.dropout",
  "in_dim": {"$dim": "input_dim"},
  "out_dim": {"$dim": "hidden_dim"},
  "axis": {"$dim": "time_dim"},
  "unit": "nativelstm2",
  "direction": 1,
  "name_scope": "/lstm",
  "reuse_params": {
   "map": {
    "W": {"layer_output": "lstm.param_W"},
    "W_re": {"layer_output": "lstm.param_W_re"},
    "b": {"layer_output": "lstm.param_b"}
   }
  }
 },
 "out.weight": {
  "class": "variable",
  "shape": [{"$dim": "hidden_dim"}, {"$dim": "classes_dim"}],
  "param_name": "param",
  "name_scope": "/out/weight",
  "init": "VarianceScaling(scale=1.0, mode='fan_avg', distribution='uniform')"
 },
 "out.bias": {
  "class": "variable",
  "shape": [{"$dim": "classes_dim"}],
  "param_name": "param",
  "name_scope": "/out/bias",
  "init": 0.0
 },
 "out.linear": {
  "class": "linear",
  "from": "lstm.rec",
  "in_dim": {"$dim": "hidden_dim"},
  "out_dim": {"$dim": "classes_dim"},
  "with_bias": true,
  "activation": null,
  "reuse_params": {"map": {"W": {"layer_output": "out.weight"}, "b": {"layer_output": "out.bias"}}}
 },
 "log_softmax": {
  "class": "softmax_over_spatial",
  "from": "out.linear",
  "axis": {"$dim": "classes_dim"},
  "log_space": true
 },
 "cross_entropy": {
  "class": "sparse_softmax_cross_entropy_with_logits",
  "logits": "out.linear",
  "targets": "data:classes",
  "axis": {"$dim": "classes_dim"}
 },
 "ce": {"class": "copy", "from": "cross_entropy", "loss": "as_is", "loss_scale": 1.0},
 "argmax": {"class": "reduce", "mode": "argmax", "from": "out.linear", "axis": {"$dim": "classes_dim"}},
 "not_equal": {"class": "compare", "kind": "not_equal", "from": ["argmax", "data:classes"]},
 "cast": {"class": "cast", "from": "not_equal", "dtype": "float32"},
 "fer": {"class": "copy", "from": "cast", "loss": "as_is", "loss_opts": {"as_error": true}},
 "log_probs": {"class": "copy", "from": "log_softmax", "is_output_layer": true},
 "output": {"class": "copy", "from": "log_softmax"}
}
}
)text");
}

TEST_CASE("tagged json: values of all kinds") {
  CHECK(text("odd", OutputForm::json) == R"text({
"backend": "tensorflow-net-dict",
"behavior_version": 30,
"rcnc_dims": {
 "batch_dim": {},
 "single_step_dim": {},
 "time_dim": {"name": "time", "kind": "spatial", "size": null},
 "time_dim_1": {"name": "time", "kind": "spatial", "size": null},
 "input_dim": {"name": "input", "kind": "feature", "size": 9},
 "gr__e_dim": {"name": "größe dim", "kind": "feature", "size": 3},
 "time_plus_1_ceildiv_2_dim": {"name": "ceildiv(time + 1, 2)", "kind": "spatial", "size": null}
},
"extern_data": {
 "data": {
  "dim_tags": [{"$dim": "batch_dim"}, {"$dim": "time_dim"}, {"$dim": "input_dim"}],
  "dtype": "float32",
  "available_for_inference": true
 }
},
"network": {
 "#copy_param_mode": "subset",
 "raw": {"class": "odd", "from": "gr__e", "axis": {"$dim": "time_dim"}},
 "gr__e": {"class": "odd", "from": "data:data", "$$dim": "x", "$$$": {"$$set": 1, "plain": []}},
 "output": {
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
   -9007199254740993
  ],
  "special": [Infinity, -Infinity, NaN],
  "text": "a \"b\" 'c' \\ // /* \t\n\u0001 é 😀",
  "flags": [true, false, null],
  "single_tuple": {"$tuple": [{"$dim": "time_dim"}]},
  "tuple": {"$tuple": []},
  "no_set": {"$set": []},
  "set": {"$set": [{"$dim": "time_dim_1"}, {"$dim": "batch_dim"}, {"$dim": "input_dim"}]},
  "map": {"$map": [
   [{"$dim": "time_dim"}, {"$dim": "time_dim_1"}],
   [{"$dim": "time_plus_1_ceildiv_2_dim"}, {"$dim": "gr__e_dim"}]
  ]},
  "square": [{"$dim": "input_dim", "match_priority": 1}, {"$dim": "input_dim"}],
  "step": {"$dim": "single_step_dim"}
 }
}
}
)text");
}

TEST_CASE("tagged json: parts") {
  CHECK(text("chain-1", OutputForm::json, EmitPart::dims) == R"text({
"rcnc_dims": {
 "batch_dim": {},
 "time_dim": {"name": "time", "kind": "spatial", "size": null},
 "input_dim": {"name": "input", "kind": "feature", "size": 9}
}
}
)text");
  CHECK(text("chain-1", OutputForm::json, EmitPart::extern_data) == R"text({
"extern_data": {
 "data": {
  "dim_tags": [{"$dim": "batch_dim"}, {"$dim": "time_dim"}, {"$dim": "input_dim"}],
  "dtype": "float32",
  "available_for_inference": true
 }
}
}
)text");
  CHECK(text("chain-1", OutputForm::json, EmitPart::net) == R"text({
"backend": "tensorflow-net-dict",
"behavior_version": 30,
"network": {
 "add.eval": {"class": "eval", "from": "data:data", "eval": "source(0) + 0.5"},
 "output": {"class": "copy", "from": "add.eval"}
}
}
)text");
}

TEST_CASE("plain json: tagger") {
  CHECK(text("tagger", OutputForm::json_plain) == R"text({
"backend": "tensorflow-net-dict",
"behavior_version": 30,
"extern_data": {
 "data": {"shape": [null, 9], "dim": 9, "dtype": "float32", "available_for_inference": true},
 "classes": {"shape": [null], "dim": 2, "sparse": true, "dtype": "int32", "available_for_inference": false}
},
"network": {
 "classes.as.data": {"class": "reinterpret_data", "from": "data:classes", "size_base": "data:data"},
 "drop.copy": {"class": "copy", "from": "data:data"},
 "drop.dropout": {
  "class": "dropout",
  "from": "drop.copy",
  "dropout": 0.1,
  "dropout_noise_shape": {"*": null}
 },
 "lstm.param_W": {
  "class": "variable",
  "shape": [9, 16],
  "param_name": "param",
  "name_scope": "/lstm/param_W",
  "init": "VarianceScaling(scale=1.0, mode='fan_avg', distribution='uniform')"
 },
 "lstm.param_W_re": {
  "class": "variable",
  "shape": [4, 16],
  "param_name": "param",
  "name_scope": "/lstm/param_W_re",
  "init": "VarianceScaling(scale=1.0, mode='fan_avg', distribution='uniform')"
 },
 "lstm.param_b": {
  "class": "variable",
  "shape": [16],
  "param_name": "param",
  "name_scope": "/lstm/param_b",
  "init": 0.0
 },
 "lstm.rec": {
  "class": "rec",
  "from": "drop.dropout",
  "n_out": 4,
  "axis": "T",
  "unit": "nativelstm2",
  "direction": 1,
  "name_scope": "/lstm",
  "reuse_params": {
   "map": {
    "W": {"layer_output": "lstm.param_W"},
    "W_re": {"layer_output": "lstm.param_W_re"},
    "b": {"layer_output": "lstm.param_b"}
   }
  }
 },
 "out.weight": {
  "class": "variable",
  "shape": [4, 2],
  "param_name": "param",
  "name_scope": "/out/weight",
  "init": "VarianceScaling(scale=1.0, mode='fan_avg', distribution='uniform')"
 },
 "out.bias": {
  "class": "variable",
  "shape": [2],
  "param_name": "param",
  "name_scope": "/out/bias",
  "init": 0.0
 },
 "out.linear": {
  "class": "linear",
  "from": "lstm.rec",
  "n_out": 2,
  "with_bias": true,
  "activation": null,
  "reuse_params": {"map": {"W": {"layer_output": "out.weight"}, "b": {"layer_output": "out.bias"}}}
 },
 "log_softmax": {"class": "softmax_over_spatial", "from": "out.linear", "axis": "F", "log_space": true},
 "cross_entropy": {
  "class": "sparse_softmax_cross_entropy_with_logits",
  "logits": "out.linear",
  "targets": "classes.as.data",
  "axis": "F"
 },
 "ce": {"class": "copy", "from": "cross_entropy", "loss": "as_is", "loss_scale": 1.0},
 "argmax": {"class": "reduce", "mode": "argmax", "from": "out.linear", "axis": "F"},
 "not_equal": {"class": "compare", "kind": "not_equal", "from": ["argmax", "classes.as.data"]},
 "cast": {"class": "cast", "from": "not_equal", "dtype": "float32"},
 "fer": {"class": "copy", "from": "cast", "loss": "as_is", "loss_opts": {"as_error": true}},
 "log_probs": {"class": "copy", "from": "log_softmax", "is_output_layer": true},
 "output": {"class": "copy", "from": "log_softmax"}
}
}
)text");
}

TEST_CASE("plain json: sorted keys") {
  CHECK(text("chain-1", OutputForm::json_plain, EmitPart::all, true) == R"text({
"backend": "tensorflow-net-dict",
"behavior_version": 30,
"extern_data": {
 "data": {"available_for_inference": true, "dim": 9, "dtype": "float32", "shape": [null, 9]}
},
"network": {
 "add.eval": {"class": "eval", "eval": "source(0) + 0.5", "from": "data:data"},
 "output": {"class": "copy", "from": "add.eval"}
}
}
)text");
}
