"""Which arrays a function uses that were made outside of it.

Mirrors what ``pe.trace_to_jaxpr`` makes constants of: arrays of JAX's of any rank, arrays of NumPy's with a dim; numbers are literals.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from ..machine import Machine
from ..modules import ModuleFile
from ..values import Array, Value


def captured_arrays(values: Iterable[Value], started: int) -> list[tuple[Array, Array | None]]:
    """The arrays older than ``started`` that the values were computed from.

    Each comes with the array that was computed from it, None for one of the values itself.
    """
    found: list[tuple[Array, Array | None]] = []
    pending: list[tuple[Any, Array | None]] = [(value, None) for value in values]
    seen: set[int] = set()
    while pending:
        value, user = pending.pop()
        if isinstance(value, tuple | list):
            pending.extend((part, user) for part in value)
        if not isinstance(value, Array) or id(value) in seen:
            continue
        seen.add(id(value))
        if _is_constant(value, started):
            found.append((value, user))
        elif not value.numpy:
            pending.extend((operand, value) for operand in value.operands)
    return found


def _is_constant(array: Array, started: int) -> bool:
    """Whether JAX makes a captured constant of the array."""
    if array.numpy:
        return bool(array.shape)
    if array.born >= started:
        return False
    return array.traced or bool(array.shape) or (isinstance(array.made_by, ast.Call) and not array.operands)


def module_of(machine: Machine, node: ast.AST) -> ModuleFile | None:
    """The file that a node stands in."""
    return next((m for m in list(machine.modules.values()) if any(part is node for part in ast.walk(m.parsed.tree))), None)
