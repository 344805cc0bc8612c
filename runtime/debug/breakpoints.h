// Where a run is to stop: `--break WHERE`, and `break WHERE` of the prompt.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/eval/debugger.h"

namespace rcn {

struct Breakpoint {
  enum class Kind : std::uint8_t {
    line,   // before a statement
    name,   // in a call, after an assignment, or after a tensor was made; a glob
    nan,    // after an operation made the first NaN or Inf
    first,  // before the first operation
    error,  // after a failure; there the prompt opens in any case
  };
  int number = 0;
  std::string where;  // as it was given
  Kind kind = Kind::name;
  std::string file;  // of a line; empty: the model
  std::uint32_t line = 0;
  std::string glob;
  std::string condition;  // empty: none
  std::int64_t hits = 0;
  std::string trouble;  // why the condition had no value when it was last looked at

  // Of the run, once resolved.
  Span at;                    // of the statement
  ast::Expr* when = nullptr;  // the condition

  // A call of its name has begun at that depth, or a tensor of it was made there: the condition is looked at after the
  // statement that runs, or after each one of the call.
  struct Armed {
    std::size_t depth;
    bool whole_call;
  };
  std::vector<Armed> armed;
  Span last;  // the statement that it stopped in, while that runs
};

// False if the text says no place; then `error` says why.
bool parse_breakpoint(const std::string& where, Breakpoint& result, std::string& error);

// Finds the line among the program's statements and parses the condition.
bool resolve_breakpoint(Breakpoint& breakpoint, Stopped& program, std::string& error);

// `name` is that of a call, a variable in it or a tensor: `loop[3].decoder.att`. In the glob steps of loops may be
// left out, and `main` may stand before what is made there.
bool name_fits(const Breakpoint& breakpoint, std::string_view name);

// The first of the problems, with the place in the text where it has one.
std::string problem_text(const std::vector<Diagnostic>& problems);

}  // namespace rcn
