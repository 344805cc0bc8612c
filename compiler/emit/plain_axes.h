// What RETURNN knows of a tensor in plain JSON, and how an axis of it is named there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/dims/type.h"

namespace rcn {

// A mark that a tensor has on one of its dims, or not (null), or of which we do not know (nullopt).
using Mark = std::optional<Dim>;

struct PlainTensor {
  std::vector<Dim> dims;
  Dim sparse_dim = nullptr;
  Mark time = nullptr;
  Mark feature = nullptr;

  bool has(Dim d) const;
  Dim only_dynamic() const;  // its one dynamic dim besides the batch; null if there is none or there are several
};

// `B`, `T`, `F`, `dim:9` or `dyn`; or why no string names this axis alone.
struct AxisName {
  std::string text;
  std::string fault;
};
AxisName axis_name(const PlainTensor& tensor, Dim dim);

// Two dims that RETURNN would take for one where tensors are combined.
struct AlikeDims {
  Dim a = nullptr, b = nullptr;
  std::string reason;
};
std::optional<AlikeDims> find_alike(const std::vector<const PlainTensor*>& tensors, Dim except = nullptr);

// The type of an elementwise result over all dims of the sources.
PlainTensor combined(const std::vector<const PlainTensor*>& tensors);

inline bool is_batch(Dim d) { return d->kind == DimKind::batch; }

}  // namespace rcn
