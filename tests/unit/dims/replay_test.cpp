// Dims of bodies that run again and again.
#include <doctest/doctest.h>

#include <stdexcept>

#include "compiler/dims/dim.h"

using namespace rcn;

namespace {

Dim spatial(DimTable& t, std::string name) { return t.declare(std::move(name), DimKind::spatial, std::nullopt); }

}  // namespace

TEST_CASE("a body that runs again gets the same dims, and goes on with new ones") {
  DimTable t;
  DimTable::Record record;
  Dim a = nullptr, b = nullptr;
  {
    DimTable::Replay replay(t, record);
    a = spatial(t, "a");
  }
  {
    DimTable::Replay replay(t, record);
    CHECK(spatial(t, "a") == a);
    b = spatial(t, "b");
    CHECK(b != a);
  }
  CHECK(spatial(t, "a") != a);
  DimTable::Replay replay(t, record);
  CHECK(spatial(t, "a") == a);
  CHECK(spatial(t, "b") == b);
}

TEST_CASE("a body in a body") {
  DimTable t;
  DimTable::Record outer;
  Dim inner_dim = nullptr, after = nullptr;
  for (int round = 0; round < 3; ++round) {
    DimTable::Replay replay(t, outer);
    DimTable::Record inner;  // the inner body begins anew in each step of the outer one
    for (int step = 0; step < 2; ++step) {
      DimTable::Replay again(t, inner);
      Dim d = spatial(t, "d");
      if (!inner_dim) inner_dim = d;
      CHECK(d == inner_dim);
    }
    Dim d = spatial(t, "after");
    if (!after) after = d;
    CHECK(d == after);
  }
  CHECK(outer.dims == std::vector<Dim>{inner_dim, after});
}

TEST_CASE("what is made outside of all bodies is in no record") {
  DimTable t;
  DimTable::Record record;
  DimTable::Replay replay(t, record);
  Dim outside = nullptr;
  {
    DimTable::Outside leave(t);
    outside = spatial(t, "x");
  }
  CHECK(record.dims.empty());
  CHECK(spatial(t, "x") != outside);
  CHECK(record.dims.size() == 1);
}

TEST_CASE("a body may not declare something else the next time") {
  DimTable t;
  DimTable::Record record;
  {
    DimTable::Replay replay(t, record);
    spatial(t, "a");
  }
  DimTable::Replay replay(t, record);
  CHECK_THROWS_AS(spatial(t, "b"), std::logic_error);
}
