"""Operands that JAX refuses while it traces: shapes that do not broadcast, dtypes that a function does not take.

Mirrors the shape and dtype rules of ``jax/_src/lax/lax.py`` (``broadcasting_shape_rule``, ``naryop_dtype_rule``) and of the functions of ``jax/_src/numpy``.
"""

from __future__ import annotations

from ..interpreter.events import ShapeFault
from . import lowered, words
from .registry import Context, Finding, rule


@rule("invalid-operands", on=ShapeFault, order=90, stage="trace")
def invalid_operands(event: ShapeFault, context: Context) -> Finding | None:
    """A function of arrays is given shapes or dtypes that it does not take."""
    if event.where.call is None:
        return None
    operands = " and ".join(words.array(value) for value in lowered.arrays(event.operands))
    short = event.operation.rpartition(".")[2] if not event.operation.startswith(".") else event.operation
    return Finding(event.where.location, f"`{short}` of {operands}: {event.reason}" if operands else f"`{short}`: {event.reason}", jax_message=event.reason)
