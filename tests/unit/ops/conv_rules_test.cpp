// Type rules of convolutions: the dims they make, and messages.
#include <doctest/doctest.h>

#include "tests/unit/ops/fixture.h"

using namespace rcn;

namespace {

struct ConvRules : OpFixture {
  Tensor x = extern_tensor("data", {batch, time, input});
  Dim size = dims.declare("size", DimKind::spatial, 3);
  Tensor filter = param("filter", {size, input, hidden});

  Keywords options(std::string padding, Keywords more = {}) {
    Keywords all{{"in_dim", input},
                 {"out_dim", hidden},
                 {"in_spatial_dims", list_of({time})},
                 {"filter_size", list_of({size})},
                 {"padding", padding}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Value ints(std::vector<int> values) {
    List items;
    for (int n : values) items.emplace_back(n);
    return items;
  }
  std::string out(std::string_view op, Tensor w, std::string padding, Keywords more = {}) {
    return to_string(call(op, {x, w}, options(std::move(padding), std::move(more))).tuple().items[1].list()[0].dim());
  }
};

}  // namespace

TEST_CASE("conv: dims") {
  ConvRules f;
  CHECK(f.out("conv", f.filter, "same") == "time");
  CHECK(f.out("conv", f.filter, "same", {{"strides", f.ints({2})}}) == "ceildiv(time, 2)");
  CHECK(f.out("conv", f.filter, "valid") == "-1 + time - 1");
  CHECK(f.out("conv", f.filter, "valid", {{"strides", f.ints({2})}, {"dilation_rate", f.ints({2})}}) ==
        "ceildiv(-2 + time - 2, 2)");
  CHECK(f.call("conv", {f.x, f.filter}, f.options("same")).tuple().items[0].tensor()->type.dims ==
        std::vector<Dim>{f.batch, f.time, f.hidden});
}

TEST_CASE("conv: messages") {
  ConvRules f;
  auto error = [&](ConvRules::Keywords options) { return f.error("conv", {f.x, f.filter}, std::move(options)); };
  CHECK(error(f.options("full")).starts_with("E0407 `padding` of `nn.conv` must be one of"));
  CHECK(error(f.options("same", {{"strides", f.ints({0})}}))
            .starts_with("E0407 `strides` of `nn.conv` must be a list of 1 int of at least 1"));
  CHECK(error(f.options("same", {{"strides", f.ints({1, 1})}})).starts_with("E0407 `strides`"));
  CHECK(error(f.options("same", {{"groups", 2}})).starts_with("E0407 `groups`"));
  CHECK(f.error("conv", {f.x, f.param("flat", {f.input, f.hidden})}, f.options("same")).starts_with("E0"));
  Tensor alone = f.param("alone", {f.size, f.input});
  CHECK(f.error("conv", {alone, f.filter}, f.options("same")).starts_with("E0410"));
}

TEST_CASE("transposed_conv: dims and messages") {
  ConvRules f;
  Tensor filter = f.param("up", {f.size, f.hidden, f.input});
  CHECK(f.out("transposed_conv", filter, "same", {{"strides", f.ints({2})}}) == "2 * time");
  CHECK(f.out("transposed_conv", filter, "valid", {{"strides", f.ints({2})}}) == "2 * time + 1");
  CHECK(f.out("transposed_conv", filter, "valid", {{"strides", f.ints({2})}, {"remove_padding", f.ints({1})}}) ==
        "-1 + 2 * time");
  CHECK(f.error("transposed_conv", {f.x, filter},
                f.options("valid", {{"strides", f.ints({2})}, {"output_padding", f.ints({2})}}))
            .starts_with("E0407 `output_padding` of `nn.transposed_conv` must be from 0 to 1 for `time`, not 2"));
}
