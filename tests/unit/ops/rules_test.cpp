// Type rules of operations over axes: dims, lengths and messages.
#include <doctest/doctest.h>

#include "tests/unit/ops/fixture.h"

using namespace rcn;

namespace {

struct Rules : OpFixture {
  Tensor x = extern_tensor("data", {batch, time, input});
  Tensor y = extern_tensor("data2", {batch, time2, input});
  Tensor labels = extern_tensor("classes", {batch, time}, DType::int32, classes);
  using Dims = std::vector<Dim>;

  Value pair(const Tensor& t, Dim d) { return Tuple{{t, d}}; }
  Dim dim_of(const Value& result) { return result.tuple().items[1].dim(); }
};

}  // namespace

TEST_CASE("a dim that the tensor has not: C15") {
  Rules f;
  Dim enc = f.dynamic("enc"), tim = f.dynamic("tim"), other = f.dynamic("time");
  CHECK(f.error("reduce", {f.x}, {{"mode", "max"}, {"axis", enc}}) ==
        "E0410 the tensor has dims `batch, time, input=3`; `enc` is not one of them\ndid you mean `time`?");
  CHECK(f.error("reduce", {f.x}, {{"mode", "max"}, {"axis", tim}}).ends_with("did you mean `time`?"));
  CHECK(f.error("reduce", {f.x}, {{"mode", "max"}, {"axis", other}}) ==
        "E0410 the tensor has dims `batch, time, input=3`; `time` is not one of them\n"
        "the tensor has another dim of the name `time`; dims are equal by declaration, not by name");
  CHECK(f.error("reduce", {f.labels}, {{"mode", "max"}, {"axis", f.classes}}).ends_with("which is no axis; `nn.one_hot` makes it one"));
  CHECK(f.error("reduce", {f.tensor("constant", {1.0})}, {{"mode", "max"}, {"axis", f.classes}}) ==
        "E0410 the tensor has dims none; `classes` is not one of them");
}

TEST_CASE("reduce") {
  Rules f;
  auto reduce = [&](Tensor t, const char* mode, Value axis) { return f.tensor("reduce", {t}, {{"mode", mode}, {"axis", axis}})->type; };
  CHECK(reduce(f.x, "sum", f.time) == TensorType{{f.batch, f.input}, DType::float32, nullptr});
  CHECK(reduce(f.x, "mean", list_of({f.batch, f.time})).dims == Rules::Dims{f.input});
  CHECK(reduce(f.x, "argmax", f.input) == TensorType{{f.batch, f.time}, DType::int32, f.input});
  CHECK(f.error("reduce", {f.x}, {{"mode", "avg"}, {"axis", f.time}}).starts_with("E0407 `mode` of `nn.reduce` must be one of `sum`, `max`"));
  CHECK(f.error("reduce", {f.labels}, {{"mode", "mean"}, {"axis", f.time}}).starts_with("E0432"));
  CHECK(f.error("reduce", {f.x}, {{"mode", "argmax"}, {"axis", list_of({f.time, f.input})}}).starts_with("E0407 `axis` of `nn.reduce` must be one dim"));
  CHECK(f.error("reduce", {f.x}, {{"mode", "sum"}, {"axis", list_of({f.time, f.time})}}) == "E0411 `time` is listed twice in `axis`");
  Tensor range = f.tensor("range_over_dim", {f.time});
  CHECK(range->type.dims == Rules::Dims{f.time});  // N11: no batch
  CHECK(f.error("reduce", {range}, {{"mode", "sum"}, {"axis", f.time}}) ==
        "E0424 the lengths of `time` depend on `batch`, which the tensor does not have\n`nn.expand_dims(x, [batch])` is the tensor with that dim");
  CHECK(f.tensor("add", {f.labels, range})->type.dims == Rules::Dims{f.batch, f.time});
}

TEST_CASE("dot and linear") {
  Rules f;
  Tensor w = f.param("w", {f.input, f.hidden}), square = f.param("sq", {f.input, f.input}), bias = f.param("b", {f.hidden});
  Rules::Keywords io{{"in_dim", f.input}, {"out_dim", f.hidden}};
  CHECK(f.tensor("dot", {f.x, w}, {{"reduce", f.input}})->type.dims == Rules::Dims{f.batch, f.time, f.hidden});
  CHECK(f.tensor("dot", {f.x, f.y}, {{"reduce", f.input}})->type.dims == Rules::Dims{f.batch, f.time, f.time2});
  CHECK(f.tensor("dot", {f.x, square}, {{"reduce", f.input}})->type.dims == Rules::Dims{f.batch, f.time, f.input});
  CHECK(f.error("dot", {f.x, f.y}, {{"reduce", f.time}}).starts_with("E0410 the tensor has dims `batch, time2, input=3`; `time` is not one of them"));
  CHECK(f.tensor("linear", {f.x, w, bias}, io)->type.dims == Rules::Dims{f.batch, f.time, f.hidden});
  CHECK(f.tensor("linear", {f.x, square}, {{"in_dim", f.input}, {"out_dim", f.input}})->type.dims == Rules::Dims{f.batch, f.time, f.input});
  Tensor table = f.param("table", {f.classes, f.hidden});
  CHECK(f.tensor("linear", {f.labels, table}, {{"in_dim", f.classes}, {"out_dim", f.hidden}})->type.dims == Rules::Dims{f.batch, f.time, f.hidden});
  CHECK(f.error("linear", {f.x, square}, io) == "E0428 `weight` must have the dims `input=3, hidden=4`, but has `input=3, input=3`");
  CHECK(f.error("linear", {f.x, w, table}, io).starts_with("E0428 `bias` must have the dims `hidden=4`"));
  Tensor twice = f.tensor("zeros", {list_of({f.batch, f.input, f.hidden})});
  CHECK(f.error("linear", {twice, w}, io).starts_with("E0421 the result of `nn.linear` would have `hidden` twice\nrename one of the two before"));
}

TEST_CASE("concat: order, claims, messages") {
  Rules f;
  Value ab = f.call("concat", {list_of({f.pair(f.x, f.time), f.pair(f.y, f.time2)})});
  CHECK(f.dim_of(ab) == f.dims.add(f.time, f.time2));
  CHECK(f.lengths.length_dims(f.dim_of(ab)) == Rules::Dims{f.batch});
  Dim given = f.no_length("joined");
  Value named = f.call("concat", {list_of({f.pair(f.x, f.time), f.pair(f.y, f.time2)})}, {{"out_dim", given}});
  CHECK(f.dim_of(named) == given);
  CHECK(named.tuple().items[0].tensor()->type.dims == Rules::Dims{f.batch, given, f.input});
  CHECK(f.lengths.defined(given));
  Dim eight = f.feature("eight", 8), six = f.feature("six", 6);
  Value both = list_of({f.pair(f.x, f.input), f.pair(f.x, f.input)});
  CHECK(f.dim_of(f.call("concat", {both})) == f.dims.mul(f.input, f.dims.constant(2)));
  CHECK(f.dim_of(f.call("concat", {both}, {{"out_dim", six}})) == six);
  CHECK(f.error("concat", {both}, {{"out_dim", eight}}) == "E0413 `eight` has size 8, but the result's dim `2 * input` has size 6");
  CHECK(f.error("concat", {both}, {{"out_dim", f.time}}) == "E0414 `time` is dynamic, but the result's dim `2 * input` is static");
  CHECK(f.error("concat", {list_of({f.x})}).starts_with("E0449 `sources` must hold pairs of a tensor and its dim, like `[(a, a_dim), (b, b_dim)]`, not a tensor"));
  Tensor mean = f.tensor("reduce", {f.x}, {{"mode", "mean"}, {"axis", f.time}});
  CHECK(f.error("concat", {list_of({f.pair(f.x, f.input), f.pair(mean, f.input)})}) ==
        "E0427 `nn.concat` needs tensors with the same dims\nthe first has `batch, time` besides its axis\n"
        "number 2 has `batch`; missing: `time`, too many: none\n`nn.expand_dims(x, dims)` is `x` with more dims");
}

TEST_CASE("split, stack, squeeze") {
  Rules f;
  Dim one = f.feature("one", 1), two = f.feature("two", 2);
  Value parts = f.call("split", {f.x}, {{"axis", f.input}, {"out_dims", list_of({one, two})}});
  CHECK(parts.tuple().items[1].tensor()->type.dims == Rules::Dims{f.batch, f.time, two});
  CHECK(f.error("split", {f.x}, {{"axis", f.input}, {"out_dims", list_of({two, two})}}) == "E0441 the sizes of `out_dims` add up to 4, but `input` has 3");
  CHECK(f.error("split", {f.x}, {{"axis", f.time}, {"out_dims", list_of({two, two})}}).ends_with("takes a part of each sequence"));
  CHECK(f.tensor("squeeze", {parts.tuple().items[0]}, {{"axis", one}})->type.dims == Rules::Dims{f.batch, f.time});
  CHECK(f.error("squeeze", {f.x}, {{"axis", f.input}}) == "E0443 `input` has size 3; only a dim of size 1 can be squeezed");
  Value stacked = f.call("stack", {list_of({f.x, f.x})});
  CHECK(f.dim_of(stacked)->size == 2);
  CHECK(stacked.tuple().items[0].tensor()->type.dims == Rules::Dims{f.dim_of(stacked), f.batch, f.time, f.input});
  CHECK(f.error("stack", {list_of({f.x, f.y})}).starts_with("E0427"));
}

TEST_CASE("pad and slice: C09") {
  Rules f;
  Value padded = f.call("pad", {f.x}, {{"axis", f.time}, {"left", 1}, {"right", 1}});
  Dim both = f.dim_of(padded);
  CHECK(to_string(both) == "1 + time + 1");
  Value cut = f.call("slice", {padded.tuple().items[0]}, {{"axis", both}, {"end", -2}});
  CHECK(f.dim_of(cut) != f.time);
  CHECK(to_string(f.dim_of(cut)) == "1 + time - 1");
  Value right = f.call("pad", {f.x}, {{"axis", f.time}, {"right", 2}});
  Value back = f.call("slice", {right.tuple().items[0]}, {{"axis", f.dim_of(right)}, {"end", -2}});
  CHECK(f.dim_of(back) == f.time);
  Value fixed = f.call("slice", {f.x}, {{"axis", f.input}, {"start", 1}, {"end", 3}});
  CHECK(f.dim_of(fixed) == f.dims.add(f.dims.constant(-1), f.input));
  Value strided = f.call("slice", {f.x}, {{"axis", f.input}, {"step", 2}});
  CHECK(f.dim_of(strided)->size == 2);
  Value fresh = f.call("slice", {f.x}, {{"axis", f.time}, {"end", 2}});
  CHECK(f.dim_of(fresh)->form == DimForm::atom);
  CHECK(f.lengths.defined(f.dim_of(fresh)));
  CHECK(f.error("slice", {f.x}, {{"axis", f.time}, {"step", 0}}).starts_with("E0407"));
  CHECK(f.error("pad", {f.x}, {{"axis", f.time}, {"left", -1}}).ends_with("`nn.slice` takes frames away"));
  CHECK(f.error("pad", {f.x}, {{"axis", f.batch}, {"left", 1}}) == "E0426 `batch` cannot be `axis` of `nn.pad`");
  CHECK(f.error("pad", {f.labels}, {{"axis", f.time}, {"left", 1}, {"value", 0.5}}).starts_with("E0431"));
}

TEST_CASE("merge and split dims: C11, N09") {
  Rules f;
  Value merged = f.call("merge_dims", {f.x}, {{"axes", list_of({f.time, f.input})}});
  CHECK(f.dim_of(merged) == f.dims.mul(f.time, f.input));
  CHECK(merged.tuple().items[0].tensor()->type.dims == Rules::Dims{f.batch, f.dim_of(merged)});
  Value back = f.call("split_dims", {merged.tuple().items[0]}, {{"axis", f.dim_of(merged)}, {"dims", list_of({f.time, f.input})}});
  CHECK(back.tensor()->type.dims == f.x->type.dims);
  CHECK(f.error("merge_dims", {f.x}, {{"axes", list_of({f.input, f.time})}}).starts_with("E0445 merging `time` behind `input` would leave its padding in between"));
  CHECK(f.error("merge_dims", {f.x}, {{"axes", list_of({f.batch, f.time})}}).starts_with("E0426"));
  Dim half = f.no_length("half"), two = f.feature("two", 2);
  Value split = f.call("split_dims", {f.x}, {{"axis", f.time}, {"dims", list_of({half, two})}, {"pad_to_multiples", true}});
  CHECK(split.tensor()->type.dims == Rules::Dims{f.batch, half, two, f.input});
  CHECK(f.lengths.defined(half));
  CHECK(f.error("split_dims", {f.x}, {{"axis", f.input}, {"dims", list_of({two, f.feature("other", 2)})}}) == "E0442 the sizes of `dims` multiply to 4, but `input` has 3");
  CHECK(f.error("split_dims", {f.x}, {{"axis", f.time}, {"dims", list_of({two, half})}}).starts_with("E0448"));
}

TEST_CASE("gather, one_hot, set_sparse_dim") {
  Rules f;
  Dim round = f.feature("round", 2);
  Tensor positions = f.tensor("zeros", {list_of({f.batch, round})}, {{"dtype", DType::int32}});
  CHECK(f.tensor("gather", {f.x}, {{"position", positions}, {"axis", f.time}})->type.dims == Rules::Dims{f.batch, round, f.input});
  CHECK(f.tensor("gather", {f.x}, {{"position", 0}, {"axis", f.time}})->type.dims == Rules::Dims{f.batch, f.input});
  CHECK(f.error("gather", {f.x}, {{"position", 3}, {"axis", f.input}}) == "E0446 `3` is out of range for `input`, which has size 3");
  CHECK(f.error("gather", {f.x}, {{"position", f.labels}, {"axis", f.time}}).starts_with("E0440 `position` must hold indices over `time`, but they are over `classes`"));
  CHECK(f.tensor("one_hot", {f.labels})->type == TensorType{{f.batch, f.time, f.classes}, DType::float32, nullptr});
  CHECK(f.error("one_hot", {positions}).ends_with("declares what ints are indices of"));
  CHECK(f.tensor("set_sparse_dim", {positions, f.classes})->type.sparse_dim == f.classes);
}

TEST_CASE("dims as values") {
  Rules f;
  Dim later = f.no_length("later");
  CHECK(f.call("length", {f.input}).get<std::int64_t>() == 3);
  CHECK(f.tensor("length", {f.time})->type.dims == Rules::Dims{f.batch});
  CHECK(f.tensor("length", {f.batch})->type.dims.empty());
  CHECK(f.tensor("dim_value", {f.time})->type == TensorType{{}, DType::int32, nullptr});
  CHECK(f.error("length", {later}) == "E0412 `later` has no length yet");
  CHECK(f.error("zeros", {list_of({f.batch, later})}) == "E0412 `later` has no length yet");
  CHECK(f.error("range_over_dim", {f.batch}).starts_with("E0426"));
  Value renamed = f.call("replace_dim", {f.x}, {{"in_dim", f.time}, {"out_dim", later}});
  CHECK(renamed.tuple().items[0].tensor()->type.dims == Rules::Dims{f.batch, later, f.input});
  CHECK(f.lengths.defined(later));
  CHECK(f.dim_of(f.call("replace_dim", {f.x}, {{"in_dim", f.time}, {"out_dim", f.time2}})) == f.time2);  // a claim
  CHECK(f.error("replace_dim", {f.x}, {{"in_dim", f.input}, {"out_dim", f.hidden}}) == "E0413 `hidden` has size 4, but the result's dim `input` has size 3");
  CHECK(f.error("replace_dim", {f.x}, {{"in_dim", f.time}, {"out_dim", f.batch}}).starts_with("E0426"));
  CHECK(f.call("remaining_dims", {f.x, f.time}).list().size() == 2);
  CHECK(f.call("expand_dims", {f.x, list_of({f.batch, f.time})}).tensor() == f.x);
}

TEST_CASE("dropout and the train flag") {
  Rules f;
  Rules::Keywords axis{{"axis", f.input}};
  CHECK(f.call("dropout", {f.x, 0.5}, axis).tensor() == f.x);  // the flag is statically off
  f.context.train = None{};
  CHECK(f.call("dropout", {f.x, 0.0}, axis).tensor() == f.x);
  CHECK(f.call("dropout", {f.x, 0.5}, axis).tensor() != f.x);
  CHECK(f.error("dropout", {f.x, 1.0}, axis) == "E0407 `dropout` of `nn.dropout` must be at least 0 and below 1, not 1.0");
  CHECK(f.call("train_flag", {}).is_tensor());
  f.context.train = true;
  CHECK(f.call("train_flag", {}).get<bool>());
}

TEST_CASE("lstm and losses") {
  Rules f;
  Dim gates = f.dims.mul(f.hidden, f.dims.constant(4));
  Tensor w = f.param("w", {f.input, gates}), re = f.param("re", {f.hidden, gates}), b = f.param("b", {gates});
  Rules::Keywords k{{"in_dim", f.input}, {"out_dim", f.hidden}, {"spatial_dim", f.time}};
  Value r = f.call("lstm", {f.x, re, w, b}, k);
  CHECK(r.tuple().items[0].tensor()->type.dims == Rules::Dims{f.batch, f.time, f.hidden});
  CHECK(r.tuple().items[2].tensor()->type.dims == Rules::Dims{f.batch, f.hidden});
  CHECK(f.error("lstm", {f.x, w, re, b}, k).starts_with("E0428 `w_re` must have the dims `hidden=4, 4 * hidden=16`"));
  CHECK(f.error("lstm", {f.x, re, w, b, r.tuple().items[1]}, k) == "E0402 `nn.lstm` needs the argument `c`");
  Tensor logits = f.tensor("zeros", {list_of({f.batch, f.time, f.classes})});
  CHECK(f.tensor("sparse_softmax_cross_entropy", {logits, f.labels}, {{"axis", f.classes}})->type.dims == Rules::Dims{f.batch, f.time});
  CHECK(f.error("sparse_softmax_cross_entropy", {f.x, f.labels}, {{"axis", f.input}}).starts_with("E0440 `targets` must hold indices over `input`, but they are over `classes`"));
}

TEST_CASE("initializers") {
  OpFixture f;
  auto init = [&](std::string_view name, std::vector<Value> args) { return *std::get<std::shared_ptr<const Initializer>>(f.call(name, std::move(args)).data()); };
  CHECK(init("init.glorot", {}).mode == "fan_avg");
  CHECK(init("init.he", {}).distribution == "untruncated_normal");
  CHECK(init("init.uniform", {0.25}).a == -0.25);
  CHECK(init("init.uniform", {0, 2}).b == 2.0);
  CHECK(init("init.normal", {}).b == 1.0);
  CHECK(f.error("init.variance_scaling", {1.0, "fan"}) == "E0407 `mode` of `nn.init.variance_scaling` must be one of `fan_in`, `fan_out` or `fan_avg`, not `fan`");
  CHECK(f.error("init.uniform", {2, 1}).starts_with("E0407"));
}
