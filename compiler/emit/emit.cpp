#include "compiler/emit/emit.h"

#include "compiler/emit/document.h"
#include "compiler/emit/plain.h"
#include "compiler/emit/writers.h"

namespace rcn {

namespace {

std::string emit_plain(const Graph& graph, const LiveLayers& layers, const EmitOptions& options,
                       DiagnosticSink& diagnostics) {
  if (options.part == EmitPart::dims) {
    diagnostics.report(Diag::plain_no_dims, Span{});
    return "";
  }
  std::optional<Document> document = lower_to_plain(graph, layers, diagnostics);
  if (!document) return "";
  if (options.sort_keys) sort_keys(*document);
  return write_plain_json(*document, options);
}

}  // namespace

std::string emit(const Graph& graph, const LiveLayers& layers, const SourceMap& sources, const EmitOptions& options,
                 DiagnosticSink& diagnostics) {
  if (options.form == OutputForm::json_plain) return emit_plain(graph, layers, options, diagnostics);
  Document document = make_document(graph, layers);
  if (options.sort_keys) sort_keys(document);
  if (options.form == OutputForm::json) return write_tagged_json(document, options);
  return write_python(document, sources, options);
}

}  // namespace rcn
