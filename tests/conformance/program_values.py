"""Random values in random programs (`program_gen`): expressions of a type that is wanted.

Floats stay of moderate size, so that rounding does not decide anything.
"""

import dataclasses

from program_tree import Expr, Type

F, I, B = "float32", "int32", "bool"
BATCH = frozenset(["batch"])


@dataclasses.dataclass
class Scope:
    """The names that can be read, and where in the program this is."""

    vars: dict                       # name -> Type
    owned: set                       # names that may be assigned here
    loops: tuple = ()                # (index, dim) of those around
    depth: int = 0

    def child(self, **changes):
        return dataclasses.replace(self, **{"vars": dict(self.vars), "owned": set(self.owned), **changes})


class Values:
    """Makes the values of program `i` from a random generator of Python's `random`."""

    def __init__(self, i, rng):
        self.i, self.rng = i, rng
        self.batch_lengths = {"time": True, "keys": True}  # dynamic dim -> its lengths are per sequence
        self.varying = {}  # dim -> dims of the loops on whose steps its lengths depend

    # ---- types

    def _type(self, scope, without=frozenset()):
        """A type that a value here may have."""
        around = {dim for _, dim in scope.loops} | set(without)
        dims = [set(d.split()) for d in ("batch hidden", "batch hidden", "batch input", "batch", "hidden", "", "batch time", "batch keys hidden", "batch time hidden")]
        dims = [d for d in dims if not d & around]
        used = [set(t.dims) for t in scope.vars.values() if not t.dims & around and len(t.dims) < 4]
        chosen = self.rng.choice(dims + used[:3] + used[-2:])
        if any(d in self.varying and self.batch_lengths[d] for d in chosen):
            chosen = chosen | BATCH  # without it nothing says which frames count in which step
        return Type(self.rng.choice([F, F, F, F, I, B]), frozenset(chosen))

    def _number(self):
        return f"{self.rng.uniform(0.05, 0.4):.4f}"

    def _leaves_branch(self, type_, scope):
        """Whether a value of the type can come out of a branch here: in loops, dims made in loops cannot."""
        return not scope.loops or not any(d.startswith(("o", "past")) for d in type_.dims)

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
        kinds = ["unary", "binary", "binary", "where", "cast", "log", "div"]
        kinds += ["if", "call"] if self._leaves_branch(type_, scope) else []
        wider = self._wider(type_, scope)
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
            if rng.random() < 0.2 and len(scope.loops) < 2:
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
        if self.varying.get(dim) or len(scope.loops) > 1 or not lengths <= type_.dims:
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
        kinds += ["if"] if self._leaves_branch(type_, scope) else []
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
