#include <nlohmann/json.hpp>

#include "compiler/diag/render.h"

namespace rcn {

namespace {

using Json = nlohmann::ordered_json;

void place(Json& out, const SourceMap& sources, Span span) {
  if (!span.valid()) return;
  LineColumn begin = sources.locate(span.file, span.begin);
  LineColumn end = sources.locate(span.file, span.end);
  out["file"] = sources.name(span.file);
  out["line"] = begin.line;
  out["column"] = begin.column;
  out["end_line"] = end.line;
  out["end_column"] = end.column;
}

}  // namespace

std::string render_json(const DiagnosticSink& diagnostics, const SourceMap& sources, const RenderOptions& options) {
  Json list = Json::array();
  std::size_t errors = 0, hidden = 0;
  for (const Diagnostic& d : diagnostics.sorted()) {
    const DiagInfo& info = diag_info(d.kind);
    bool error = info.severity == Severity::error;
    if (errors >= options.max_errors) {
      hidden += error ? 1 : 0;
      continue;
    }
    errors += error ? 1 : 0;
    Json item = Json::object();
    place(item, sources, d.span);
    item["severity"] = severity_name(info.severity);
    item["code"] = info.code;
    item["name"] = info.name;
    item["message"] = format_message(d.kind, d.args);
    item["notes"] = Json::array();
    for (const Note& n : d.notes) {
      Json note = Json::object();
      place(note, sources, n.span);
      note["severity"] = severity_name(diag_info(n.kind).severity);
      note["message"] = format_message(n.kind, n.args);
      item["notes"].push_back(std::move(note));
    }
    list.push_back(std::move(item));
  }
  Json result = Json::object();
  result["diagnostics"] = std::move(list);
  result["not_shown"] = hidden;
  // Messages quote the source; what is not UTF-8 there is replaced.
  return result.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rcn
