// The laws of dim arithmetic: what is one dim, and what is not.
#include <doctest/doctest.h>

#include <stdexcept>

#include "compiler/dims/dim.h"

using namespace rcn;

namespace {

struct Dims {
  DimTable t;
  Dim d = t.declare("d", DimKind::spatial, std::nullopt);
  Dim a = t.declare("a", DimKind::spatial, std::nullopt), b = t.declare("b", DimKind::spatial, std::nullopt);
  Dim f = t.declare("f", DimKind::feature, 12);

  Dim n(std::int64_t value) { return t.constant(value); }
  Dim ceildiv(Dim x, std::int64_t by) { return t.ceildiv(x, n(by)); }
  Dim floordiv(Dim x, std::int64_t by) { return t.floordiv(x, n(by)); }
};

}  // namespace

TEST_CASE("identity is the declaration, not size or name") {
  Dims x;
  CHECK(x.t.declare("d", DimKind::spatial, 3) != x.t.declare("d", DimKind::spatial, 3));
  CHECK(x.n(3) == x.n(3));
}

TEST_CASE("multiples: n*d, d*n and d + ... + d are one dim") {
  Dims x;
  Dim triple = x.t.mul(x.d, x.n(3));
  CHECK(x.t.mul(x.n(3), x.d) == triple);
  CHECK(x.t.add(x.t.add(x.d, x.d), x.d) == triple);
  CHECK(x.t.add(x.d, x.t.add(x.d, x.d)) == triple);
  CHECK(x.t.sub(x.t.mul(x.d, x.n(4)), x.d) == triple);
  CHECK(x.t.mul(x.t.mul(x.d, x.n(3)), x.n(2)) == x.t.mul(x.d, x.n(6)));
  CHECK(x.t.mul(x.d, x.n(1)) == x.d);
  CHECK(x.t.mul(x.d, x.n(0)) == x.n(0));
  Dim sum = x.t.add(x.a, x.b);
  CHECK(x.t.add(sum, sum) == x.t.mul(sum, x.n(2)));
  CHECK(x.t.sub(x.t.mul(sum, x.n(2)), sum) == sum);
}

TEST_CASE("what is added and taken away again vanishes") {
  Dims x;
  CHECK(x.t.sub(x.t.add(x.d, x.n(5)), x.n(5)) == x.d);
  CHECK(x.t.sub(x.t.add(x.d, x.a), x.a) == x.d);
  CHECK(x.t.add(x.t.sub(x.d, x.n(5)), x.n(5)) == x.d);
  Dim inner = x.t.add(x.a, x.b);
  CHECK(x.t.sub(x.t.add(x.d, inner), inner) == x.d);
  CHECK(x.t.sub(x.d, x.d) == x.n(0));
  CHECK(x.t.add(x.d, x.n(0)) == x.d);
  CHECK(x.t.sub(x.t.add(x.t.add(x.n(1), x.d), x.n(2)), x.n(2)) == x.t.add(x.n(1), x.d));
}

TEST_CASE("sums and products have an order") {
  Dims x;
  CHECK(x.t.add(x.a, x.b) != x.t.add(x.b, x.a));
  CHECK(x.t.mul(x.a, x.b) != x.t.mul(x.b, x.a));
  CHECK(x.t.add(x.n(1), x.d) != x.t.add(x.d, x.n(1)));
  CHECK(x.t.sub(x.t.add(x.n(1), x.d), x.n(1)) != x.d);
  CHECK(x.t.add(x.t.add(x.a, x.b), x.d) == x.t.add(x.a, x.t.add(x.b, x.d)));
  CHECK(x.t.mul(x.t.mul(x.a, x.b), x.d) == x.t.mul(x.a, x.t.mul(x.b, x.d)));
  CHECK(x.t.mul(x.t.mul(x.a, x.n(2)), x.t.mul(x.b, x.n(3))) == x.t.mul(x.n(6), x.t.mul(x.a, x.b)));
}

TEST_CASE("divisions") {
  Dims x;
  CHECK(x.floordiv(x.t.mul(x.d, x.n(6)), 3) == x.t.mul(x.d, x.n(2)));
  CHECK(x.floordiv(x.t.mul(x.d, x.n(6)), 6) == x.d);
  CHECK(x.ceildiv(x.t.mul(x.d, x.n(6)), 6) == x.d);
  CHECK(x.t.floordiv(x.t.mul(x.a, x.b), x.b) == x.a);
  CHECK(x.t.floordiv(x.t.mul(x.a, x.b), x.a) == x.b);
  CHECK(x.t.floordiv(x.d, x.d) == x.n(1));
  CHECK(x.floordiv(x.d, 1) == x.d);
  CHECK(x.floordiv(x.d, 3) == x.floordiv(x.d, 3));
  CHECK(x.floordiv(x.d, 3) != x.ceildiv(x.d, 3));
  CHECK(x.ceildiv(x.ceildiv(x.d, 2), 3) == x.ceildiv(x.d, 6));
  CHECK(x.floordiv(x.floordiv(x.d, 2), 3) == x.floordiv(x.d, 6));
  CHECK(x.floordiv(x.ceildiv(x.d, 2), 3) != x.floordiv(x.d, 6));
  CHECK(x.t.mul(x.ceildiv(x.d, 2), x.n(2)) != x.d);
  CHECK(x.floordiv(x.t.add(x.t.mul(x.d, x.n(2)), x.n(4)), 2) == x.t.add(x.d, x.n(2)));
}

TEST_CASE("sizes of derived dims") {
  Dims x;
  CHECK(x.t.mul(x.f, x.n(4))->size == 48);
  CHECK(x.t.sub(x.t.add(x.n(3), x.f), x.n(1))->size == 14);
  CHECK(x.floordiv(x.f, 5)->size == 2);
  CHECK(x.ceildiv(x.f, 5)->size == 3);
  CHECK(x.t.floordiv(x.n(-7), x.n(2)) == x.n(-4));
  CHECK(x.t.ceildiv(x.n(-7), x.n(2)) == x.n(-3));
  CHECK(x.t.mul(x.f, x.d)->dynamic());
  CHECK(x.t.mul(x.f, x.f)->size == 144);
  CHECK_THROWS_AS(x.t.mul(x.t.mul(x.f, x.n(1LL << 60)), x.n(16)), std::overflow_error);
}

TEST_CASE("kinds of derived dims") {
  Dims x;
  CHECK(x.t.add(x.f, x.n(1))->kind == DimKind::feature);
  CHECK(x.t.add(x.d, x.n(1))->kind == DimKind::spatial);
  CHECK(x.t.mul(x.d, x.f)->kind == DimKind::feature);
  CHECK(x.t.mul(x.t.batch(), x.f)->kind == DimKind::batch);
  CHECK(x.floordiv(x.f, 2)->kind == DimKind::feature);
}

TEST_CASE("text") {
  Dims x;
  CHECK(to_string(x.t.mul(x.d, x.n(2))) == "2 * d");
  CHECK(to_string(x.floordiv(x.t.add(x.d, x.n(1)), 3)) == "(d + 1) // 3");
  CHECK(to_string(x.ceildiv(x.t.add(x.d, x.n(1)), 3)) == "ceildiv(d + 1, 3)");
  CHECK(to_string(x.t.sub(x.t.add(x.n(-1), x.d), x.t.mul(x.a, x.n(2)))) == "-1 + d - 2 * a");
  CHECK(to_string(x.t.mul(x.t.add(x.a, x.b), x.d)) == "(a + b) * d");
  CHECK(to_string(x.t.mul(x.floordiv(x.d, 2), x.n(2))) == "2 * (d // 2)");
  CHECK(to_string(x.t.sub(x.n(0), x.d)) == "-d");
  CHECK(dims_text({x.t.batch(), x.d, x.f}) == "batch, d, f=12");
  CHECK(dims_text({}) == "");
}

TEST_CASE("atoms") {
  Dims x;
  CHECK(atoms(x.t.add(x.t.mul(x.a, x.b), x.floordiv(x.a, 2))) == std::vector<Dim>{x.a, x.b});
  CHECK(atoms(x.n(3)).empty());
}
