"""What a window of a kernel call is: whole or a part, and which blocks its index map visits over the grid.

Mirrors ``jax/_src/pallas/core.py``, ``BlockMapping.has_trivial_window``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod

from ..interpreter.call_events import Window
from ..interpreter.library.index_maps import grid_symbol, is_literal_zero
from ..shapes import dims
from ..shapes.dims import MaybeDim, Poly, Shape, Truth

MOST_STEPS = 4096
"""How many grid steps are gone through one by one."""


def block_sizes(event: Window) -> Shape:
    """The block's dims with 1 for a squeezed one; None where the rank is not known."""
    if event.root.block is None:
        return None
    return tuple(1 if isinstance(size, str) else size for size in event.root.block)


def is_whole(event: Window) -> Truth:
    """Whether the block is as large as the array."""
    sizes, array = block_sizes(event), event.root.array
    if event.spec is not None and event.spec.shape is None:
        return Truth.YES
    if sizes is None or array is None or len(sizes) != len(array):
        return Truth.MAYBE
    return dims.and_(*(event.where.facts.same(b, a) for b, a in zip(sizes, array, strict=True))) if sizes else Truth.YES


def is_trivial(event: Window) -> Truth:
    """Whether JAX sees no windowing: the block is the array, and every index a literal 0."""
    return dims.and_(is_whole(event), is_at_origin(event))


def is_at_origin(event: Window) -> Truth:
    """Whether every index is a literal 0."""
    if not event.mapped:
        return Truth.YES
    if event.result is None:
        return Truth.MAYBE
    entries = event.result.entries
    return dims.and_(*map(is_literal_zero, entries)) if entries else Truth.YES


def step_count(event: Window) -> MaybeDim:
    """The number of grid steps, None where it is not known; 1 without a grid."""
    return dims.product(event.grid) if event.grid is not None else None


@dataclass(frozen=True)
class Visits:
    """The blocks of a window with a known grid and a known index map, step by step.

    ``grid``: the grid's sizes; ``formula``: the index map; ``blocks``: how many blocks the array has along each dim (None where not known).
    """

    grid: tuple[int, ...]
    formula: tuple[MaybeDim, ...]
    blocks: tuple[MaybeDim, ...]

    @cached_property
    def used_axes(self) -> tuple[frozenset[int] | None, ...]:
        """The grid axes that each index depends on, None for an index that is not known."""
        return tuple(_axes_of(index, len(self.grid)) for index in self.formula)

    def along(self, dim: int) -> dict[int, tuple[int, ...]] | None:
        """The indices that dim takes, each with the first grid step (axes that do not matter at 0) that takes it."""
        axes, index = self.used_axes[dim], self.formula[dim]
        if axes is None or index is None:
            return None
        ordered = sorted(axes)
        if prod(self.grid[axis] for axis in ordered) > MOST_STEPS:
            return None
        found: dict[int, tuple[int, ...]] = {}
        for values in itertools.product(*(range(self.grid[axis]) for axis in ordered)):
            at = dict(zip(ordered, values, strict=True))
            value = _evaluated(index, at)
            if value is None:
                return None
            found.setdefault(value, tuple(at.get(axis, 0) for axis in range(len(self.grid))))
        return found

    def steps(self) -> Iterator[tuple[int, ...]] | None:
        """The block of every step in order; None where an index is not known or there are too many steps."""
        if None in self.used_axes or prod(self.grid) > MOST_STEPS:
            return None
        return self._steps()

    def _steps(self) -> Iterator[tuple[int, ...]]:
        tables: list[dict[tuple[int, ...], int]] = []
        orders = [sorted(axes or ()) for axes in self.used_axes]
        for index, order in zip(self.formula, orders, strict=True):
            points = itertools.product(*(range(self.grid[axis]) for axis in order))
            tables.append({point: _evaluated(index, dict(zip(order, point, strict=True))) or 0 for point in points})
        for step in itertools.product(*map(range, self.grid)):
            yield tuple(table[tuple(step[axis] for axis in order)] for table, order in zip(tables, orders, strict=True))


def visits(event: Window) -> Visits | None:
    """What a window visits; None where grid, index map or block is not known well enough."""
    sizes, array = block_sizes(event), event.root.array
    if event.grid is None or sizes is None or array is None or len(sizes) != len(array) or not event.grid:
        return None
    grid = tuple(event.where.facts.resolve(size) for size in event.grid)
    whole = tuple(size for size in grid if isinstance(size, int))
    if len(whole) != len(grid) or any(size < 1 for size in whole):
        return None
    formula: tuple[MaybeDim, ...] = (0,) * len(sizes)
    if event.mapped:
        if event.result is None or event.result.formula is None or len(event.result.formula) != len(sizes):
            return None
        formula = tuple(event.where.facts.resolve(index) for index in event.result.formula)
    kinds = event.kinds or ()
    if "element" in kinds or "bounded" in kinds or "indirect" in kinds or "unknown" in kinds:
        return None
    blocks = tuple(event.where.facts.resolve(dims.cdiv(a, b)) for a, b in zip(array, sizes, strict=True))
    return Visits(whole, formula, blocks)


def _axes_of(index: MaybeDim, rank: int) -> frozenset[int] | None:
    if index is None:
        return None
    if isinstance(index, int):
        return frozenset()
    used = {axis for axis in range(rank) if dims.substitute(index, {grid_symbol(axis): 0}) != index}
    rest = dims.substitute(index, {grid_symbol(axis): 0 for axis in used})
    return frozenset(used) if isinstance(rest, int) else None


def _evaluated(index: MaybeDim, at: dict[int, int]) -> int | None:
    if not isinstance(index, Poly):
        return index
    value = dims.substitute(index, {grid_symbol(axis): number for axis, number in at.items()})
    return value if isinstance(value, int) else None
