"""What Python itself does to traced values: statements with ``i``, a traced scalar, and ``x``, a loaded block, by what JAX says to them."""

from __future__ import annotations

from textwrap import dedent

from ops.modules import Case, steps

_FINE = """
match i: { case "a": x = x + 1 }
match i: { case j: x = x + j }
match x.shape: { case (8, n): x = x + n }
match 2: { case 1 | 2: x = x + i }
if i == "a": pass
if i is None or i is not None: pass
if isinstance(i, int) or hasattr(i, "shape"): pass
if x.shape == (8, 128) and len(x) == 8 and x.dtype == jnp.float32: x = x + 1
if (i, 1) == (i, 1): x = x + 1
if (i,) == (i, 1): x = x + 1
if (1, i) == (2, i): x = x + 1
b = False and i
b = True or i
b = 1 < 0 < i
x = x + (False or i)
any([1, i]) and all([0, i])
text = f"{i}{x}" + "%s %r" % (i, i) + "{} {!r}".format(i, i) + str(i) + format(i)
text = "%d %s" % (3, i) + "{:d} {}".format(3, i) + "{0:d}{1}".format(3, i)
k = {"a": i}.get("a")
k = {1: i}[1]
k = [i, i].pop(0)
k = [i, 2].index(2) if False else 0
n = bin(x.shape[0]) + hex(3)
a, *rest = x
for row in x[0:2]: x = x + row
x = x + sum([i, i]) + abs(i) + round(i) + pow(i, 2)
x = jnp.repeat(x, 1, axis=0)
x = x + jnp.expand_dims(x, 0)[0]
y = np.zeros(x.shape[0]).shape
b = (x_ref.at[0:8],) and [x_ref]
b = x_ref is o_ref or x_ref in [x_ref]
text = f"{i!r:>40}" + f"{x!s:>90}"
x = np.reshape(x, x.shape) + np.sum(x, axis=0) + np.transpose(np.swapaxes(x, 0, 1)) + np.round(x) + np.max(x)
import operator; x = operator.add(x, operator.getitem([x, i], 0))
"""
_REFUSED = {
    "traced-bool-branch": """
match i: { case 0: x = x + 1 }
if (i, 1) == (0, 1): x = x + 1
if (1, i) == (1, 0): x = x + 1
b = (i, 1) < (0, 1)
b = [1, 2].index(i)
b = [1, 2].count(i)
b = i in [0, 1]
b = 0 < i < 2
b = list(filter(None, [i]))
b = sorted([i, 1])
assert i >= 0
import operator; b = operator.truth(i)
import operator; b = 1 if operator.gt(i, 0) else 2
import collections; b = not collections.namedtuple("Pair", "first second")(1, i).second
b = bool(jnp.array_equal(x, x))
b = 1 if np.any(x) else 2
""",
    "traced-as-python-index": """
k = {i: 1}
k = {i}
k = {0: 1}.get(i)
k = hash(i)
k = [1, 2].pop(i)
[1].insert(i, 2)
k = bin(i)
k = [1, 2][i]
k = "a" * i
""",
    "traced-to-python-number": """
n = int(i)
n = format(i, "d")
n = "{:d}".format(i)
n = "{0:>5}".format(i)
n = "{n:d}".format(n=i)
n = f"{i:d}"
""",
    "traced-to-numpy": """
n = np.arange(i)
n = np.sin(i)
""",
    "traced-shape": """
n = np.zeros(i)
n = jnp.repeat(x, i)
n = jnp.split(x, i)
n = jnp.expand_dims(x, i)
n = jnp.zeros((i, 8))
""",
    "ref-used-as-array": """
if x_ref: x = x + 1
b = x_ref and 1
b = not x_ref
b = bool(x_ref)
b = x_ref == o_ref
b = x_ref != None
""",
}


def _cases(rule: str | None, text: str) -> list[Case]:
    lines = [line.replace("{ case", "\n    case").removesuffix(" }") if line.startswith("match") else line for line in dedent(text).strip().splitlines()]
    return [(line, rule, steps(f"x = x_ref[...]\n{line}\no_ref[...] = x")) for line in lines]


PYTHON: list[Case] = [*_cases(None, _FINE), *(case for rule, text in _REFUSED.items() for case in _cases(rule, text))]
