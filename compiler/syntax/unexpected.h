// The message for a token that the parser did not expect, in the user's terms.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/syntax/context.h"
#include "compiler/syntax/token.h"

namespace rcn {

struct Expectation {
  enum class Where : std::uint8_t {
    statement,         // the beginning of one
    end_of_statement,  // everything was read, and more follows
    block,             // `{`
    closer,            // `)` or `]` or `}` after the entries of a list
    other,
  };
  Where where = Where::other;
  bool expression = false;  // an operand would do
  bool name = false;        // a name would do
  std::vector<Tk> tokens;   // these would do
};

// `at` is the index of the token.
void report_unexpected(ParseContext& context, const std::vector<Token>& tokens, std::size_t at,
                       const Expectation& expected);

}  // namespace rcn
