#include "compiler/emit/plain_layer.h"

#include <utility>

namespace rcn {

namespace {

Dim dim_of(const Option& value) {
  const auto* ref = std::get_if<DimRef>(&value.data);
  return ref ? ref->dim : nullptr;
}

bool is_none(const Option& value) { return std::holds_alternative<std::monostate>(value.data); }

const OptionList* items_of(const Option& value) {
  if (const auto* tuple = std::get_if<OptionTuple>(&value.data)) return &tuple->items;
  return std::get_if<OptionList>(&value.data);
}

}  // namespace

std::string PlainContext::spelling(const LayerRef& ref) const {
  auto it = spelled.find(ref.layer);
  return it == spelled.end() ? reference_text(ref, region) : it->second;
}

std::optional<Option> plain_value(const PlainContext& context, const Option& value, std::string& fault) {
  if (const auto* ref = std::get_if<LayerRef>(&value.data)) return Option(context.spelling(*ref));
  if (const OptionList* items = items_of(value)) {
    OptionList values;
    for (const Option& item : *items) {
      std::optional<Option> plain = plain_value(context, item, fault);
      if (!plain) return std::nullopt;
      values.push_back(std::move(*plain));
    }
    return Option(std::move(values));
  }
  if (const auto* dict = std::get_if<OptionDict>(&value.data)) {
    OptionDict values;
    for (const auto& [key, item] : *dict) {
      std::optional<Option> plain = plain_value(context, item, fault);
      if (!plain) return std::nullopt;
      values.emplace_back(key, std::move(*plain));
    }
    return Option(std::move(values));
  }
  if (Dim dim = dim_of(value)) fault = "it holds the dim `" + to_string(dim) + "`";
  if (std::holds_alternative<OptionSet>(value.data)) fault = "it holds a set";
  if (std::holds_alternative<OptionMap>(value.data)) fault = "it holds a dict whose keys are no strings";
  return fault.empty() ? std::optional(value) : std::nullopt;
}

std::string PlainContext::free_name(const std::string& wanted) {
  std::string name = wanted;
  for (std::size_t i = 1; !names.insert(name).second; ++i) name = wanted + "_" + std::to_string(i);
  return name;
}

bool PlainLayer::lower() {
  options_.emplace_back("class", layer_.cls);
  find_sources();
  if (!failed_) move_marks();
  names_frames_ = false;  // that was in front
  for (const auto& [key, value] : layer_.options) add_option(key, value);
  for (const PlainOption& option : rule_.options)
    if (option.required && !layer_.option(option.key))
      fail(option.key, "it is left to RETURNN, which would take the dim that is marked");
  if (!failed_) check_combination();
  if (!failed_) set_result();
  if (!failed_) check_marks();
  if (failed_) return false;
  if (may_be_packed()) put_behind_eval();
  entries.push_back({layer_.name, std::move(options_), layer_.span});
  return true;
}

std::string PlainLayer::add_helper(const std::string& suffix, OptionDict options) {
  std::string name = context_.free_name(layer_.name + "." + suffix);
  entries.push_back({name, std::move(options), layer_.span});
  return name;
}

// RETURNN computes a loss on frames packed without padding, and moves the packing up through the layers that the loss
// depends on, but for those that name the batch or time dim. It looks for dims there: axis strings it does not see. It
// stops at layers that keep the order of frames, and at `eval`.
void PlainLayer::put_behind_eval() {
  OptionDict direct, outer = {{"class", "eval"}, {"from", Option()}, {"eval", "source(0)"}};
  for (auto& [key, value] : options_) {
    bool of_mark = key.starts_with("loss") || key == "is_output_layer";
    (of_mark ? outer : direct).emplace_back(key, std::move(value));
  }
  outer[1].second = add_helper("direct", std::move(direct));
  options_ = std::move(outer);
}

bool PlainLayer::may_be_packed() const {
  if (!names_frames_ || layer_.cls == "rec" || layer_.cls == "softmax_over_spatial" || layer_.cls == "range_in_axis")
    return false;
  bool batch = false, dynamic = false;
  for (Dim d : result.dims) (is_batch(d) ? batch : dynamic) |= d->dynamic();
  return batch && dynamic;
}

void PlainLayer::fail(std::string_view key, const std::string& reason) {
  failed_ = true;
  diagnostics_.report(Diag::plain_option, layer_.span, {std::string(key), layer_.cls, layer_.name, reason});
}

void PlainLayer::fail_mark(const std::string& reason) {
  failed_ = true;
  diagnostics_.report(Diag::plain_mark, layer_.span, {layer_.cls, layer_.name, reason});
}

// ---- sources

void PlainLayer::find_sources() {
  if (rule_.sources.empty()) return;
  for (std::string_view key : rule_.sources) {
    add_sources(key);
    if (key == rule_.sources[0] && combined_.size() > 1 && rule_.result != PlainResult::elementwise)
      return fail(key, "several tensors are joined over an implicit dim");
  }
  if (combined_.empty()) fail(rule_.sources[0], "it has no source");
}

void PlainLayer::add_sources(std::string_view key) {
  const Option* option = layer_.option(key);
  if (!option) return;
  for_each_layer(*option, [&](const LayerRef& ref) {
    if (!ref.sub.empty()) fail(key, "`" + reference_text(ref, layer_.region) + "` is a part of another layer");
    if (!source_) {
      source_ = ref.layer;
      source_tensor_ = context_.tensors[ref.layer->id];
    }
    combined_.push_back(&context_.tensors[ref.layer->id]);
  });
}

bool PlainLayer::needs_mark(Dim wanted, bool time) const {
  if (!wanted) return false;
  // An embedding: RETURNN looks at the sparse dim first.
  if (!time && source_tensor_.sparse_dim == wanted && !source_tensor_.has(wanted)) return false;
  return (time ? source_tensor_.time : source_tensor_.feature) != Mark(wanted);
}

// Some classes work on what is marked. Where that is not the dim they are to work on, a layer in front marks it. A loss
// is summed over valid frames only along the time mark.
void PlainLayer::move_marks() {
  Dim time = nullptr, feature = nullptr;
  bool loss = false;
  for (const auto& [key, value] : layer_.options) {
    const PlainOption* option = rule_.option(key);
    if (option && option->slot == PlainSlot::in_dim) feature = dim_of(value);
    if (option && option->slot == PlainSlot::time_dim) time = dim_of(value);
    loss = loss || (key == "loss" && !is_none(value));
  }
  if (loss && rule_.result == PlainResult::same) time = source_tensor_.only_dynamic();
  OptionDict axes;
  bool moves_time = needs_mark(time, true);
  if (needs_mark(feature, false)) axes.emplace_back("F", axis_text(source_tensor_, source_->name, feature));
  if (moves_time) {
    if (!time->dynamic())
      return fail_mark("only a dim of dynamic size can be the time dim, and `" + to_string(time) + "` is none");
    axes.emplace_back("T", axis_text(source_tensor_, source_->name, time));
  }
  if (axes.empty() || failed_) return;
  if (needs_mark(feature, false)) source_tensor_.feature = feature;
  if (moves_time) source_tensor_.time = time;
  moved_ = add_helper(
      "marked",
      {{"class", "reinterpret_data"}, {"from", context_.spelling({source_, {}})}, {"set_axes", std::move(axes)}});
  if (moves_time && loss) moved_ = add_helper("marked", {{"class", "eval"}, {"from", *moved_}, {"eval", "source(0)"}});
}

// ---- options

void PlainLayer::add_option(const std::string& key, const Option& value) {
  if (moved_ && key == rule_.sources[0]) {
    options_.emplace_back(key, *moved_);
    return;
  }
  const PlainOption* option = rule_.option(key);
  if (!option) return fail(key, "the option has no plain form");
  switch (option->slot) {
    case PlainSlot::drop:
    case PlainSlot::in_dim: return;
    case PlainSlot::keep: {
      std::string fault;
      std::optional<Option> plain = plain_value(context_, value, fault);
      if (!plain) return fail(key, fault);
      options_.emplace_back(key, std::move(*plain));
      return;
    }
    case PlainSlot::n_out: return add_n_out(key, value);
    case PlainSlot::time_dim: options_.emplace_back(key, "T"); return;
    case PlainSlot::axis: return add_axes(key, value);
    case PlainSlot::shape: return add_shape(key, value);
    case PlainSlot::pairs: return add_pairs(key, value);
    case PlainSlot::out_type: return add_out_type(key, value);
    case PlainSlot::marks: return add_marks(key, value);
    case PlainSlot::size: return add_size(key, value);
    case PlainSlot::text: return add_text(key, value);
    case PlainSlot::off: {
      const auto* flag = std::get_if<bool>(&value.data);
      if (!is_none(value) && !(flag && !*flag)) fail(key, "it makes a dim that the network does not know");
      return;
    }
  }
}

void PlainLayer::add_n_out(const std::string& key, const Option& value) {
  new_feature_ = dim_of(value);
  if (!new_feature_ || !new_feature_->size) return fail(key, "it is no dim of a known size");
  options_.emplace_back("n_out", *new_feature_->size);
}

void PlainLayer::add_axes(const std::string& key, const Option& value) {
  if (!source_) return;
  if (is_none(value)) return fail(key, "it is left to RETURNN");
  const OptionList* items = items_of(value);
  if (!items) {
    options_.emplace_back(key, axis_text(key, value));
    return;
  }
  OptionList names;
  for (const Option& item : *items) names.push_back(axis_text(key, item));
  options_.emplace_back(key, std::move(names));
}

std::string PlainLayer::axis_text(const std::string& key, const Option& value) {
  Dim dim = dim_of(value);
  if (!dim) {
    fail(key, "it is no dim");
    return "";
  }
  axes_.push_back(dim);
  return axis_text(source_tensor_, source_->name, dim);
}

std::string PlainLayer::axis_text(const PlainTensor& tensor, const std::string& tensor_name, Dim dim) {
  AxisName name = axis_name(tensor, dim);
  if (!name.fault.empty()) {
    failed_ = true;
    diagnostics_.report(Diag::plain_axis, layer_.span, {to_string(dim), tensor_name, name.fault});
  }
  names_frames_ = names_frames_ || is_batch(dim) || dim->dynamic();
  return name.text;
}

void PlainLayer::add_shape(const std::string& key, const Option& value) {
  const OptionList* items = items_of(value);
  if (!items) return fail(key, "it is no list of dims");
  OptionList sizes;
  bool with_batch = false;
  for (const Option& item : *items) {
    Dim dim = dim_of(item);
    if (dim && is_batch(dim) && layer_.cls == "constant" && sizes.empty()) {
      with_batch = true;
    } else if (dim && dim->size) {
      sizes.push_back(*dim->size);
    } else {
      return fail(key, dim ? "`" + to_string(dim) + "` has no static size" : "it is no list of dims");
    }
  }
  options_.emplace_back(key, std::move(sizes));
  if (with_batch) options_.emplace_back("with_batch_dim", true);
}

void PlainLayer::add_pairs(const std::string& key, const Option& value) {
  const OptionList* items = items_of(value);
  if (!items || items->empty()) return fail(key, "it is no list of tensors and dims");
  OptionList pairs;
  for (const Option& item : *items) {
    const OptionList* pair = items_of(item);
    const LayerRef* ref = pair && pair->size() == 2 ? std::get_if<LayerRef>(&(*pair)[0].data) : nullptr;
    Dim dim = ref ? dim_of((*pair)[1]) : nullptr;
    if (!dim || !ref->sub.empty()) return fail(key, "it is no list of tensors and dims");
    if (!source_) {
      source_ = ref->layer;
      source_tensor_ = context_.tensors[ref->layer->id];
    }
    combined_.push_back(&context_.tensors[ref->layer->id]);
    axes_.push_back(dim);
    pairs.push_back(
        OptionList{context_.spelling(*ref), axis_text(context_.tensors[ref->layer->id], ref->layer->name, dim)});
  }
  options_.emplace_back(key, std::move(pairs));
}

void PlainLayer::add_out_type(const std::string& key, const Option& value) {
  const auto* dict = std::get_if<OptionDict>(&value.data);
  if (!dict) return fail(key, "it is no dict");
  OptionDict values;
  for (const auto& [k, v] : *dict) {
    if (k == "sparse_dim" && dim_of(v)) {  // what RETURNN does by itself is all that can be had
      if (dim_of(v) != source_tensor_.sparse_dim) return fail(key, "it holds the dim `" + to_string(dim_of(v)) + "`");
      continue;
    }
    if (k != "dtype" && !(k == "sparse_dim" && is_none(v))) return fail(key, "its `" + k + "` has no plain form");
    values.emplace_back(k, v);
  }
  if (!values.empty()) options_.emplace_back(key, std::move(values));
}

void PlainLayer::add_marks(const std::string& key, const Option& value) {
  const auto* dict = std::get_if<OptionDict>(&value.data);
  if (!dict || !source_) return fail(key, "it is no dict");
  OptionDict names;
  PlainTensor before = source_tensor_;
  for (const auto& [letter, v] : *dict) {
    Dim dim = dim_of(v);
    if (!dim || (letter != "T" && letter != "F")) return fail(key, "it holds something else than dims for `T` and `F`");
    if (letter == "T" && dim->size) return fail(key, "`" + to_string(dim) + "` has a static size");
    Mark& mark = letter == "T" ? source_tensor_.time : source_tensor_.feature;
    if (mark == Mark(dim)) continue;  // where it is already
    names.emplace_back(letter, axis_text(before, source_->name, dim));
    mark = dim;
  }
  if (!names.empty()) {
    options_.emplace_back(key, std::move(names));
  } else if (layer_.options.size() == 2) {
    // Nothing is to be set. The layer may be there to keep the packing of frames away (see below) as well.
    options_[0].second = "eval";
    options_.emplace_back("eval", "source(0)");
  }
}

void PlainLayer::add_size(const std::string& key, const Option& value) {
  Dim dim = dim_of(value);
  if (!dim || !dim->size) return fail(key, "it is no dim of a known size");
  options_.emplace_back(key, *dim->size);
}

void PlainLayer::add_text(const std::string& key, const Option& value) {
  const auto* text = std::get_if<std::string>(&value.data);
  if (!text && !is_none(value)) return fail(key, "it is a network of its own");
  if (layer_.cls == "activation" && text && (*text == "softmax" || *text == "log_softmax"))
    return fail(key, "`" + *text + "` works on the dim that is marked as feature");
  options_.emplace_back(key, value);
}

}  // namespace rcn
