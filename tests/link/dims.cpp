#include "compiler/dims/dim.h"

int main() {
  rcn::DimTable dims;
  rcn::Dim time = dims.declare("time", rcn::DimKind::spatial, {});
  return dims.add(time, dims.constant(0)) == time ? 0 : 1;
}
