#include "compiler/syntax/parse.h"

int main() {
  rcn::SourceMap sources;
  rcn::Arena arena;
  rcn::DiagnosticSink diagnostics;
  rcn::parse(sources, sources.add("model.rcn", "import nn\n"), arena, diagnostics, {});
  return diagnostics.has_errors() ? 1 : 0;
}
