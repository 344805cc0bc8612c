#include "runtime/params.h"

#include <algorithm>
#include <stdexcept>

#include "runtime/initializers.h"

namespace rcn {

namespace {

std::string shape_text(at::IntArrayRef sizes) {
  std::string text;
  for (std::int64_t s : sizes) text += (text.empty() ? "" : ", ") + std::to_string(s);
  return "(" + text + ")";
}

// May values of this type be stored as `dtype`?
bool same_kind(at::ScalarType stored, DType dtype) {
  if (at::isFloatingType(stored)) return is_float(dtype);
  return stored == at::kBool ? dtype == DType::bool_ : is_int(dtype);
}

}  // namespace

bool Params::open(const std::string& path, DiagnosticSink& sink) {
  path_ = path;
  try {
    file_ = std::make_unique<NpzFile>(path);
  } catch (const ArrayFileError& error) {
    sink.report(Diag::eager_file, Span{}, {error.what()});
    return false;
  }
  return true;
}

Tensor Params::get(const Parameter& parameter) {
  at::Tensor value;
  if (file_) {
    std::string name = parameter.path;
    if (!file_->has(name)) name += "/param";
    if (!file_->has(name)) {
      problems_.push_back(
          {"missing: `" + parameter.path + "` [" + dims_text(parameter.type.dims) + "]", parameter.span});
    } else {
      used_.push_back(name);
      std::vector<std::int64_t> shape;
      for (Dim d : parameter.type.dims) shape.push_back(d->size.value());
      try {
        at::Tensor stored = file_->read(name);
        if (stored.sizes() != at::IntArrayRef(shape)) {
          problems_.push_back({"`" + parameter.path + "` is [" + dims_text(parameter.type.dims) + "], in the file " +
                                   shape_text(stored.sizes()),
                               parameter.span});
        } else if (!same_kind(stored.scalar_type(), parameter.type.dtype)) {
          problems_.push_back({"`" + parameter.path + "` is " + std::string(to_string(parameter.type.dtype)) +
                                   ", in the file " + c10::toString(stored.scalar_type()),
                               parameter.span});
        } else {
          value = stored.to(scalar_type(parameter.type.dtype));
        }
      } catch (const ArrayFileError& error) {
        problems_.push_back({error.what(), parameter.span});
      }
    }
  }
  if (!value.defined()) value = initial_value(parameter, seed_);
  if (with_grad_ && parameter.trainable && is_float(parameter.type.dtype)) value.set_requires_grad(true);
  Tensor tensor = std::make_shared<const EagerTensor>(parameter.type, Named{value, parameter.type.dims});
  loaded_.push_back({parameter, tensor});
  return tensor;
}

bool Params::check(DiagnosticSink& sink) const {
  std::vector<Problem> problems = problems_;
  if (file_)
    for (const std::string& name : file_->names())
      if (std::find(used_.begin(), used_.end(), name) == used_.end())
        problems.push_back({"left over: `" + name + "` is no parameter that the network uses", Span{}});
  if (problems.empty()) return true;
  auto report = sink.report(Diag::eager_params_differ, Span{}, {path_, std::to_string(problems.size())});
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
  write_npz(path, arrays);
}

}  // namespace rcn
