// Every limit of the compiler: its name on the command line (`--limit name=value`), default and reason.
#pragma once

#include <cstdint>
#include <string_view>

namespace rcn {

// clang-format off
#define RCN_LIMITS(X)                                                                                             \
  X(file_bytes,    64 << 20,   "bytes of one source file: positions are 32-bit, and no model is this long")      \
  X(nesting,       200,        "nested brackets and blocks: the parser recurses on them")                        \
  X(errors,        20,         "diagnostics shown; more are counted")                                           \
  X(import_depth,  64,         "imports inside imports")                                                         \
  X(call_depth,    500,        "calls inside calls: the evaluator recurses on them")                             \
  X(steps,         50'000'000, "statements evaluated: compile time is bounded")                                  \
  X(list_items,    1'000'000,  "items of one list or range")                                                     \
  X(layers,        1'000'000,  "layers of one network")                                                          \
  X(loop_frames,   10'000,     "frames of a loop without `max` in eager runs: it may never end")
// clang-format on

struct Limits {
#define X(name, value, why) std::int64_t name = value;
  RCN_LIMITS(X)
#undef X
};

struct LimitInfo {
  std::string_view name;
  std::int64_t Limits::*field;
  std::string_view why;
};

inline constexpr LimitInfo kLimitTable[] = {
#define X(name, value, why) {#name, &Limits::name, why},
    RCN_LIMITS(X)
#undef X
};

}  // namespace rcn
