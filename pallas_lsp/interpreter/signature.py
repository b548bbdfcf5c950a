"""When two kernel runs are the same: equal kernel, equal arguments, equal captured values, equal decisions about them."""

from __future__ import annotations

import ast
from typing import Any

from ..shapes.dims import Poly
from .frames import MISSING, Frame
from .machine import Arguments, Machine
from .values import Array, BlockSpec, BoundMethod, Dtype, EnumMember, Function, Instance, Library, Opaque, Partial, Ref, Scratch, ShapeDtype, Transformed, Unknown, Value

_DEPTH = 6
_FREE: dict[int, tuple[ast.AST, tuple[str, ...]]] = {}


def signature(machine: Machine, function: Value, arguments: Arguments) -> Any:
    """A hashable value, equal for runs that cannot differ."""
    unknowns: set[str] = set()
    frozen = (
        freeze(function, unknowns),
        tuple(freeze(value, unknowns) for value in arguments.args),
        tuple((name, freeze(value, unknowns)) for name, value in sorted(arguments.kwargs.items())),
    )
    facts = machine.path.facts
    answers = tuple(item for item in machine.path.answers.items() if any(name in item[0] for name in unknowns))
    ranks = tuple((name, facts.rank.get(name), facts.none.get(name), repr(facts.constant.get(name))) for name in sorted(unknowns))
    return frozen, answers, ranks


def freeze(value: Value, unknowns: set[str], depth: int = 0) -> Any:
    """A hashable picture of a value; what is not pictured is told apart by identity."""
    if isinstance(value, bool | int | float | str | bytes | type(None)):
        return type(value).__name__, value if value == value else "nan"
    if depth > _DEPTH:
        return id(value)
    below = depth + 1
    if isinstance(value, Poly):
        return value
    if isinstance(value, Array):
        return "array", value.aval, value.constant, value.traced
    if isinstance(value, Ref):
        root = value.root
        return "ref", root.role, root.block, value.shape, value.dtype, root.space, root.decided_at, len(value.transforms)
    if isinstance(value, Unknown):
        if value.key is not None:
            unknowns.add(value.key)
        return "unknown", value.key if value.key is not None else id(value), value.poly
    if isinstance(value, Library | Dtype):
        return value.name
    if isinstance(value, tuple | list):
        return type(value).__name__, *(freeze(part, unknowns, below) for part in value)
    if isinstance(value, dict):
        return "dict", *((key, freeze(part, unknowns, below)) for key, part in value.items())
    if isinstance(value, slice):
        return "slice", *(freeze(part, unknowns, below) for part in (value.start, value.stop, value.step))
    return _freeze_object(value, unknowns, below)


def _freeze_object(value: Value, unknowns: set[str], depth: int) -> Any:
    if isinstance(value, Function):
        captured = ((name, value.frame.lookup(name)) for name in free_names(value.node))
        local = tuple((name, freeze(v, unknowns, depth)) for name, v in captured if v is not MISSING and not _is_global(value.frame, name))
        return "function", id(value.node), local, tuple(freeze(v, unknowns, depth) for v in value.defaults)
    if isinstance(value, Partial):
        return "partial", freeze(value.func, unknowns, depth), freeze(value.args, unknowns, depth), freeze(value.kwargs, unknowns, depth)
    if isinstance(value, BoundMethod):
        return "method", freeze(value.receiver, unknowns, depth), freeze(value.func, unknowns, depth)
    if isinstance(value, Transformed):
        return value.kind, freeze(value.func, unknowns, depth)
    if isinstance(value, Instance):
        return "instance", id(value.cls.node), freeze(value.attrs, unknowns, depth)
    if isinstance(value, EnumMember):
        return value.cls.name, value.name
    if isinstance(value, BlockSpec):
        return "spec", id(value.origin.node), freeze(value.shape, unknowns, depth), freeze(value.space, unknowns, depth)
    if isinstance(value, ShapeDtype | Scratch):
        return "aval", value.shape, value.dtype, value.space
    if isinstance(value, Opaque):
        return value.name, freeze(value.args, unknowns, depth), freeze(value.kwargs, unknowns, depth)
    return id(value)


def _is_global(frame: Frame, name: str) -> bool:
    current: Frame | None = frame
    while current is not None and current.kind != "module":
        if name in current.names and current.kind != "class":
            return False
        current = current.parent
    return True


def free_names(node: ast.AST) -> tuple[str, ...]:
    """The names that a function reads (its own locals among them, which its enclosing frames do not have)."""
    known = _FREE.get(id(node))
    if known is None or known[0] is not node:
        if len(_FREE) > 8192:
            _FREE.clear()
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        known = _FREE[id(node)] = (node, tuple(sorted(names)))
    return known[1]
