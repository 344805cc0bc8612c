"""Programs of the language as trees that can be printed and made smaller; see `random_programs`."""

import copy
import dataclasses
import re
from typing import List, Optional


@dataclasses.dataclass(frozen=True)
class Type:
    """A tensor type: dtype "float32", "int32", "bool" or "index", and the names of its dims."""

    dtype: str
    dims: frozenset

    def __str__(self):
        return f"{self.dtype}[{', '.join(sorted(self.dims))}]"


@dataclasses.dataclass
class Expr:
    """`form` with the texts of `args` in place of {0}, {1}, ..."""

    type: Optional[Type]
    form: str
    args: List["Expr"] = dataclasses.field(default_factory=list)

    def __str__(self):
        return self.form.format(*map(str, self.args))


@dataclasses.dataclass
class Node:
    """A statement: `form` with its expressions, and blocks of statements, each with a head of its own.

    kind: "assign", "stack", "end", "dim", "output", "loss", "loop", "if", "masked"
    """

    kind: str
    form: str = ""
    exprs: List[Expr] = dataclasses.field(default_factory=list)
    name: str = ""
    states: List[tuple] = dataclasses.field(default_factory=list)  # of a loop: (name, initial value)
    blocks: List[List["Node"]] = dataclasses.field(default_factory=list)
    otherwise: bool = False  # the last block of an "if" is its `else`


def lines_of(block, indent):
    """The text of a block of statements, a list of lines."""
    lines = []
    for node in block:
        texts = [str(e) for e in node.exprs]
        head = node.form.format(*texts)
        if node.kind == "loop":
            states = ", ".join(f"{name} = {initial}" for name, initial in node.states)
            head += f" with {states}" if states else ""
        if node.kind == "if":
            for i, inner in enumerate(node.blocks):
                if node.otherwise and i == len(node.blocks) - 1:
                    lines[-1] += " else {"
                elif i == 0:
                    lines.append(f"{indent}if {texts[0]} {{")
                else:
                    lines[-1] += f" elif {texts[i]} {{"
                lines += lines_of(inner, indent + "    ") + [indent + "}"]
        elif node.blocks:
            lines += [f"{indent}{head} {{", *lines_of(node.blocks[0], indent + "    "), indent + "}"]
        else:
            lines.append(indent + head)
    return lines


def smaller(program):
    """Programs with something removed, the largest steps first. Some of them are not valid."""
    for edit in _mark_edits(program) + _block_edits(program, ()) + _expr_edits(program, ()):
        result = copy.deepcopy(program)
        if edit(result):
            while _drop_unread(result, result):
                pass
            yield result


def _mark_edits(program):
    """One mark alone."""
    marks = [i for i, node in enumerate(program) if node.kind in ("output", "loss")]

    def keep(p, i):
        p[:] = [node for k, node in enumerate(p) if k == i or node.kind not in ("output", "loss")]
        return len(marks) > 1

    return [lambda p, i=i: keep(p, i) for i in reversed(marks)]


def _drop_unread(program, block):
    """Removes what nothing reads, and what is empty; whether there was any."""
    words = set(re.findall(r"[A-Za-z_]\w*", "\n".join(_texts(program))))
    count = len(block)
    block[:] = [
        node
        for node in block
        if not (node.kind in ("assign", "stack", "dim") and node.name not in words)
        and not (node.kind in ("if", "masked") and not any(node.blocks))
        and not (node.kind == "loop" and not (words & _results(node)))
    ]
    changed = len(block) < count
    for node in block:
        states = [s for s in node.states if s[0] in words]
        changed = changed or len(states) < len(node.states)
        node.states = states
        for inner in node.blocks:
            changed = _drop_unread(program, inner) or changed
    return changed


def _results(loop):
    return {name for name, _ in loop.states} | {node.name for node in loop.blocks[0] if node.kind == "stack"}


def _texts(block):
    """The texts of what is read, and of the heads of loops."""
    for node in block:
        yield from (node.form if node.kind == "loop" else "", *map(str, node.exprs))
        for _, initial in node.states:
            yield str(initial)
        for inner in node.blocks:
            yield from _texts(inner)


def _at(program, path):
    """The block at a path of (statement, block) pairs."""
    block = program
    for i, b in path:
        block = block[i].blocks[b]
    return block


def _block_edits(block, path):
    edits = []
    for i, node in enumerate(block):
        edits.append(lambda p, i=i: bool(_at(p, path).pop(i)))
    for i, node in enumerate(block):
        for b in range(len(node.blocks)):
            edits.append(lambda p, i=i, b=b: _unwrap(_at(p, path), i, b))
            if node.kind == "if" and len(node.blocks) > 1:
                edits.append(lambda p, i=i, b=b: _drop_branch(_at(p, path)[i], b))
        for k in range(len(node.states)):
            edits.append(lambda p, i=i, k=k: bool(_at(p, path)[i].states.pop(k)))
        if node.kind == "loop" and node.exprs:
            edits.append(lambda p, i=i: _drop_max(_at(p, path)[i]))
        if node.kind == "assign" and node.exprs[0].type is not None:
            edits.append(lambda p, i=i: _inline(p, _at(p, path), i))
    for i, node in enumerate(block):
        for b, inner in enumerate(node.blocks):
            edits += _block_edits(inner, path + ((i, b),))
    return edits


def _unwrap(block, i, b):
    block[i : i + 1] = block[i].blocks[b]
    return True


def _drop_branch(node, b):
    if node.otherwise and b == len(node.blocks) - 1:
        node.otherwise = False
    else:
        if len(node.exprs) == 1:
            return False
        node.exprs.pop(b)
    node.blocks.pop(b)
    return True


def _drop_max(loop):
    loop.form, loop.exprs = loop.form.replace(" max {0}", ""), []
    return True


def _inline(program, block, i):
    """The value in place of the name, where that makes nothing longer."""
    node = block[i]
    value, name = node.exprs[0], node.name
    uses = [e for e in _exprs(program) if e.form == name]
    if node is None or (value.args and len(uses) > 1):
        return False
    block.pop(i)
    for use in uses:
        use.form, use.args = value.form, copy.deepcopy(value.args)
    return True


def _exprs(block):
    """All expressions of a block, deep."""
    for node in block:
        for top in [*node.exprs, *(initial for _, initial in node.states)]:
            stack = [top]
            while stack:
                e = stack.pop()
                yield e
                stack += e.args
        for inner in node.blocks:
            yield from _exprs(inner)


def _expr_edits(program, _path):
    """Each expression replaced by a part of it of the same type, or by a number."""
    edits = []

    def replace(i, part):
        def edit(p):
            e = list(_exprs(p))[i]
            source = e
            for k in part:
                source = source.args[k]
            e.form, e.args = source.form, source.args
            return True

        return edit

    def number(i, text):
        def edit(p):
            e = list(_exprs(p))[i]
            e.form, e.args = text, []
            return True

        return edit

    for i, e in enumerate(_exprs(program)):
        if e.type is None:
            continue
        parts = [((k,), a) for k, a in enumerate(e.args)]
        while parts:
            part, arg = parts.pop(0)
            if arg.type == e.type:
                edits.append(replace(i, part))
            parts += [(part + (k,), a) for k, a in enumerate(arg.args)]
        if e.args and e.type.dtype == "float32":
            edits.append(number(i, f"nn.ones([{', '.join(sorted(e.type.dims))}])"))
        if e.args and e.type.dtype == "int32" and not e.type.dims:
            edits.append(number(i, "2"))
    return edits


def size_of(program):
    """Length of the text: what is smaller is better."""
    return sum(len(line.strip()) for line in lines_of(program, ""))
