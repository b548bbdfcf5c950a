"""Operands that JAX refuses while it traces: shapes that do not broadcast, dtypes that a function does not take.

Mirrors the shape and dtype rules of ``jax/_src/lax/lax.py`` (``broadcasting_shape_rule``, ``naryop_dtype_rule``) and of the functions of
``jax/_src/numpy``.
"""

from __future__ import annotations

from typing import Any

from ..interpreter.events import ShapeFault
from ..interpreter.values import Unknown
from . import lowered, words
from .registry import Context, Finding, rule


def all_known(values: Any) -> bool:
    """Whether nothing among the operands is unknown, so that what the shape functions say of them is certain."""
    parts = values if isinstance(values, tuple | list) else [values]
    return not any(isinstance(part, Unknown) or (isinstance(part, tuple | list) and not all_known(part)) for part in parts)


@rule("invalid-operands", on=ShapeFault, order=90, stage="trace")
def invalid_operands(event: ShapeFault, context: Context) -> Finding | None:
    """A function of arrays is given shapes or dtypes that it does not take."""
    if event.where.call is None or event.operation.startswith("jax.experimental.pallas.") or not all_known(event.operands):
        return None
    operands = " and ".join(words.array(value) for value in lowered.arrays(event.operands))
    short = event.operation.rpartition(".")[2] if not event.operation.startswith(".") else event.operation
    return Finding(
        event.where.location,
        f"`{short}` of {operands}: {event.reason}" if operands else f"`{short}`: {event.reason}",
        jax_message=event.reason,
    )
