"""What a value tells: to who looks at it in the text, and to who judges the kernel that works with it."""

from __future__ import annotations

import ast

from ..shapes.dims import Poly
from ..shapes.poly import symbols_of
from .values import ABSENT, Array, ChipFacts, Condition, Function, Library, Ref, Unknown, Value
from .written import written

_CERTAIN = frozenset({int, float, bool, str, type(None), tuple, list, dict, Function, Library, ChipFacts})


def told(value: Value) -> int:
    """How much a noted value tells: nothing yet, an unknown, an array or ref without shape or dtype, something known."""
    kind = type(value)
    if kind is Array or kind is Ref:
        return 2 + (value.shape is not None) + (value.dtype is not None)
    if value is ABSENT:
        return 0
    return 1 if isinstance(value, Unknown) else 4


def is_other(value: Value, known: Value) -> bool:
    """Whether two noted values certainly differ in shape, dtype or memory space; a symbolic dim covers every number."""
    kind, before = type(value), type(known)
    if not (kind is Array or kind is Ref) or not (before is Array or before is Ref):
        return (kind is Array or kind is Ref) != (before is Array or before is Ref) and not isinstance(value, Unknown)
    if kind is before is Ref and _are_other(value.root.space, known.root.space):
        return True
    if _are_other(value.dtype, known.dtype):
        return True
    shape, other = value.shape, known.shape
    if shape is None or other is None or shape == other:
        return False
    return len(shape) != len(other) or any(a != b for a, b in zip(shape, other, strict=True) if type(a) is type(b) is int)


def _are_other(one: str | None, other: str | None) -> bool:
    return one != other and one is not None and other is not None


def doubt_of(value: Value, node: ast.AST) -> str | None:
    """What is not known of a value that a kernel works with, in words; None where all that JAX asks of it is."""
    if type(value) in _CERTAIN:
        return None
    if isinstance(value, Condition):
        return f"whether {value.words[0]}"
    if isinstance(value, Unknown):
        return value.why
    if isinstance(value, Poly):
        return f"`{symbols_of(value)[0].name}`"
    if isinstance(value, Array | Ref):
        shape = value.shape
        if shape is None or not all(type(dim) is int for dim in shape):
            return f"the shape of `{written(node)}`"
        if value.dtype is None:
            return f"the dtype of `{written(node)}`"
    return None
