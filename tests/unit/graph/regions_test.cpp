#include <doctest/doctest.h>

#include "compiler/graph/passes.h"

using namespace rcn;

namespace {

using Names = std::vector<std::string>;

struct Regions : Graph {
  const Region* root = root_region();

  Layer& layer(const std::string& base, OptionDict options = {}, const Region* region = nullptr,
               std::string cls = "copy") {
    const Region* place = region ? region : root;
    return add(std::move(cls), std::move(options), {}, place->scope, base, {}, place);
  }
  Layer& fixed(const std::string& name, OptionDict options = {}, const Region* region = nullptr,
               std::string cls = "copy") {
    Layer& made = layer(name, std::move(options), region, std::move(cls));
    made.name = name;
    made.fixed_name = true;
    made.root = name == "output" || name == "end";
    return made;
  }
  Layer& builtin(const std::string& name, const Region* region) {
    Layer& made = fixed(name, {}, region, "");
    made.builtin = true;
    return made;
  }
  Layer& own(Region& body, const std::string& base = "loop") {
    Layer& owner = layer(base, {{"unit", RegionRef{&body}}}, body.parent, "rec");
    body.owner = &owner;
    return owner;
  }
  Layer& cond(Region& yes, Region& no, OptionDict options = {}) {
    auto branch = [](const Region& region) {
      return OptionDict{{"class", "subnetwork"}, {"subnetwork", RegionRef{&region}}};
    };
    options.emplace_back("true_layer", branch(yes));
    options.emplace_back("false_layer", branch(no));
    Layer& owner = layer("if", std::move(options), yes.parent, "cond");
    yes.owner = no.owner = &owner;
    return owner;
  }
  const Layer& chain(const Layer& from, int length, const Region* region = nullptr) {
    const Layer* x = &from;
    for (int i = 0; i < length; ++i) x = &layer("x", {{"from", x}}, region);
    return *x;
  }
  static LayerRef before(const Layer& layer) { return {&layer, "", RefKind::previous}; }

  LiveLayers live() { return drop_dead(*this); }
  Names problems() { return verify(*this, live(), "test"); }
  std::string problem() {
    Names found = problems();
    return found.size() == 1 ? found[0] : std::to_string(found.size()) + " problems";
  }
  static Names bases(const std::vector<Layer*>& layers) {
    Names result;
    for (const Layer* layer : layers) result.push_back(layer->base);
    return result;
  }
  static Names names(const std::vector<Layer*>& layers) {
    Names result;
    for (const Layer* layer : layers) result.push_back(layer->name);
    return result;
  }
};

// A loop with the state `h`, a second stacked value and a last state, each read or not.
struct Loop : Regions {
  Layer& data = layer("data");
  Layer& first = layer("first");
  Region& body = add_region(root);
  Layer& index = builtin(":i", &body);
  Layer& h = fixed("h", {}, &body);
  Layer& stacked = fixed("stacked", {{"from", &h}}, &body);
  Layer& state = fixed("state", {}, &body);
  Layer* loop = nullptr;

  Loop() {
    h.options = {{"from", OptionList{&data, before(h)}}, {"initial_output", &first}};
    state.options = {{"from", before(state)}, {"initial_output", &index}};
    layer("unused", {{"from", &h}}, &body);
    fixed("output", {{"from", &h}}, &body);
    loop = &own(body);
  }
  Layer& need(Option from) { return fixed("output", {{"from", std::move(from)}}); }
};

}  // namespace

TEST_CASE("regions: a live owner needs the roots of its body") {
  Loop l;
  l.need(l.loop);
  LiveLayers live = l.live();
  CHECK(l.bases(live.root()) == Names{"data", "first", "loop", "output"});
  CHECK(l.bases(live.in(&l.body)) == Names{"h", "output"});
  CHECK(l.problems() == Names{});
  CHECK(l.bases(live.all()) == Names{"data", "first", "h", "output", "loop", "output"});
}

TEST_CASE("regions: a layer that is read needs its owner") {
  Loop l;
  l.need(&l.stacked);
  CHECK(l.bases(l.live().root()) == Names{"data", "first", "loop", "output"});
  CHECK(l.bases(l.live().in(&l.body)) == Names{"h", "stacked", "output"});
  CHECK(l.problems() == Names{});
}

TEST_CASE("regions: a name is a reference") {
  Loop l;
  l.need(OptionList{l.loop, LayerRef{&l.state, "", RefKind::name}});
  CHECK(l.bases(l.live().in(&l.body)) == Names{":i", "h", "state", "output"});
  CHECK(l.problems() == Names{});
}

TEST_CASE("regions: roots of a dead body are dead") {
  Loop l;
  l.need(&l.data);
  CHECK(l.bases(l.live().root()) == Names{"data", "output"});
  CHECK(l.live().in(&l.body).empty());
}

TEST_CASE("regions: a branch's result is needed in the other branch") {
  Regions g;
  Layer& c = g.layer("c");
  Region &yes = g.add_region(g.root), &no = g.add_region(g.root);
  Layer& only = g.layer("only", {}, &no);
  g.fixed("output", {{"from", &c}}, &yes);
  Layer& result = g.fixed("y", {{"from", &c}}, &yes);
  g.fixed("z", {}, &yes);
  g.fixed("output", {}, &no);
  g.fixed("y", {{"from", &only}}, &no);
  g.fixed("z", {}, &no);
  g.cond(yes, no, {{"condition", &c}});
  g.fixed("output", {{"from", &result}});
  CHECK(g.bases(g.live().in(&yes)) == Names{"output", "y"});
  CHECK(g.bases(g.live().in(&no)) == Names{"only", "output", "y"});
  CHECK(g.problems() == Names{});
}

TEST_CASE("regions: each dict has names of its own") {
  Regions g;
  Layer& x = g.layer("x");
  Region& body = g.add_region(g.root);
  const NameScope* call = g.add_scope(body.scope, "ff");
  Layer& a = g.layer("x", {{"from", &x}}, &body);
  Layer& b = g.layer("x", {{"from", &a}}, &body);
  Layer& c = g.layer("end", {{"from", &b}}, &body);
  Layer& d = g.layer("output", {{"from", &c}}, &body);
  Layer& e = g.layer("prev:h", {{"from", &d}}, &body);
  Layer& f = g.add("copy", {{"from", &e}}, {}, call, "dot", {}, &body);
  g.fixed("output", {{"from", &f}}, &body);
  Layer& g_end = g.layer("end", {{"from", &g.own(body)}});
  g.fixed("output", {{"from", &g_end}});
  LiveLayers live = g.live();
  assign_names(live);
  CHECK(g.names(live.root()) == Names{"x", "loop", "end", "output"});
  CHECK(g.names(live.in(&body)) == Names{"x", "x_1", "end_1", "output_1", "prev_h", "ff.dot", "output"});
  CHECK(verify(g, live, "test") == Names{});
}

TEST_CASE("regions: what verify finds in references") {
  Loop l;
  Region& other = l.add_region(l.root);
  Layer& x = l.fixed("output", {}, &other);
  Layer& second = l.own(other, "second");
  Layer& late = l.layer("late");
  l.need(OptionList{&late, &second, l.loop});
  CHECK(l.problems() == Names{});
  auto problem_of = [&](Option from) {
    x.options = {{"from", std::move(from)}};
    return l.problem();
  };
  const std::string begin = "after test: layer " + std::to_string(x.id) + " `output` (copy) refers in `from` to ";
  CHECK(problem_of(&l.stacked) == "0 problems");  // `base:loop/stacked`
  CHECK(problem_of(&late) == begin + "a layer that is not before it");
  CHECK(problem_of(Regions::before(late)) == begin + "the step before of a layer that is not in a loop around it");
  CHECK(problem_of(Regions::before(l.h)) == begin + "the step before of a layer that is not in a loop around it");
  CHECK(problem_of(Regions::before(x)) == "0 problems");
  CHECK(problem_of(&x) == begin + "a layer that is not before it");
  CHECK(problem_of(LayerRef{&l.stacked, "0"}) == begin + "a part of a layer of another dict");
  x.options = {};

  l.first.options = {{"from", &l.stacked}};
  CHECK(l.problem() ==
        "after test: layer 1 `first` (copy) refers in `from` to a layer of a dict that is not before it");
}

TEST_CASE("regions: what verify finds in nested references") {
  Regions g;
  Region& body = g.add_region(g.root);
  Layer& index = g.builtin(":i", &body);
  Region& inside = g.add_region(&body);
  Layer& own_index = g.builtin(":i", &inside);
  Layer& deep = g.fixed("y", {{"from", OptionList{&index, &own_index}}}, &inside);
  Layer& result = g.fixed("output", {{"from", &deep}}, &inside);
  Layer& inner = g.own(inside, "inner");
  Layer& out = g.fixed("output", {{"from", OptionList{&inner, &result}}}, &body);
  Layer& loop = g.own(body);
  Layer& mark = g.fixed("output", {{"from", OptionList{&loop, &out}}});
  CHECK(g.problems() == Names{});

  mark.options = {{"from", &deep}};
  CHECK(g.problem() ==
        "after test: layer 7 `output` (copy) refers in `from` to a layer of a dict that it is not in, nor next to");
  mark.options = {{"from", &loop}};
  out.options = {{"from", &deep}};  // `inner/y`
  CHECK(g.problem() ==
        "after test: layer 5 `output` (copy) refers in `from` to a layer that its dict cannot hand out, "
        "as it stands in another dict");
  out.options = {{"from", &inner}};
  deep.options = {{"from", Regions::before(own_index)}};
  CHECK(g.problem() ==
        "after test: layer 2 `y` (copy) refers in `from` to the step before of a layer that is built in");
  deep.options = {{"from", Regions::before(out)}};  // `base:prev:output`
  CHECK(g.problem() ==
        "after test: layer 2 `y` (copy) refers in `from` to the step before of a loop around the loop "
        "that it is in");
}

TEST_CASE("regions: second results of conds") {
  for (bool in_loop : {false, true}) {
    Regions g;
    Region& body = g.add_region(g.root);
    Region &yes = g.add_region(&body), &no = g.add_region(&body);
    Layer& state = g.fixed("h", {}, &body);
    g.fixed("output", {{"from", Regions::before(state)}}, &yes);  // `base:prev:h`
    Layer& second = g.fixed("y", {}, &yes);
    g.fixed("output", {}, &no);
    g.fixed("y", {}, &no);
    Layer& cond = g.cond(yes, no);
    g.fixed("output", {{"from", OptionList{&cond, &second}}}, &body);
    g.own(body).root = true;
    if (in_loop) {
      CHECK(g.problem() ==
            "after test: layer 6 `output` (copy) refers in `from` to a layer that its dict cannot hand "
            "out, as it stands in another dict");
    } else {
      g.layers.back().cls = "subnetwork";
      CHECK(g.problem() ==
            "after test: layer 1 `output` (copy) refers in `from` to the step before of a layer that is "
            "not in a loop around it");
    }
  }
}

TEST_CASE("regions: what verify finds in owners") {
  Loop l;
  l.need(l.loop);
  l.loop->options.emplace_back("again", RegionRef{&l.body});
  CHECK(l.problem() == "after test: layer 8 `loop` (rec) has the region in `again` twice");
  l.loop->options = {{"unit", RegionRef{}}, {"from", &l.h}};
  CHECK(l.problems() ==
        Names{"after test: layer 8 `loop` (rec) refers in `from` to a layer of a dict that is not before it",
              "after test: layer 8 `loop` (rec) has no region in `unit`",
              "after test: layer 8 `loop` (rec) has a region that is in none of its options"});
  Region& empty = l.add_region(l.root);
  empty.owner = l.loop;
  l.loop->options = {{"unit", RegionRef{&l.body}}, {"other", RegionRef{&empty}}};
  CHECK(l.problem() == "after test: layer 8 `loop` (rec) has an empty region in `other`");
  Region& foreign = l.add_region(&l.body);
  l.loop->options = {{"unit", RegionRef{&l.body}}, {"other", RegionRef{&foreign}}};
  CHECK(l.problem() == "after test: layer 8 `loop` (rec) does not own the region in `other`");

  Regions g;
  Region& body = g.add_region(g.root);
  g.layer("x", {}, &body).root = true;
  g.own(body).root = true;
  CHECK(g.problem() == "after test: layer 1 `loop` (rec) has a region without an `output`");
  Regions h;
  Region& late = h.add_region(h.root);
  h.own(late).root = true;
  h.fixed("output", {}, &late);
  CHECK(h.problem() == "after test: layer 1 `output` (copy) is not before the owner of its region");
  Regions i;
  Region& lost = i.add_region(i.root);
  Layer& x = i.fixed("output", {}, &lost);
  i.fixed("output", {{"from", &x}});
  CHECK(i.problems() ==
        Names{"after test: layer 1 `output` (copy) refers in `from` to a layer of a dict that is not before it",
              "after test: layer 0 `output` (copy) is in a region without an owner"});
}

TEST_CASE("regions: what verify finds in branches and names") {
  Regions g;
  Region &yes = g.add_region(g.root), &no = g.add_region(g.root);
  g.fixed("output", {}, &yes);
  Layer& only = g.fixed("y", {}, &yes);
  g.fixed("output", {}, &no);
  g.cond(yes, no);
  g.fixed("output", {{"from", &only}});
  CHECK(g.problem() == "after test: layer 4 `output` (copy) refers in `from` to a layer that is not in all branches");
  Loop l;
  l.need(l.loop);
  LiveLayers live = l.live();
  assign_names(live);
  CHECK(verify(l, live, "test") == Names{});
  l.h.fixed_name = false;
  l.h.name = "end";
  CHECK(verify(l, live, "test") ==
        Names{"after test: layer 3 `end` (copy) has a name to which RETURNN gives a meaning"});
  l.h.name = "output";
  CHECK(verify(l, live, "test").size() == 2);  // and is given twice
  l.h.name = "first";
  CHECK(verify(l, live, "test") == Names{});
  std::swap(live.dicts[0], live.dicts[1]);
  CHECK(verify(l, live, "test") == Names{"after test: layer 3 `first` (copy) stands in the dict of another region"});
}

namespace {

// `below` layers, a loop with `inside` layers on them, `above` layers on that.
struct Stack : Regions {
  const Layer* loop = nullptr;
  const Layer* last_below = nullptr;
  Region* body = nullptr;

  Stack(int below, int inside, int above) {
    last_below = &chain(layer("x"), below - 1);
    body = &add_region(root);
    const Layer& x = chain(*last_below, inside - 1, body);
    fixed("output", {{"from", &x}}, body);
    loop = &own(*body);
    const Layer& y = chain(*loop, above - 1);
    fixed("output", {{"from", &y}});
  }
  std::vector<const Layer*> anchored() {
    LiveLayers passed = live();
    assign_names(passed);
    add_order_anchor(*this, passed);
    CHECK(verify(*this, passed, "test") == Names{});
    std::vector<const Layer*> result;
    for (const Layer* layer : passed.root())
      if (layer->name == ".order")
        for (const Option& dep : std::get<OptionList>(layer->option("shape_deps")->data))
          result.push_back(std::get<LayerRef>(dep.data).layer);
    return result;
  }
};

}  // namespace

TEST_CASE("regions: a loop stands on top of the network's depth") {
  CHECK(Stack(60, 40, 19).anchored().empty());  // 120 with the loop
  CHECK(!Stack(60, 41, 19).anchored().empty());
  CHECK(Stack(1, 117, 1).anchored().empty());
  Stack stack(150, 50, 1);
  std::vector<const Layer*> anchored = stack.anchored();
  REQUIRE(anchored.size() == 39);  // every fourth
  CHECK(anchored[37] == stack.last_below);  // what the body reads is built before it
  CHECK(anchored[38] == stack.loop);
}

TEST_CASE("regions: what a nested body reads counts at the root") {
  Regions g;
  const Layer& x = g.chain(g.layer("x"), 100);
  Region& body = g.add_region(g.root);
  Region& inside = g.add_region(&body);
  g.fixed("output", {{"from", &g.chain(x, 20, &inside)}}, &inside);
  g.fixed("output", {{"from", &g.own(inside)}}, &body);
  g.fixed("output", {{"from", &g.own(body)}});
  LiveLayers layers = g.live();
  add_order_anchor(g, layers);
  CHECK(layers.root().back()->name == ".order");
}

TEST_CASE("regions: the step before is no part of a chain") {
  Regions g;
  Region& body = g.add_region(g.root);
  Layer& first = g.layer("first", {}, &body);
  const Layer& last = g.chain(first, 100, &body);
  first.options = {{"from", Regions::before(last)}};
  g.fixed("output", {{"from", &g.chain(first, 30, &body)}}, &body);
  g.fixed("output", {{"from", &g.own(body)}});
  LiveLayers layers = g.live();
  CHECK(verify(g, layers, "test") == Names{});
  add_order_anchor(g, layers);
  CHECK(layers.root().size() == 2);
}

TEST_CASE("regions: deep bodies") {
  Stack shallow(1, 180, 1);
  CHECK(deep_body(shallow, shallow.live()) == nullptr);
  Stack deep(1, 181, 1);
  CHECK(deep_body(deep, deep.live()) == deep.body);
  Stack root(300, 10, 300);
  CHECK(deep_body(root, root.live()) == nullptr);
  // The inner body stands on top of the outer one.
  Regions g;
  Region& body = g.add_region(g.root);
  const Layer& x = g.chain(g.layer("x", {}, &body), 100, &body);
  Region& inside = g.add_region(&body);
  g.fixed("output", {{"from", &g.chain(x, 90, &inside)}}, &inside);
  g.fixed("output", {{"from", &g.own(inside)}}, &body);
  g.own(body).root = true;
  CHECK(deep_body(g, g.live()) == &body);
}

TEST_CASE("regions: searches stand in anchors of their own") {
  Regions g;
  const Layer* x = &g.chain(g.layer("x"), 40);
  for (int i = 0; i < 2; ++i) {
    Region& body = g.add_region(g.root);
    g.fixed("output", {{"from", x}}, &body, "choice");
    const Layer& found = g.chain(g.own(body), 30);
    x = &g.chain(g.layer("decided", {{"from", &found}}, nullptr, "decide"), 10);
  }
  g.fixed("output", {{"from", x}});
  LiveLayers layers = g.live();
  add_order_anchor(g, layers);
  Names anchors;
  for (const Layer* layer : layers.root())
    if (layer->name.starts_with(".order")) anchors.push_back(layer->name);
  CHECK(anchors.size() == 5);  // none, the first, none, the second, none
}
