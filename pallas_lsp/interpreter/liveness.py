"""Which loads somebody uses: since JAX 0.9.1 an unused load is dropped before lowering.

Mirrors ``pallas_call``'s dead-code elimination of the kernel jaxpr (``jax/_src/pallas/pallas_call.py``): reads can be dropped, writes
cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .events import Access
from .values import Array, DynamicSlice, Ref, Region, Value


def mark_live(*values: Value) -> None:
    """Mark everything that the values were computed from as used."""
    pending: list[Any] = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, Array | Access | Region):
            if value.live:
                continue
            value.live = True
            pending.extend(value.operands)
        elif isinstance(value, tuple | list):
            pending.extend(value)
        elif isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, slice):
            pending.extend((value.start, value.stop, value.step))
        elif isinstance(value, DynamicSlice):
            pending.extend((value.start, value.size, value.stride))
        elif isinstance(value, Ref):
            pending.extend(value.key or ())


def reaches(values: Sequence[Value], target: Array) -> bool:
    """Whether one of the values was computed from ``target``."""
    pending: list[Any] = list(values)
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if value is target:
            return True
        if isinstance(value, Array | Access | Region) and id(value) not in seen:
            seen.add(id(value))
            pending.extend(value.operands)
    return False


def arrays_in(value: Value) -> tuple[Array, ...]:
    """The arrays inside an indexer or another small structure."""
    if isinstance(value, Array):
        return (value,)
    if isinstance(value, tuple | list):
        return tuple(array for part in value for array in arrays_in(part))
    if isinstance(value, slice):
        return arrays_in((value.start, value.stop, value.step))
    if isinstance(value, DynamicSlice):
        return arrays_in((value.start, value.size, value.stride))
    return ()
