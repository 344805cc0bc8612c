// The layer graph: what the network dict will hold, before names are given.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/dims/dim.h"
#include "compiler/dims/type.h"
#include "compiler/graph/option.h"

namespace rcn {

// Where a layer's name belongs: a call of a module or function. Scope 0 is the root.
struct NameScope {
  std::uint32_t id = 0;
  const NameScope* parent = nullptr;
  std::string base;  // `encoder.layers.0`, `cross_entropy`; may hold dots
  Span call = {};                     // where the call stands
  const NameScope* caller = nullptr;  // the scope that it stands in, also where the name begins anew
};

struct Extern {
  std::string name;   // the user's
  std::string key;    // RETURNN's data key
  TensorType type;
  bool available_for_inference = true;
  Span span;
};

// A dict of layers: the network itself, the unit of a loop, a branch of a cond.
struct Region {
  std::uint32_t id = 0;
  const Region* parent = nullptr;      // where its owner stands; null for the network
  const Layer* owner = nullptr;        // the layer that has it in an option; null for the network, and until it is made
  const NameScope* scope = nullptr;    // names of layers in it begin here
  const Layer* anchor = nullptr;       // of a loop, where there is one: a layer that RETURNN leaves in it, for others to stay with
};

// The value that a layer option stands for lies in `options`; "class" is `cls`. References to other layers are
// LayerRef options (anywhere, also nested).
struct Layer {
  std::uint32_t id = 0;          // its place in program order
  std::string cls;               // RETURNN layer class; empty for what is not emitted
  OptionDict options;            // "from" among them
  TensorType type;               // of its main output
  const NameScope* scope = nullptr;
  std::string base;              // wanted name inside its scope
  std::string name;              // final; given by assign_names, or fixed from the start (marks, externs: `data:KEY`)
  bool fixed_name = false;
  bool builtin = false;          // RETURNN has it anyway, under a fixed name: a loop's `:i`, `data:source`
  bool root = false;             // is needed though nothing reads it: losses, outputs; in a region, once its owner is
  bool named = false;            // the base is a name that a program gave
  bool opaque = false;           // the program gave it as it is (`make_layer`): nobody knows what it does
  bool elementwise = false;      // `combine`, `activation` or `eval` whose numbers are each made of the sources' in their place
  const Region* region = nullptr;  // the dict that it stands in
  const Extern* source = nullptr;  // for an extern
  std::string parameter;         // for a variable: its path `encoder/ff/weight`
  Span span;
  std::vector<Span> parts;       // where else the program has what it computes: of layers that went into it

  const Option* option(std::string_view key) const;
  bool emitted() const { return !source && !builtin; }
};

struct Graph {
  // Stable addresses. By their ids a layer stands behind all that it reads, but for values of the step before, and those
  // of a region stand before its owner.
  std::deque<Layer> layers;
  std::deque<NameScope> scopes;
  std::deque<Region> regions;
  std::deque<Extern> externs;
  OptionDict entries;            // of the dict besides the layers, put in as they are (`#copy_param_mode`)
  std::unordered_map<Dim, Dim> lengths_of;  // dims that `reinterpret_data` gives the lengths of another one, with that
  Dim batch = nullptr;

  Graph();
  Layer& add(std::string cls, OptionDict options, TensorType type, const NameScope* scope, std::string base, Span span,
             const Region* region = nullptr);  // without one at the root
  // Of the layers made since `first`, each comes behind what it reads in the same step; their order stays otherwise.
  void put_in_order(const Layer& first);
  const NameScope* add_scope(const NameScope* parent, std::string base, Span call = {}, const NameScope* caller = nullptr);
  const NameScope* root_scope() const { return &scopes.front(); }
  Region& add_region(const Region* parent);  // with a scope of its own for names
  const Region* root_region() const { return &regions.front(); }
};

// How many dicts `outer` lies around `inner`: 0 for itself; nothing where it does not enclose it.
std::optional<std::size_t> levels_out(const Region* inner, const Region* outer);

// Whether it draws random numbers.
bool draws(const Layer& layer);

// Whether the dict, or one around it, is that of a loop.
bool in_loop(const Region* region);

// Whether RETURNN finds nothing but the `output` of the dict: in a loop, and of a loop that is not in the network's own dict.
bool only_output(const Region& region);

// `layer`, or the layer of `region` that has it inside; null where there is none.
const Layer* seen_in(const Region* region, const Layer* layer);

// Calls f(const T&) for every T in an option.
template <class T, class F>
void for_each_part(const Option& option, F&& f) {
  if (const auto* part = std::get_if<T>(&option.data)) f(*part);
  if (const auto* list = std::get_if<OptionList>(&option.data))
    for (const Option& item : *list) for_each_part<T>(item, f);
  if (const auto* tuple = std::get_if<OptionTuple>(&option.data))
    for (const Option& item : tuple->items) for_each_part<T>(item, f);
  if (const auto* set = std::get_if<OptionSet>(&option.data))
    for (const Option& item : set->items) for_each_part<T>(item, f);
  if (const auto* dict = std::get_if<OptionDict>(&option.data))
    for (const auto& [key, item] : *dict) for_each_part<T>(item, f);
  if (const auto* map = std::get_if<OptionMap>(&option.data)) {
    for (const auto& [key, item] : map->items) {
      for_each_part<T>(key, f);
      for_each_part<T>(item, f);
    }
  }
}

// Not those of layers in a region that the option has.
template <class F>
void for_each_layer(const Option& option, F&& f) {
  for_each_part<LayerRef>(option, f);
}
template <class F>
void for_each_dim(const Option& option, F&& f) {
  for_each_part<DimRef>(option, f);
}

// Calls f(T&) for every T in an option.
template <class T, class F>
void change_parts(Option& option, F&& f) {
  if (auto* part = std::get_if<T>(&option.data)) f(*part);
  if (auto* list = std::get_if<OptionList>(&option.data))
    for (Option& item : *list) change_parts<T>(item, f);
  if (auto* tuple = std::get_if<OptionTuple>(&option.data))
    for (Option& item : tuple->items) change_parts<T>(item, f);
  if (auto* set = std::get_if<OptionSet>(&option.data))
    for (Option& item : set->items) change_parts<T>(item, f);
  if (auto* dict = std::get_if<OptionDict>(&option.data))
    for (auto& [key, item] : *dict) change_parts<T>(item, f);
  if (auto* map = std::get_if<OptionMap>(&option.data)) {
    for (auto& [key, item] : map->items) {
      change_parts<T>(key, f);
      change_parts<T>(item, f);
    }
  }
}

// Calls f(const Region&) for every dict that a layer has.
template <class F>
void for_each_region(const Layer& layer, F&& f) {
  for (const auto& [key, value] : layer.options) {
    for_each_part<RegionRef>(value, [&](const RegionRef& ref) {
      if (ref.region) f(*ref.region);
    });
  }
}

}  // namespace rcn
