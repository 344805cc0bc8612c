// What ANTLR alone needs for a file: its own streams, the generated lexer, and the generated parser with its tree, made and
// freed. Between lexer and parser stands our layout, whose time is not counted: the grammar wants its separators.
//
//     antlr_alone FILE [RUNS]      prints the best time in ms and how many tokens the parser saw
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "RcnLexer.h"
#include "RcnParser.h"
#include "antlr4-runtime.h"
#include "compiler/base/arena.h"
#include "compiler/base/source.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/context.h"
#include "compiler/syntax/layout.h"
#include "compiler/syntax/scan.h"
#include "compiler/syntax/words.h"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point since) { return std::chrono::duration<double, std::milli>(Clock::now() - since).count(); }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::ifstream in(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const int runs = argc > 2 ? std::atoi(argv[2]) : 5;

  rcn::SourceMap sources;
  rcn::FileId file = sources.add(argv[1], text);
  rcn::DiagnosticSink diagnostics;
  rcn::Arena arena;
  rcn::ParseContext context{file, sources.text(file), diagnostics, {}, false};
  rcn::TokenList tokens = rcn::scan(context.text, 0, arena);
  rcn::mend_words(tokens.items, context);
  if (!rcn::lay_out(tokens.items, context, rcn::Limits{}) || diagnostics.has_errors()) return 1;

  double best = 1e9;
  std::size_t seen = 0;
  for (int run = 0; run < runs; ++run) {
    Clock::time_point begin = Clock::now();
    {
      antlr4::ANTLRInputStream stream(text);
      RcnLexer lexer(&stream);
      antlr4::CommonTokenStream raw(&lexer);
      raw.fill();
    }
    double time = milliseconds(begin);

    std::vector<std::unique_ptr<antlr4::Token>> list;
    for (const rcn::Token& t : tokens.items) {
      bool end = t.type == rcn::Tk::END;
      auto token = std::make_unique<antlr4::CommonToken>(end ? antlr4::Token::EOF : static_cast<std::size_t>(t.type));
      token->setStartIndex(t.begin);
      token->setStopIndex(t.end);
      list.push_back(std::move(token));
    }
    antlr4::ListTokenSource source(std::move(list));
    begin = Clock::now();
    {
      antlr4::CommonTokenStream stream(&source);
      RcnParser parser(&stream);
      parser.program();
      if (parser.getNumberOfSyntaxErrors() > 0) return 1;
      seen = stream.size();
    }
    best = std::min(best, time + milliseconds(begin));
  }
  std::printf("%.1f ms, %zu tokens\n", best, seen);
}
