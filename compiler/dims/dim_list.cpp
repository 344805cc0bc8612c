#include "compiler/dims/dim_list.h"

#include <algorithm>

namespace rcn {

bool contains(const std::vector<Dim>& dims, Dim d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); }

std::vector<Dim> without(std::vector<Dim> dims, const std::vector<Dim>& gone) {
  for (Dim d : gone)
    if (auto it = std::find(dims.begin(), dims.end(), d); it != dims.end()) dims.erase(it);
  return dims;
}

std::vector<Dim> united(std::vector<Dim> a, const std::vector<Dim>& b) {
  std::vector<Dim> more = without(b, a);
  a.insert(a.end(), more.begin(), more.end());
  return a;
}

bool same_dims(std::vector<Dim> a, std::vector<Dim> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

std::vector<Dim> with_replaced(const std::vector<Dim>& dims, Dim axis, const std::vector<Dim>& by) {
  std::vector<Dim> result;
  for (Dim d : dims) {
    if (d == axis) {
      result.insert(result.end(), by.begin(), by.end());
    } else {
      result.push_back(d);
    }
  }
  return result;
}

}  // namespace rcn
