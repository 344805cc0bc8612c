// The table itself.
#include <doctest/doctest.h>

#include <set>

#include "tests/unit/ops/fixture.h"

using namespace rcn;

TEST_CASE("every operation is complete") {
  OpTable table;
  std::set<std::string_view> names;
  for (const OpDef* op : table.definitions()) {
    CAPTURE(op->info.name);
    CHECK(names.insert(op->info.name).second);
    CHECK_FALSE(op->info.doc.empty());
    CHECK(op->info.doc.back() == '.');
    CHECK_FALSE(op->info.result.empty());
    CHECK(bool(op->info.infer));
    CHECK(bool(op->lower));
    CHECK(table.find(op->info.name) == &op->info);
    bool keyword_only = false, optional = false;
    for (const OpParam& p : op->info.params) {
      CHECK_FALSE(p.name.empty());
      CHECK(p.types != 0);
      CHECK((!keyword_only || p.keyword_only));  // keywords come last
      if (!p.keyword_only) CHECK((!optional || !p.default_text.empty()));
      keyword_only = p.keyword_only;
      if (!p.keyword_only) optional = !p.default_text.empty();
      if (!p.default_text.empty()) CHECK(accepts(p.types, default_value(p)));
    }
  }
  CHECK(table.find("nothing") == nullptr);
  CHECK(table.names().size() == table.definitions().size());
}
