// Numbers and strings as written to their values.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/base/arena.h"
#include "compiler/base/source.h"
#include "compiler/diag/diagnostic.h"

namespace rcn {

// The value of an INT token without its sign; `negative` makes room for -9223372036854775808 and is applied.
std::int64_t int_value(std::string_view text, bool negative, Span span, DiagnosticSink& diagnostics);
// Has no positive counterpart: -9223372036854775808 is one literal.
bool is_smallest_int(std::string_view text);
// The value of a FLOAT token, whatever the locale is.
double float_value(std::string_view text, Span span, DiagnosticSink& diagnostics);
// The text of a STRING token with its escapes (those of JSON) resolved, in the arena.
std::string_view string_value(std::string_view token, Span span, Arena& arena, DiagnosticSink& diagnostics);

}  // namespace rcn
