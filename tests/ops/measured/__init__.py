"""What JAX and the TPU compiler say to several hundred expressions in a kernel, as `generate_measured.py` wrote it down.

A line of ``jax-<version>.txt`` is an expression and its cells, ``<dtype><verdict>[<out>]``: the verdict is one of `VERDICTS`, ``out`` the
value's shape and dtype where it is not that of the operands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
VERDICTS = {
    "+": "JAX lowers it, and nothing else was asked, or every chip takes it",
    "t": "JAX refuses it while it traces",
    "l": "JAX refuses it while it lowers",
    "c": "the TPU compiler refuses it for every chip",
    "5": "the TPU compiler refuses it for v5e, not for every chip",
}
_DTYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "i32": "int32", "i16": "int16", "i8": "int8", "u32": "uint32", "u8": "uint8"}
_DTYPES |= {"bool": "bool_"}
SHORT = {name.rstrip("_"): short for short, name in _DTYPES.items()}
_MODULE = """\
import math

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def kernel(x_ref, y_ref, o_ref):
    i = pl.program_id(0)
    x = x_ref[...]
    y = y_ref[...]
    r = {expression}
    o_ref[...] = {stored}


def run(x, y):
    whole = pl.BlockSpec(memory_space=pltpu.VMEM)
    out = jax.ShapeDtypeStruct({out_shape}, jnp.{out_dtype})
    return pl.pallas_call(kernel, grid=(2,), in_specs=[whole, whole], out_specs=whole, out_shape=out)(x, y)


ARGS = [jax.ShapeDtypeStruct({shape}, jnp.{dtype})] * 2

if __name__ == "__main__":
    jax.jit(run).lower(*ARGS)
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """An expression on operands of a shape and a short dtype."""

    expression: str
    shape: tuple[int, ...]
    dtype: str

    def module(self, out: str = "", stored: str = "r") -> str:
        """A module with a kernel that stores the value, which is like ``out``, ``f32(8, 128)``, or like the operands."""
        short, _, dims = out.rstrip(")").partition("(")
        shape = tuple(int(size) for size in dims.split(",") if size.strip()) if out else self.shape
        return _MODULE.format(
            expression=self.expression, stored=stored if shape else "jnp.full((8, 128), r)", out_shape=shape or (8, 128),
            out_dtype=_DTYPES.get(short or self.dtype, short), shape=self.shape, dtype=_DTYPES[self.dtype],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measured:
    """What was asked, the verdict, and what the value is like."""

    asked: Asked
    verdict: str
    out: str

    @property
    def module(self) -> str:
        """The module that got the verdict."""
        return self.asked.module(self.out)


def expressions() -> Iterator[Asked]:
    """Everything that is asked, in the order of ``expressions.txt``."""
    shape: tuple[int, ...] = ()
    dtypes: list[str] = []
    for line in (FOLDER / "expressions.txt").read_text().splitlines():
        if line.startswith("== "):
            _, dims, names = line.split(": ")
            shape, dtypes = tuple(map(int, dims.split(","))), names.split()
        elif line and not line.startswith("#"):
            yield from (Asked(line, shape, dtype) for dtype in dtypes)


def measured(version: str) -> list[Measured]:
    """What was measured with a version of JAX."""
    lines = [line for line in (FOLDER / f"jax-{version}.txt").read_text().splitlines() if not line.startswith("#")]
    cells = [cell for line in lines for cell in line.split("\t")[1].split(" | ")]
    asked = list(expressions())
    assert len(cells) == len(asked), "expressions.txt changed: run generate_measured.py"
    found = []
    for ask, cell in zip(asked, cells, strict=True):
        dtype, verdict, *out = cell.split(" ", 2)
        assert dtype == ask.dtype and verdict in VERDICTS
        found.append(Measured(ask, verdict, out[0] if out else ""))
    return found
