// Diagnostics as data: what happened, where, with which arguments. Text and JSON are made by render.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/source.h"

namespace rcn {

enum class Severity : std::uint8_t { error, warning, note, help };

// One entry of diagnostics.def.
enum class Diag : std::uint16_t {
#define DIAGNOSTIC(severity, name, code, text) name,
#include "compiler/diag/diagnostics.def"
#undef DIAGNOSTIC
  count
};

struct DiagInfo {
  Severity severity;
  std::string_view name;  // as in diagnostics.def
  std::string_view code;  // "E0123"; empty for notes and help
  std::string_view text;  // with {0} {1} ... for the arguments
};

const DiagInfo& diag_info(Diag kind);
std::span<const DiagInfo> all_diagnostics();

struct Note {
  Diag kind;
  Span span;  // may be invalid: then no position is shown
  std::vector<std::string> args;
};

struct Diagnostic {
  Diag kind;
  Span span;
  std::vector<std::string> args;
  std::vector<Note> notes;  // notes and help, in the order shown

  bool operator==(const Diagnostic& other) const { return kind == other.kind && span == other.span && args == other.args; }
};

// The message with its arguments in place.
std::string format_message(Diag kind, const std::vector<std::string>& args);

// Collects the diagnostics of one run. Repeats (same kind, span and arguments) are dropped.
class DiagnosticSink {
 public:
  // Adds notes to the diagnostic that it was made for.
  class Builder {
   public:
    Builder(DiagnosticSink* sink, std::size_t index) : sink_(sink), index_(index) {}
    Builder& note(Diag kind, Span span, std::vector<std::string> args = {});
    Builder& help(Diag kind, std::vector<std::string> args = {}) { return note(kind, Span{}, std::move(args)); }

   private:
    DiagnosticSink* sink_;
    std::size_t index_;  // npos for a dropped repeat
  };

  Builder report(Diag kind, Span span, std::vector<std::string> args = {});

  // Takes over one of another sink, with its notes.
  Builder add(const Diagnostic& item);

  // Called for each new error; the evaluator adds the call trace ("called from ...") here.
  std::function<void(Diagnostic&)> decorate;

  // Drops what was reported since: of what was only tried.
  struct Mark { std::size_t items, errors; };
  Mark mark() const { return {items_.size(), errors_}; }
  void rollback(Mark mark) {
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(mark.items), items_.end());
    errors_ = mark.errors;
  }

  bool has_errors() const { return errors_ > 0; }
  std::size_t error_count() const { return errors_; }  // with repeats: those of a second model are errors of its own
  std::size_t size() const { return items_.size(); }
  const std::vector<Diagnostic>& items() const { return items_; }
  // Sorted by file (in the order of their first use) and position; those without position first.
  std::vector<Diagnostic> sorted() const;

 private:
  friend class Builder;
  std::vector<Diagnostic> items_;
  std::size_t errors_ = 0;
};

}  // namespace rcn
