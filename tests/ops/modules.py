"""Whole modules around one operation in a kernel."""

from __future__ import annotations

from typing import Any

from call.modules import module
from referee import jax_version

Case = tuple[str, str | None, str]  # what, the rule that speaks or None, a module
NEW = jax_version() >= (0, 12)


def unary(expression: str, x: str = "f32[8,128]", out: str | None = None, **keywords: Any) -> str:
    """A kernel that stores an expression of the loaded ``x``."""
    body = f"x = x_ref[...]\no_ref[...] = {expression}"
    return module(body, x=x, out=x if out is None else out, **keywords)


def binary(expression: str, x: str = "f32[8,128]", y: str | None = None, out: str | None = None, **keywords: Any) -> str:
    """A kernel that stores an expression of the loaded ``x`` and ``y``."""
    body = f"x, y = x_ref[...], y_ref[...]\no_ref[...] = {expression}"
    return module(body, refs="x_ref, y_ref, o_ref", x=x, y=x if y is None else y, out=x if out is None else out, **keywords)


def steps(body: str, **keywords: Any) -> str:
    """A kernel with ``i``, the number of its program, in two blocks of eight rows."""
    spec = "pl.BlockSpec((8, 128), lambda i: (i, 0))"
    return module(f"i = pl.program_id(0)\n{body}", grid="(2,)", in_specs=f"[{spec}]", out_specs=spec, **keywords)
