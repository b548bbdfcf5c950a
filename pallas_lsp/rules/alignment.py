"""Traced starts in the last two dims of a ref in VMEM: the TPU compiler must prove them aligned.

Measured with libtpu for every chip; the shapes of tiles are those of Mosaic's layouts of refs (8 rows of 32- and 16-bit elements, 32 of
8-bit ones where they divide the rows, fewer where there are fewer; 128 lanes).
"""

from __future__ import annotations

from ..interpreter.divisibility import of
from ..interpreter.events import Access, IndexEntry
from ..interpreter.refs import axes
from ..interpreter.truth import as_dim
from ..interpreter.values import Array, DynamicSlice, Value
from ..shapes import dtypes
from ..shapes.dims import MaybeDim
from . import words
from .memory_spaces import happens
from .registry import Context, Finding, rule

_LANES = 128
_UNPROVEN = "E2003: CompileTimeMosaicUnprovenMemoryAccessAlignment: cannot statically prove that index in dimension {} is a multiple of {}"


def _start(entry: IndexEntry) -> Value:
    """The traced start of what an entry selects, None when it has none."""
    value = entry.value.start if isinstance(entry.value, DynamicSlice) else entry.value
    return value if isinstance(value, Array) and value.traced and value.shape == () and value.constant is None else None


def _plain(event: Access, context: Context) -> tuple[tuple[MaybeDim, ...], dict[int, IndexEntry], int] | None:
    """The dims of the ref as it lies in VMEM, its entries by axis, and the width of its elements; None where these rules do not speak."""
    shape = event.ref.shape
    known = event.fault is None and event.op in ("load", "store") and event.ref.root.space == "vmem" and not event.ref.transforms
    if not known or shape is None or event.before != shape or event.api == "pltpu" or not happens(event, context):
        return None
    bits = dtypes.bits(event.ref.dtype) if event.ref.dtype not in (None, "bool") else None
    if bits is None or any(entry.kind not in ("int", "ds", "slice", "ellipsis") for entry in event.entries):
        return None
    if any(isinstance(entry.value, DynamicSlice) and as_dim(entry.value.stride) != 1 for entry in event.entries):
        return None
    placed = zip(axes(shape, event.entries), event.entries, strict=True)
    return shape, {axis: entry for axis, entry in placed if axis is not None}, bits


def _unproven(start: Value, needed: int) -> bool:
    """Whether the compiler certainly fails to prove the start a multiple of ``needed``."""
    known = of(start)
    return known is not None and known % needed != 0


def _finding(event: Access, entry: IndexEntry, axis: int, needed: int, what: str) -> Finding:
    text = words.source_text(event, entry.node) if entry.node is not None else "the start"
    return Finding(
        event.where.at(words.target(event)),
        f"`{text}` starts somewhere in {what} of {words.name(event.ref)}: the TPU compiler must see that it is a multiple of {needed}, "
        f"`pl.multiple_of(start, {needed})` says so where it is true",
        words.shaped(event.ref),
        _UNPROVEN.format(axis, needed),
    )


@rule("unaligned-dynamic-lane", on=Access, order=125, stage="compile")
def unaligned_dynamic_lane(event: Access, context: Context) -> Finding | None:
    """The last dim of a ref is indexed at a traced place that need not be a multiple of 128."""
    found = _lane(event, context)
    return _finding(event, found[0], len(event.ref.shape or ()) - 1, found[1], "the last dim") if found is not None else None


@rule("unaligned-dynamic-sublane", on=Access, order=126, stage="compile")
def unaligned_dynamic_sublane(event: Access, context: Context) -> Finding | None:
    """The second-last dim of a ref is sliced at a traced place that need not be a multiple of its tile."""
    found = _sublane(event, context)
    return _finding(event, found[0], len(event.ref.shape or ()) - 2, found[1], "the rows") if found is not None else None


def unproven_start(event: Access) -> tuple[IndexEntry, int] | None:
    """The entry whose start the compiler fails to prove a multiple of the number; None where there is none."""
    return _lane(event, Context()) or _sublane(event, Context())


def _lane(event: Access, context: Context) -> tuple[IndexEntry, int] | None:
    plain = _plain(event, context)
    if plain is None or not plain[0]:
        return None
    shape, entries, bits = plain
    axis = len(shape) - 1
    start = _start(entries[axis]) if axis in entries else None
    needed = _LANES if len(shape) > 1 else _LANES * (32 // bits)
    return (entries[axis], needed) if start is not None and _unproven(start, needed) else None


def _sublane(event: Access, context: Context) -> tuple[IndexEntry, int] | None:
    plain = _plain(event, context)
    if plain is None or len(plain[0]) < 2:
        return None
    shape, entries, bits = plain
    axis = len(shape) - 2
    start = _start(entries[axis]) if axis in entries else None
    rows, lanes = shape[axis], shape[axis + 1]
    if start is None or not isinstance(rows, int) or not isinstance(lanes, int) or bits not in (8, 16, 32):
        return None
    if bits == 32 and (lanes <= _LANES or (_is_one(entries[axis]) and _is_whole(entries.get(axis + 1)))):
        return None
    needed = _tile_rows(rows, bits)
    return (entries[axis], needed) if _unproven(start, needed) else None


def _tile_rows(rows: int, bits: int) -> int:
    """The rows of a tile of a ref with so many rows."""
    if rows < 8:
        return 1 << max(rows - 1, 0).bit_length()
    return 32 if bits == 8 and rows % 32 == 0 else 8


def _is_one(entry: IndexEntry) -> bool:
    return not isinstance(entry.value, DynamicSlice) or as_dim(entry.value.size) == 1


def _is_whole(entry: IndexEntry | None) -> bool:
    """Whether all lanes are taken; a bound that is not known may be that."""
    if entry is None:
        return True
    value = entry.value
    return not isinstance(value, slice) or (value.start in (None, 0) and value.stop is None)
