// Text to raw tokens.
#pragma once

#include <string_view>

#include "compiler/base/arena.h"
#include "compiler/syntax/token.h"

namespace rcn {

// Never fails: what is no token becomes one of the BAD_ kinds. Blanks and comments are dropped, `##` comments are
// attached to the token after them (not across an empty line). Newlines and `;` are SEP tokens.
TokenList scan(std::string_view text, std::uint32_t start, Arena& arena);

}  // namespace rcn
