#include "compiler/eval/op.h"

int main() {
  rcn::DimLengths lengths;
  rcn::DimTable dims;
  return lengths.defined(dims.constant(3)) ? 0 : 1;
}
