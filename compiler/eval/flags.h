// Mode flags: what they are set to, and what set them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/base/symbol.h"

namespace rcn {

enum class FlagValue : std::uint8_t { off, on, dynamic };
std::string_view to_string(FlagValue value);  // `false`, `true`, `dynamic`

// What `dynamic` and `locked(...)` evaluate to in a `mode`.
struct FlagSetting {
  FlagValue value = FlagValue::off;
  bool locked = false;
  bool operator==(const FlagSetting&) const = default;
};

// `--set encoder.layers.0.train=false`.
struct SetOption {
  std::string text;  // as it was given
  std::string path;  // as it was given; empty: the network
  std::string flag;
  FlagValue value = FlagValue::off;
};

// What set a flag: a statement of a `mode`, or what `text` says: `default`, `mode eval` (one that the model does not
// declare), `--set`.
struct FlagSource {
  std::string text;
  Span span;
};

// A flag of one module instance.
struct FlagState {
  Symbol name;
  FlagValue value = FlagValue::off;
  FlagSource source;
  bool locked = false;
  std::vector<FlagSource> passed_by;  // recursive settings that the lock kept away
};

// Keeps later settings away, also from an instance that has no such flag itself but holds some that have.
struct FlagLock {
  Symbol flag;
  Span span;
  std::string with;  // path of the instance that the setting named
};

// What `rcnc flags` shows of an instance.
struct ModuleFlags {
  std::string path;  // empty: the network
  std::string class_name;
  std::vector<FlagState> flags;  // `train`, `search`, then its own in the order of their declaration
};

}  // namespace rcn
