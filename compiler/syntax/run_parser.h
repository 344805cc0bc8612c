// Runs the generated parser over laid-out tokens.
#pragma once

#include "compiler/base/arena.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/context.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/token.h"

namespace rcn {

ast::File run_parser(const TokenList& tokens, ParseContext& context, Arena& arena, ParseStats* stats);

}  // namespace rcn
