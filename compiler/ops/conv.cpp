// Convolution over one to three axes, and its transpose.
#include "compiler/ops/lowering.h"
#include "compiler/ops/op_table.h"
#include "compiler/ops/rules.h"
#include "compiler/ops/windows.h"

#include <algorithm>
#include <utility>

namespace rcn {

namespace {

constexpr std::size_t kSource = 0, kFilter = 1, kBias = 2, kInDim = 3, kOutDim = 4, kAxes = 5, kSizes = 6, kPadding = 7,
                      kStrides = 8;
constexpr std::size_t kDilation = 9, kGroups = 10;              // of conv
constexpr std::size_t kRemovePadding = 9, kOutputPadding = 10;  // of transposed_conv

// One int for each axis; an empty list stands for `otherwise`.
std::vector<std::int64_t> axis_ints(OpCall& call, std::size_t i, std::size_t count, std::int64_t otherwise,
                                    std::int64_t least) {
  const Value& value = call.arg(i);
  const List& items = value.is_tuple() ? value.tuple().items : value.list();
  std::vector<std::int64_t> result;
  for (const Value& item : items)
    if (item.is<std::int64_t>() && item.get<std::int64_t>() >= least) result.push_back(item.get<std::int64_t>());
  if (items.empty()) result.assign(count, otherwise);
  if (result.size() != count || (!items.empty() && items.size() != count))
    call.fail_argument(i, "a list of " + std::to_string(count) + (count == 1 ? " int" : " ints") + " of at least " + std::to_string(least), to_text(value));
  return result;
}

Value ints_value(const std::vector<std::int64_t>& ints) {
  List items;
  for (std::int64_t n : ints) items.emplace_back(n);
  return items;
}

std::vector<std::int64_t> ints_of(const Value& value) {
  std::vector<std::int64_t> result;
  for (const Value& item : value.list()) result.push_back(item.get<std::int64_t>());
  return result;
}

OptionList ints_option(const std::vector<std::int64_t>& ints) { return OptionList(ints.begin(), ints.end()); }

// Checks of what both have; gives the axes.
std::vector<Dim> check_convolution(OpCall& call, std::size_t most_axes, const std::vector<Dim>& filter_ends) {
  single_type(call, kSource);
  Dim in = call.arg(kInDim).dim(), out = call.arg(kOutDim).dim();
  std::vector<Dim> axes = call.dims_arg(kAxes), sizes = call.dims_arg(kSizes);
  if (axes.empty() || axes.size() > most_axes)
    call.fail_argument(kAxes, "one to " + std::to_string(most_axes) + " dims", std::to_string(axes.size()) + " dims");
  if (sizes.size() != axes.size())
    call.fail_argument(kSizes, std::to_string(axes.size()) + " dims, one for each axis", std::to_string(sizes.size()) + " dims");
  call.require_dim(kSource, call.dims().batch(), kSource);  // RETURNN wants it
  call.require_dim(kSource, in, kInDim);
  reject_batch(call, in, kInDim);
  for (Dim d : {in, out}) require_static(call, d, d == in ? kInDim : kOutDim);
  for (Dim size : sizes) {
    require_static(call, size, kSizes);
    if (*size->size < 1)
      call.fail_argument(kSizes, "dims of at least one entry", "`" + to_string(size) + "` of size " + std::to_string(*size->size));
  }
  for (Dim axis : axes) {
    call.require_dim(kSource, axis, kAxes);
    reject_batch(call, axis, kAxes);
    if (axis == in) call.fail_argument(kAxes, "other dims than `in_dim`", "`" + to_string(axis) + "`");
    require_no_dependents(call, kSource, axis, kAxes);
    require_length_dims(call, kSource, axis);
  }
  require_dtype(call, kSource, Wanted::float32);
  std::vector<Dim> filter = sizes;
  filter.insert(filter.end(), filter_ends.begin(), filter_ends.end());
  require_exact_dims(call, kFilter, filter);
  if (call.given(kBias)) require_exact_dims(call, kBias, {out});
  if (call.given(kBias)) {
    joined_dtype(call, {kSource, kFilter, kBias}, Operation::arithmetic);
  } else {
    joined_dtype(call, {kSource, kFilter}, Operation::arithmetic);
  }
  require_one_of(call, kPadding, {"same", "valid"});
  for (std::size_t i : {kSource, kFilter}) call.input(call.operand(i));
  if (call.given(kBias)) call.input(call.operand(kBias));
  call.attr("in_dim", in);
  call.attr("out_dim", out);
  call.attr("axes", dims_value(axes));
  call.attr("filter", dims_value(filter));
  call.attr("padding", call.arg(kPadding));
  return axes;
}

void give_result(OpCall& call, const std::vector<Dim>& axes, const std::vector<Dim>& out_axes) {
  Dim in = call.arg(kInDim).dim(), out = call.arg(kOutDim).dim();
  std::vector<Dim> dims = without(call.type(kSource).dims, {in});
  for (std::size_t i = 0; i < axes.size(); ++i) dims = with_replaced(dims, axes[i], {out_axes[i]});
  dims.push_back(out);
  require_distinct(call, dims);
  call.attr("out_axes", dims_value(out_axes));
  call.output({dims, call.type(kSource).dtype, nullptr});
  call.also_return(dims_value(out_axes));
}

// ---- conv

void infer_conv(OpCall& call) {
  Dim in = call.arg(kInDim).dim(), out = call.arg(kOutDim).dim();
  std::int64_t groups = call.arg(kGroups).get<std::int64_t>();
  for (Dim d : {in, out})
    if (groups < 1 || (d->size && *d->size % groups != 0))
      call.fail_argument(kGroups, "a divisor of the sizes of `in_dim` and `out_dim`", std::to_string(groups));
  std::vector<Dim> axes = check_convolution(call, 3, {call.dims().floordiv(in, call.dims().constant(groups)), out});
  std::vector<Dim> sizes = call.dims_arg(kSizes), out_axes;
  std::vector<std::int64_t> strides = axis_ints(call, kStrides, axes.size(), 1, 1),
                            dilation = axis_ints(call, kDilation, axes.size(), 1, 1);
  bool same = call.arg(kPadding).str() == "same";
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t extent = (*sizes[i]->size - 1) * dilation[i];
    if (!same && axes[i]->size && *axes[i]->size < extent)
      call.fail_argument(kSizes, "no larger than the axis `" + to_string(axes[i]) + "` with padding \"valid\"", to_string(sizes[i]));
    out_axes.push_back(windows_dim(call.dims(), axes[i], extent, strides[i], same));
  }
  call.attr("strides", ints_value(strides));
  call.attr("dilation_rate", ints_value(dilation));
  call.attr("groups", groups);
  give_result(call, axes, out_axes);
}

std::vector<Dim> needed_dims(Lowering& l) {
  std::vector<Dim> axes = l.node().dims("axes"), needed = united({l.dims().batch(), l.node().dim("in_dim")}, axes);
  for (Dim axis : axes) needed = united(needed, l.lengths().length_dims(axis));
  return needed;
}

// The filter with zeros between its entries along `axis`: then no dilation is needed.
void spread_filter(Lowering& l, LayerRef& filter, TensorType& type, Dim& axis, std::int64_t dilation) {
  DimTable& dims = l.dims();
  auto fresh = [&](std::string name, std::int64_t size) {
    return dims.declare(std::move(name), DimKind::spatial, size);
  };
  Dim one = fresh("one", 1), between = fresh("between", dilation), all = fresh("all", *axis->size * dilation);
  Dim spread = fresh("spread", (*axis->size - 1) * dilation + 1);
  auto step = [&](std::string cls, OptionDict options, Dim from, std::vector<Dim> to, std::string_view suffix) {
    options.insert(options.begin(), {"from", filter});
    type.dims = with_replaced(type.dims, from, to);
    filter = l.layer(std::move(cls), std::move(options), type, suffix);
  };
  step("split_dims", {{"axis", axis}, {"dims", dims_option({axis, one})}}, axis, {axis, one}, "filter_split");
  step("pad",
       {{"axes", OptionList{one}},
        {"padding", OptionList{OptionTuple{{0, dilation - 1}}}},
        {"out_dims", OptionList{between}},
        {"value", 0.0}},
       one, {between}, "filter_padded");
  type.dims = without(type.dims, {between});
  step("merge_dims", {{"axes", dims_option({axis, between})}, {"keep_order", true}, {"out_dim", all}}, axis, {all},
       "filter_merged");
  step("slice", {{"axis", all}, {"slice_start", 0}, {"slice_end", *spread->size}, {"out_dim", spread}}, all, {spread},
       "filter_spread");
  axis = spread;
}

// RETURNN finds the dims of a filter by size, and takes the wrong one of equal sizes: it gets the filter as it lies in
// memory, which for a parameter is the order of its dims. With `distinct`, no dim of it comes twice.
LayerRef filter_in_order(Lowering& l, std::vector<Dim> order, const std::vector<std::int64_t>& dilation,
                         bool distinct) {
  const GraphTensor& given = l.raw(kFilter);
  bool spreads = std::any_of(dilation.begin(), dilation.end(), [](std::int64_t n) { return n > 1; });
  bool repeats =
      std::any_of(order.begin(), order.end(), [&](Dim d) { return std::count(order.begin(), order.end(), d) > 1; });
  if (!spreads && !(distinct && repeats) && given.layer.layer->cls == "variable" && given.layer.sub.empty() &&
      given.layer_type.dims == order)
    return given.layer;
  LayerRef filter = l.full(kFilter);
  TensorType type = given.type;
  for (Dim& d : order) {
    if (std::count(order.begin(), order.end(), d) == 1) continue;  // else the first one gets a name of its own
    Dim other = l.dims().declare("first_" + to_string(d), d->kind, d->size);
    type.dims[static_cast<std::size_t>(std::find(type.dims.begin(), type.dims.end(), d) - type.dims.begin())] = other;
    filter = l.layer("reinterpret_data",
                     {{"from", filter}, {"set_dim_tags", OptionList{OptionTuple{{DimRef{d, 1}, other}}}}}, type,
                     "filter_named");
    d = other;
  }
  for (std::size_t i = 0; i < dilation.size(); ++i)
    if (dilation[i] > 1) spread_filter(l, filter, type, order[i], dilation[i]);
  type.dims = order;
  return l.layer("transpose", {{"from", filter}, {"perm", dims_option(order)}}, type, "filter");
}

struct Convolution {
  Dim in, out;
  std::int64_t groups;
  std::vector<Dim> out_axes;
  OptionList filter_size, strides, dilation;
};

OptionDict conv_options(const Convolution& c, const Aligned& input, LayerRef filter, LayerRef bias) {
  std::vector<std::pair<std::string, LayerRef>> map{{"W", filter}};
  if (bias.layer) map.emplace_back("bias", bias);
  return {{"in_dim", c.in},
          {"in_spatial_dims", dims_option(input.in)},
          {"out_dim", c.out},
          {"out_spatial_dims", dims_option(c.out_axes)},
          {"filter_size", c.filter_size},
          {"padding", input.padding},
          {"strides", c.strides},
          {"dilation_rate", c.dilation},
          {"groups", c.groups},
          {"with_bias", bias.layer != nullptr},
          {"activation", Option()},
          {"reuse_params", reuse_params(std::move(map))}};
}

// TensorFlow has no gradients of grouped convolutions on the CPU, but of depthwise ones.
void lower_groups(Lowering& l, Convolution c, const Aligned& input, LayerRef filter, LayerRef bias) {
  auto parts_of = [&](Dim d, std::string_view name) {
    std::vector<Dim> parts;
    for (std::int64_t i = 0; i < c.groups; ++i)
      parts.push_back(l.dims().declare(std::string(name), d->kind, *d->size / c.groups));
    return parts;
  };
  std::vector<Dim> ins = parts_of(c.in, "in_group"), outs = parts_of(c.out, "out_group");
  LayerRef sources = l.layer("split", {{"from", input.source.layer}, {"axis", c.in}, {"out_dims", dims_option(ins)}},
                             input.source.type, "sources");
  LayerRef filters = l.layer("split", {{"from", filter}, {"axis", c.out}, {"out_dims", dims_option(outs)}},
                             filter.layer->type, "filters");
  TensorType type = l.out(), part = type;
  type.dims = without(type.dims, input.source.missing);
  OptionList results;
  std::int64_t groups = std::exchange(c.groups, 1);
  for (std::int64_t i = 0; i < groups; ++i) {
    auto at = static_cast<std::size_t>(i);
    Convolution one = c;
    one.in = ins[at];
    one.out = outs[at];
    OptionDict options = conv_options(one, input, LayerRef{filters.layer, std::to_string(i)}, {});
    options.insert(options.begin(), {"from", LayerRef{sources.layer, std::to_string(i)}});
    part.dims = with_replaced(type.dims, c.out, {outs[at]});
    results.emplace_back(OptionTuple{{l.layer("conv", std::move(options), part, "group"), outs[at]}});
  }
  LayerRef y = l.layer("concat", {{"from", results}, {"allow_broadcast", false}, {"out_dim", c.out}}, type,
                       bias.layer ? "groups" : "");
  if (bias.layer) y = l.layer("combine", {{"from", OptionList{y, bias}}, {"kind", "add"}}, type);
  l.result(y, input.source.missing);
}

void lower_conv(Lowering& l) {
  std::vector<Dim> axes = l.node().dims("axes"), order = l.node().dims("filter");
  Convolution c{l.node().dim("in_dim"),
                l.node().dim("out_dim"),
                l.node().integer("groups"),
                l.node().dims("out_axes"),
                {},
                {},
                {}};
  std::vector<std::int64_t> strides = ints_of(l.node().attr("strides")),
                            dilation = ints_of(l.node().attr("dilation_rate")), spread;
  // TensorFlow has dilation over one axis only, and without strides.
  if (axes.size() > 1 || strides != std::vector<std::int64_t>(axes.size(), 1)) spread.swap(dilation);
  dilation.resize(axes.size(), 1);
  std::vector<Window> windows;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t size = spread.empty() ? *order[i]->size : (*order[i]->size - 1) * spread[i] + 1;
    windows.push_back({axes[i], c.out_axes[i], size, strides[i], dilation[i]});
    c.filter_size.emplace_back(size);
  }
  c.strides = ints_option(strides);
  c.dilation = ints_option(dilation);
  Aligned aligned = aligned_windows(l, l.source(kSource, needed_dims(l)), windows, l.node().str("padding") == "same");
  l.padding(l.raw(kSource).wild_padding && !without(l.padded(l.raw(kSource).layer_type), aligned.zero).empty());
  LayerRef bias = l.node().inputs.size() > kBias ? l.full(kBias) : LayerRef{};
  bool splits = c.groups > 1 && c.groups != *c.in->size;
  LayerRef filter = filter_in_order(l, order, spread, splits);
  if (splits) return lower_groups(l, c, aligned, filter, bias);
  l.result_of(aligned.source, "conv", conv_options(c, aligned, filter, bias));
}

// ---- transposed_conv

void infer_transposed_conv(OpCall& call) {
  Dim in = call.arg(kInDim).dim(), out = call.arg(kOutDim).dim();
  std::vector<Dim> axes = check_convolution(call, 2, {out, in}), sizes = call.dims_arg(kSizes), out_axes;
  std::vector<std::int64_t> strides = axis_ints(call, kStrides, axes.size(), 1, 1),
                            removed = axis_ints(call, kRemovePadding, axes.size(), 0, 0);
  std::vector<std::int64_t> padding = axis_ints(call, kOutputPadding, axes.size(), -1, 0), lefts;
  bool same = call.arg(kPadding).str() == "same";
  DimTable& dims = call.dims();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    // The windows of the convolution that this transposes lie on an axis of `stride * length + more` frames.
    std::int64_t size = *sizes[i]->size, cut = same ? size / 2 : 0;
    std::int64_t more = padding[i] >= 0 ? size - strides[i] - 2 * cut + padding[i]
                        : same          ? 0
                                        : std::max<std::int64_t>(size - strides[i], 0);
    std::int64_t missing = std::max<std::int64_t>(size - strides[i] - more, 0);
    std::int64_t least = std::max<std::int64_t>(2 * cut - size + 1, 0), most = strides[i] - (same ? size - 2 * cut : 1);
    if (padding[i] >= 0 &&
        (padding[i] < least || padding[i] > most))  // else the convolution has no window for some frame
      call.fail_argument(kOutputPadding, "from " + std::to_string(least) + " to " + std::to_string(most) + " for `" + to_string(axes[i]) + "`", std::to_string(padding[i]));
    lefts.push_back(same ? missing / 2 : 0);
    Dim all = dims.add(dims.mul(axes[i], dims.constant(strides[i])), dims.constant(more));
    out_axes.push_back(dims.sub(dims.add(dims.constant(-removed[i]), all), dims.constant(removed[i])));
  }
  call.attr("strides", ints_value(strides));
  call.attr("remove_padding", ints_value(removed));
  call.attr("output_padding", ints_value(padding));
  call.attr("lefts", ints_value(lefts));
  give_result(call, axes, out_axes);
}

void lower_transposed_conv(Lowering& l) {
  std::vector<Dim> axes = l.node().dims("axes"), order = l.node().dims("filter");
  Dim in = l.node().dim("in_dim"), out = l.node().dim("out_dim");
  Lowering::Source source = l.source(kSource, needed_dims(l));
  for (Dim axis : axes)
    if (axis->dynamic()) source.layer = l.masked(source.layer, source.type, axis, 0.0);
  l.padding(l.raw(kSource).wild_padding && !without(l.padded(l.raw(kSource).layer_type), axes).empty());
  std::vector<std::int64_t> filter_size;
  for (std::size_t i = 0; i < axes.size(); ++i) filter_size.push_back(*order[i]->size);
  OptionList output_padding;
  for (std::int64_t n : ints_of(l.node().attr("output_padding")))
    output_padding.push_back(n < 0 ? Option() : Option(n));
  bool with_bias = l.node().inputs.size() > kBias;
  l.result_of(source, "transposed_conv",
              {{"in_dim", in},
               {"in_spatial_dims", dims_option(axes)},
               {"out_dim", out},
               {"out_spatial_dims", dims_option(l.node().dims("out_axes"))},
               {"filter_size", ints_option(filter_size)},
               {"padding", l.node().str("padding")},
               {"strides", ints_option(ints_of(l.node().attr("strides")))},
               {"remove_padding", ints_option(ints_of(l.node().attr("remove_padding")))},
               {"output_padding", output_padding},
               {"with_bias", with_bias},
               {"activation", Option()},
               {"filter", filter_in_order(l, order, {}, false)},
               {"bias", with_bias ? Option(l.full(kBias)) : Option()}});
}

constexpr OpParam kConv[] = {{"source", arg::tensor},
                             {"filter", arg::tensor},
                             {"bias", arg::tensor | arg::none, false, "none"},
                             {"in_dim", arg::dim, true},
                             {"out_dim", arg::dim, true},
                             {"in_spatial_dims", arg::dims, true},
                             {"filter_size", arg::dims, true},
                             {"padding", arg::str, true},
                             {"strides", arg::list, true, "[]"},
                             {"dilation_rate", arg::list, true, "[]"},
                             {"groups", arg::integer, true, "1"}};
constexpr OpParam kTransposedConv[] = {{"source", arg::tensor},
                                       {"filter", arg::tensor},
                                       {"bias", arg::tensor | arg::none, false, "none"},
                                       {"in_dim", arg::dim, true},
                                       {"out_dim", arg::dim, true},
                                       {"in_spatial_dims", arg::dims, true},
                                       {"filter_size", arg::dims, true},
                                       {"padding", arg::str, true},
                                       {"strides", arg::list, true},
                                       {"remove_padding", arg::list, true, "[]"},
                                       {"output_padding", arg::list, true, "[]"}};

constexpr OpDef kOps[] = {
    {{"conv", kConv, "(Tensor, list)",
      "Convolution over one to three axes, in float32: y[t, o] = sum over k, i of x[t * stride + k * dilation - left, i] * "
      "filter[k, i, o], plus `bias` "
      "`[out_dim]`, and the list of dims in place of `in_spatial_dims`. `filter`: `[filter_size, in_dim // groups, "
      "out_dim]`. With `padding` "
      "\"valid\" the windows lie inside of each sequence: `ceildiv((-l) + axis - r, stride)` of them, l + r = (size - "
      "1) * dilation. With "
      "\"same\" there are `ceildiv(axis, stride)`, and they reach over each sequence's own ends, in front by half "
      "(rounded down) of what is "
      "missing; there are zeros outside. Of `groups` parts of `out_dim`, each sees its part of `in_dim`.",
      infer_conv},
     lower_conv},
    {{"transposed_conv", kTransposedConv, "(Tensor, list)",
      "The transpose of a convolution over one or two axes, which makes them longer, and the list of new dims: `stride "
      "* axis` for `padding` \"same\", "
      "`stride * axis + max(size - stride, 0)` for \"valid\". `filter`: `[filter_size, out_dim, in_dim]`. With "
      "`output_padding` p there are "
      "`stride * axis + size - stride - 2 * cut + p`, cut = size // 2 for \"same\" and 0 for \"valid\"; "
      "`remove_padding` frames are then cut off "
      "at both ends.",
      infer_transposed_conv},
     lower_transposed_conv},
};

}  // namespace

std::span<const OpDef> conv_ops() { return kOps; }

}  // namespace rcn
