// A whole run: marks, objective, gradients, and what is shown.
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "runtime/data/npz.h"
#include "runtime/eager.h"
#include "runtime/show/report.h"
#include "tests/unit/runtime/bench.h"

namespace rcn::test {

namespace {

// loss = sum over valid frames of (data * w), w trainable with weight decay; `idle` is used by nothing.
struct Program {
  SourceMap sources;
  DiagnosticSink sink;
  DimTable dims;
  DimLengths known;
  std::ostringstream out, err;
  Dim batch = dims.batch(), time = dims.declare("time", DimKind::spatial, std::nullopt);
  ExternInput data{"data", "data", {{batch, time}, DType::float32, nullptr}, true, {}, {}};

  int run(EagerOptions options, double scale = 2.0, bool normalized = false) {
    FileId file = sources.add("model.rcn", "network {\n  y = data * w\n}\n");
    Span span{file, 12, 24};
    EagerRun eager_run(std::move(options), sources, sink, dims, known, out, err);
    if (!eager_run.declare_inputs({data})) return 1;
    Backend& backend = eager_run.backend();
    Parameter w;
    w.path = "scaler/w";
    w.type = {{}, DType::float32, nullptr};
    w.initial = Value(3.0);
    w.weight_decay = 0.5;
    Parameter idle = w;
    idle.path = "idle";
    idle.weight_decay.reset();
    Tensor x = backend.input(data), weight = backend.parameter(w);
    backend.parameter(idle);
    OpInfo info{"mul", {}, "", "", nullptr};
    OpNode node;
    node.op = &info;
    node.inputs = {x, weight};
    node.outputs = {data.type};
    node.span = span;
    backend.enter_scope("scaler", true, {});
    Tensor y = backend.apply(node).at(0);
    backend.leave_scope();
    backend.mark({MarkRole::output, "y", 1.0, false, true, nullptr, true, span}, y);
    backend.mark({MarkRole::loss, "ce", scale, normalized, true, nullptr, false, span}, y);
    backend.mark({MarkRole::error, "fer", 1.0, false, true, nullptr, false, span}, x);
    return eager_run.finish();
  }
};

EagerOptions with_data() {
  EagerOptions options;
  options.data = {"data=[[1, 2, 3], [4]]"};
  return options;
}

}  // namespace

TEST_CASE("run: the text report") {
  Program p;
  EagerOptions options = with_data();
  options.grad = true;
  options.trace = "*";
  options.print = {"y"};
  CHECK(p.run(options) == 0);
  CHECK(std::regex_replace(p.out.str(), std::regex("time=[0-9.]+(us|ms|s)\n"), "time=*\n") ==
        "-                     data                          [batch=2, time=3]                     float32  min=1      "
        "     mean=2.5          max=4           nan=0   inf=0   time=-\n"
        "-                     scaler/w                      []                                    float32  min=3      "
        "     mean=3            max=3           nan=0   inf=0   time=-\n"
        "-                     idle                          []                                    float32  min=3      "
        "     mean=3            max=3           nan=0   inf=0   time=-\n"
        "model.rcn:2:3         scaler.mul                    [batch=2, time=3]                     float32  min=3      "
        "     mean=7.5          max=12          nan=0   inf=0   time=*\n"
        "y  float32[batch=2, time=3 (3, 1)]\n"
        "[[3, 6, 9],\n"
        " [12]]\n"
        "output  y  float32[batch=2, time=3 (3, 1)]  min 3             mean 7.5           max 12\n"
        "loss   ce   sum 30  mean 7.5  4 frames  scale 2\n"
        "error  fer  sum 10  mean 2.5  4 frames\n"
        "objective  64.5  (weight decay 4.5)\n"
        "gradient  scaler/w  []  norm 23\n"
        "gradient  idle      []  missing: the objective does not depend on it\n"
        "gradients to look at, of 2: 1 missing\n");
}

TEST_CASE("run: JSON") {
  Program p;
  EagerOptions options = with_data();
  options.json = options.grad = true;
  options.print = {"scaler.*"};
  options.trace = "scaler.*";
  CHECK(p.run(options, 2.0, true) == 0);
  nlohmann::json json = nlohmann::json::parse(p.out.str());
  CHECK((
      json["outputs"]["y"] ==
      nlohmann::json::parse(
          R"({"dims": ["batch", "time"], "lengths": {"time": [3, 1]}, "length_dims": {"time": ["batch"]}, "dtype": "float32", "values": [[3, 6, 9], [12]]})")));
  CHECK((json["losses"] == nlohmann::json::parse(R"({"ce": {"sum": 30, "mean": 7.5}})")));
  CHECK((json["errors"] == nlohmann::json::parse(R"({"fer": {"sum": 10, "mean": 2.5}})")));
  CHECK((json["objective"] == 19.5));
  CHECK((json["constraints"] == 4.5));
  CHECK((json["gradients"] == nlohmann::json::parse(R"({"scaler/w": 8, "idle": 0})")));
  CHECK((json["printed"]["scaler.mul"]["values"] == nlohmann::json::parse("[[3, 6, 9], [12]]")));
  CHECK(p.err.str().find("\nmodel.rcn:2:3") != std::string::npos);
}

TEST_CASE("run: saved results, and padding shown on request") {
  std::string path =
      (std::filesystem::temp_directory_path() / ("rcnc-unit-run-" + std::to_string(getpid()) + ".npz")).string();
  Program p;
  EagerOptions options = with_data();
  options.save = {path};
  options.print = {"y"};
  options.padding = true;
  CHECK(p.run(options) == 0);
  CHECK(p.out.str().find("[[3, 6, 9],\n [12, 0, 0]]\n") != std::string::npos);
  NpzFile file(path);
  CHECK((file.names() ==
         std::vector<std::string>{"y", "y/length/time", "ce", "ce/length/time", "fer", "fer/length/time"}));
  CHECK(file.read("y").sum().item<double>() == 30);
  CHECK(file.read("y/length/time")[1].item<int>() == 1);
  std::filesystem::remove(path);
}

TEST_CASE("run: an assertion on a tensor names the first valid frame that fails") {
  Bench b(2);
  DimLengths known;
  Inputs inputs({}, b.batch, known, b.run.lengths, b.sink);
  Params params(1, false);
  EagerBackend backend(b.run, inputs, params, b.sink, false);
  Dim time = b.spatial("time", {2, 3});
  Tensor x = b.make({b.batch, time}, {1, 1, 0, 1, 1, 1}, DType::bool_),
         y = b.make({b.batch, time}, {1, 1, 0, 1, 0, 1}, DType::bool_);
  backend.check(x, "all good", {});
  CHECK_THROWS_AS(backend.check(y, "all good", {}), EvalError);
  CHECK(b.error() == "assertion failed at batch=1, time=1: all good");
}

}  // namespace rcn::test
