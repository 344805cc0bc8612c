// Type rules of elementwise operations, and folding of static numbers.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/unit/ops/fixture.h"

using namespace rcn;

namespace {

struct Elementwise : OpFixture {
  Tensor x = extern_tensor("data", {batch, time, input});
  Tensor b = extern_tensor("b", {batch}, DType::int32);
  Tensor labels = extern_tensor("classes", {batch, time}, DType::int32, classes);
};

}  // namespace

TEST_CASE("dims of elementwise results") {
  Elementwise f;
  CHECK(f.tensor("add", {f.x, f.x})->type == TensorType{{f.batch, f.time, f.input}, DType::float32, nullptr});
  Tensor mean = f.tensor("reduce", {f.x}, {{"mode", "mean"}, {"axis", f.time}});
  CHECK(f.tensor("mul", {mean, f.x})->type.dims == std::vector<Dim>{f.batch, f.input, f.time});
  CHECK(f.tensor("sub", {2.0, f.x})->type.dims == f.x->type.dims);
  CHECK(f.tensor("add", {f.labels, 1})->type == TensorType{{f.batch, f.time}, DType::int32, nullptr});
  CHECK(f.tensor("less", {f.labels, f.b})->type == TensorType{{f.batch, f.time}, DType::bool_, nullptr});
}

TEST_CASE("no operand has all dims: C01, N13") {
  Elementwise f;
  Dim g = f.feature("other", 3);
  Tensor y = f.tensor("zeros", {list_of({f.batch, f.time, g})});
  std::string expected =
      "E0420 no operand of `{}` has all dims of the others\n"
      "has: `batch, time, input=3`; missing: `other=3`\n"
      "has: `batch, time, other=3`; missing: `input=3`\n"
      "dims of equal size are still different dims\n"
      "`nn.replace_dim` gives a tensor another dim; where every combination is meant, write `nn.expand_dims(a, b.dims)` for `a`";
  auto with = [&](std::string op) { return std::string(expected).replace(expected.find("{}"), 2, op); };
  CHECK(f.error("add", {f.x, y}) == with("+"));
  CHECK(f.error("equal", {f.x, y}) == with("=="));
  Value wide = f.call("expand_dims", {f.x, list_of({f.batch, f.time, g})});
  CHECK(f.tensor("add", {wide, y})->type.dims == std::vector<Dim>{g, f.batch, f.time, f.input});
}

TEST_CASE("a dim twice: paired in order, or unclear") {
  Elementwise f;
  Tensor w = f.param("w", {f.input, f.input}), v = f.param("v", {f.input});
  CHECK(f.tensor("add", {w, w})->type.dims == std::vector<Dim>{f.input, f.input});
  CHECK(f.tensor("tanh", {w})->type.dims == std::vector<Dim>{f.input, f.input});
  CHECK(f.error("add", {w, v}) == "E0423 `input` occurs twice in one operand of `+` and once in another");
  CHECK(f.error("softmax", {w}, {{"axis", f.input}}) == "E0422 `nn.softmax` cannot work on a tensor that has `input` twice");
}

TEST_CASE("dtypes that meet") {
  Elementwise f;
  Tensor flag = f.tensor("less", {f.b, 1});
  CHECK(f.error("add", {f.labels, 0.5}) == "E0431 `0.5` is a float, but the tensor has dtype `int32`\nconvert the tensor: `nn.cast(x, float32)`");
  CHECK(f.error("less", {f.labels, 0.5}).starts_with("E0431"));
  CHECK(f.error("mul", {f.x, f.b}) == "E0430 `*` of tensors of dtype `float32` and `int32`\nconvert one of them: `nn.cast(x, float32)`");
  CHECK(f.error("truediv", {f.labels, f.b}) == "E0434 `/` of tensors of dtype `int32`\n`//` divides ints and floors; for a float, `nn.cast(x, float32) / y`");
  CHECK(f.error("add", {flag, 1}).starts_with("E0433 a bool in `+`"));
  CHECK(f.error("add", {f.x, true}).starts_with("E0433 a bool in `+`"));
  CHECK(f.error("equal", {flag, 1}).starts_with("E0436 the number `1` meets a tensor of dtype `bool`"));
  CHECK(f.tensor("equal", {flag, true})->type.dtype == DType::bool_);
  CHECK(f.error("less", {flag, flag}) == "E0433 a bool in `<`");
  Tensor small = f.tensor("cast", {f.b, DType::uint8});
  CHECK(f.error("add", {small, 300}) == "E0435 `300` does not fit into dtype `uint8`");
  CHECK(f.error("sin", {f.labels}) == "E0432 `source` of `nn.sin` must be float, but has dtype `int32`\n`nn.cast(x, float32)`");
  CHECK(f.error("logical_and", {f.b, flag}).starts_with("E0432 `a` of `nn.logical_and` must be bool, but has dtype `int32`"));
  CHECK(f.error("cast", {1.5, DType::int32}) ==
        "E0406 `source` of `nn.cast` must be a tensor, but `1.5` is a static number\na number takes the dtype of the tensor that it meets");
}

TEST_CASE("where") {
  Elementwise f;
  Tensor flag = f.tensor("less", {f.labels, 1});
  CHECK(f.tensor("where", {flag, 1, 0})->type.dtype == DType::int32);
  CHECK(f.tensor("where", {flag, 1, 0.0})->type.dtype == DType::float32);
  CHECK(f.tensor("where", {flag, true, false})->type.dtype == DType::bool_);
  CHECK(f.tensor("where", {flag, f.labels, 0})->type.sparse_dim == f.classes);
  CHECK(f.tensor("where", {flag, f.labels, f.b})->type.sparse_dim == nullptr);
  CHECK(f.tensor("where", {flag, f.x, 0})->type.dims == std::vector<Dim>{f.batch, f.time, f.input});
  CHECK(f.error("where", {flag, true, 0}) == "E0439 `nn.where` of a bool and a number");
  CHECK(f.error("where", {f.b, 1, 0}).starts_with("E0432 `cond` of `nn.where` must be bool"));
}

TEST_CASE("static numbers are folded, correctly rounded") {
  OpFixture f;
  auto real = [&](std::string_view name, Value v) { return f.call(name, {v}).get<double>(); };
  // Nearest doubles, from 50 digits.
  CHECK(real("log", 10000.0) == 9.210340371976184);
  CHECK(real("exp", 1) == 2.718281828459045);
  CHECK(real("sin", 1e22) == -0.8522008497671888);
  CHECK(real("tanh", 0.5) == 0.46211715726000973);
  CHECK(real("sigmoid", -800.0) == std::exp(-800.0));
  CHECK(real("softplus", 50.0) == 50.0);
  CHECK(real("log_sigmoid", 50.0) == -1.9287498479639178e-22);
  CHECK(real("gelu", 1.0) == 0.8413447460685429);
  CHECK(real("elu", -1.0) == -0.6321205588285577);
  CHECK(real("selu", 1.0) == 1.0507009873554805);
  CHECK(real("erf", 0.5) == 0.5204998778130465);
  CHECK(real("rsqrt", 4) == 0.5);
  CHECK(real("rint", 2.5) == 2.0);
  CHECK(real("rint", -3.5) == -4.0);
  CHECK(real("ceil", 1.2) == 2.0);
  CHECK(std::signbit(real("neg", 0.0)));
  CHECK(real("exp", -745.1) == std::numeric_limits<double>::denorm_min());
  CHECK(f.call("abs", {-3}).get<std::int64_t>() == 3);
  CHECK(f.call("square", {-3}).get<std::int64_t>() == 9);
  CHECK(f.call("relu", {-3}).get<std::int64_t>() == 0);
  CHECK(f.call("maximum", {2, 3}).get<std::int64_t>() == 3);
  CHECK(f.call("minimum", {2, 3.5}).get<double>() == 2.0);
  CHECK(f.call("squared_difference", {2.0, 3.5}).get<double>() == 2.25);
  CHECK(f.call("pow", {2, 0.5}).get<double>() == 1.4142135623730951);
  CHECK(f.call("mod", {-7, 3}).get<std::int64_t>() == 2);
  CHECK(f.call("floordiv", {-7, 3}).get<std::int64_t>() == -3);
  CHECK_FALSE(f.call("logical_not", {true}).get<bool>());
  CHECK(f.call("less", {2, 2.5}).get<bool>());
}

TEST_CASE("static numbers without a result") {
  OpFixture f;
  CHECK(f.error("log", {-1.0}) == "E0437 `nn.log` of `-1.0` is no finite number");
  CHECK(f.error("log", {0}) == "E0437 `nn.log` of `0` is no finite number");
  CHECK(f.error("exp", {1000}) == "E0437 `nn.exp` of `1000` is no finite number");
  CHECK(f.error("square", {std::int64_t{1} << 40}) == "E0438 the result of `nn.square` does not fit into 64 bits");
  CHECK(f.error("neg", {std::numeric_limits<std::int64_t>::min()}).starts_with("E0438"));
  CHECK(f.error("sin", {true}) == "E0404 `source` of `nn.sin` must be a number, not a bool");
  CHECK(f.call("exp", {-std::numeric_limits<double>::infinity()}).get<double>() == 0.0);
}
