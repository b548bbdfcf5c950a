"""An array operation as it is written: its operands, and how to compute it in another dtype."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..interpreter.events import Event
from ..interpreter.operation_events import Operation
from ..interpreter.values import Array, Value
from ..shapes import dtypes
from ..text.edits import grouped, wrap
from ..text.span import Edit
from .code import NUMPY, Code
from .registry import enclosed


@dataclass(frozen=True, slots=True)
class Operand:
    """An expression that an operation is given, with its value."""

    node: ast.expr
    value: Value

    @property
    def dtype(self) -> str | None:
        """The dtype of an array, None of anything else."""
        return self.value.dtype if isinstance(self.value, Array) else None

    @property
    def rank(self) -> int | None:
        """The rank of an array, None of anything else."""
        return len(self.value.shape) if isinstance(self.value, Array) and self.value.shape is not None else None


@dataclass(frozen=True, slots=True)
class Computation:
    """An operation as it is written. ``operands``: the positional ones, the array of a method first; none where some are starred."""

    code: Code
    event: Operation
    node: ast.expr
    operands: tuple[Operand, ...]

    @property
    def call(self) -> ast.Call | None:
        """The operation, where it is a call of a function or of a method."""
        return self.node if isinstance(self.node, ast.Call) else None

    @property
    def arrays(self) -> tuple[Operand, ...]:
        """The operands that are arrays."""
        return tuple(operand for operand in self.operands if isinstance(operand.value, Array))

    @property
    def dtype(self) -> str | None:
        """The dtype of the result, where that is one array."""
        return self.event.result.dtype if isinstance(self.event.result, Array) else None

    def cast(self, operands: Iterable[Operand], dtype: str) -> tuple[Edit, ...] | None:
        """The edits that cast these operands; None where the dtype cannot be named."""
        named = self.code.name(f"{NUMPY}.{dtype}")
        if named is None:
            return None
        casts = (wrap(self.code.module.source, operand.node, "", f".astype({named.text})") for operand in operands)
        return (*named.edits, *(edit for cast in casts for edit in cast))

    def cast_back(self, inner: Iterable[Edit], dtype: str, *, is_call: bool = False) -> tuple[Edit, ...] | None:
        """The edits ``inner`` to the operation, and a cast of its result to ``dtype``; ``is_call``: they make a call of an operator."""
        text, edits = self.dtype_text(dtype)
        if text is None:
            return None
        source, cast = self.code.module.source, f".astype({text})"
        group = grouped(source.text, self.code.span(self.node))
        end = (group or self.code.span(self.node)).end
        outer = (self.code.cut(end, end, cast),) if is_call else wrap(source, self.node, "", cast)
        return (*edits, *enclosed(inner, outer, self.code.span(self.node)))

    def dtype_text(self, dtype: str) -> tuple[str | None, tuple[Edit, ...]]:
        """How a dtype is written here: of the ref that the result is stored to, of an operand, or by its own name."""
        stored = self.stored_to()
        if stored is not None:
            return f"{self.code.text(stored)}.dtype", ()
        for operand in self.operands:
            holder = operand.node.value if isinstance(operand.node, ast.Subscript) else operand.node
            if operand.dtype == dtype and isinstance(holder, ast.Name):
                return f"{holder.id}.dtype", ()
        named = self.code.name(f"{NUMPY}.{'bool_' if dtype == 'bool' else dtype}")
        return (named.text, named.edits) if named is not None else (None, ())

    def stored_to(self) -> ast.expr | None:
        """The ref of ``ref[...] = operation``."""
        holder = self.code.around(self.node)[0]
        target = holder.targets[0] if isinstance(holder, ast.Assign) and len(holder.targets) == 1 else None
        return target.value if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) else None


def computation_of(event: Event) -> Computation | None:
    """The operation of an event as it is written; None where it is not written as an expression of its own."""
    node = event.where.node
    if not isinstance(event, Operation) or not isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Call):
        return None
    code = Code(event.where.module)
    nodes = list(_operand_nodes(code, node))
    operands = [Operand(*pair) for pair in zip(nodes, event.args, strict=False)] if len(nodes) == len(event.args) else []
    return Computation(code, event, node, tuple(operands))


def _operand_nodes(code: Code, node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, ast.Call) and not any(isinstance(argument, ast.Starred) for argument in node.args):
        if isinstance(node.func, ast.Attribute) and code.qualified(node.func) is None:
            yield node.func.value
        yield from node.args


def wide(dtype: str | None) -> str | None:
    """The 32-bit dtype that holds what a narrow one does; None for an unknown dtype and those that none holds."""
    if dtype is None or dtypes.kind(dtype) in ("complex", "extended"):
        return None
    return "float32" if dtypes.is_floating(dtype) else "int32"
