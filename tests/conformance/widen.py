"""The models of conformance cases in float64: the library that `rcnc` has built in makes parameters of float32, so the
model gets a copy of it, beside it as `wide.rcn`, in which everything is float64.
"""

import functools
import pathlib
import re

LIBRARY = pathlib.Path(__file__).resolve().parent.parent.parent / "stdlib"

# Operations that make float32 where nothing else is said.
DEFAULTS = """
fn zeros(dims: list, *, dtype = float64) -> Tensor { return nn.zeros(dims, dtype=dtype) }
fn ones(dims: list, *, dtype = float64) -> Tensor { return nn.ones(dims, dtype=dtype) }
fn one_hot(source: Tensor, *, dtype = float64) -> Tensor { return nn.one_hot(source, dtype=dtype) }
fn empty_history(dims: list, dtype = float64) { return nn.empty_history(dims, dtype) }
fn random(*, shape: list, distribution: str, mean = none, stddev = none, bound = none, minval = none, maxval = none,
          dtype = float64) -> Tensor {
    return nn.random(shape=shape, distribution=distribution, mean=mean, stddev=stddev, bound=bound, minval=minval, maxval=maxval,
                     dtype=dtype)
}
fn where(condition: Tensor, a, b) -> Tensor { return _wide(nn.where(condition, a, b)) }
fn constant(value, *, dims: list = [], dtype = none, sparse_dim = none) -> Tensor {
    made = nn.constant(value, dims=dims, dtype=dtype, sparse_dim=sparse_dim)
    return _wide(made) if dtype == none else made
}
fn _wide(x: Tensor) -> Tensor { return nn.cast(x, float64) if x.dtype == float32 else x }
"""


def widened(text):
    """The text of a model in float64; it imports `wide`."""
    text = re.sub(r"(?m)^(import .*)$", r'\1\nimport "wide.rcn" as wide_nn', text, count=1)
    return _renamed(_float64(text), _public(wide_library()), "wide_nn.")


@functools.cache
def wide_library():
    """The text of `wide.rcn`."""
    files = [path.read_text(encoding="utf-8") for path in sorted(LIBRARY.rglob("*.rcn"))]
    text = "".join(re.sub(r"(?m)^import nn$", "", file) for file in files)
    return "import nn\n" + DEFAULTS + _renamed(_float64(text), _public(text) | _public(DEFAULTS), "")


def _float64(text):
    text = re.sub(r"(?m)^(.*\bparam \w+(?:\([^()]*\))?: )\[", r"\1float64[", text)
    return re.sub(r"\bfloat32\b", "float64", text)


def _public(text):
    """Names that a text of the library declares at its top."""
    return set(re.findall(r"(?m)^(?:module|fn|const|dim)\s+([A-Za-z]\w*)", text))


def _renamed(text, names, prefix):
    return re.sub(r"\b(?:nn|asr)\.(\w+)\b", lambda m: f"{prefix}{m.group(1)}" if m.group(1) in names else m.group(0), text)
