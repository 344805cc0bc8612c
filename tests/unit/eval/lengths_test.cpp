// Lengths of dims: what they depend on, and bodies that run again.
#include <doctest/doctest.h>

#include "compiler/eval/op.h"

using namespace rcn;

namespace {

struct Lengths {
  DimTable dims;
  DimLengths known;
  Dim batch = dims.batch();
  Dim a = dims.declare("a", DimKind::spatial, std::nullopt), b = dims.declare("b", DimKind::spatial, std::nullopt);
  Dim f = dims.declare("f", DimKind::feature, 3);
};

using Dims = std::vector<Dim>;

}  // namespace

TEST_CASE("lengths of derived dims are those of their atoms") {
  Lengths x;
  Dim sum = x.dims.add(x.a, x.b);
  CHECK(x.known.defined(x.f));
  CHECK(x.known.defined(x.batch));
  x.known.define(x.a, {x.batch});
  CHECK(!x.known.defined(sum));
  x.known.define(x.b, {x.batch, x.a});
  CHECK(x.known.defined(sum));
  CHECK(x.known.length_dims(sum) == Dims{x.batch, x.a});
  CHECK(x.known.length_dims(x.f).empty());
}

TEST_CASE("rollback: a body finds the lengths as they were") {
  Lengths x;
  x.known.define(x.a, {});
  std::size_t mark = x.known.mark();
  x.known.define(x.b, {x.batch});
  x.known.define(x.a, {x.batch});
  x.known.define(x.b, {});
  CHECK(x.known.defined_since(mark) == Dims{x.b, x.a});
  x.known.rollback(mark);
  CHECK(x.known.defined_since(mark).empty());
  CHECK(!x.known.defined(x.b));
  CHECK(x.known.length_dims(x.a).empty());
  CHECK(x.known.defined(x.a));
}

TEST_CASE("what is kept is not rolled back") {
  Lengths x;
  std::size_t mark = x.known.mark();
  x.known.keep = true;
  x.known.define(x.a, {x.batch});
  x.known.keep = false;
  x.known.define(x.b, {});
  x.known.rollback(mark);
  CHECK(x.known.length_dims(x.a) == Dims{x.batch});
  CHECK(!x.known.defined(x.b));
}
