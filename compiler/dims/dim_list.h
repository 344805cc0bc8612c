// Lists of dims as operations need them.
#pragma once

#include <vector>

#include "compiler/dims/dim.h"

namespace rcn {

bool contains(const std::vector<Dim>& dims, Dim d);
// `dims` without the first occurrence of each of `gone`.
std::vector<Dim> without(std::vector<Dim> dims, const std::vector<Dim>& gone);
// `a`, then what `b` has more.
std::vector<Dim> united(std::vector<Dim> a, const std::vector<Dim>& b);
// The same dims in any order.
bool same_dims(std::vector<Dim> a, std::vector<Dim> b);
// With `by` in the place of `axis`.
std::vector<Dim> with_replaced(const std::vector<Dim>& dims, Dim axis, const std::vector<Dim>& by);

}  // namespace rcn
