#include "compiler/diag/diagnostic.h"

#include <algorithm>

namespace rcn {

namespace {
constexpr DiagInfo kTable[] = {
#define DIAGNOSTIC(severity, name, code, text) {Severity::severity, #name, code, text},
#include "compiler/diag/diagnostics.def"
#undef DIAGNOSTIC
};
constexpr std::size_t kDropped = static_cast<std::size_t>(-1);
}  // namespace

const DiagInfo& diag_info(Diag kind) { return kTable[static_cast<std::size_t>(kind)]; }
std::span<const DiagInfo> all_diagnostics() { return kTable; }

std::string format_message(Diag kind, const std::vector<std::string>& args) {
  std::string_view text = diag_info(kind).text;
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' && i + 2 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9' && text[i + 2] == '}') {
      std::size_t index = static_cast<std::size_t>(text[i + 1] - '0');
      if (index < args.size()) result += args[index];
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

DiagnosticSink::Builder& DiagnosticSink::Builder::note(Diag kind, Span span, std::vector<std::string> args) {
  if (index_ != kDropped) sink_->items_[index_].notes.push_back({kind, span, std::move(args)});
  return *this;
}

DiagnosticSink::Builder DiagnosticSink::report(Diag kind, Span span, std::vector<std::string> args) {
  Diagnostic item{kind, span, std::move(args), {}};
  if (diag_info(kind).severity == Severity::error) ++errors_;
  if (std::find(items_.begin(), items_.end(), item) != items_.end()) return {this, kDropped};
  items_.push_back(std::move(item));
  if (decorate) decorate(items_.back());
  return {this, items_.size() - 1};
}

DiagnosticSink::Builder DiagnosticSink::add(const Diagnostic& item) {
  Builder builder = report(item.kind, item.span, item.args);
  for (const Note& n : item.notes) builder.note(n.kind, n.span, n.args);
  return builder;
}

std::vector<Diagnostic> DiagnosticSink::sorted() const {
  std::vector<Diagnostic> result = items_;
  std::stable_sort(result.begin(), result.end(), [](const Diagnostic& a, const Diagnostic& b) {
    if (a.span.file != b.span.file) return a.span.file < b.span.file;
    return a.span.begin < b.span.begin;
  });
  return result;
}

}  // namespace rcn
