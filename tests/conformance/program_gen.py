"""Random programs with control flow over tensors, valid by construction; see `random_programs`.

Each value is made for a type that is wanted. Floats stay of moderate size, so that rounding does not decide anything.
"""

import dataclasses

from program_tree import Expr, Node, Type

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

F, I, B = "float32", "int32", "bool"
STATIC = {"input": 3, "hidden": 4, "classes": 5}
BATCH = frozenset(["batch"])


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


@dataclasses.dataclass(frozen=True)
class Shape:
    """What may be made; what is False by default is what RETURNN or the compiler do not do right yet."""

    inner_results: bool = False   # inner loops, and branches in loops, with several results
    inner_prev: bool = False      # inner loops read the state of the outer one
    static_loops: bool = False    # loops over static dims
    inner_new_dims: bool = False  # inner loops over dims whose length changes from step to step
    loop_branches: bool = False   # branches in loops, also with `optimize_move_layers_out`
    shared_ends: bool = False     # loops over new dims that all sequences leave at once, and values without batch in them
    depth: int = 3


@dataclasses.dataclass
class Scope:
    """The names that can be read, and where in the program this is."""

    vars: dict                       # name -> Type
    owned: set                       # names that may be assigned here
    loops: tuple = ()                # (index, dim) of those around
    masked: bool = False
    mask_dims: frozenset = frozenset()
    depth: int = 0

    def child(self, **changes):
        return dataclasses.replace(self, **{"vars": dict(self.vars), "owned": set(self.owned), **changes})


class Generator:
    """Makes program `i` from a random generator of Python's `random`."""

    def __init__(self, i, rng, shape=Shape()):
        self.i, self.rng, self.shape = i, rng, shape
        self.names = 0
        self.dims = []  # declarations
        self.batch_lengths = {"time": True, "keys": True}  # dynamic dim -> its lengths are per sequence
        self.varying = {}  # dim -> dims of the loops on whose steps its lengths depend

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
        elif r < 0.55 and (not scope.loops or self.shape.loop_branches):
            self._if(block, scope)
        elif r < 0.75 and scope.loops:
            self._masked(block, scope)
        elif scope.depth < self.shape.depth:
            self._loop(block, scope)
        else:
            self._local(block, scope)

    def _if(self, block, scope):
        conditions = [self.condition(scope) for _ in range(self.rng.choice([1, 1, 1, 2]))]
        old = [n for n in sorted(scope.owned) if scope.vars.get(n) and n not in ("x", "c") and scope.vars[n].dtype != "index"]
        single = scope.loops and not self.shape.inner_results
        count = 1 if single else self.rng.choice([1, 1, 2, 3])
        targets = {}
        for _ in range(count):
            if old and self.rng.random() < 0.6:
                name = self.rng.choice(old)
                targets[name] = scope.vars[name]
            else:
                targets[self._name("v")] = self._type(scope)
        new = [n for n in targets if n not in scope.vars]
        otherwise = bool(new) or self.rng.random() < 0.6
        blocks = []
        for _ in range(len(conditions) + otherwise):
            inner, inner_scope = [], scope.child(depth=scope.depth + 1)
            if not single and self.rng.random() < 0.4:
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
        inner_scope = scope.child(masked=True, depth=scope.depth + 1)
        inner = []
        unsafe = self.rng.random() < 0.5 and wide
        if unsafe:
            guard = self._name("g")
            self._assign(block, scope, guard, self.value(Type(F, BATCH), scope, 1))
            inner_scope = scope.child(masked=True, depth=scope.depth + 1)
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
        static = ["input", "hidden"] if self.shape.static_loops else []
        known = [d for d in ["time", "time", "time", "keys", *static] if d not in around]
        known += [d for d in self.batch_lengths if d.startswith("o") and d not in around and not self.varying.get(d) and any(d in t.dims for t in scope.vars.values())]
        new = self.rng.random() < 0.35 and (self.shape.inner_new_dims or not inner_loop)
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
            states[self._name("s")] = self._initial(scope, new and not self.shape.shared_ends)
        node = Node("loop", form, exprs, index, [(n, e) for n, (_, e) in states.items()], [[]])
        hidden = set()
        if inner_loop and not self.shape.inner_prev:
            hidden = self.unassigned
        inner = scope.child(owned=set(), loops=scope.loops + ((index, dim),), depth=scope.depth + 1)
        for name in hidden:
            inner.vars.pop(name, None)
        inner.vars[index] = Type(I, frozenset())
        for name, (types, _) in states.items():
            for part, type_ in types.items():
                inner.vars[name + part] = type_
                if not part:
                    inner.owned.add(name)
        outer_unassigned, self.unassigned = getattr(self, "unassigned", set()), {n + p for n, (t, _) in states.items() for p in t}
        body = node.blocks[0]
        for _ in range(self.rng.randint(0, 2)):
            self._statement(body, inner)
        self._next_states(body, inner, states)
        self.unassigned = outer_unassigned
        single = inner_loop and not self.shape.inner_results
        stacks = {}
        count = self.rng.choice([0, 1, 1, 2, 3])
        if single:
            count = 1
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
                type_ = self._type(inner, without={dim})
                if new and not self.shape.shared_ends:
                    type_ = Type(type_.dtype, type_.dims | BATCH)
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
        if single:
            results = {n: results[n] for n in stacks}
        for name, type_ in results.items():
            scope.vars[name] = type_
            scope.owned.add(name) if "." not in name else None

    def _initial(self, scope, batched):
        """({part: type}, initial value) of a state; a record has two parts."""
        r = self.rng.random()
        if batched:
            type_ = Type(self.rng.choice([F, F, I, B]), frozenset(self.rng.choice([["batch"], ["batch", "hidden"]])))
            return {"": type_}, self.value(type_, scope, 1)
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
            if r < 0.25 and self.shape.loop_branches:
                conditions = [self.condition(scope)]
                blocks = [[], []] if self.rng.random() < 0.6 else [[]]
                if len(types) > 1 and not self.shape.inner_results:
                    assign(body, scope)
                else:
                    for inner in blocks:
                        assign(inner, scope.child())
                    body.append(Node("if", "", conditions, "", [], blocks, len(blocks) > 1))
            elif r < 0.5 and batched:
                inner = []
                mask = self.value(Type(B, BATCH), scope, 1)
                assign(inner, scope.child(masked=True))
                body.append(Node("masked", "masked {0}", [mask], "", [], [inner]))
            elif r < 0.95:
                assign(body, scope)
            if r < 0.95:
                self.unassigned -= {name + part for part in types}

    def _maximum(self, scope):
        choice = self.rng.randint(0 if self.shape.shared_ends else 2, 3)
        if choice == 0:
            return Expr(Type(I, frozenset()), str(self.rng.randint(1, 4)))
        choices = ["nn.length(time)", "nn.length(keys)", "(nn.length(time) // 2)", "(nn.length(keys) - 1)"]
        if choice == 1:
            return Expr(Type(I, frozenset()), self.rng.choice(["nn.dim_value(keys)", "(nn.dim_value(batch) + 1)"]))
        return Expr(Type(I, BATCH), self.rng.choice(choices))

    def _end(self, scope, node, ends):
        index = node.name
        if ends == "both":
            dims = self.rng.choice([BATCH, BATCH, frozenset()]) if self.shape.shared_ends else BATCH
            return self.value(Type(B, dims), scope, 1)
        last = self.rng.randint(0, 5)
        if self.rng.random() < 0.4:
            return Expr(Type(B, BATCH), f"({index} >= nn.length(keys) or {{0}})", [self.value(Type(B, BATCH), scope, 1)])
        if self.rng.random() < 0.5 or not self.shape.shared_ends:
            return Expr(Type(B, BATCH), f"(nn.expand_dims({index} >= {last}, [batch]) or {{0}})", [self.value(Type(B, BATCH), scope, 1)])
        return Expr(Type(B, frozenset()), f"{index} >= {last}")

    # ---- types

    def _type(self, scope, without=frozenset()):
        """A type that a value here may have."""
        around = {dim for _, dim in scope.loops} | set(without)
        dims = [set(d.split()) for d in ("batch hidden", "batch hidden", "batch input", "batch", "hidden", "", "batch time", "batch keys hidden", "batch time hidden")]
        dims = [d for d in dims if not d & around]
        used = [set(t.dims) for t in scope.vars.values() if not t.dims & around and len(t.dims) < 4]
        chosen = self.rng.choice(dims + used[:3] + used[-2:])
        return Type(self.rng.choice([F, F, F, F, I, B]), frozenset(chosen))

    def _number(self):
        return f"{self.rng.uniform(0.05, 0.4):.4f}"

    # ---- values

    def leaves(self, type_, scope):
        """Names and frames of just this type."""
        result = []
        for name, t in scope.vars.items():
            if t.dtype == type_.dtype and t.dims == type_.dims:
                result.append(Expr(type_, name))
            for index, dim in scope.loops:
                if t.dtype == type_.dtype and dim in t.dims and t.dims - {dim} == type_.dims and not any(dim in self.varying.get(d, ()) for d in t.dims):
                    result.append(Expr(type_, f"{name}[{index}]"))
        return result

    def value(self, type_, scope, depth):
        """An expression of the type, nested up to `depth` deep or somewhat deeper where it must."""
        leaves = self.leaves(type_, scope)
        if leaves and (depth <= 0 or self.rng.random() < 0.3):
            return self._safe(self.rng.choice(leaves))
        if type_.dtype == F:
            return self._float(type_, scope, depth)
        if type_.dtype == I:
            return self._int(type_, scope, depth)
        if type_.dtype == B:
            return self._bool(type_, scope, depth)
        raise ValueError(f"no values of {type_}")

    def _safe(self, leaf):
        """`pos` is positive where it counts, and anything in the padding."""
        if leaf.form.split("[")[0] == "pos" and self.rng.random() < 0.8:
            return Expr(leaf.type, self.rng.choice(["nn.log({0})", "(0.5 / {0})", "nn.sqrt({0})", "({0} ** 0.5)", "nn.exp({0})"]), [leaf])
        return leaf

    def _subset(self, dims, scope):
        """Dims of a value that broadcasts to `dims`."""
        options = [t.dims for t in scope.vars.values() if t.dtype == F and t.dims <= dims]
        return self.rng.choice(options + [dims, dims, frozenset()])

    def _wider(self, type_, scope):
        """(dim, dims of a value that has it too) such that it can be reduced away."""
        around = {dim for _, dim in scope.loops}
        options = []
        for t in scope.vars.values():
            extra = t.dims - type_.dims - BATCH - around
            if t.dtype == F and len(extra) == 1 and t.dims - extra <= type_.dims and self._whole(extra, t.dims):
                options.append((next(iter(extra)), t.dims))
        return self.rng.choice(options) if options else None

    def _whole(self, over, dims):
        """Whether a value with the dims has what the lengths of the dims `over` depend on."""
        return "batch" in dims or not any(self.batch_lengths.get(d) for d in over)

    def _float(self, type_, scope, depth):
        d, rng = depth - 1, self.rng
        new = lambda form, *args: Expr(type_, form, list(args))
        if depth <= 0:
            # nothing has the type: repeat what comes near
            options = [Type(F, t.dims) for t in scope.vars.values() if t.dtype == F and t.dims <= type_.dims]
            near = rng.choice(sorted(options, key=lambda t: (len(t.dims), str(t)))[-3:])
            missing = sorted(type_.dims - near.dims)
            leaf = self._safe(rng.choice(self.leaves(near, scope)))
            return new(f"nn.expand_dims({{0}}, [{', '.join(missing)}])", leaf) if missing else leaf
        kinds = ["unary", "binary", "binary", "where", "if", "cast", "call", "log", "div"]
        wider = self._wider(type_, scope)
        if scope.loops and not self.shape.loop_branches:
            kinds = [k for k in kinds if k not in ("if", "call")]
        kinds += ["reduce", "reduce", "dot"] if wider else []
        kinds += ["table"] if "hidden" in type_.dims else []
        kinds += ["lin", "lin"] if "hidden" in type_.dims and "input" not in type_.dims else []
        reducible = sorted(d for d in type_.dims - BATCH if d not in {x for _, x in scope.loops} and self._whole({d}, type_.dims))
        kinds += ["softmax", "running"] if reducible else []
        kind = rng.choice(kinds)
        same = lambda: self.value(type_, scope, d)
        if kind == "unary":
            return new(rng.choice(["nn.tanh({0})", "nn.sin({0})", "nn.sigmoid({0})", "(-{0})", "({0} * 0.5)", "nn.exp(nn.tanh({0}))", "nn.abs({0})"]), same())
        if kind == "binary":
            other = self.value(Type(F, self._subset(type_.dims, scope)), scope, d)
            pair = [same(), other]
            rng.shuffle(pair)
            return new(rng.choice(["({0} + {1})", "({0} - {1})", "nn.tanh({0} * {1})", "nn.squared_difference(nn.tanh({0}), {1})"]), *pair)
        if kind == "log":
            return new(rng.choice(["nn.log({0} * {0} + 0.1)", "nn.sqrt({0} * {0} + 0.1)"]).replace("{0} * {0}", "nn.square({0})"), same())
        if kind == "div":
            return new("({0} / (nn.square({1}) + 0.5))", same(), self.value(Type(F, self._subset(type_.dims, scope)), scope, d))
        if kind == "where":
            return new("nn.where({0}, {1}, {2})", self.value(Type(B, self._subset(type_.dims, scope)), scope, d), same(), same())
        if kind == "if":
            return new("({1} if {0} else {2})", self.condition(scope), same(), same())
        if kind == "cast":
            return new("nn.cast({0}, float32)", self.value(Type(rng.choice([I, B]), type_.dims), scope, d))
        if kind == "call":
            if rng.random() < 0.4:
                return new("squash({0})", same())
            return new("pick({0}, {1}, {2})", self.condition(scope), same(), same())
        if kind == "reduce":
            dim, dims = wider
            inner = self.value(Type(F, dims), scope, min(d, 1))
            if rng.random() < 0.2 and (dim not in STATIC or self.shape.static_loops) and len(scope.loops) < (2 if self.shape.inner_results else 1):
                result = Expr(Type(F, dims - {dim}), f"final({{0}}, {dim})", [inner])
                lengths = BATCH if self.batch_lengths.get(dim) else frozenset()
                if lengths <= type_.dims:
                    return self._spread(Expr(Type(F, dims - {dim} | lengths), result.form, [inner]), type_)
            return self._spread(Expr(Type(F, dims - {dim}), f'nn.reduce({{0}}, mode="{rng.choice(["sum", "mean", "mean", "max"])}", axis={dim})', [inner]), type_)
        if kind == "dot":
            dim, dims = wider
            inner = self.value(Type(F, dims), scope, min(d, 1))
            others = [t.dims for t in scope.vars.values() if t.dtype == F and dim in t.dims and t.dims - {dim} <= type_.dims and self._whole({dim}, t.dims)]
            other = self.value(Type(F, rng.choice(others)), scope, min(d, 1))
            both = (inner.type.dims | other.type.dims) - {dim}
            return self._spread(Expr(Type(F, both), f"nn.dot({{0}}, {{1}}, reduce={dim})", [inner, other]), type_)
        if kind == "lin":
            return new(f"lin{self.i}({{0}})", self.value(Type(F, type_.dims - {"hidden"} | {"input"}), scope, d))
        if kind == "table":
            return new(f"nn.gather(table{self.i}, axis=classes, position={{0}})", self._index(type_.dims - {"hidden"}, scope, d))
        if kind == "softmax":
            return new(f"nn.softmax({{0}}, axis={rng.choice(reducible)})", same())
        dim = rng.choice(reducible)
        lengths = BATCH if self.batch_lengths.get(dim) else frozenset()
        static = dim in STATIC and not self.shape.static_loops
        if static or self.varying.get(dim) or len(scope.loops) > 1 or not lengths <= type_.dims:
            return new("nn.tanh({0})", same())
        return new(f"running({{0}}, {dim})", same())

    def _spread(self, e, type_):
        missing = sorted(type_.dims - e.type.dims)
        return Expr(type_, f"nn.expand_dims({{0}}, [{', '.join(missing)}])", [e]) if missing else e

    def _index(self, dims, scope, depth):
        leaves = self.leaves(Type("index", dims), scope)
        if leaves and self.rng.random() < 0.7:
            return self.rng.choice(leaves)
        return Expr(Type(I, dims), "({0} % 5)", [self.value(Type(I, dims), scope, depth)])

    def _int(self, type_, scope, depth):
        d, rng = depth - 1, self.rng
        new = lambda form, *args: Expr(type_, form, list(args))
        if depth <= 0:
            options = [Expr(Type(I, frozenset()), index) for index, _ in scope.loops]
            options += [Expr(Type(I, BATCH), f"nn.length({d})") for d in ("time", "keys")] if "batch" in type_.dims else []
            options += [Expr(Type(I, frozenset()), f"nn.dim_value({d})") for d in ("batch", "keys")]
            return self._spread(rng.choice(options), type_)
        kinds = ["binary", "binary", "number", "cast", "where"]
        kinds += ["if"] if not scope.loops or self.shape.loop_branches else []
        kind = rng.choice(kinds)
        same = lambda: self.value(type_, scope, d)
        if kind == "binary":
            return new(rng.choice(["({0} + {1})", "({0} - {1})", "({0} % 7 * ({1} % 5))", "nn.maximum({0}, {1})"]), same(), self.value(Type(I, rng.choice([type_.dims, frozenset()])), scope, d))
        if kind == "number":
            return new(rng.choice(["({0} % 3)", "({0} // 2)", "({0} + 1)", "({0} * 2)"]), same())
        if kind == "cast":
            ids = self.leaves(Type("index", type_.dims), scope)
            if ids and rng.random() < 0.6:
                return new("({0} + 1)", rng.choice(ids))
            return new("nn.cast({0}, int32)", self.value(Type(B, type_.dims), scope, d))
        if kind == "where":
            return new("nn.where({0}, {1}, {2})", self.value(Type(B, type_.dims), scope, d), same(), same())
        return new("({1} if {0} else {2})", self.condition(scope), same(), same())

    def _bool(self, type_, scope, depth):
        d, rng = depth - 1, self.rng
        new = lambda form, *args: Expr(type_, form, list(args))
        if depth > 0 and rng.random() < 0.3:
            return new(rng.choice(["({0} and {1})", "({0} or {1})", "nn.logical_xor({0}, {1})"]), self.value(type_, scope, d), self.value(type_, scope, d))
        if depth > 0 and rng.random() < 0.15:
            return new("(not {0})", self.value(type_, scope, d))
        if not type_.dims and rng.random() < 0.15:
            return new("(nn.dim_value(batch) > 2)")
        if rng.random() < 0.6:
            return new(f"({{0}} {rng.choice(['<', '>', '<=', '>='])} {self._number()})", self.value(Type(F, type_.dims), scope, d))
        return new(rng.choice(["({0} == {1})", "({0} < {1})", "({0} >= {1})", "({0} % 2 == {1} % 2)"]), self.value(Type(I, type_.dims), scope, d), self.value(Type(I, frozenset()), scope, d))

    def condition(self, scope):
        """A scalar bool tensor."""
        rng = self.rng
        type_ = Type(B, frozenset())
        choices = ["train", "(nn.dim_value(batch) % 2 == 0)", "(nn.dim_value(keys) > 3)", f"(c > {self._number()})", "value", "value"]
        for index, _ in scope.loops:
            choices += [f"({index} % 2 == 0)", f"({index} > 1)", f"({index} == 0)"]
        text = rng.choice(choices)
        return self.value(type_, scope, 1) if text == "value" else Expr(type_, text)

    def _global(self, scope):
        """A scalar float that all sequences share."""
        source = Expr(Type(F, frozenset(["batch", "time", "input"])), "x")
        return Expr(Type(F, frozenset()), 'nn.reduce(nn.sin({0}), mode="mean", axis=[batch, time, input])', [source])
