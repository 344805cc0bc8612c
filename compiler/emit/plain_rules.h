// For each layer class that plain JSON can say: what becomes of its options, and what its result looks like.
// To add a class: one entry in plain_rules.cpp, and a case in plain.cpp where no PlainResult fits.
#pragma once

#include <string_view>
#include <vector>

namespace rcn {

enum class PlainSlot {
  keep,      // the value as it is; it may refer to layers, but not to dims
  drop,      // a check or a name that plain JSON has no use for
  n_out,     // the new feature dim: its size, as `n_out`
  in_dim,    // the feature dim of the source: has to be marked as such
  time_dim,  // the loop dim of the source: has to be marked as time
  axis,      // a dim, or a list of dims, of the source: axis strings
  shape,     // a list of dims: sizes
  pairs,     // `from` of concat: tensors, each with its dim
  marks,     // dims of the source by mark
  size,      // a dim: its size
  out_type,  // dtype, and no other sparse dim than the source's
  off,       // has to be false or none
  text,      // a string that works on single values (or on the new feature dim)
};

// The dims and marks of the result.
enum class PlainResult {
  none,          // a scalar
  same,          // those of the source
  new_feature,   // the dim of n_out in place of the source's feature dim
  elementwise,   // the union over all sources
  without_axis,  // the source's without those in `axis`
  concat,
  variable,    // as the type says; the last one is the feature dim
  gather,      // the position's dims in place of `axis`
  last_state,  // batch and the dim of n_out
  unmarked,    // as the type says
};

struct PlainOption {
  std::string_view key;
  PlainSlot slot;
  bool required = false;  // without it RETURNN takes an implicit dim
};

struct PlainRule {
  std::string_view cls;
  PlainResult result;
  std::vector<std::string_view> sources;  // options with the tensors that are combined; axes are named on the first
  std::vector<PlainOption> options;

  const PlainOption* option(std::string_view key) const;
};

// Null for a class that plain JSON cannot say.
const PlainRule* plain_rule(std::string_view cls);

}  // namespace rcn
