// Binds the arguments of a call to the parameters of an operation: by position and keyword, with defaults and types.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/eval/op.h"

namespace rcn {

// An argument as written; `name` is empty for a positional one.
struct OpArgument {
  Symbol name;
  Span span;       // of the value
  Value value;
  Span name_span = {};  // of the keyword
};

// One value and span for each of OpInfo::params; the span of a default is that of the call.
struct BoundOpArguments {
  std::vector<Value> values;
  std::vector<Span> spans;
};

// Reports everything that does not fit and returns nothing then; nothing also, silently, for a poisoned argument.
// An int given for a `real` becomes a float, a tuple of dims a list.
std::optional<BoundOpArguments> bind_op(const OpInfo& info, std::span<const OpArgument> arguments, Span call,
                                        DiagnosticSink& diagnostics);

// The value that OpParam::default_text stands for: none, true, false, an int, a float, a text in quotes, a dtype, `[]`.
Value default_value(const OpParam& param);

// Whether a parameter takes the value, and how the accepted types are called: `a tensor or a number`.
bool accepts(ArgTypes types, const Value& value);
std::string accepted_text(ArgTypes types);

// `nn.reduce`; operators by their sign: `+`.
std::string op_text(const OpInfo& info);

}  // namespace rcn
