// Dicts in layers as text. RETURNN reads the same networks in tests/emit_returnn.
#include <doctest/doctest.h>

#include "compiler/emit/document.h"
#include "tests/unit/emit/models.h"

using namespace rcn;

namespace {

std::string text(const std::string& model, OutputForm form, EmitPart part = EmitPart::net, bool sort_keys = false) {
  EmitOptions options;
  options.form = form;
  options.part = part;
  options.sort_keys = sort_keys;
  DiagnosticSink diagnostics;
  std::unique_ptr<test::Model> network = test::make_model(model);
  CHECK(verify(network->graph, network->layers, "test") == std::vector<std::string>{});
  std::string result = network->text(options, diagnostics);
  CHECK(diagnostics.size() == 0);
  return result;
}

std::string from(const std::string& text, const std::string& begin) {
  std::size_t at = text.find(begin);
  return at == std::string::npos ? "nothing" : text.substr(at);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("regions: loops in python") {
  CHECK(from(text("loops", OutputForm::python), "network") ==
        R"text(network for RETURNN (TensorFlow net dict), written by rcnc.
# It uses the names that `rcnc --emit dims` writes.

backend = "tensorflow-net-dict"
behavior_version = 30

network = {
    "zeros": {"class": "constant", "value": 0.0, "shape": [batch_dim, input_dim]},  # model.rcn:1
    "loop": {  # model.rcn:7
        "class": "rec",
        "from": [],
        "axis": time_dim,
        "name_scope": "",
        "unit": {
            "frame": {"class": "gather", "from": "base:data:data", "axis": time_dim, "position": ":i"},  # model.rcn:2
            "h": {  # model.rcn:3
                "class": "combine",
                "kind": "add",
                "from": ["frame", "prev:h"],
                "initial_output": "base:zeros",
                "need_last": True,
            },
            "twice": {"class": "eval", "from": "h", "eval": "source(0) * 2.0", "is_output_layer": True},  # model.rcn:4
            "output": {"class": "copy", "from": "h"},  # model.rcn:6
        },
    },
    "last": {"class": "rec_last_output", "rec_layer": "loop", "sub_layer_name": "h"},  # model.rcn:8
    "loop_1": {  # model.rcn:11
        "class": "rec",
        "from": [],
        "axis": time_dim,
        "name_scope": "",
        "unit": {
            "frame": {"class": "gather", "from": "base:loop/twice", "axis": time_dim, "position": ":i"},  # model.rcn:9
            "output": {"class": "combine", "kind": "add", "from": ["frame", "base:last"]},  # model.rcn:10
        },
    },
    "sums": {"class": "copy", "from": "loop", "is_output_layer": True},  # model.rcn:12
    "doubled": {"class": "copy", "from": "loop/twice", "is_output_layer": True},  # model.rcn:13
    "output": {"class": "copy", "from": "loop_1"},  # model.rcn:14
}
)text");
}

TEST_CASE("regions: loops in sorted json") {
  CHECK(from(text("loops", OutputForm::json, EmitPart::net, true), "\"network") == R"text("network": {
 "doubled": {"class": "copy", "from": "loop/twice", "is_output_layer": true},
 "last": {"class": "rec_last_output", "rec_layer": "loop", "sub_layer_name": "h"},
 "loop": {
  "axis": {"$dim": "time_dim"},
  "class": "rec",
  "from": [],
  "name_scope": "",
  "unit": {
   "frame": {"axis": {"$dim": "time_dim"}, "class": "gather", "from": "base:data:data", "position": ":i"},
   "h": {
    "class": "combine",
    "from": ["frame", "prev:h"],
    "initial_output": "base:zeros",
    "kind": "add",
    "need_last": true
   },
   "output": {"class": "copy", "from": "h"},
   "twice": {"class": "eval", "eval": "source(0) * 2.0", "from": "h", "is_output_layer": true}
  }
 },
 "loop_1": {
  "axis": {"$dim": "time_dim"},
  "class": "rec",
  "from": [],
  "name_scope": "",
  "unit": {
   "frame": {"axis": {"$dim": "time_dim"}, "class": "gather", "from": "base:loop/twice", "position": ":i"},
   "output": {"class": "combine", "from": ["frame", "base:last"], "kind": "add"}
  }
 },
 "output": {"class": "copy", "from": "loop_1"},
 "sums": {"class": "copy", "from": "loop", "is_output_layer": true},
 "zeros": {"class": "constant", "shape": [{"$dim": "batch_dim"}, {"$dim": "input_dim"}], "value": 0.0}
}
}
)text");
}

TEST_CASE("regions: a loop and a cond in a loop") {
  CHECK(from(text("nested", OutputForm::python), "network") ==
        R"text(network for RETURNN (TensorFlow net dict), written by rcnc.
# It uses the names that `rcnc --emit dims` writes.

backend = "tensorflow-net-dict"
behavior_version = 30

network = {
    "zeros": {"class": "constant", "value": 0.0, "shape": [batch_dim, input_dim]},  # model.rcn:1
    "loop": {  # model.rcn:17
        "class": "rec",
        "from": [],
        "axis": time_dim,
        "name_scope": "",
        "unit": {
            "frame": {"class": "gather", "from": "base:data:data", "axis": time_dim, "position": ":i"},  # model.rcn:2
            "before": {"class": "copy", "from": "prev:h"},  # model.rcn:3
            "inner": {  # model.rcn:7
                "class": "rec",
                "from": [],
                "axis": steps_dim,
                "name_scope": "",
                "unit": {
                    "frame": {  # model.rcn:4
                        "class": "gather",
                        "from": "base:base:data:memory",
                        "axis": steps_dim,
                        "position": ":i",
                    },
                    "g": {  # model.rcn:5
                        "class": "eval",
                        "from": ["frame", "prev:g", "base:before", "base::i"],
                        "eval": "source(0) + 0.5 * source(1) + 0.25 * source(2) + 0.1 * tf.cast(source(3), tf.float32)",
                        "initial_output": "base:frame",
                    },
                    "output": {"class": "copy", "from": "g"},  # model.rcn:6
                },
            },
            "sum": {"class": "reduce", "mode": "sum", "from": "inner", "axis": [steps_dim]},  # model.rcn:8
            "even": {  # model.rcn:9
                "class": "eval",
                "from": ":i",
                "eval": "tf.equal(source(0) % 2, 0)",
                "out_type": {"dtype": "bool", "sparse_dim": None},
            },
            "if": {  # model.rcn:13
                "class": "cond",
                "from": [],
                "condition": "even",
                "name_scope": "",
                "true_layer": {
                    "class": "subnetwork",
                    "from": [],
                    "subnetwork": {
                        "less": {  # model.rcn:10
                            "class": "eval",
                            "from": ["base:sum", "base:prev:h"],
                            "eval": "source(0) - 0.5 * source(1)",
                        },
                        "output": {  # model.rcn:11
                            "class": "concat",
                            "from": [("less", input_dim), ("base:frame", input_dim)],
                            "out_dim": input_times_2_dim,
                        },
                    },
                },
                "false_layer": {
                    "class": "subnetwork",
                    "from": [],
                    "subnetwork": {
                        "output": {  # model.rcn:12
                            "class": "concat",
                            "from": [("base:frame", input_dim), ("base:sum", input_dim)],
                            "out_dim": input_times_2_dim,
                        },
                    },
                },
            },
            "split": {  # model.rcn:14
                "class": "split",
                "from": "if",
                "axis": input_times_2_dim,
                "out_dims": [input_dim, input_dim],
            },
            "h": {  # model.rcn:15
                "class": "eval",
                "from": ["split/0", "split/1"],
                "eval": "tf.tanh(0.1 * (source(0) + 2.0 * source(1)))",
                "initial_output": "base:zeros",
            },
            "output": {"class": "copy", "from": "h"},  # model.rcn:16
        },
    },
    "output": {"class": "copy", "from": "loop"},  # model.rcn:18
}
)text");
}

TEST_CASE("regions: dims of bodies are declared") {
  CHECK(has(text("nested", OutputForm::python, EmitPart::dims), "steps_dim = Dim(None, name=\"steps\""));
}

TEST_CASE("regions: the recursion limit of deep bodies") {
  const std::string python =
      "import sys\n\n# RETURNN constructs the body of a loop or branch by recursion.\n"
      "sys.setrecursionlimit(max(sys.getrecursionlimit(), 100000))\n\nbackend = ";
  CHECK(!has(text("deep-10-180", OutputForm::python), "import sys"));
  CHECK(has(text("deep-10-181", OutputForm::python), python));
  CHECK(!has(text("deep-10-181", OutputForm::python, EmitPart::dims), "import sys"));
  CHECK(has(text("deep-10-181", OutputForm::json), "\"behavior_version\": 30,\n\"rcnc_recursion_limit\": 100000,\n"));
  CHECK(!has(text("deep-10-180", OutputForm::json), "limit"));
  CHECK(!has(text("deep-10-181", OutputForm::json, EmitPart::extern_data), "limit"));
}

TEST_CASE("regions: how references are spelled") {
  Graph graph;
  Region& outer = graph.add_region(graph.root_region());
  Region& inner = graph.add_region(&outer);
  auto add = [&](const std::string& name, const Region* region) {
    Layer& layer = graph.add("copy", {}, {}, region->scope, name, {}, region);
    layer.name = name;
    return &layer;
  };
  const Region* root = graph.root_region();
  Layer *x = add("data:x", root), *h = add("h", &outer), *y = add("y", &inner), *result = add("output", &inner);
  inner.owner = add("inner", &outer);
  outer.owner = add("loop", root);

  CHECK(reference_text({x}, root) == "data:x");
  CHECK(reference_text({x}, &outer) == "base:data:x");
  CHECK(reference_text({x}, &inner) == "base:base:data:x");
  CHECK(reference_text({h}, &outer) == "h");
  CHECK(reference_text({h, "0"}, &inner) == "base:h/0");
  CHECK(reference_text({h, "", RefKind::previous}, &outer) == "prev:h");
  CHECK(reference_text({h, "", RefKind::previous}, &inner) == "base:prev:h");
  CHECK(reference_text({h, "1", RefKind::previous}, &inner) == "base:prev:h/1");
  CHECK(reference_text({h, "", RefKind::name}, root) == "h");
  CHECK(reference_text({h}, root) == "loop/h");
  CHECK(reference_text({y}, &outer) == "inner/y");
  CHECK(reference_text({result}, &outer) == "inner");
  CHECK(reference_text({result, "", RefKind::name}, &outer) == "output");
  // Handed out to a dict next to it.
  Region& other = graph.add_region(root);
  other.owner = add("loop_1", root);
  CHECK(reference_text({h}, &other) == "base:loop/h");
  CHECK_THROWS_AS(reference_text({y}, root), std::logic_error);
  CHECK_THROWS_AS(reference_text({y}, &other), std::logic_error);
}
