#include "compiler/diag/render.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rcn {

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
    case Severity::help: return "help";
  }
  return "error";
}

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// One character of a source line as it is shown.
struct Shown {
  std::string_view text;
  std::uint32_t begin;  // byte in the line
  int width;            // cells of a terminal
};

int cells(char32_t c) {
  if ((c >= 0x300 && c <= 0x36F) || c == 0x200B || c == 0xFE0F) return 0;
  bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
              (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF00 && c <= 0xFF60) || (c >= 0x1F300 && c <= 0x1FAFF);
  return wide ? 2 : 1;
}

// Bytes that are no UTF-8 and control characters are replaced: a source must not steer the terminal.
std::vector<Shown> characters(std::string_view line) {
  std::vector<Shown> result;
  for (std::size_t i = 0; i < line.size();) {
    auto a = static_cast<unsigned char>(line[i]);
    std::size_t length = a < 0x80                ? 1
                         : a >= 0xC2 && a < 0xE0 ? 2
                         : a >= 0xE0 && a < 0xF0 ? 3
                         : a >= 0xF0 && a < 0xF5 ? 4
                                                 : 0;
    bool good = length > 0 && i + length <= line.size();
    char32_t c = length == 1 ? a : a & (0xFF >> (length + 1));
    for (std::size_t k = 1; good && k < length; ++k) {
      auto b = static_cast<unsigned char>(line[i + k]);
      good = (b & 0xC0) == 0x80;
      c = (c << 6) | (b & 0x3F);
    }
    auto begin = static_cast<std::uint32_t>(i);
    bool control = good && ((c < 0x20 && c != '\t') || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
                            (c >= 0x2066 && c <= 0x2069));
    if (!good) length = 1;
    if (!good || control)
      result.push_back({kReplacement, begin, 1});
    else
      result.push_back({line.substr(i, length), begin, cells(c)});
    i += length;
  }
  return result;
}

class TextRenderer {
 public:
  TextRenderer(const SourceMap& sources, const RenderOptions& options) : sources_(sources), options_(options) {}

  std::string render(const std::vector<Diagnostic>& items) {
    std::size_t errors = 0, hidden = 0;
    for (const Diagnostic& d : items) {
      bool error = diag_info(d.kind).severity == Severity::error;
      if (errors >= options_.max_errors) {
        hidden += error ? 1 : 0;
        continue;
      }
      errors += error ? 1 : 0;
      message(d.kind, d.span, d.args);
      for (const Note& n : d.notes) message(n.kind, n.span, n.args);
    }
    if (hidden > 0)
      out_ += std::to_string(hidden) + (hidden == 1 ? " more error not shown\n" : " more errors not shown\n");
    return std::move(out_);
  }

 private:
  void style(const char* code) {
    if (options_.color) out_ += code;
  }
  static constexpr const char* kBold = "\033[1m";
  static constexpr const char* kPlain = "\033[0m";
  static const char* color(Severity s) {
    switch (s) {
      case Severity::error: return "\033[1;31m";
      case Severity::warning: return "\033[1;35m";
      case Severity::note: return "\033[1;36m";
      case Severity::help: return "\033[1;32m";
    }
    return kPlain;
  }

  void message(Diag kind, Span span, const std::vector<std::string>& args) {
    const DiagInfo& info = diag_info(kind);
    if (span.valid()) {
      LineColumn at = sources_.locate(span.file, span.begin);
      style(kBold);
      out_ += sources_.name(span.file) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": ";
      style(kPlain);
    }
    style(color(info.severity));
    out_ += severity_name(info.severity);
    out_ += ":";
    style(kPlain);
    out_ += " ";
    bool headline = info.severity == Severity::error || info.severity == Severity::warning;
    if (headline) style(kBold);
    out_ += format_message(kind, args);
    if (headline) style(kPlain);
    if (!info.code.empty()) {
      out_ += " [";
      out_ += info.code;
      out_ += "]";
    }
    out_ += "\n";
    if (span.valid()) excerpt(span, info.severity);
  }

  // The line and the underline; of a long line the part around the place.
  void excerpt(Span span, Severity severity) {
    LineColumn at = sources_.locate(span.file, span.begin);
    std::string_view line = sources_.line(span.file, at.line);
    if (line.empty()) return;
    std::vector<Shown> shown = characters(line);
    std::uint32_t line_begin = static_cast<std::uint32_t>(line.data() - sources_.text(span.file).data());
    std::uint32_t from = span.begin - line_begin;
    std::uint32_t to = std::max(span.end - line_begin, from);
    std::size_t first = static_cast<std::size_t>(
        std::partition_point(shown.begin(), shown.end(), [&](const Shown& s) { return s.begin < from; }) -
        shown.begin());

    constexpr std::size_t kLongest = 160, kBefore = 60;
    std::size_t begin = 0, end = shown.size();
    if (shown.size() > kLongest) {
      begin = first > kBefore ? first - kBefore : 0;
      end = std::min(shown.size(), begin + kLongest);
    }
    std::string number = std::to_string(at.line);
    std::string gutter(number.size() < 5 ? 5 - number.size() : 0, ' ');
    out_ += gutter + number + " | ";
    std::string under = std::string(gutter.size() + number.size(), ' ') + " | ";
    if (begin > 0) {
      out_ += "...";
      under += "   ";
    }
    bool marked = false;
    std::string mark;
    for (std::size_t i = begin; i < end; ++i) {
      const Shown& s = shown[i];
      out_ += s.text;
      if (i < first) {
        if (s.text == "\t")
          under += '\t';
        else
          under.append(static_cast<std::size_t>(s.width), ' ');
      } else if (s.begin < to || !marked) {
        mark.append(static_cast<std::size_t>(std::max(s.width, 1)), marked ? '~' : '^');
        if (!marked && s.width > 1) mark[mark.size() - 1] = '~';
        marked = true;
      }
    }
    if (!marked) mark = "^";
    if (end < shown.size()) out_ += "...";
    out_ += "\n" + under;
    style(color(severity));
    out_ += mark;
    style(kPlain);
    out_ += "\n";
  }

  const SourceMap& sources_;
  const RenderOptions& options_;
  std::string out_;
};

}  // namespace

std::string render_text(const DiagnosticSink& diagnostics, const SourceMap& sources, const RenderOptions& options) {
  return TextRenderer(sources, options).render(diagnostics.sorted());
}

}  // namespace rcn
