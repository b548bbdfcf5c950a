"""Whole modules around one kernel call, for tests that try one part of it."""

from __future__ import annotations

from textwrap import indent

COPY = "o_ref[...] = x_ref[...]"
ZEROS = "o_ref[...] = jnp.zeros_like(o_ref)"
ROWS = "pl.BlockSpec((8, 128), lambda i: (i, 0))"
GRID = {"grid": "(2,)", "in_specs": f"[{ROWS}]", "out_specs": ROWS}

_HEAD = """\
import dataclasses
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

SMEM = pl.BlockSpec(memory_space=pltpu.SMEM)
ANY = pl.BlockSpec(memory_space=pl.ANY)
"""

_DTYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "i32": "int32", "i16": "int16", "i8": "int8", "i4": "int4"}
_DTYPES |= {"f8": "float8_e4m3fn", "u32": "uint32", "u16": "uint16", "u8": "uint8", "bool": "bool_", "c64": "complex64"}


def struct(described: str) -> str:
    """``f32[8,128]`` as a ShapeDtypeStruct."""
    short, _, dims = described.removesuffix("]").partition("[")
    return f"jax.ShapeDtypeStruct(({dims}{',' if dims else ''}), jnp.{_DTYPES[short]})"


def module(
    body: str = COPY,
    *,
    refs: str = "x_ref, o_ref",
    x: str = "f32[16,128]",
    y: str | None = None,
    out: str = "f32[16,128]",
    out_shape: str | None = None,
    kernel: str = "kernel",
    operands: str | None = None,
    before: str = "",
    top: str = "",
    args: str | None = None,
    result: str = "{}",
    **keywords: str,
) -> str:
    """A module with a kernel ``body`` of ``refs`` and a call of it.

    ``x``, ``y``, ``out``: operands and output, told as ``f32[8,128]``; ``out_shape``, ``kernel``, ``operands``: other expressions for these;
    ``before``, ``top``: statements before the call and before the kernel; ``result``: what is returned, ``{}`` the call;
    ``keywords``: further arguments of ``pallas_call``, as texts.
    """
    names = ["x", "y"][: 1 + (y is not None)]
    given = [struct(x), *([struct(y)] if y is not None else [])]
    arguments = "".join(f", {name}={text}" for name, text in keywords.items() if text)
    shape = struct(out) if out_shape is None else out_shape
    call = f"pl.pallas_call({kernel}{', ' + shape if shape else ''}{arguments})({', '.join(names) if operands is None else operands})"
    lines = [*before.splitlines(), f"return {result.format(call)}"]
    definition = f"def kernel({refs}):\n{indent(body, '    ')}\n"
    run = f"def run({', '.join(names)}):\n{indent(chr(10).join(lines), '    ')}\n"
    return f"{_HEAD}{top}\n\n{definition}\n\n{run}\n\nARGS = [{args if args is not None else ', '.join(given)}]\n\nif __name__ == '__main__':\n    jax.jit(run).lower(*ARGS)\n"
