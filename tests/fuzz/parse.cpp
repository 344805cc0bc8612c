// Any bytes parse to a tree or to diagnostics that can be shown; places lie inside the text.
#include <string>

#include "compiler/base/big_stack.h"
#include "compiler/diag/render.h"
#include "compiler/syntax/parse.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rcn::on_big_stack([&] {
    rcn::SourceMap sources;
    rcn::Arena arena;
    rcn::DiagnosticSink diagnostics;
    rcn::FileId file = sources.add("fuzz.rcn", std::string(reinterpret_cast<const char*>(data), size));
    rcn::parse(sources, file, arena, diagnostics, {});
    for (const rcn::Diagnostic& d : diagnostics.items())
      require(!d.span.valid() || (d.span.begin <= d.span.end && d.span.end <= size), "a place outside of the text");
    std::string text = rcn::render_text(diagnostics, sources);
    require(text.empty() == (diagnostics.size() == 0), "diagnostics that show nothing");
    rcn::render_json(diagnostics, sources);
  });
  return 0;
}
