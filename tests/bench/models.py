"""Generated models to measure with: each function returns the text of a .rcn file."""

HEADER = """## Generated.
import nn

dim time:    spatial
dim input:   feature = 40
dim hidden:  feature = 64
dim classes: feature = 50

extern data: float32[batch, time, input]
extern targets(key="classes"): index(classes)[batch, time]
"""

BLSTM = """
both = hidden + hidden

module Layer(in_dim: Dim) {
    fw = nn.LSTM(in_dim, hidden)
    bw = nn.LSTM(in_dim, hidden)

    fn call(x: [..., spatial_dim, in_dim], *, spatial_dim: Dim) -> [..., both] {
        x = nn.dropout(x, 0.1, axis=in_dim)
        forward, _ = fw(x, spatial_dim=spatial_dim)
        backward, _ = bw(x, spatial_dim=spatial_dim, direction=-1)
        y, _ = nn.concat([(forward, hidden), (backward, hidden)])
        return y
    }
}

network {
    layers = [Layer(input if i == 0 else both) for i in range(LAYERS)]
    out = nn.Linear(both, classes)

    fn main() {
        x = data
        for layer in layers { x = layer(x, spatial_dim=time) }
        logits = out(x)
        loss ce = nn.cross_entropy(target=targets, estimated=logits, estimated_type="logits", axis=classes)
        output logits
    }
}
"""

CHAIN = """
network {
    fn main() {
        x = data
        for i in range(OPERATIONS) { x = nn.tanh(x) }
        output x
    }
}
"""

# 25 lines, as people write them: a function and a module, comments, assignments, calls, a branch, a loop.
UNIT = """
# Unit NUMBER: a gate, and a residual block that uses it.

## Scales `x` by a gate of its own.
fn gate_NUMBER(x: [..., axis], *, axis: Dim, scale: float = 0.5, bias: float = 0.0) -> [..., axis] {
    y = nn.sigmoid(x * scale + bias)        # between 0 and 1
    if scale < 0.0 { y = 1.0 - y }
    return x * y
}

## Linear, gate, residual connection.
module Block_NUMBER(in_dim: Dim, *, steps: int = 2, rate: float = 0.1) {
    norm   = nn.LayerNorm(in_dim)
    linear = nn.Linear(in_dim, in_dim)

    fn call(x: [..., in_dim]) -> [..., in_dim] {
        y = linear(norm(x))
        for i in range(steps) {
            y = gate_NUMBER(y, axis=in_dim, scale=1.0 / (i + 1), bias=0.25)
        }
        y = nn.dropout(y, rate, axis=in_dim)
        return x + y
    }
}
"""


def blstm(layers):
    """A BLSTM of that many layers with a loss over frames."""
    return HEADER + BLSTM.replace("LAYERS", str(layers))


def chain(operations):
    """That many operations, each on the result of the one before."""
    return HEADER + CHAIN.replace("OPERATIONS", str(operations))


def source(lines):
    """A source of that many lines, all of it used by its network."""
    size = UNIT.count("\n")
    head, tail = "\nnetwork {\n", "    fn main() {\n        x = data\n"
    fixed = HEADER.count("\n") + head.count("\n") + tail.count("\n") + 3  # the end of main and network, and the output
    units = (lines - fixed) // (size + 2)
    text = HEADER + "".join(UNIT.replace("NUMBER", str(i)) for i in range(units)) + head
    text += "".join(f"    block_{i} = Block_{i}(input)\n" for i in range(units)) + tail
    text += "".join(f"        x = block_{i}(x)\n" for i in range(units)) + "        output x\n    }\n}\n"
    return text + "# the end\n" * (lines - text.count("\n"))
