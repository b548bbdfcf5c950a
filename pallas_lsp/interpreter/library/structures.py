"""Where two pytrees certainly differ, in structure or in the types of their leaves: what JAX asks of carries and of branches."""

from __future__ import annotations

from dataclasses import dataclass

from ...shapes import dims
from ...shapes.avals import Aval, as_aval
from ...shapes.dims import Poly, Truth
from ..machine import Machine
from ..values import Array, Instance, Unknown, Value
from .trees import children, is_node


@dataclass(frozen=True, slots=True)
class Difference:
    """The first subtrees that differ; ``kind``: ``structure`` or ``type``."""

    kind: str
    first: Value
    other: Value


def difference(machine: Machine, first: Value, other: Value) -> Difference | None:
    """Where two trees certainly differ, None where they may be alike. JAX looks at structures before types."""
    return _structure(machine, first, other) or _types(machine, first, other)


def _structure(machine: Machine, first: Value, other: Value) -> Difference | None:
    first, other = machine.settle(first), machine.settle(other)
    nodes = is_node(first), is_node(other)
    if nodes == (True, True):
        if _kind(first) is None or _kind(other) is None:
            return None
        if _kind(first) != _kind(other):
            return Difference("structure", first, other)
        pairs = zip(children(first), children(other), strict=True)
        return next((found for a, b in pairs if (found := _structure(machine, a, b)) is not None), None)
    if True in nodes and all(node or _is_leaf(value) for node, value in zip(nodes, (first, other), strict=True)):
        return Difference("structure", first, other)
    return None


def _kind(node: Value) -> tuple[object, ...] | None:
    """What two inner nodes must share; None where that is not known."""
    if isinstance(node, dict):
        return dict, tuple(sorted(map(repr, node)))
    if isinstance(node, Instance):
        return None
    return type(node), len(node) if node is not None else 0


def _is_leaf(value: Value) -> bool:
    return isinstance(value, Array | bool | int | float | complex | Poly)


def _types(machine: Machine, first: Value, other: Value) -> Difference | None:
    first, other = machine.settle(first), machine.settle(other)
    if is_node(first) and is_node(other):
        pairs = zip(children(first), children(other), strict=False)
        return next((found for a, b in pairs if (found := _types(machine, a, b)) is not None), None)
    if isinstance(first, Unknown) or isinstance(other, Unknown) or not (_is_leaf(first) and _is_leaf(other)):
        return None
    return Difference("type", first, other) if _differ(machine, _aval(first), _aval(other)) else None


def _aval(value: Value) -> Aval:
    return value.aval if isinstance(value, Array) else as_aval(value)


def same_type(machine: Machine, first: Aval, other: Aval) -> bool:
    """Whether two values may have one type, weakness included."""
    weak = first.weak is not None and other.weak is not None and first.weak != other.weak
    return not weak and not _differ(machine, first, other)


def _differ(machine: Machine, first: Aval, other: Aval) -> bool:
    if first.dtype is not None and other.dtype is not None and first.dtype != other.dtype:
        return True
    if first.shape is None or other.shape is None:
        return False
    if len(first.shape) != len(other.shape):
        return True
    same = machine.path.facts.same
    return bool(first.shape) and dims.and_(*(same(a, b) for a, b in zip(first.shape, other.shape, strict=True))) is Truth.NO
