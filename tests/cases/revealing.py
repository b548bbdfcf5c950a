"""What JAX knows of a value, in the words of the cases."""

from __future__ import annotations

from typing import Any

import jax

from pallas_lsp.shapes.dtypes import short

REVEALED: dict[int, str] = {}


def revealed(line: int, value: Any) -> None:
    """Keep what ``value`` is on this line; the last time counts."""
    REVEALED[line] = words(value)


def words(value: Any) -> str:
    """``f32[8,128]`` for an array, ``f32[8,128]@vmem`` for a ref or a view of one, the number for a Python number."""
    if isinstance(value, bool | int | float | str | tuple):
        return repr(value).replace(" ", "")
    view = value.ref if hasattr(value, "transforms") else value
    space = getattr(jax.typeof(view), "memory_space", None)
    where = {"default": "vmem"}.get(str(space), str(space)) if type(jax.typeof(view)).__name__ == "AbstractRef" else ""
    return f"{short(str(value.dtype))}[{','.join(map(str, value.shape))}]" + (f"@{where}" if where else "")
