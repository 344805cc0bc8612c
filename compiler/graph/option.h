// The one value model of the network dict: what layer options hold, with references to layers and dims still symbolic.
// The printers of emit/ write it as Python, tagged JSON or plain JSON.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/dims/dim.h"

namespace rcn {

struct Layer;
struct Region;
struct Option;
using OptionList = std::vector<Option>;
using OptionDict = std::vector<std::pair<std::string, Option>>;  // keeps its order

// How a reference reads the layer that it names.
enum class RefKind : std::uint8_t {
  value,     // its value: `x`, from a dict inside of the one where it stands `base:x`, from outside `loop/x`
  previous,  // its value one step before, inside of a loop: `prev:x`
  name,      // only its name, as options like `sub_layer_name` want it
  target,    // its value, where RETURNN wants a target: `layer:x`
};

// A layer, or one of its further outputs (`split/0`).
struct LayerRef {
  const Layer* layer = nullptr;
  std::string sub = {};  // empty: the layer itself
  RefKind kind = RefKind::value;
};

// The layers of a dict inside of a layer: the unit of a loop, a branch of a cond.
struct RegionRef {
  const Region* region = nullptr;
};

// A dim; match_priority 1 tells one of two equal dims of a parameter apart (`dim.copy(match_priority=1)`).
struct DimRef {
  Dim dim = nullptr;
  int match_priority = 0;
};

struct OptionTuple { OptionList items; };
struct OptionSet { OptionList items; };  // printed in the given order
struct OptionMap { std::vector<std::pair<Option, Option>> items; };  // a dict with dims as keys (`{time: keys}`)

struct Option {
  using Data = std::variant<std::monostate, bool, std::int64_t, double, std::string, LayerRef, RegionRef, DimRef, OptionList,
                            OptionTuple, OptionSet, OptionDict, OptionMap>;
  Data data;

  Option() = default;  // None
  Option(bool v) : data(v) {}
  Option(int v) : data(static_cast<std::int64_t>(v)) {}
  Option(std::int64_t v) : data(v) {}
  Option(double v) : data(v) {}
  Option(const char* v) : data(std::string(v)) {}
  Option(std::string v) : data(std::move(v)) {}
  Option(std::string_view v) : data(std::string(v)) {}
  Option(LayerRef v) : data(std::move(v)) {}
  Option(const Layer* v) : data(LayerRef{v, {}}) {}
  Option(RegionRef v) : data(v) {}
  Option(DimRef v) : data(v) {}
  Option(Dim v) : data(DimRef{v, 0}) {}
  Option(OptionList v) : data(std::move(v)) {}
  Option(OptionTuple v) : data(std::move(v)) {}
  Option(OptionSet v) : data(std::move(v)) {}
  Option(OptionDict v) : data(std::move(v)) {}
  Option(OptionMap v) : data(std::move(v)) {}
};

inline OptionList dims_option(const std::vector<Dim>& dims) { return OptionList(dims.begin(), dims.end()); }

}  // namespace rcn
