// The step between lexer and parser: newlines, brackets, nesting.
#pragma once

#include <vector>

#include "compiler/base/limits.h"
#include "compiler/syntax/context.h"
#include "compiler/syntax/token.h"

namespace rcn {

// Turns raw tokens into what the grammar expects: a SEP after each statement and nowhere else, brackets in pairs.
// Missing and superfluous brackets are reported and mended. Returns false where brackets, blocks or operators nest
// deeper than the limit allows (reported): the parser, which recurses, must not see those tokens.
bool lay_out(std::vector<Token>& tokens, ParseContext& context, const Limits& limits);

}  // namespace rcn
