#include "runtime/show/watch.h"

#include <algorithm>
#include <ostream>

#include "compiler/base/suggest.h"

namespace rcn {

namespace {

constexpr std::size_t kShownNames = 12;

// `x`, and from the second tensor of a name on `x_1`.
std::string numbered(const std::string& name, std::unordered_map<std::string, int>& names) {
  int count = names[name]++;
  return count == 0 ? name : name + "_" + std::to_string(count);
}

}  // namespace

bool ShownOnce::has(const at::Tensor& x) const {
  auto it = shown_.find(x.unsafeGetTensorImpl());
  return it != shown_.end() && !it->second.expired();
}

void ShownOnce::add(const at::Tensor& x) {
  shown_.insert_or_assign(x.unsafeGetTensorImpl(), Weak(x.getIntrusivePtr()));
}

Selection::Selection(std::string option, const std::string& patterns) : option_(std::move(option)) {
  for (std::size_t begin = 0; begin <= patterns.size();) {
    std::size_t end = std::min(patterns.find(',', begin), patterns.size());
    patterns_.push_back({Selector(patterns.substr(begin, end - begin))});
    begin = end + 1;
  }
}

bool Selection::fits_name(const std::string& name) {
  bool any = false;
  for (Pattern& p : patterns_)
    if (p.selector.fits_name(name)) any = p.used = true;
  return any;
}

void Selection::report_unused(DiagnosticSink& sink, const std::vector<std::string>& names) const {
  for (const Pattern& p : patterns_) {
    if (p.used) continue;
    auto report = sink.report(Diag::eager_glob_fits_nothing, Span{}, {option_, p.selector.pattern()});
    if (std::vector<std::string> near = nearest_names(p.selector.pattern(), names); !near.empty()) {
      report.help(Diag::help_did_you_mean, {quoted_list(near)});
      continue;
    }
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < kShownNames; ++i) text += (i ? ", `" : "`") + names[i] + "`";
    report.help(Diag::help_text, {"the tensors are " + text + (names.size() > kShownNames ? ", ..." : "")});
  }
}

Watch::Watch(const EagerOptions& options, const SourceMap& sources, DiagnosticSink& sink, Lengths& lengths,
             std::ostream& out, std::ostream& log)
    : options_(options),
      sources_(sources),
      sink_(sink),
      lengths_(lengths),
      out_(out),
      log_(log),
      trace_(log, sources, options.trace_json ? TraceForm::json : TraceForm::text),
      summary_(sources) {
  if (options.trace) traced_.emplace("--trace", *options.trace);
  for (const std::string& patterns : options.print) prints_.emplace_back("--print", patterns);
  for (const std::string& option : options.save) add_save(option);
  if (options.summary) memory_.emplace();
  if (!options.html.empty()) page_ = std::make_unique<Page>(sources);
}

// `FILE.npz` or `FILE.npz:PATTERNS`.
void Watch::add_save(const std::string& option) {
  std::string path = option, patterns;
  for (const char* ending : {".npz:", ".safetensors:"})
    if (std::size_t at = option.find(ending); at != std::string::npos) {
      std::size_t end = at + std::string_view(ending).size();
      path = option.substr(0, end - 1);
      patterns = option.substr(end);
    }
  auto it = std::find_if(saves_.begin(), saves_.end(), [&](const SavedFile& f) { return f.path == path; });
  if (it == saves_.end()) it = saves_.insert(saves_.end(), SavedFile{path, {}, {}, {}});
  if (!patterns.empty()) it->selections.emplace_back("--save", patterns);
}

void Watch::attach(EagerBackend& backend, RunState& run) {
  bool saves = std::any_of(saves_.begin(), saves_.end(), [](const SavedFile& f) { return !f.selections.empty(); });
  bool looked_at = traced_ || !prints_.empty() || saves || options_.summary || page_ || options_.check_finite ||
                   options_.check_padding;
  if (options_.check_padding) noise_.record(run);
  if (!looked_at) return;
  backend.observer = [this](const Produced& made) { produced(made); };
  if (traced_) backend.starting = [this] { trace_.flush(); };
  if (traced_ || !prints_.empty() || saves || page_) backend.bound_observer = [this](const Bound& b) { bound(b); };
  if (traced_) backend.event_observer = [this](const Event& event) { happened(event); };
}

// `once`: unless it was shown already.
template <class Thing>
bool Watch::wanted(std::vector<Selection>& selections, const Thing& thing, const at::Tensor& value, bool once) const {
  bool any = false;
  for (Selection& s : selections) any = (s.fits(thing, sources_) && !(once && s.shown.has(value))) || any;
  if (any)
    for (Selection& s : selections) s.shown.add(value);
  return any;
}

template <class Thing>
void Watch::show(const Thing& thing, const at::Tensor& value, bool once) {
  if (wanted(prints_, thing, value, once)) print(thing.name, thing.tensor);
  for (SavedFile& file : saves_)
    if (wanted(file.selections, thing, value, once))
      file.tensors.push_back(saved_tensor(numbered(thing.name, file.names), thing.tensor, lengths_));
}

void Watch::produced(const Produced& made) {
  if (stopped_) throw EvalError{};  // ends each statement that is left
  if (traced_ || !prints_.empty() || !saves_.empty()) names_.insert(made.name);
  const at::Tensor& value = eager(made.source).value;
  if (traced_ && traced_->fits(made, sources_)) {
    trace_.write(made, lengths_);
    traced_->shown.add(value);
  }
  show(made, value, false);
  if (options_.summary) summary_.add(made);
  if (page_) page_->add(made, lengths_);
  if (options_.check_padding) recorded_.add(made, lengths_);
  if (options_.check_finite && options_.grad) gradients_.follow(made, lengths_);
  if (!options_.check_finite || check_finite(made, lengths_, sink_)) return;
  stopped_ = true;
  throw EvalError{};
}

void Watch::bound(const Bound& bound) {
  if (bound.span.valid() && sources_.name(bound.span.file).starts_with("stdlib/"))
    return;  // what the library calls its tensors
  names_.insert(bound.name);
  const at::Tensor& value = eager(bound.source).value;
  if (traced_) {
    trace_.name(bound);
    if (traced_->fits(bound, sources_) && !traced_->shown.has(value)) {
      trace_.write(bound, lengths_);
      traced_->shown.add(value);
    }
  }
  show(bound, value, true);
  if (page_) page_->name(bound);
}

void Watch::happened(const Event& event) {
  if (traced_->fits(event, sources_)) trace_.write(event);
}

void Watch::print(const std::string& name, const Tensor& tensor) {
  std::string shown = numbered(name, print_names_);
  if (options_.json) {
    printed_.push_back({shown, json_tensor(tensor, lengths_, options_.padding)});
  } else {
    trace_.flush();
    write_printed(out_, shown, tensor, lengths_, options_.padding, options_.full);
  }
}

void Watch::begin() {
  if (memory_) memory_->restart();
}

void Watch::finish(const std::vector<MarkedTensor>& marks) {
  trace_.flush();
  for (const MarkedTensor& m : marks) {
    names_.insert(m.mark.name);
    if (traced_) traced_->fits_name(m.mark.name);
    bool wanted = false, shown = print_names_.contains(m.mark.name);
    for (Selection& s : prints_) {
      wanted = s.fits_name(m.mark.name) || wanted;
      shown = shown || s.shown.has(eager(m.tensor).value);
    }
    if (wanted && !shown) print(m.mark.name, m.tensor);
    for (SavedFile& file : saves_)
      for (Selection& s : file.selections) s.fits_name(m.mark.name);
  }
  std::vector<std::string> names(names_.begin(), names_.end());
  std::sort(names.begin(), names.end());
  for (const Selection& s : prints_) s.report_unused(sink_, names);
  if (traced_) traced_->report_unused(sink_, names);
  for (const SavedFile& file : saves_)
    for (const Selection& s : file.selections) s.report_unused(sink_, names);
}

void Watch::save(const std::vector<MarkedTensor>& marks) {
  for (const SavedFile& file : saves_) save_results(file.path, marks, file.tensors, lengths_);
  if (page_) page_->write(options_.html);
}

void Watch::save_failed(const std::string& errors) const {
  if (page_) page_->write(options_.html, errors);
}

void Watch::write_summary(const std::vector<LoadedParameter>& params) {
  if (memory_) summary_.write(log_, params, memory_->peak());
}

}  // namespace rcn
