"""Which values JAX hands through a branch or a loop, so that what comes out is the very array that went in and depends on nothing else.

Mirrors ``_jaxpr_forwarding`` (``jax/_src/interpreters/partial_eval.py``) as ``cond``, ``scan`` and ``while_loop`` use it
(``jax/_src/lax/control_flow``): a carry or a result that no equation made is taken from around the loop or branch.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..liveness import reaches
from ..machine import Machine
from ..values import Array, Value
from .structures import same_type


def source(machine: Machine, value: Value) -> Value:
    """The array that ``value`` is in JAX, behind functions that gave it back as they got it."""
    while isinstance(value, Array) and value.through is not None and same_type(machine, value.aval, value.through.aval):
        value = value.through
    return value


def shared_source(machine: Machine, values: list[Value]) -> Array | None:
    """The one array that all branches give back untouched, None where there is none."""
    first, *others = [source(machine, value) for value in values]
    return first if isinstance(first, Array) and all(other is first for other in others) else None


def is_carried_through(machine: Machine, start: Array, after: Value, tests: Sequence[Value]) -> bool:
    """Whether a loop's body gives the carry ``start`` back as it got it and no condition of a ``while_loop`` (``tests``) looks at it."""
    return source(machine, after) is start and not reaches(tests, start)
