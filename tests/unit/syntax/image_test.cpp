// The image of the standard library: what goes in comes out.
#include <doctest/doctest.h>

#include <bit>
#include <limits>

#include "compiler/syntax/ast_image.h"
#include "tests/unit/models/models.h"
#include "tests/unit/syntax/dump.h"
#include "tests/unit/syntax/parsed.h"

using namespace rcn;
using namespace rcn::test;

namespace {

void round_trip(std::string_view text) {
  Parsed p{std::string(text)};
  REQUIRE(p.messages() == "");
  ImageEncoder encoder;
  std::vector<std::uint32_t> offsets;
  for (ast::Stmt* s : p.file.body) offsets.push_back(encoder.encode(*s));
  ImageFile image{"m", "m.rcn", text, "", {}, encoder.bytes(), encoder.strings()};
  // Each statement alone, in any order.
  for (std::size_t i = p.file.body.size(); i-- > 0;) {
    Arena arena;
    ast::Stmt* s = decode_statement(image, offsets[i], p.file.file, arena);
    CHECK(dump(*s, true) == dump(*p.file.body[i], true));
  }
}

}  // namespace

TEST_CASE("every statement of the models survives encoding") {
  for (const ModelText& m : kModels) {
    CAPTURE(m.name);
    round_trip(m.text);
  }
  round_trip(kHard.text);
}

TEST_CASE("numbers survive encoding exactly") {
  round_trip("x = [9223372036854775807, -9223372036854775808, 0, 127, 128, 1.7976931348623157e308, 5e-324, 0.1]");
  round_trip("x = [\"\", \"a\", \"a\", \"\\u0000\"]");
}

TEST_CASE("an image is small") {
  Parsed p{std::string(kModels[1].text)};
  ImageEncoder encoder;
  for (ast::Stmt* s : p.file.body) encoder.encode(*s);
  CHECK(encoder.bytes().size() < 2 * kModels[1].text.size());
}

TEST_CASE("a cut image is an internal error, not a crash") {
  Parsed p("x = f(a, b)");
  ImageEncoder encoder;
  encoder.encode(*p.file.body[0]);
  std::span<const std::uint8_t> bytes(encoder.bytes());
  Arena arena;
  ImageFile image{"m", "m.rcn", "", "", {}, bytes.first(bytes.size() - 1), encoder.strings()};
  CHECK_THROWS(decode_statement(image, 0, 1, arena));
}

TEST_CASE("the name that a statement declares") {
  Parsed p("import nn\nfn f() { }\nmodule M() { }\nx = 1\na, b = f()\ndim d: spatial\nx += 1\n");
  std::string names;
  for (ast::Stmt* s : p.file.body) names += std::string(declared_name(*s)) + ",";
  CHECK(names == ",f,M,x,,d,,");
}
