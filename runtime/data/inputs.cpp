#include "runtime/data/inputs.h"

#include <algorithm>
#include <charconv>

#include "compiler/base/suggest.h"
#include "runtime/data/array_file.h"
#include "runtime/data/raw_array.h"
#include "runtime/kernel.h"

namespace rcn {

namespace {

constexpr std::int64_t kBatch = 3;
constexpr std::int64_t kLongest = 7;
constexpr std::int64_t kMostSequences = 1 << 20;  // of random data
constexpr std::int64_t kMostEntries = 1 << 28;    // of one input of random data

std::optional<std::int64_t> integer(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value)
                                                                                   : std::nullopt;
}

std::string numbers(const at::Tensor& lengths) {
  std::string text;
  at::Tensor flat = lengths.reshape({-1});
  for (std::int64_t i = 0; i < flat.numel(); ++i)
    text += (i ? ", " : "") + std::to_string(flat[i].item<std::int64_t>());
  return "(" + text + ")";
}

// The nearest of the names that there are, or all of them.
void help_with_names(DiagnosticSink::Builder& report, const std::string& name, std::vector<std::string> names,
                     const std::string& kind) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (std::vector<std::string> near = nearest_names(name, names); !near.empty())
    report.help(Diag::help_did_you_mean, {quoted_list(near)});
  else if (names.empty())
    report.help(Diag::help_text, {"the model has no " + kind});
  else
    report.help(Diag::help_text, {"the " + kind + "s of the model are " + quoted_list(names, "and")});
}

// The dims whose lengths an extern brings along, each once.
std::vector<Dim> dynamic_dims(const ExternInput& input, Dim batch) {
  std::vector<Dim> result;
  for (Dim d : input.type.dims)
    if (d != batch && d->dynamic() && !contains(result, d)) result.push_back(d);
  return result;
}

}  // namespace

Inputs::Inputs(InputOptions options, Dim batch, const DimLengths& known, Lengths& lengths, DiagnosticSink& sink)
    : options_(std::move(options)), batch_(batch), known_(known), lengths_(lengths), sink_(sink) {
  for (const std::string& option : options_.data) parse_data(option);
  for (const std::string& option : options_.time) parse_time(option);
  if (options_.batch && (*options_.batch < 1 || *options_.batch > kMostSequences)) {
    std::string why = *options_.batch < 1 ? "there must be a sequence"
                                          : "at most " + std::to_string(kMostSequences) + " sequences are made";
    sink_.report(Diag::eager_batch_option, Span{}, {std::to_string(*options_.batch), why});
    options_good_ = false;
  }
}

void Inputs::parse_data(const std::string& option) {
  std::size_t at = option.find('=');
  std::string name = option.substr(0, at);
  bool named = at != std::string::npos && !name.empty() && name.find_first_of("/:. ") == std::string::npos;
  std::string why;
  if (named) {
    if (!texts_.emplace(name, option.substr(at + 1)).second) why = "`" + name + "` is given twice";
  } else if (std::optional<HdfSource> source = hdf_source(option); source && !source->key) {
    datasets_.push_back(*source);
  } else {
    why = "it should be `NAME=FILE`, `NAME=FILE:KEY`, `NAME=[...]` or `FILE.hdf`";
  }
  if (why.empty()) return;
  sink_.report(Diag::eager_data_option, Span{}, {option, why});
  options_good_ = false;
}

void Inputs::parse_time(const std::string& option) {
  std::size_t at = option.rfind('=');
  std::vector<std::int64_t> values;
  bool good = at != std::string::npos && at > 0;
  for (std::size_t begin = at + 1; good;) {
    std::size_t end = std::min(option.find(',', begin), option.size());
    std::optional<std::int64_t> value = integer(std::string_view(option).substr(begin, end - begin));
    good = value && *value >= 0;
    if (good) values.push_back(*value);
    if (end == option.size()) break;
    begin = end + 1;
  }
  if (good && times_.emplace(option.substr(0, at), values).second) return;
  sink_.report(Diag::eager_time_option, Span{}, {option, "it should be `DIM=LENGTH,LENGTH,...`, once for each dim"});
  options_good_ = false;
}

void Inputs::fail(const ExternInput& input, std::string why) {
  failed_[input.name] = true;
  sink_.report(Diag::eager_input, input.span, {input.name, std::move(why)});
  throw EvalError{};
}

std::vector<Dim> Inputs::length_dims(const ExternInput& input, Dim dim) const {
  if (known_.defined(dim)) return known_.length_dims(dim);
  return input.type.has(batch_) && dim != batch_ ? std::vector<Dim>{batch_} : std::vector<Dim>{};
}

bool Inputs::declare(const std::vector<ExternInput>& externs) {
  if (!options_good_) return false;
  if (options_.again) {
    rcn::set_lengths(*options_.again, externs, lengths_);
    for (const ExternInput& e : externs) {
      at::Tensor value = batch_values(*options_.again, e, lengths_).to(scalar_type(e.type.dtype));
      tensors_[e.name] = std::make_shared<const EagerTensor>(e.type, Named{value, e.type.dims});
    }
    return true;
  }
  std::size_t errors_before = sink_.error_count();
  std::vector<std::string> names, dim_names;
  for (const ExternInput& e : externs) {
    names.push_back(e.name);
    for (Dim d : dynamic_dims(e, batch_))
      for (Dim a : atoms(d)) dim_names.push_back(to_string(a));
  }
  for (const auto& [name, text] : texts_) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    auto report = sink_.report(Diag::eager_undeclared_input, Span{}, {name});
    help_with_names(report, name, names, "input");
  }
  for (const auto& [name, values] : times_) {
    if (std::find(dim_names.begin(), dim_names.end(), name) != dim_names.end()) continue;
    auto report = sink_.report(Diag::eager_time_option, Span{}, {name, "no input has a dynamic dim of this name"});
    help_with_names(report, name, dim_names, "dynamic dim");
  }
  auto guarded = [&](auto&& step) {
    try {
      step();
    } catch (const EvalError&) {  // reported; the other externs may have errors of their own
    } catch (const c10::Error& error) {
      sink_.report(Diag::eager_torch, Span{}, {"input", torch_reason(error)});
    }
  };
  for (const HdfSource& source : datasets_) guarded([&] { open_dataset(source, externs); });
  for (const ExternInput& e : externs) guarded([&] { read(e); });
  if (sink_.error_count() == errors_before) guarded([&] { set_batch(externs); });
  if (sink_.error_count() == errors_before) guarded([&] { set_lengths(externs); });
  if (sink_.error_count() == errors_before)
    for (const ExternInput& e : externs) guarded([&] { tensors_[e.name] = make(e); });
  for (const ExternInput& e : externs)
    if (!tensors_.contains(e.name)) failed_[e.name] = true;
  return sink_.error_count() == errors_before;
}

Tensor Inputs::get(const ExternInput& input) {
  if (!tensors_.contains(input.name) && !failed_.contains(input.name)) declare({input});
  auto it = tensors_.find(input.name);
  if (it == tensors_.end()) throw EvalError{};
  return it->second;
}

Batch Inputs::batch() const {
  Batch batch;
  batch.size = lengths_.batch().value_or(1);
  for (const auto& [name, tensor] : tensors_) {
    batch.values[name] = eager(tensor).value;
    for (Dim d : tensor->type.dims)
      for (Dim a : atoms(d)) {
        if (a == batch_ || !a->dynamic() || !lengths_.has(a)) continue;
        const Named& own = lengths_.of(a);
        Batch::DimLength& length = batch.lengths[a->id] = {own.value, {}};
        for (Dim over : own.axes) length.over.push_back(over->id);
      }
  }
  return batch;
}

DataRequest Inputs::request(const ExternInput& input) const {
  DataRequest request{input,
                      batch_,
                      dynamic_dims(input, batch_),
                      {},
                      options_.batch.value_or(kBatch),
                      options_.seed,
                      options_.sample_rate};
  for (Dim d : request.dynamic) request.length_dims[d] = length_dims(input, d);
  return request;
}

void Inputs::open_dataset(const HdfSource& source, const std::vector<ExternInput>& externs) {
  std::shared_ptr<const HdfDataset> dataset;
  try {
    dataset = std::make_shared<const HdfDataset>(source.path);
  } catch (const ArrayFileError& error) {
    sink_.report(Diag::eager_file, Span{}, {error.what()});
    throw EvalError{};
  }
  std::vector<std::string> unused = dataset->keys(), keys;
  for (const ExternInput& e : externs) {
    keys.push_back(e.key);
    if (!dataset->has(e.key)) continue;
    std::erase(unused, e.key);
    if (texts_.contains(e.name)) continue;  // what names an extern comes first
    HdfSource part = source;
    part.key = e.key;
    if (auto [it, added] = from_datasets_.emplace(e.name, FromDataset{dataset, part}); !added)
      fail(e, "both `" + it->second.source.path + "` and `" + source.path + "` have `" + e.key + "`");
  }
  bool taken = unused.size() < dataset->keys().size();
  if (dataset->has("data")) std::erase(unused, "sizes");  // of several axes of the inputs, which are read with them
  if (!taken) {
    sink_.report(Diag::eager_file, Span{}, {"`" + source.path + "` has nothing for the model"})
        .help(Diag::help_text, {"it has " + quoted_list(dataset->keys(), "and") + ", the keys of the inputs are " +
                                quoted_list(keys, "and")});
  } else if (!unused.empty() && !options_.quiet) {
    sink_.report(Diag::note_more, Span{},
                 {"no input takes " + quoted_list(unused, "and") + " of `" + source.path + "`"});
  }
}

void Inputs::read(const ExternInput& input) {
  auto text = texts_.find(input.name);
  auto part = from_datasets_.find(input.name);
  if (text == texts_.end() && part == from_datasets_.end()) return;
  GivenArray given;
  try {
    given = text != texts_.end() ? read_data(request(input), text->second)
                                 : read_dataset(request(input), *part->second.dataset, part->second.source);
  } catch (const ArrayFileError& error) {
    fail(input, error.what());
  }
  check(input, given);
  given_.emplace(input.name, std::move(given));
}

// That rank, static sizes and dtype are as declared; lengths and indices are compared later, with those of others.
void Inputs::check(const ExternInput& input, const GivenArray& given) {
  const std::vector<Dim>& dims = input.type.dims;
  const at::Tensor& value = given.value;
  if (value.dim() != static_cast<std::int64_t>(dims.size()))
    fail(input, "the data has " + std::to_string(value.dim()) + " dims, declared are [" + dims_text(dims) + "]");
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (std::int64_t size = value.size(static_cast<std::int64_t>(i));
        dims[i]->size && *dims[i]->size != size && value.numel() > 0)
      fail(input, "`" + to_string(dims[i]) + "` has size " + std::to_string(*dims[i]->size) + ", the data " +
                      std::to_string(size));
  bool floats = at::isFloatingType(value.scalar_type()), bools = value.scalar_type() == at::kBool;
  DType dtype = input.type.dtype;
  bool fits = dtype == DType::bool_ ? bools
              : is_float(dtype)     ? (floats || (given.literal && !bools))
                                    : (!floats && !bools);
  if (!fits) {
    std::string kind = given.literal ? (floats  ? "floats"
                                        : bools ? "bools"
                                                : "ints")
                                     : "of dtype " + dtype_text(value.scalar_type());
    fail(input, "the data is " + kind + ", declared is " + std::string(to_string(dtype)));
  }
}

void Inputs::set_batch(const std::vector<ExternInput>& externs) {
  if (lengths_.batch()) return;
  const ExternInput* from = nullptr;
  std::int64_t batch = options_.batch.value_or(0);
  for (const ExternInput& e : externs) {
    auto it = given_.find(e.name);
    if (it == given_.end() || !e.type.has(batch_)) continue;
    auto index = std::find(e.type.dims.begin(), e.type.dims.end(), batch_) - e.type.dims.begin();
    std::int64_t size = it->second.value.size(index);
    if (from && size != batch)
      fail(e, "it has " + std::to_string(size) + " sequences, `" + from->name + "` has " + std::to_string(batch));
    if (!from && options_.batch && size != batch)
      fail(e, "it has " + std::to_string(size) + " sequences, `--batch` says " + std::to_string(batch));
    batch = size;
    from = &e;
  }
  if (!from && !options_.batch) {
    batch = kBatch;
    for (const auto& [name, values] : times_)
      if (values.size() > 1) {
        batch = static_cast<std::int64_t>(values.size());
        break;
      }
  }
  lengths_.set_batch(batch);
}

// A dim's lengths are, in this order of preference: what data says for each sequence, `--time`, the size of data that
// is full, random numbers.
void Inputs::set_lengths(const std::vector<ExternInput>& externs) {
  for (const ExternInput& e : externs)
    if (given_.contains(e.name))
      for (Dim d : dynamic_dims(e, batch_)) take_length(e, d);
  for (const ExternInput& e : externs)
    for (Dim d : dynamic_dims(e, batch_)) {
      if (d->form != DimForm::atom || lengths_.has(d) || times_.contains(to_string(d))) continue;
      auto it = given_.find(e.name);
      if (it == given_.end()) continue;
      auto index = std::find(e.type.dims.begin(), e.type.dims.end(), d) - e.type.dims.begin();
      Axes over = length_dims(e, d);
      lengths_.define(
          d, {at::full(lengths_.shape(over), it->second.value.size(index), at::TensorOptions(at::kLong)), over});
    }
  for (const ExternInput& e : externs)
    for (Dim d : dynamic_dims(e, batch_))
      for (Dim a : atoms(d)) random_length(e, a);
  // What data of derived dims, or of dims whose lengths come from elsewhere, says must agree.
  for (const ExternInput& e : externs) {
    auto it = given_.find(e.name);
    if (it == given_.end()) continue;
    for (Dim d : dynamic_dims(e, batch_)) {
      auto index = std::find(e.type.dims.begin(), e.type.dims.end(), d) - e.type.dims.begin();
      std::int64_t size = it->second.value.size(index), longest = lengths_.extent(d);
      const Named& lengths = lengths_.of(d);
      auto own = it->second.lengths.find(d);
      if (own != it->second.lengths.end()) {
        bool differ = combined(own->second, lengths, [](const at::Tensor& a, const at::Tensor& b) { return a.ne(b); })
                          .value.any()
                          .item<bool>();
        auto other = length_from_.find(d);
        std::string source =
            other != length_from_.end() && other->second != &e ? "in `" + other->second->name + "`" : "elsewhere";
        if (differ)
          fail(e, "`" + to_string(d) + "` has lengths " + numbers(own->second.value) + ", " + source + " " +
                      numbers(lengths.value));
      } else if (size < longest || (size > longest && !length_from_.contains(d))) {
        fail(e, "the data has size " + std::to_string(size) + " along `" + to_string(d) +
                    "`, whose longest sequence is " + std::to_string(longest));
      }
    }
  }
}

void Inputs::take_length(const ExternInput& input, Dim dim) {
  const GivenArray& given = given_.at(input.name);
  auto it = given.lengths.find(dim);
  if (it == given.lengths.end()) return;
  const Named& own = it->second;
  for (Dim l : own.axes)
    if (!lengths_.has(l)) take_length(input, l);
  if (own.value.sizes() != at::IntArrayRef(lengths_.shape(own.axes)))
    fail(input, "the lengths of `" + to_string(dim) + "` are " + std::to_string(own.value.numel()) + " numbers for [" +
                    dims_text(own.axes) + "]");
  auto index = std::find(input.type.dims.begin(), input.type.dims.end(), dim) - input.type.dims.begin();
  if (own.value.lt(0).any().item<bool>() || own.value.gt(given.value.size(index)).any().item<bool>())
    fail(input, "`" + to_string(dim) + "` has lengths " + numbers(own.value) + ", but the data has size " +
                    std::to_string(given.value.size(index)) + " there");
  if (dim->form != DimForm::atom || lengths_.has(dim)) return;
  lengths_.define(dim, own);
  length_from_[dim] = &input;
}

void Inputs::random_length(const ExternInput& input, Dim dim) {
  if (lengths_.has(dim)) return;
  Axes over = length_dims(input, dim);
  for (Dim l : over)
    if (l != dim) random_length(input, l);
  std::string name = to_string(dim);
  std::vector<std::int64_t> shape = lengths_.shape(over);
  at::Tensor lengths = at::empty(shape, at::TensorOptions(at::kLong));
  auto* data = lengths.data_ptr<std::int64_t>();
  std::int64_t count = lengths.numel();
  if (auto it = times_.find(name); it != times_.end()) {
    const std::vector<std::int64_t>& values = it->second;
    if (values.size() != 1 && static_cast<std::int64_t>(values.size()) != count) {
      sink_.report(Diag::eager_time_option, Span{},
                   {name, std::to_string(values.size()) + " lengths for " + std::to_string(count) + " sequences"});
      throw EvalError{};
    }
    for (std::int64_t i = 0; i < count; ++i) data[i] = values[values.size() == 1 ? 0 : static_cast<std::size_t>(i)];
  } else {
    // From the longest down, in random order: a batch has sequences of different lengths, and one that fills it.
    Random random(options_.seed, "length/" + name);
    for (std::int64_t i = 0; i < count; ++i)
      data[i] = std::max<std::int64_t>(kLongest - 2 * i, 1 + random.below(kLongest - 1));
    if (count > 0) data[0] = kLongest;
    for (std::int64_t i = count - 1; i > 0; --i) std::swap(data[i], data[random.below(i + 1)]);
  }
  lengths_.define(dim, {lengths, over});
}

void Inputs::check_size(const ExternInput& input, const std::vector<std::int64_t>& shape) {
  std::int64_t entries = 1;
  std::string text;
  bool fits = true;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    fits = fits && !__builtin_mul_overflow(entries, shape[i], &entries) && entries <= kMostEntries;
    text += (i ? ", " : "") + to_string(input.type.dims[i]) + "=" + std::to_string(shape[i]);
  }
  if (!fits)
    fail(input,
         "random data of [" + text + "] is too large: at most " + std::to_string(kMostEntries) + " entries are made");
}

Tensor Inputs::make(const ExternInput& input) {
  const TensorType& type = input.type;
  std::vector<std::int64_t> shape = lengths_.shape(type.dims);
  auto it = given_.find(input.name);
  if (it == given_.end()) check_size(input, shape);
  at::Tensor value = it != given_.end() ? given_values(input, it->second, shape) : random_values(input, shape);
  return std::make_shared<const EagerTensor>(type, Named{value, type.dims});
}

at::Tensor Inputs::given_values(const ExternInput& input, const GivenArray& given,
                                const std::vector<std::int64_t>& shape) {
  const TensorType& type = input.type;
  at::Tensor value = given.value;
  if (value.numel() == 0) {
    value = at::zeros(shape, value.options());
  } else {
    for (std::size_t i = 0; i < shape.size(); ++i) value = value.narrow(static_cast<std::int64_t>(i), 0, shape[i]);
  }
  at::Tensor padding = lengths_.padding(type.dims);
  if (!is_float(type.dtype) && type.dtype != DType::bool_) {
    at::Tensor wide = value.to(at::kLong);
    at::Tensor bad = type.sparse_dim && lengths_.has(type.sparse_dim)
                         ? wide.lt(0).logical_or(wide.ge(lengths_.extent(type.sparse_dim)))
                         : value.to(scalar_type(type.dtype)).to(at::kLong).ne(wide);
    if (padding.defined()) bad = bad.logical_and(padding.logical_not());
    std::vector<std::int64_t> index;
    std::string where = first_index(bad, type.dims, &index);
    if (!where.empty()) {
      for (std::int64_t i : index) wide = wide[i];
      std::string number = std::to_string(wide.item<std::int64_t>());
      if (type.sparse_dim)
        fail(input, "the value " + number + " at " + where + " is no index of `" + to_string(type.sparse_dim) +
                        "`, which has size " + std::to_string(lengths_.extent(type.sparse_dim)));
      fail(input, "the value " + number + " at " + where + " does not fit into " + std::string(to_string(type.dtype)));
    }
  }
  return value.to(scalar_type(type.dtype)).contiguous();
}

at::Tensor Inputs::random_values(const ExternInput& input, const std::vector<std::int64_t>& shape) {
  const TensorType& type = input.type;
  Random random(options_.seed, "input/" + input.name);
  at::ScalarType dtype = scalar_type(type.dtype);
  at::Tensor value;
  if (is_float(type.dtype)) {
    value = at::empty(shape, at::TensorOptions(at::kDouble));
    for (std::int64_t i = 0; i < value.numel(); ++i) value.data_ptr<double>()[i] = random.normal();
  } else {
    std::int64_t low = 0, count = 10;
    if (input.range) {
      low = input.range->first;
      count = input.range->second - low + 1;
    } else if (type.sparse_dim && lengths_.has(type.sparse_dim)) {
      count = lengths_.extent(type.sparse_dim);
    } else if (type.dtype == DType::bool_) {
      count = 2;
    }
    value = at::empty(shape, at::TensorOptions(at::kLong));
    for (std::int64_t i = 0; i < value.numel(); ++i) value.data_ptr<std::int64_t>()[i] = low + random.below(count);
  }
  at::Tensor padding = lengths_.padding(type.dims);
  if (padding.defined()) value = value.masked_fill(padding, 0);
  return value.to(dtype);
}

}  // namespace rcn
