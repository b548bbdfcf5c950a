"""What the rules on operations share: is the result used, what is the function called, which dtype do its operands have."""

from __future__ import annotations

from typing import Any

from ..interpreter.events import Where
from ..interpreter.operation_events import Operation
from ..interpreter.values import Array, Value
from ..shapes import dtypes
from ..shapes.avals import ShapeError, as_aval
from .registry import Context

_SHORT = (
    ("jax.numpy.", "jnp."),
    ("jax.lax.", "lax."),
    ("jax.experimental.pallas.tpu.", "pltpu."),
    ("jax.experimental.pallas.", "pl."),
)


def is_live(value: Value) -> bool:
    """Whether something with an effect depends on a part of the value."""
    if isinstance(value, Array):
        return value.live
    if isinstance(value, tuple | list):
        return any(map(is_live, value))
    return isinstance(value, dict) and any(map(is_live, value.values()))


def is_used(value: Value, where: Where, context: Context) -> bool:
    """Whether JAX lowers what computes the value: since 0.9.1 it drops what nothing uses, outside ``pl.kernel`` and pipelines."""
    return where.dead_code_kept or is_live(value) or (context.version is not None and not context.jax(since="0.9.1"))


def name(event: Operation) -> str:
    """The function or operator as the user wrote it, in backticks."""
    if event.written:
        return f"`{event.written}`"
    for long, short in _SHORT:
        if event.function.startswith(long):
            return f"`{short}{event.function.removeprefix(long)}`"
    return f"`{event.function}`"


def arrays(values: Any) -> list[Array]:
    """The arrays among the values, and in the lists and tuples among them."""
    found: list[Array] = []
    for value in values:
        if isinstance(value, Array):
            found.append(value)
        elif isinstance(value, tuple | list):
            found += arrays(value)
    return found


def operand_dtype(event: Operation, numbers: bool = False) -> str | None:
    """The dtype that the operands are promoted to, None where it is not known, or where all are Python's numbers (unless ``numbers``)."""
    python = [as_aval(value) for value in event.args if isinstance(value, bool | int | float)]
    avals = [value.aval for value in arrays((*event.args, *event.kwargs.values())) if dtypes.kind(value.dtype) != "extended"]
    if not (avals or (numbers and python)) or any(aval.dtype is None for aval in avals):
        return None
    try:
        return dtypes.promote(*((aval.dtype, aval.weak) for aval in (*avals, *python)))[0]
    except ShapeError:
        return None
