// ANTLR's parse tree to our syntax tree.
#pragma once

#include "compiler/base/arena.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/context.h"
#include "compiler/syntax/token.h"

namespace antlr4::tree {
class ParseTree;
}

namespace rcn {

// Something in this tree could not be parsed.
bool is_damaged(antlr4::tree::ParseTree* root);

// `program` is the tree of the grammar's start rule; `intact` says that no error was met. Where one was, a statement of
// the file that holds one becomes an ErrorStmt.
ast::File build_tree(antlr4::tree::ParseTree* program, bool intact, const TokenList& tokens, ParseContext& context,
                     Arena& arena);

}  // namespace rcn
