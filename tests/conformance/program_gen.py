"""Random programs with control flow over tensors, valid by construction; see `random_programs`."""

from program_tree import Expr, Node, Type
from program_values import BATCH, B, F, I, Scope, Values

DEPTH = 3  # of loops and branches
STATIC = ("input", "hidden")  # what loops go over

DECLARATIONS = """\
import nn
dim time: spatial
dim keys: spatial
dim input: feature = 3
dim hidden: feature = 4
dim classes: feature = 5
extern data: float32[batch, time, input]
extern pos: float32[batch, time, input]
extern mem: float32[batch, keys, hidden]
extern ids: index(classes)[batch, time]
extern vec: float32[batch, hidden]
fn squash(x: Tensor) -> Tensor { return nn.tanh(x) * 0.7 }
fn pick(c: Tensor, x: Tensor, y: Tensor) -> Tensor {
    if c { r = nn.sin(x) } else { r = y * 0.5 }
    return r
}
fn running(x: Tensor, axis: Dim) -> Tensor {
    loop u over axis with s = nn.zeros([d for d in x.dims if d != axis]) {
        s = nn.tanh(s * 0.5 + x[u])
        stack r = s
    }
    return r
}
fn final(x: Tensor, axis: Dim) -> Tensor {
    loop u over axis with s = nn.zeros([d for d in x.dims if d != axis]) { s = nn.sin(s + x[u]) }
    return s
}
"""


def members(i):
    """The modules and parameters of program `i`, lines of the network's body."""
    return [
        f"lin{i} = nn.Linear(input, hidden)",
        f"param table{i}: [classes, hidden] = 0.1",
        f"param w{i}: [hidden] = 0.1",
        f"param scale{i}: [input] = 1.0",
        f"param gain{i}: [] = 0.5",
    ]


def anchors(i):
    """An output and a loss that all parameters of program `i` are in: so they are there whether or not the program needs
    them, and their gradients are not just rounding."""
    value = f"lin{i}(scale{i}) + w{i} * gain{i} + nn.reduce(table{i}, mode=\"sum\", axis=classes)"
    return [f"output p{i}_all = {value}", f"loss p{i}_anchor = nn.expand_dims(nn.reduce(nn.sin(p{i}_all), mode=\"sum\", axis=hidden), [batch])"]


class Generator(Values):
    """Makes program `i` from a random generator of Python's `random`."""

    def __init__(self, i, rng):
        super().__init__(i, rng)
        self.names = 0
        self.dims = []  # declarations

    def program(self):
        """The statements of the function, marks included."""
        i = self.i
        scope = Scope({}, set())
        for name, dtype, dims in (
            ("data", F, "batch time input"), ("pos", F, "batch time input"), ("mem", F, "batch keys hidden"),
            ("ids", "index", "batch time"), ("vec", F, "batch hidden"), (f"w{i}", F, "hidden"),
            (f"gain{i}", F, ""), (f"scale{i}", F, "input"),
        ):
            scope.vars[name] = Type(dtype, frozenset(dims.split()))
        block = []
        self._assign(block, scope, "x", Expr(Type(F, frozenset(["batch", "time", "input"])), "data * {0}", [Expr(Type(F, frozenset(["input"])), f"scale{i}")]))
        self._assign(block, scope, "c", self._global(scope))
        for _ in range(self.rng.randint(0, 1)):
            self._local(block, scope)
        for n in range(self.rng.randint(1, 3)):
            if n == 0 or self.rng.random() < 0.6:
                self._loop(block, scope)
            else:
                self._if(block, scope)
        made = [n for n in scope.vars if n in scope.owned and n not in ("x", "c")]
        block += self._marks({n: scope.vars[n] for n in made})
        return self.dims + block

    # ---- marks

    def _marks(self, values):
        marks = []
        total = None
        for name, type_ in values.items():
            value = Expr(type_, name)
            if type_.dtype == "index":
                continue
            marks.append(Node("output", f"output p{self.i}_{name} = {{0}}", [value], name))
            if type_.dtype != F:
                continue
            over = sorted(type_.dims - BATCH)
            term = Expr(type_, "nn.sin({0})", [value])
            if "batch" not in type_.dims and any(self.batch_lengths.get(d) for d in over):
                term = Expr(Type(F, type_.dims | BATCH), "nn.expand_dims({0}, [batch])", [term])
            if over:
                term = Expr(Type(F, term.type.dims & BATCH), f'nn.reduce({{0}}, mode="mean", axis=[{", ".join(over)}])', [term])
            if total is None:
                total = term
            else:
                total = Expr(Type(F, total.type.dims | term.type.dims), "{0} + {1}", [total, term])
        if total is not None:
            if total.type.dims != BATCH:
                total = Expr(Type(F, BATCH), "nn.expand_dims({0}, [batch])", [total])
            marks.append(Node("loss", f"loss p{self.i}_l = {{0}}", [total]))
        return marks

    # ---- statements

    def _name(self, base):
        self.names += 1
        return f"{base}{self.names}"

    def _assign(self, block, scope, name, value):
        block.append(Node("assign", f"{name} = {{0}}", [value], name))
        scope.vars[name] = value.type
        scope.owned.add(name)

    def _local(self, block, scope):
        self._assign(block, scope, self._name("v"), self.value(self._type(scope), scope, 2))

    def _statement(self, block, scope):
        r = self.rng.random()
        if r < 0.3:
            self._local(block, scope)
        elif r < 0.55:
            self._if(block, scope)
        elif r < 0.75 and scope.loops:
            self._masked(block, scope)
        elif scope.depth < DEPTH:
            self._loop(block, scope)
        else:
            self._local(block, scope)

    def _if(self, block, scope):
        conditions = [self.condition(scope) for _ in range(self.rng.choice([1, 1, 1, 2]))]
        mine = [n for n in sorted(scope.owned) if scope.vars.get(n) and n not in ("x", "c")]
        old = [n for n in mine if scope.vars[n].dtype != "index" and self._leaves_branch(scope.vars[n], scope)]
        count = self.rng.choice([1, 1, 2, 3])
        targets = {}
        for _ in range(count):
            if old and self.rng.random() < 0.6:
                name = self.rng.choice(old)
                targets[name] = scope.vars[name]
            else:
                type_ = self._type(scope)
                targets[self._name("v")] = type_ if self._leaves_branch(type_, scope) else Type(type_.dtype, BATCH)
        new = [n for n in targets if n not in scope.vars]
        otherwise = bool(new) or self.rng.random() < 0.6
        blocks = []
        for _ in range(len(conditions) + otherwise):
            inner, inner_scope = [], scope.child(depth=scope.depth + 1)
            if self.rng.random() < 0.4:
                # what only one branch has is gone afterwards
                self._statement(inner, inner_scope.child(owned=set())) if self.rng.random() < 0.5 else self._local(inner, inner_scope)
            for name, type_ in targets.items():
                if name not in new and len(blocks) and self.rng.random() < 0.2:
                    continue
                self._assign(inner, inner_scope, name, self.value(type_, inner_scope, 2))
            blocks.append(inner)
        block.append(Node("if", "", conditions, "", [], blocks, otherwise))
        for name, type_ in targets.items():
            scope.vars[name] = type_
            scope.owned.add(name)

    def _masked(self, block, scope):
        """A masked part of a loop, that assigns names of its body."""
        wide = self.rng.random() < 0.85
        old = [n for n in sorted(scope.owned) if n in scope.vars and scope.vars[n].dtype != "index" and (not wide or "batch" in scope.vars[n].dims)]
        if not old:
            name = self._name("v")
            self._assign(block, scope, name, self.value(Type(F, frozenset(self.rng.choice(["batch hidden", "batch"]).split())), scope, 1))
            old = [name]
        inner_scope = scope.child(depth=scope.depth + 1)
        inner = []
        unsafe = self.rng.random() < 0.5 and wide
        if unsafe:
            guard = self._name("g")
            self._assign(block, scope, guard, self.value(Type(F, BATCH), scope, 1))
            inner_scope = scope.child(depth=scope.depth + 1)
            mask = Expr(Type(B, BATCH), f"{guard} > {self._number()}")
            risky = self.rng.choice(["nn.log({g})", "1.0 / {g}", "{g} ** 0.5", "nn.sqrt({g})"]).format(g=guard)
            self._assign(inner, inner_scope, self._name("v"), Expr(Type(F, BATCH), risky))
        else:
            mask = self.value(Type(B, BATCH if wide else frozenset()), scope, 2)
        if self.rng.random() < 0.3:
            self._statement(inner, inner_scope.child(owned=set()))
        names = self.rng.sample(old, min(len(old), self.rng.choice([1, 1, 2])))
        for name in names:
            value = self.value(scope.vars[name], inner_scope, 2)
            if unsafe and scope.vars[name].dtype == F:
                used = Expr(Type(F, BATCH), [n for n in inner_scope.vars if n not in scope.vars][0])
                value = Expr(scope.vars[name], "({0} * nn.sin({1}))", [value, used])
            self._assign(inner, inner_scope, name, value)
        block.append(Node("masked", "masked {0}", [mask], "", [], [inner]))

    def _loop(self, block, scope):
        inner_loop = bool(scope.loops)
        index = self._name("t")
        around = {dim for _, dim in scope.loops}
        known = [d for d in ["time", "time", "time", "keys", *STATIC] if d not in around]
        known += [d for d in self.batch_lengths if d.startswith("o") and d not in around and not self.varying.get(d) and any(d in t.dims for t in scope.vars.values())]
        new = self.rng.random() < 0.35
        if not known:
            return self._local(block, scope)
        exprs, form = [], ""
        if new:
            dim = self._name("o")
            self.dims.append(Node("dim", f"dim {dim}: spatial", [], dim))
            form = f"loop {index} over {dim}"
            ends = self.rng.choice(["max", "end", "both"])
            maximum = self._maximum(scope) if ends != "end" else None
            if maximum:
                form += " max {0}"
                exprs = [maximum]
        else:
            dim = self.rng.choice(known)
            form = f"loop {index} over {dim}"
        states = {}
        for _ in range(self.rng.choice([0, 1, 1, 2, 3])):
            states[self._name("s")] = self._initial(scope)
        node = Node("loop", form, exprs, index, [(n, e) for n, (_, e) in states.items()], [[]])
        history = self._history_type() if self.rng.random() < 0.25 else None
        inner = scope.child(owned=set(), loops=scope.loops + ((index, dim),), depth=scope.depth + 1)
        inner.vars[index] = Type(I, frozenset())
        for name, (types, _) in states.items():
            for part, type_ in types.items():
                inner.vars[name + part] = type_
                if not part:
                    inner.owned.add(name)
        body = node.blocks[0]
        past = self._grow(node, inner, history, around | {dim}) if history else None
        for _ in range(self.rng.randint(0, 2)):
            self._statement(body, inner)
        between = self._next_states(body, inner, states)
        stacks = {}
        count = self.rng.choice([0, 1, 1, 2, 3])
        if not states and not count:
            count = 1
        end_at = self.rng.randint(0, count) if new else -1
        per_sequence = new and bool(exprs) and "batch" in exprs[0].type.dims
        for k in range(count + 1):
            if new and k == end_at and ends != "max":
                condition = self._end(inner, node, ends)
                per_sequence = per_sequence or "batch" in condition.type.dims
                eos = self.rng.choice(["true", "false"])
                if eos == "false":  # RETURNN fails where no sequence has a frame
                    condition = Expr(condition.type, f"({index} >= 1 and {{0}})", [condition])
                body.append(Node("end", f"end({{0}}, include_eos={eos})", [condition]))
            if k < count:
                name = self._name("r")
                if between and dim not in between[-1].type.dims and self.rng.random() < 0.5:
                    value = between.pop()
                    body.append(Node("stack", f"stack {name} = {{0}}", [value], name))
                    stacks[name] = value.type
                    continue
                type_ = self._type(inner, without={dim, past})
                if dim in STATIC and any(dim in self.varying.get(d, ()) for d in type_.dims):
                    type_ = Type(type_.dtype, BATCH)  # there is no layer for such lengths
                value = self.value(type_, inner, 2)
                body.append(Node("stack", f"stack {name} = {{0}}", [value], name))
                stacks[name] = value.type
        block.append(node)
        if new:
            self.batch_lengths[dim] = per_sequence
            if inner_loop:
                self.varying[dim] = around
        lengths = BATCH if self.batch_lengths.get(dim) else frozenset()
        results = {n + p: Type(t.dtype, t.dims | lengths) for n, (types, _) in states.items() for p, t in types.items()}
        results |= {n: Type(t.dtype, t.dims | {dim}) for n, t in stacks.items()}
        for name, type_ in results.items():
            scope.vars[name] = type_
            scope.owned.add(name) if "." not in name else None

    def _history_type(self):
        return Type(F, frozenset(self.rng.choice(["batch hidden", "batch input", "batch", "hidden"]).split()))

    def _grow(self, node, scope, type_, around):
        """A history of values of the type, state of the loop `node` as well; gives its dim."""
        state, frames, past = self._name("h"), self._name("k"), self._name("past")
        node.states.append((state, Expr(None, f"nn.empty_history([{', '.join(sorted(type_.dims))}])")))
        value = self.value(type_, scope, 2)
        node.blocks[0].append(Node("assign", f"{frames}, {past}, {state} = nn.cum_concat({{0}}, spatial_dim=nn.single_step_dim, state={state})", [value], frames))
        scope.vars[frames] = Type(F, type_.dims | {past})
        self.batch_lengths[past] = False
        self.varying[past] = around
        return past

    def _initial(self, scope):
        """({part: type}, initial value) of a state; a record has two parts."""
        r = self.rng.random()
        if r < 0.15:
            return {"": Type(I, frozenset())}, Expr(None, str(self.rng.randint(0, 2)))
        if r < 0.25:
            return {"": Type(F, frozenset())}, Expr(None, "0.25")
        if r < 0.4:
            a, b = self._state_type(), self._state_type()
            value = Expr(None, "{{a: {0}, b: {1}}}", [self.value(a, scope, 1), self.value(b, scope, 1)])
            return {".a": a, ".b": b}, value
        type_ = self._state_type()
        return {"": type_}, self.value(type_, scope, 1)

    def _state_type(self):
        dtype = self.rng.choice([F, F, F, I, B])
        return Type(dtype, frozenset(self.rng.choice(["batch hidden", "batch hidden", "batch", "batch input", "hidden", ""]).split()))

    def _next_states(self, body, scope, states):
        """Assigns states; gives values that are between a state and its next value."""
        between = []
        names = list(states)
        self.rng.shuffle(names)
        for name in names:
            types, _ = states[name]

            def value(inner, depth=2):
                parts = {}
                for part, type_ in types.items():
                    e = self.value(type_, inner, depth)
                    if type_.dtype == F:  # does not grow
                        e = Expr(type_, self.rng.choice(["nn.tanh({0})", "nn.sin({0})", "squash({0})"]), [e])
                    elif type_.dtype == I:
                        e = Expr(type_, "({0} % 17)", [e])
                    parts[part] = e
                return parts[""] if "" in parts else Expr(None, "{{a: {0}, b: {1}}}", list(parts.values()))

            def assign(into, inner):
                into.append(Node("assign", f"{name} = {{0}}", [value(inner)], name))

            r = self.rng.random()
            batched = all("batch" in t.dims for t in types.values())
            if r < 0.25:
                conditions = [self.condition(scope)]
                blocks = [[], []] if self.rng.random() < 0.6 else [[]]
                for inner in blocks:
                    assign(inner, scope.child())
                body.append(Node("if", "", conditions, "", [], blocks, len(blocks) > 1))
            elif r < 0.5 and batched:
                inner = []
                mask = self.value(Type(B, BATCH), scope, 1)
                assign(inner, scope.child())
                body.append(Node("masked", "masked {0}", [mask], "", [], [inner]))
            elif r < 0.7 and "" in types:
                local = self._name("v")
                self._assign(body, scope, local, value(scope))
                between.append(Expr(types[""], local))
                form = {F: "nn.tanh({0} + 0.25)", I: "(({0} + 1) % 17)", B: "(not {0})"}[types[""].dtype]
                body.append(Node("assign", f"{name} = {{0}}", [Expr(types[""], form, [Expr(types[""], local)])], name))
            elif r < 0.95:
                assign(body, scope)
        return between

    def _maximum(self, scope):
        choice = self.rng.randint(0, 3)
        if choice == 0:
            return Expr(Type(I, frozenset()), str(self.rng.randint(1, 4)))
        choices = ["nn.length(time)", "nn.length(keys)", "(nn.length(time) // 2)", "(nn.length(keys) - 1)"]
        if choice == 1:
            return Expr(Type(I, frozenset()), self.rng.choice(["nn.dim_value(keys)", "(nn.dim_value(batch) + 1)"]))
        return Expr(Type(I, BATCH), self.rng.choice(choices))

    def _end(self, scope, node, ends):
        index = node.name
        if ends == "both":
            dims = self.rng.choice([BATCH, BATCH, frozenset()])
            return self.value(Type(B, dims), scope, 1)
        last = self.rng.randint(0, 5)
        if self.rng.random() < 0.4:
            return Expr(Type(B, BATCH), f"({index} >= nn.length(keys) or {{0}})", [self.value(Type(B, BATCH), scope, 1)])
        if self.rng.random() < 0.5:
            return Expr(Type(B, BATCH), f"(nn.expand_dims({index} >= {last}, [batch]) or {{0}})", [self.value(Type(B, BATCH), scope, 1)])
        return Expr(Type(B, frozenset()), f"{index} >= {last}")
