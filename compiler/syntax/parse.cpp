#include "compiler/syntax/parse.h"

#include <algorithm>
#include <optional>

#include "compiler/syntax/context.h"
#include "compiler/syntax/layout.h"
#include "compiler/syntax/run_parser.h"
#include "compiler/syntax/scan.h"
#include "compiler/syntax/text.h"
#include "compiler/syntax/words.h"

namespace rcn {

namespace {
// The parser and the tree builder need about 2 kB of stack a level (ten times as much in a sanitized build): whatever
// is asked for, this much is there.
constexpr std::int64_t kMostNesting = 1000;
}  // namespace

ast::File parse(const SourceMap& sources, FileId file, Arena& arena, DiagnosticSink& diagnostics, const Limits& limits,
                ParseStats* stats) {
  ast::File nothing;
  nothing.file = file;
  std::optional<std::uint32_t> start = check_text(sources, file, diagnostics, limits);
  if (!start) return nothing;

  ParseContext context{file, sources.text(file), diagnostics, {}, false};
  TokenList tokens = scan(context.text, *start, arena);
  mend_words(tokens.items, context);
  Limits bounded = limits;
  bounded.nesting = std::min(limits.nesting, kMostNesting);
  if (!lay_out(tokens.items, context, bounded)) return nothing;
  ast::File result = run_parser(tokens, context, arena, stats);
  result.blocks_unsure = context.blocks_unsure;
  return result;
}

}  // namespace rcn
