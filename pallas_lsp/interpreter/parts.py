"""Parts that a kernel takes of tuples, lists and dicts and that are not there: Python raises where JAX calls the kernel."""

from __future__ import annotations

import ast
from dataclasses import replace

from .frames import Frame
from .machine import Machine
from .operation_events import PartsFault
from .paths import PathEnd
from .values import DynamicSlice, Ref, Value


def wrong_count(machine: Machine, value: Value, names: int, starred: bool, holder: ast.expr | None, node: ast.AST, frame: Frame) -> PathEnd:
    """What ends a path that unpacks a sequence into another number of names."""
    if isinstance(value, tuple):
        _note(machine, "count", value, names, holder, node, frame, starred)
    return PathEnd("raise", "ValueError")


def check_index(machine: Machine, value: Value, index: Value, node: ast.expr, frame: Frame) -> None:
    """End a path of a kernel's that asks a sequence for an item that it surely does not have, as whoever takes it for a ref does."""
    if machine.kernel is None or not isinstance(value, tuple | list):
        return
    holder = node.value if isinstance(node, ast.Subscript) else None
    if index is None or index is Ellipsis or isinstance(index, tuple | str | DynamicSlice):
        _note(machine, "index", value, index, holder, node, frame)
        raise PathEnd("raise", "TypeError")
    if isinstance(value, tuple) and type(index) is int and not -len(value) <= index < len(value):
        _note(machine, "range", value, index, holder, node, frame)
        raise PathEnd("raise", "IndexError")


def check_key(machine: Machine, value: dict[object, Value], key: object, node: ast.expr, frame: Frame) -> None:
    """End a path of a kernel's that asks the dict of refs that it was given for one that is not there."""
    if machine.kernel is None or not isinstance(key, str) or key in value or not value:
        return
    if all(isinstance(part, Ref) and isinstance(name, str) for name, part in value.items()):
        _note(machine, "key", value, key, node.value if isinstance(node, ast.Subscript) else None, node, frame)
        raise PathEnd("raise", "KeyError")


def _is_vararg(holder: ast.expr | None, frame: Frame) -> bool:
    """Whether an expression is the ``*refs`` of a function around."""
    scope: Frame | None = frame
    while isinstance(holder, ast.Name) and scope is not None:
        node = scope.function.node if scope.function is not None else None
        spec = node.args if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and holder.id in scope.names else None
        if spec is not None:
            return spec.vararg is not None and spec.vararg.arg == holder.id
        scope = scope.parent
    return False


def _has_known_arrays(value: Value) -> bool:
    """Whether the refs in a container are of arrays that are known: of an unknown operand only the specs say that it is a container."""
    parts = value.values() if isinstance(value, dict) else value
    return all(not isinstance(part, Ref) or part.root.array is not None or part.root.role in ("scratch", "outside") for part in parts)


def _note(
    machine: Machine, kind: str, value: Value, part: Value, holder: ast.expr | None, node: ast.AST, frame: Frame, starred: bool = False
) -> None:
    if machine.kernel is None or machine.guarded or not (_is_vararg(holder, frame) or _has_known_arrays(value)):
        return
    where = machine.where(node, frame)
    # Flags of one plan may contradict each other: each answer that the path chose is a guess here, which the other must bear out.
    where.trail = tuple(replace(made, key=f"@{made.key}") if made.chosen else made for made in machine.path.trail)
    machine.emit(PartsFault(where, kind, value, part, starred, holder))
