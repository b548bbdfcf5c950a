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
    if value is ABSENT:
        return 0
    if isinstance(value, Unknown):
        return 1
    if isinstance(value, Array | Ref):
        return 2 + (value.shape is not None) + (value.dtype is not None)
    return 4


def is_other(value: Value, known: Value) -> bool:
    """Whether two noted values certainly differ in shape, dtype or memory space; a symbolic dim covers every number."""
    if not isinstance(value, Array | Ref) or not isinstance(known, Array | Ref):
        return isinstance(value, Array | Ref) != isinstance(known, Array | Ref) and not isinstance(value, Unknown)
    spaces = (value.root.space, known.root.space) if isinstance(value, Ref) and isinstance(known, Ref) else (None, None)
    for one, other in ((value.dtype, known.dtype), spaces):
        if one != other and one is not None and other is not None:
            return True
    shape, before = value.shape, known.shape
    if shape is None or before is None or shape == before:
        return False
    return len(shape) != len(before) or any(a != b for a, b in zip(shape, before, strict=True) if type(a) is type(b) is int)


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
