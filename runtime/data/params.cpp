#include "runtime/data/params.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/base/suggest.h"
#include "runtime/data/initializers.h"
#include "runtime/data/raw_array.h"
#include "runtime/data/rename_map.h"

namespace rcn {

namespace {

std::string shape_text(at::IntArrayRef sizes) {
  std::string text;
  for (std::int64_t s : sizes) text += (text.empty() ? "" : ", ") + std::to_string(s);
  return "(" + text + ")";
}

constexpr std::size_t kShownNames = 3;

// "`a`, `b`, `c` and 4 more".
std::string shown_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kShownNames; ++i) text += (i ? ", `" : "`") + names[i] + "`";
  if (names.size() > kShownNames) text += " and " + std::to_string(names.size() - kShownNames) + " more";
  return text;
}

std::string without_param(const std::string& name) {
  return name.ends_with("/param") ? name.substr(0, name.size() - 6) : name;
}

// "; did you mean `a`?" where one of the names is near.
std::string suggestion(const std::string& name, const std::vector<std::string>& names) {
  std::vector<std::string> near = nearest_names(name, names);
  return near.empty() ? "" : "; did you mean " + quoted_list(near) + "?";
}

// May values of this type be stored as `dtype`?
bool same_kind(at::ScalarType stored, DType dtype) {
  if (at::isFloatingType(stored)) return is_float(dtype);
  return stored == at::kBool ? dtype == DType::bool_ : is_int(dtype);
}

}  // namespace

bool Params::open(const ParamsFile& from, DiagnosticSink& sink) {
  from_ = from;
  try {
    file_ = open_arrays(from.path);
    rename();
  } catch (const ArrayFileError& error) {
    sink.report(Diag::eager_file, Span{}, {error.what()});
    return false;
  }
  if (std::vector<std::string> others = file_->others(); !others.empty() && !quiet_)
    sink.report(Diag::note_more, Span{},
                {"ignored in `" + from.path + "`, as no parameters of a model: " + shown_names(others)});
  return true;
}

void Params::rename() {
  if (from_.rename_map.empty()) {
    for (const std::string& name : file_->names()) names_[name] = name;
    return;
  }
  RenameMap map = RenameMap::read(from_.rename_map);
  for (const std::string& name : file_->names()) {
    std::string renamed = map(name);
    if (auto [it, added] = names_.emplace(renamed, name); !added)
      problems_.push_back({"`" + it->second + "` and `" + name + "` are both renamed to `" + renamed + "`", Span{}});
  }
  for (const std::string& name : map.unused())
    problems_.push_back(
        {"`" + name + "` of `" + from_.rename_map + "` fits no name in the file" + suggestion(name, file_->names()),
         Span{}});
}

// Its value in the file, where it is called `in_file`; undefined if there is none that fits, which is noted.
at::Tensor Params::stored(const Parameter& parameter, std::string& in_file) {
  std::string name = parameter.path;
  if (!names_.contains(name)) name += "/param";
  if (!names_.contains(name)) {
    problems_.push_back(
        {"missing: `" + parameter.path + "` [" + dims_text(parameter.type.dims) + "]", parameter.span, parameter.path});
    return {};
  }
  used_.push_back(name);
  in_file = names_.at(name);
  std::vector<std::int64_t> shape;
  for (Dim d : parameter.type.dims) shape.push_back(d->size.value());
  auto problem = [&](const std::string& text) { problems_.push_back({text, parameter.span}); };
  try {
    at::Tensor stored = file_->read(names_.at(name));
    if (stored.sizes() != at::IntArrayRef(shape)) {
      problem("`" + parameter.path + "` is [" + dims_text(parameter.type.dims) + "], in the file " +
              shape_text(stored.sizes()));
    } else if (!same_kind(stored.scalar_type(), parameter.type.dtype)) {
      problem("`" + parameter.path + "` is " + std::string(to_string(parameter.type.dtype)) + ", in the file " +
              dtype_text(stored.scalar_type()));
    } else {
      return stored.to(scalar_type(parameter.type.dtype));
    }
  } catch (const ArrayFileError& error) {
    problem(error.what());
  }
  return {};
}

Tensor Params::get(const Parameter& parameter) {
  at::Tensor value;
  std::string in_file;
  if (file_) value = stored(parameter, in_file);
  if (auto it = given_.find(parameter.path); it != given_.end())
    value = it->second.detach().to(scalar_type(parameter.type.dtype));
  if (!value.defined()) value = initial_value(parameter, seed_);
  if (with_grad_ && parameter.trainable && is_float(parameter.type.dtype)) value.set_requires_grad(true);
  Tensor tensor = std::make_shared<const EagerTensor>(parameter.type, Named{value, parameter.type.dims});
  loaded_.push_back({parameter, tensor, std::move(in_file)});
  return tensor;
}

std::vector<std::string> Params::left_over() const {
  std::vector<std::string> names;
  for (const auto& [name, in_file] : names_)
    if (std::find(used_.begin(), used_.end(), name) == used_.end()) names.push_back(name);
  return names;
}

bool Params::check(DiagnosticSink& sink) const {
  std::vector<Problem> problems;
  std::vector<std::string> left = left_over(), bare_left, missing;
  for (const std::string& name : left) bare_left.push_back(without_param(name));
  for (const Problem& p : problems_) {
    if (!p.missing.empty()) missing.push_back(p.missing);
    if (p.missing.empty() || !from_.partial)
      problems.push_back({p.text + (p.missing.empty() ? "" : suggestion(p.missing, bare_left)), p.span});
  }
  for (const std::string& name : left) {
    const std::string& in_file = names_.at(name);
    problems.push_back({"left over: `" + in_file + "`" + (in_file == name ? "" : ", here `" + name + "`,") +
                            " is no parameter that the network uses" + suggestion(without_param(name), missing),
                        Span{}});
  }
  if (problems.empty()) {
    if (!missing.empty() && !quiet_)
      sink.report(Diag::note_more, Span{},
                  {"not in `" + from_.path + "`, at their first values: " + shown_names(missing)});
    return true;
  }
  auto report = sink.report(Diag::eager_params_differ, Span{}, {from_.path, std::to_string(problems.size())});
  for (const Problem& p : problems) report.note(Diag::note_more, p.span, {p.text});
  return false;
}

void Params::assign(const Parameter& parameter, at::Tensor value) {
  auto it = std::find_if(loaded_.begin(), loaded_.end(),
                         [&](const LoadedParameter& p) { return p.parameter.path == parameter.path; });
  if (it == loaded_.end()) throw std::logic_error("assigned parameter " + parameter.path + " was never asked for");
  it->next = std::move(value);
}

void Params::save(const std::string& path) const {
  std::vector<std::pair<std::string, at::Tensor>> arrays;
  for (const LoadedParameter& p : loaded_)
    arrays.emplace_back(p.parameter.path, p.next.defined() ? p.next : eager(p.tensor).value);
  std::sort(arrays.begin(), arrays.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  write_arrays(path, arrays);
}

}  // namespace rcn
