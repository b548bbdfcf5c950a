"""Numbers that a program takes out of NumPy's arrays on the host: the checker has the program's own, or none."""

from __future__ import annotations

from typing import Any

import pytest
from checker import analysis_of

from pallas_lsp.given import read_call

_TEXT = """\
import collections

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl


class Key:
    def __init__(self, array):
        self.array = array

    def __hash__(self):
        return hash(self.array.tobytes())

    def __eq__(self, other):
        return np.array_equal(self.array, other.array)


def elsewhere(array):
    array[0] = 9


def rows():
{body}


def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def run(x):
    out = jax.ShapeDtypeStruct((int(rows()), 128), jnp.float32)
    return pl.pallas_call(kernel, out_shape=out)(x)
"""

# What is followed: block tables and masks as programs compute them.
KNOWN = {
    "any": "return 8 if np.zeros((4, 4), dtype=np.bool_).any() else 16",
    "mask": "q = np.arange(8)[:, None]\nreturn 8 if (q >= np.arange(8)[None, :]).all() else 16",
    "window": "q, k = np.arange(8)[:, None], np.arange(8)[None, :]\nmask = q - 9 <= k\nmask &= q >= k\nreturn 8 if mask.all() else 24",
    "maximum": "return np.arange(5).max() + 4",
    "written": "a = np.zeros((2, 3), dtype=np.int32)\na[1, 2] = 8\nreturn a.max()",
    "written in a loop": "a = np.zeros(4, dtype=np.int32)\nfor i in np.ndindex((2, 2)):\n    a[2 * i[0] + i[1]] = 8 * i[1]\nreturn a[3]",
    "by an alias": "a = np.zeros(4, dtype=np.int32)\nb = a\nb[0] = 8\nreturn a[0]",
    "by a function": "a = np.ones(3, dtype=np.int32)\nelsewhere(a)\nreturn a[0] - 1",
    "nonzero": "a = np.zeros(9, dtype=np.int32)\na[3] = 1\na[8] = 5\nreturn np.nonzero(a)[0][1]",
    "distinct masks": "a = {}\nfor n in (1, 2, 1):\n    a[Key(np.arange(n))] = n\nreturn 8 * len(a)",
    "numbered": "ids = collections.defaultdict(lambda: len(ids))\nfor n in (7, 7, 9):\n    ids[n]\nreturn 8 * len(ids)",
    "sorted": "return sorted({'a': 16, 'b': 8}.items(), key=lambda pair: pair[1])[0][1]",
    "exhausted": "them = iter([1])\nnext(them)\ntry:\n    next(them)\nexcept StopIteration:\n    return 8\nreturn 16",
    "stacked": "a = np.stack([np.arange(4), np.full((4,), 8)])\nreturn a[1, 0]",
    "padded": "return np.pad(np.arange(3) + 6, (0, 2), mode='edge')[4]",
    "swapped": "return np.swapaxes(np.arange(3)[:, None] + np.arange(7, 9)[None, :], 0, 1)[1, 0]",
    "small": "a = np.full((3,), 8, dtype=np.int32)\nreturn 8 if np.max(a) <= np.iinfo(np.int8).max else 16",
}
# What changes an array in ways that are not followed: nothing may be said then.
CHANGED = {
    "in place": "a = np.ones(3, dtype=np.int32)\nb = a\nb += 7\nreturn a[0]",
    "a view": "a = np.ones((2, 3), dtype=np.int32)\nb = a[0]\nb[1] = 8\nreturn a[0, 1]",
    "the base of a view": "a = np.ones((2, 3), dtype=np.int32)\nb = a[0]\na[0, 1] = 8\nreturn b[1]",
    "turned": "a = np.ones((2, 3), dtype=np.int32)\nb = np.swapaxes(a, 0, 1)\na[0, 1] = 8\nreturn b[1, 0]",
    "a property": "a = np.ones((2, 3), dtype=np.int32)\nb = a.T\nb[1, 0] = 8\nreturn a[0, 1]",
    "reshaped": "a = np.ones((2, 4), dtype=np.int32)\na.reshape(8)[0] = 8\nreturn a[0, 0]",
    "a slice": "a = np.ones(4, dtype=np.int32)\na[1:3] = 8\nreturn a[1]",
    "filled": "a = np.ones(4, dtype=np.int32)\na.fill(8)\nreturn a[1]",
    "put": "a = np.ones(4, dtype=np.int32)\nnp.put(a, [0], [8])\nreturn a[0]",
    "copied to": "a = np.ones(4, dtype=np.int32)\nnp.copyto(a, 8)\nreturn a[0]",
    "out": "a = np.ones(4, dtype=np.int32)\nnp.add(a, 7, out=a)\nreturn a[0]",
    "sorted": "a = np.arange(9)[::-1]\na.sort()\nreturn a[8]",
    "a long loop": "a = np.ones(100, dtype=np.int32)\nfor i in range(100):\n    a[i] = 8\nreturn a[50]",
    "a long loop's last": "a = np.ones(1, dtype=np.int32)\nfor i in range(101):\n    a[0] = i % 9\nreturn a[0] + 6",
    "a map": "a = np.ones(1, dtype=np.int32)\nlist(map(lambda i: a.__setitem__(0, i), [8]))\nreturn a[0]",
    "at": "a = np.ones(4, dtype=np.int32)\nnp.add.at(a, [0], 7)\nreturn a[0]",
    "flat": "a = np.ones(4, dtype=np.int32)\na.flat[0] = 8\nreturn a[0]",
    "asarray": "a = np.ones(4, dtype=np.int32)\nb = np.asarray(a)\nb[0] = 8\nreturn a[0]",
    "narrow, by way of others": "a = np.where(True, np.full((2,), 100, dtype=np.int8), 0)\nreturn 8 if (a + a)[0] < 0 else 16",
    "booleans": "a = np.concatenate([np.ones(3, dtype=np.bool_)] * 2)\nreturn (a + a)[0] * 8",
    "unsigned": "a = np.where(True, np.full((2,), 1, dtype=np.uint8), 0)\nreturn 8 if (a - 2)[0] < 0 else 16",
    "narrow": "a = np.full((2,), 100, dtype=np.int8)\nreturn 8 if (a + a)[0] < 0 else 16",
    "an iterator": "a = np.ones(8, dtype=np.int32)\nfor row in a.reshape(2, 4):\n    row[0] = 8\nreturn a[0]",
    "rows": "a = np.ones((2, 4), dtype=np.int32)\nfor row in a:\n    row[0] = 8\nreturn a[0, 0]",
}


def rows(body: str) -> tuple[Any, int]:
    """How many rows the checker sees in the output, and how many the program makes."""
    text = _TEXT.format(body="".join(f"    {line}\n" for line in body.splitlines()))
    names: dict[str, Any] = {}
    exec(compile(text, "kernel.py", "exec", dont_inherit=True), names)
    site, *others = analysis_of(text, call=read_call("run(f32[8,128])")).sites
    shape = site.refs[1].shape
    return (shape[0] if shape and not others else None), int(names["rows"]())


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_followed(name: str) -> None:
    ours, program = rows(KNOWN[name])
    assert ours == program


@pytest.mark.parametrize("name", CHANGED)
def test_what_is_changed_is_not_taken_for_what_it_was(name: str) -> None:
    ours, program = rows(CHANGED[name])
    assert not isinstance(ours, int) or ours == program
