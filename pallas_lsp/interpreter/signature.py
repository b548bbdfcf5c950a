"""When two kernel runs are the same: equal kernel, equal arguments, equal captured values, equal decisions about them."""

from __future__ import annotations

from typing import Any

from ..shapes.dims import Poly, Symbol
from .frames import MISSING, Frame
from .machine import Arguments, Machine
from .values import (
    Array,
    BlockSpec,
    BoundMethod,
    Class,
    Dtype,
    EnumMember,
    Function,
    Instance,
    Library,
    Opaque,
    Partial,
    Ref,
    Scratch,
    ShapeDtype,
    Transformed,
    Unknown,
    Value,
)
from .written import free_names

_DEPTH = 6


def signature(machine: Machine, function: Value, arguments: Arguments) -> Any:
    """A hashable value, equal for runs that cannot differ."""
    seen = Seen(machine)
    frozen = (
        freeze(function, seen),
        tuple(freeze(value, seen) for value in arguments.args),
        tuple((name, freeze(value, seen)) for name, value in sorted(arguments.kwargs.items())),
    )
    answers = tuple(item for item in machine.path.answers.items() if any(name in item[0] for name in seen.unknowns))
    machine.numbered = machine.numbered or any("@" in key for key, _ in answers)
    return frozen, answers


class Seen:
    """What a signature has met: the unknowns, whose decisions belong to it, and the symbols, which are told apart by order only.

    Two runs whose dims differ in nothing but the names of their symbols find the same faults.
    """

    __slots__ = ("facts", "place_at", "symbols", "unknowns")

    def __init__(self, machine: Machine) -> None:
        self.facts = machine.path.facts
        self.place_at = machine.place_at
        self.unknowns: set[str] = set()
        self.symbols: dict[Symbol, int] = {}

    def dim(self, dim: Any) -> Any:
        """A dim with its symbols numbered in the order in which they were met."""
        if not isinstance(dim, Poly):
            return dim
        resolved = self.facts.resolve(dim)
        if not isinstance(resolved, Poly):
            return resolved
        return tuple((tuple((self._atom(atom), power) for atom, power in monomial), factor) for monomial, factor in resolved.terms)

    def _atom(self, atom: Any) -> Any:
        if isinstance(atom, Symbol):
            return self.symbols.setdefault(atom, len(self.symbols)), atom.least
        return atom.op, tuple(self.dim(arg) for arg in atom.args)

    def shape(self, shape: Any) -> Any:
        """A shape, or a block's entries, with symbols numbered."""
        return tuple(map(self.dim, shape)) if shape is not None else None


def freeze(value: Value, seen: Seen, depth: int = 0) -> Any:
    """A hashable picture of a value; what is not pictured is told apart by identity."""
    if isinstance(value, bool | int | float | str | bytes | type(None)):
        return type(value).__name__, value if value == value else "nan"
    if depth > _DEPTH:
        return id(value)
    below = depth + 1
    if isinstance(value, Poly):
        return "dim", seen.dim(value)
    if isinstance(value, Array):
        return "array", seen.shape(value.shape), value.dtype, value.aval.weak, value.constant, value.traced
    if isinstance(value, Ref):
        root = value.root
        return (
            "ref",
            root.role,
            seen.shape(root.block),
            seen.shape(value.shape),
            value.dtype,
            root.space,
            seen.place_at(root.decided_at),
            len(value.transforms),
        )
    if isinstance(value, Unknown):
        if value.key is not None:
            seen.unknowns.add(value.key)
        return "unknown", value.key if value.key is not None else id(value), seen.dim(value.poly)
    if isinstance(value, Library | Dtype):
        return value.name
    if isinstance(value, tuple | list):
        return type(value).__name__, *(freeze(part, seen, below) for part in value)
    if isinstance(value, dict):
        return "dict", *((key, freeze(part, seen, below)) for key, part in value.items())
    if isinstance(value, slice):
        return "slice", *(freeze(part, seen, below) for part in (value.start, value.stop, value.step))
    return _freeze_object(value, seen, below)


def _freeze_object(value: Value, seen: Seen, depth: int) -> Any:
    if isinstance(value, Function):
        captured = ((name, value.frame.lookup(name)) for name in free_names(value.node))
        local = tuple((name, freeze(v, seen, depth)) for name, v in captured if v is not MISSING and not _is_global(value.frame, name))
        return "function", value.module.place(value.node), local, tuple(freeze(v, seen, depth) for v in value.defaults)
    if isinstance(value, Partial):
        return "partial", freeze(value.func, seen, depth), freeze(value.args, seen, depth), freeze(value.kwargs, seen, depth)
    if isinstance(value, BoundMethod):
        return "method", freeze(value.receiver, seen, depth), freeze(value.func, seen, depth)
    if isinstance(value, Transformed):
        return value.kind, freeze(value.func, seen, depth)
    if isinstance(value, Instance):
        return "instance", value.cls.module.place(value.cls.node), freeze(value.attrs, seen, depth)
    if isinstance(value, Class):
        return "class", value.module.place(value.node)
    if isinstance(value, EnumMember):
        return value.cls.name, value.name
    if isinstance(value, BlockSpec):
        return "spec", value.origin.module.place(value.origin.node), freeze(value.shape, seen, depth), freeze(value.space, seen, depth)
    if isinstance(value, ShapeDtype | Scratch):
        return "aval", seen.shape(value.shape), value.dtype, value.space
    if isinstance(value, Opaque):
        return value.name, freeze(value.args, seen, depth), freeze(value.kwargs, seen, depth)
    return id(value)


def _is_global(frame: Frame, name: str) -> bool:
    current: Frame | None = frame
    while current is not None and current.kind != "module":
        if name in current.names and current.kind != "class":
            return False
        current = current.parent
    return True
