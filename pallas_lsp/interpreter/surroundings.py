"""What surrounds a kernel call on the host: ``vmap``, differentiation, ``shard_map``, a ``jit`` over several devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..shapes import dtypes
from ..shapes.dims import MaybeDim
from ..text.span import Location
from .events import Where
from .values import Array, RefRoot, Value

# Methods and functions through which the derivative of a float goes on.
_SMOOTH = frozenset(
    {
        *("reshape", "transpose", "swapaxes", "ravel", "astype", "squeeze", "expand_dims", "broadcast_to", "pad", "concatenate", "stack"),
        *("sum", "mean", "exp", "exp2", "log", "sqrt", "sin", "cos", "tanh", "square", "dot", "matmul", "einsum", "tile", "repeat", "T"),
        *("add", "subtract", "multiply", "divide", "negative", "maximum", "minimum", "where", "asarray", "array"),
    }
)


@dataclass(frozen=True, slots=True)
class Batch:
    """One ``vmap`` around what runs: the size of its axis, the operands that have it with the axis they had it on, and its place."""

    size: MaybeDim
    operands: tuple[tuple[Array, int], ...]
    location: Location

    def axis_of(self, value: Value) -> int | None:
        """The batched axis of an operand of the ``vmap`` itself; None for anything else."""
        return next((axis for array, axis in self.operands if array is value), None)

    def covers(self, value: Value) -> bool:
        """Whether the value was computed from what is batched."""
        mapped = {id(array) for array, _ in self.operands}
        return any(id(array) in mapped for array in _ancestors(value))


@dataclass(slots=True)
class Program:
    """What is compiled as one program: its arguments by id, and the outputs of its kernel calls by id, each with the set that takes the id
    of its root once it is known to be a result; ``alive`` keeps them, so that no other object gets such an id."""

    arguments: dict[int, Array]
    outputs: dict[int, tuple[set[int], RefRoot]] = field(default_factory=dict)
    alive: list[Value] = field(default_factory=list)


@dataclass(slots=True)
class Surroundings:
    """``batches``: the ``vmap`` calls around, outermost first; ``differentiated``: what the derivative is taken by, with the place that
    takes it; ``varying``: the ``shard_map`` whose check of varying axes is on; ``sharded``: inside of some ``shard_map``; ``devices``:
    where more than one device comes in; ``calls``: the kernel calls of this ``jit`` outside of ``shard_map``; ``exported``: the symbols of
    ``jax.export``'s shapes; ``program``: the outermost ``jit`` of the program, None where it is not known; ``mesh``: the axes of the mesh
    of the ``shard_map`` with their sizes, None where they are not known; ``whole``: what runs is the program as it is, not a part of it."""

    batches: list[Batch] = field(default_factory=list)
    differentiated: list[tuple[list[Array], Where]] = field(default_factory=list)
    varying: Location | None = None
    sharded: int = 0
    devices: Location | None = None
    calls: list[Where] = field(default_factory=list)
    exported: set[str] = field(default_factory=set)
    program: Program | None = None
    mesh: dict[str, Value] | None = None
    whole: bool = False

    @contextmanager
    def batched(self, batch: Batch) -> Iterator[None]:
        """Around what a ``vmap`` calls."""
        self.batches.append(batch)
        try:
            yield
        finally:
            self.batches.pop()

    @contextmanager
    def differentiating(self, arrays: list[Array], where: Where) -> Iterator[None]:
        """Around what is differentiated by ``arrays``."""
        self.differentiated.append((arrays, where))
        try:
            yield
        finally:
            self.differentiated.pop()

    @contextmanager
    def with_own_derivative(self) -> Iterator[None]:
        """Around a function that brings its own derivative: JAX does not differentiate its body."""
        saved, self.differentiated = self.differentiated, []
        try:
            yield
        finally:
            self.differentiated = saved

    @contextmanager
    def over_a_mesh(self, varying: Location | None, axes: dict[str, Value] | None) -> Iterator[None]:
        """Around what a ``shard_map`` calls; ``varying``: its place, where it checks varying axes; ``axes``: those of its mesh."""
        saved = self.varying, self.mesh
        self.varying, self.mesh = varying, axes
        self.sharded += 1
        try:
            yield
        finally:
            self.varying, self.mesh = saved
            self.sharded -= 1

    @property
    def axes(self) -> dict[str, Value] | None:
        """The named axes that code here can use, with their sizes; None where they are not known."""
        if self.sharded:
            return self.mesh if self.sharded == 1 else None
        return {} if self.whole and not self.batches else None

    def taker(self, value: Value) -> Where | None:
        """The place that takes the derivative of ``value``, None where none surely does."""
        for arrays, where in reversed(self.differentiated):
            wanted = {id(array) for array in arrays}
            if any(id(array) in wanted for array in _ancestors(value, smooth=True)):
                return where
        return None


def _ancestors(value: Value, smooth: bool = False) -> Iterator[Array]:
    """The arrays that a value was computed from, itself among them; ``smooth``: as far as a derivative surely comes through."""
    pending: list[Any] = [value]
    seen: set[int] = set()
    while pending:
        part = pending.pop()
        if isinstance(part, tuple | list):
            pending.extend(part)
        if not isinstance(part, Array) or id(part) in seen or (smooth and not dtypes.is_floating(part.dtype)):
            continue
        seen.add(id(part))
        yield part
        if not smooth or _is_smooth(part.made_by):
            pending.extend(part.operands)


def _is_smooth(node: ast.AST | None) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.MatMult)
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
        return name in _SMOOTH
    return node is None or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)) or (
        isinstance(node, ast.Attribute) and node.attr in _SMOOTH
    )  # fmt: skip
