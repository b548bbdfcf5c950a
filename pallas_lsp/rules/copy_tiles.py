"""Slices that a copy takes of a tiled ref: where they may start, and how long they may be.

Measured with libtpu for every chip. An array of rank 2 and more lies in tiles of 8 rows (32 of 8-bit elements, where they divide the rows) by 128 lanes; elements
narrower than 32 bits are packed along the rows. A slice starts and ends with a tile, or stays inside of one.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..interpreter.divisibility import of
from ..interpreter.events import IndexEntry
from ..interpreter.operation_events import CopyStep
from ..interpreter.refs import axes, entries_of
from ..interpreter.truth import as_dim
from ..interpreter.values import Array, DynamicSlice, Ref, Value
from ..shapes import dtypes
from . import words
from .compiler import refused_on, who
from .registry import Context, Finding, rule

_LANES = 128
_OFFSET = "Offsets along tiled dimensions must be aligned to tiles. Failed to verify that the index at dimension {} is divisible by the tile dimension {}."
_SIZE = "Slice sizes along tiled dimensions must be aligned to tiles. Failed to verify that the size at dimension {} is divisible by the tile dimension {}."
_NARROW = frozenset({"v4", "v5e"})
_SHIFTED = frozenset({"v4", "v5e", "tpu7x"})


@dataclass(frozen=True, slots=True)
class _Slice:
    """What a copy takes along one of the last two dims. ``start`` is a number, or ``divisor`` is what the compiler can prove of it."""

    ref: Ref
    axis: int
    dim: int
    size: int
    start: int | None
    divisor: int

    @property
    def is_whole(self) -> bool:
        """Whether it takes all of the dim."""
        return self.start == 0 and self.size == self.dim


@dataclass(frozen=True, slots=True)
class _Tiles:
    """A sliced ref of a copy: its slices along rows and lanes, and the tile they lie in."""

    rows: _Slice
    lanes: _Slice
    tile: int
    packing: int

    @property
    def is_one_row(self) -> bool:
        """Whether the ref is one row of tiles."""
        return self.rows.dim <= self.tile


def _slice(ref: Ref, axis: int, dim: int, entry: IndexEntry | None) -> _Slice | None:
    """The slice of a dim, None where something that matters is not known."""
    if entry is None:
        return _Slice(ref, axis, dim, dim, 0, 0)
    value = entry.value
    if isinstance(value, slice):
        parts = (
            0 if value.start is None else value.start,
            dim if value.stop is None else value.stop,
            1 if value.step is None else value.step,
        )
        start, stop, step = (part if type(part) is int else None for part in parts)
        if start is None or stop is None or step != 1 or start < 0 or stop < 0:
            return None
        return _Slice(ref, axis, dim, min(stop, dim) - start, start, start)
    if isinstance(value, DynamicSlice):
        size, begin = as_dim(value.size), value.start
        if type(size) is not int or as_dim(value.stride) != 1:
            return None
        return _begun(ref, axis, dim, size, begin)
    return _begun(ref, axis, dim, 1, value)


def _begun(ref: Ref, axis: int, dim: int, size: int, begin: Value) -> _Slice | None:
    if type(begin) is int:
        return _Slice(ref, axis, dim, size, begin, begin) if begin >= 0 else None
    divisor = of(begin) if isinstance(begin, Array) else None
    return _Slice(ref, axis, dim, size, None, divisor) if divisor is not None else None


def _tiles(ref: Value) -> _Tiles | None:
    """The tiles of a ref of which a copy takes a slice; None where it takes no slice of the plain ref, or not all is known."""
    root = ref.root if isinstance(ref, Ref) else None
    if (
        not isinstance(ref, Ref)
        or root is None
        or root.space not in ("any", "hbm", "vmem")
        or [t.kind for t in ref.transforms] != ["index"]
    ):
        return None
    shape, bits = root.shape, dtypes.bits(ref.dtype) if ref.dtype not in (None, "bool") else None
    if shape is None or len(shape) < 2 or root.block != shape or bits not in (8, 16, 32) or ref.key is None:
        return None
    rows, lanes = shape[-2:]
    entries = entries_of(ref.key, None)
    if not isinstance(rows, int) or not isinstance(lanes, int) or any(e.kind not in ("int", "ds", "slice", "ellipsis") for e in entries):
        return None
    placed = {axis: entry for axis, entry in zip(axes(shape, entries), entries, strict=True) if axis is not None}
    first = len(shape) - 2
    slices = _slice(ref, first, rows, placed.get(first)), _slice(ref, first + 1, lanes, placed.get(first + 1))
    if slices[0] is None or slices[1] is None or rows < 8:
        return None
    return _Tiles(slices[0], slices[1], 32 if bits == 8 and rows % 32 == 0 else 8, 32 // bits)


def _sliced(event: CopyStep) -> list[_Tiles]:
    if event.step != "start":
        return []
    return [tiles for end in (event.copy.source, event.copy.destination) if (tiles := _tiles(end)) is not None]


def _finding(event: CopyStep, part: _Slice, taken: str, fact: str, jax: str) -> Finding:
    """``taken`` is said of the ref, ``fact`` of the compiler."""
    return Finding(event.copy.where.location, f"a copy {taken.format(ref=words.name(part.ref))}: {fact}", words.shaped(part.ref), jax)


def _from(part: _Slice, unit: str, needed: int) -> str:
    return f"from {unit} {part.start}" if part.start is not None else f"from a {unit} that need not be a multiple of {needed}"


@rule("dma-tile-offset", on=CopyStep, order=50, stage="compile")
def dma_tile_offset(event: CopyStep, context: Context) -> Finding | None:
    """A copy starts within a tile and goes beyond it."""
    for tiles in _sliced(event):
        rows, lanes = tiles.rows, tiles.lanes
        needed = _rows_needed(tiles)
        if needed is not None:
            taken = f"takes {words.count(rows.size, 'row')} of {{ref}} {_from(rows, 'row', needed)}"
            fact = f"the TPU compiler copies rows from multiples of {needed}"
            return _finding(event, rows, taken, fact, _OFFSET.format(rows.axis, tiles.tile))
        moved = lanes.divisor % _LANES != 0 and lanes.dim > _LANES
        if moved and (lanes.start is None or not tiles.is_one_row):
            taken = f"takes {words.count(lanes.size, 'lane')} of {{ref}} {_from(lanes, 'lane', _LANES)}"
            fact = f"the TPU compiler copies lanes from multiples of {_LANES}"
            return _finding(event, lanes, taken, fact, _OFFSET.format(lanes.axis, _LANES))
    return None


def _rows_needed(tiles: _Tiles) -> int | None:
    """What the start of the rows would have to be a multiple of, where it certainly is not."""
    rows, tile = tiles.rows, tiles.tile
    if rows.is_whole:
        return None
    if rows.divisor % tiles.packing != 0:
        return tiles.packing if tiles.is_one_row or tiles.lanes.dim <= _LANES else tile
    if tiles.is_one_row or tiles.lanes.dim <= _LANES or rows.divisor % tile == 0 or rows.size == 0:
        return None
    if rows.start is not None:
        inside = rows.start % tile + rows.size <= tile
        return None if inside or rows.start % (tile // 2) == 0 else tile
    return tile if rows.divisor % rows.size != 0 else None


@rule("dma-tile-size", on=CopyStep, order=51, stage="compile")
def dma_tile_size(event: CopyStep, context: Context) -> Finding | None:
    """A copy takes a part of a tile that is no part the compiler knows."""
    for tiles in _sliced(event):
        rows, lanes = tiles.rows, tiles.lanes
        if not rows.is_whole and _is_odd_size(tiles):
            taken = f"takes {words.count(rows.size, 'row')} of {{ref}}"
            fact = f"its rows lie in tiles of {tiles.tile}, and the TPU compiler copies whole tiles or an even part of one"
            return _finding(event, rows, taken, fact, _SIZE.format(rows.axis, tiles.tile))
        if lanes.size % _LANES != 0 and lanes.dim > _LANES and lanes.size != lanes.dim and (not tiles.is_one_row or lanes.size > _LANES):
            whole = not tiles.is_one_row or tiles.packing < 4
            if whole:
                fact = f"its lanes lie in tiles of {_LANES}, and the TPU compiler copies whole tiles"
                return _finding(event, lanes, f"takes {words.count(lanes.size, 'lane')} of {{ref}}", fact, _SIZE.format(lanes.axis, _LANES))
    return None


def _is_odd_size(tiles: _Tiles) -> bool:
    rows, tile = tiles.rows, tiles.tile
    if rows.size % tiles.packing != 0:
        return True
    if tiles.is_one_row or tiles.lanes.dim <= _LANES or rows.divisor % tile != 0 or rows.dim % tile != 0 or rows.size == 0:
        return False
    if rows.start is not None and rows.size <= tile:
        return False
    return rows.size % tile != 0 and tile % rows.size != 0


@rule("dma-lane-offset", on=CopyStep, order=52, stage="compile")
def dma_lane_offset(event: CopyStep, context: Context) -> Finding | None:
    """A copy of a few rows starts within 128 lanes."""
    if not refused_on(context, _SHIFTED):
        return None
    for tiles in _sliced(event):
        lanes = tiles.lanes
        if tiles.is_one_row and lanes.start is not None and lanes.start % _LANES != 0 and lanes.dim > _LANES:
            fact = f"{who(context, _SHIFTED)} copies lanes from multiples of {_LANES}"
            return _finding(event, lanes, f"of {{ref}} starts at lane {lanes.start}", fact, "The dynamic offset times the element size is not a multiple of the memory space word size")
    return None


@rule("dma-narrow-minor", on=CopyStep, order=53, stage="compile")
def dma_narrow_minor(event: CopyStep, context: Context) -> Finding | None:
    """A copy of a few rows takes less than 128 lanes of a wider ref."""
    if not refused_on(context, _NARROW):
        return None
    for tiles in _sliced(event):
        lanes = tiles.lanes
        if tiles.is_one_row and lanes.size < _LANES < lanes.dim and lanes.start == 0:
            taken = f"takes {words.count(lanes.size, 'lane')} of {{ref}}"
            fact = f"{who(context, _NARROW)} copies multiples of {_LANES} lanes, or all"
            return _finding(event, lanes, taken, fact, "The contiguous inner slice in the DMA transfer must be divisible by 512 bytes.")
    return None
