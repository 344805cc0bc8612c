// Habits from other languages, told apart token by token: Python's words, `&&`, `x++`, `//` comments, 'quotes' ...
#pragma once

#include <vector>

#include "compiler/syntax/context.h"
#include "compiler/syntax/token.h"

namespace rcn {

// Reports what is no .rcn in the raw tokens and changes it into what was most likely meant, so that the parser can
// go on without a second message about the same place.
void mend_words(std::vector<Token>& tokens, ParseContext& context);

}  // namespace rcn
