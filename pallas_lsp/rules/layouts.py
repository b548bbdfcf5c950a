"""Changes of shape that lower and that the TPU compiler does not know for the layout at hand: lanes that do not fill a register, masks,
narrow elements.

Measured with libtpu for every chip; a rule speaks of the shapes of which all measured cases were refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from ..interpreter.events import Access, Computed
from ..interpreter.operation_events import Operation
from ..interpreter.values import Array, Value
from ..shapes import dtypes
from . import lowered, words
from .compiler import ALL, refused_on, who
from .registry import Context, Finding, rule

_OLD = frozenset({"v4", "v5e", "v5p"})
_RESHAPES = frozenset(
    {"jax.numpy.reshape", "jax.numpy.ravel", "jax.lax.reshape", "jax.lax.collapse", "jax.lax.expand_dims", "jax.numpy.expand_dims"}
)
_LANES = 128
_PAIRS = {"jax.numpy.swapaxes": ("axis1", "axis2"), "jax.numpy.moveaxis": ("source", "destination")}
# Functions by which a mask, or narrow elements, get another layout.
_MAKES_UNIT = _RESHAPES | {"jax.numpy.stack", "jax.numpy.repeat"}
_MOVES = _MAKES_UNIT | {
    "jax.numpy.roll", "jax.experimental.pallas.tpu.roll", "jax.numpy.concatenate", "jax.lax.concatenate", "jax.numpy.pad",
    "jax.numpy.transpose", "jax.lax.transpose", *_PAIRS,
}  # fmt: skip


def _sizes(value: object) -> tuple[int, ...] | None:
    """The shape of an array where every size is known."""
    if not isinstance(value, Array) or value.shape is None:
        return None
    sizes = tuple(size for size in value.shape if isinstance(size, int))
    return sizes if len(sizes) == len(value.shape) else None


def _reshape(event: Operation, context: Context) -> tuple[Array, tuple[int, ...], tuple[int, ...]] | None:
    """The array whose shape an operation changes, with its shape before and after."""
    if event.function not in _RESHAPES or not event.args or not lowered.is_used(event.result, event.where, context):
        return None
    source, before, after = event.args[0], _sizes(event.args[0]), _sizes(event.result)
    if not isinstance(source, Array) or not before or not after or math.prod(before) == 1:
        return None
    loaded = any(isinstance(operand, Access) for operand in source.operands)
    return (source, before, after) if loaded or len(before) > 1 else None


@rule("bool-reshape", on=Operation, order=110, also=(Computed,), stage="compile", functions=_MOVES)
def bool_reshape(event: Operation | Computed, context: Context) -> Finding | None:
    """A mask is given another layout."""
    if isinstance(event, Computed):
        fresh = _is_new_last_dim(event) and event.source.dtype == "bool" and lowered.is_used(event.result, event.where, context)
        what = "an index of a mask makes a new last dim" if fresh else None
    else:
        change = _mask_relayout(event, context)
        what = f"{lowered.name(event)} of a mask {change}" if change is not None else None
    if what is None:
        return None
    return Finding(
        event.where.location,
        f"{what}: the TPU compiler moves no masks, do it to the numbers and compare afterwards",
        jax_message="infer-vector-layout: non-noop i1 reshape is unsupported",
    )


def _is_new_last_dim(event: Computed) -> bool:
    """Whether an index puts a last dim of size 1 behind the lanes; of a vector only where it was loaded, for what was a column may become one again."""
    loaded = any(isinstance(operand, Access) for operand in event.source.operands)
    return event.kind == "new-last-dim" and (loaded or len(event.source.shape or ()) > 1)


def _mask_relayout(event: Operation, context: Context) -> str | None:
    reshaped = _reshape(event, context)
    if reshaped is not None:
        source, before, after = reshaped
        return "changes its last dim" if source.dtype == "bool" and before[-1] != after[-1] and before[-1] != 1 else None
    first = event.args[0] if event.args else None
    arrays = lowered.arrays(event.args[:1])
    if not arrays or any(array.dtype != "bool" for array in arrays) or not lowered.is_used(event.result, event.where, context):
        return None
    if event.function in ("jax.numpy.roll", "jax.experimental.pallas.tpu.roll"):
        return "rolls it"
    rank = len(arrays[0].shape) if arrays[0].shape is not None else None
    axis = event.get(2 if event.function == "jax.numpy.repeat" else 1, "axis", 0)
    if event.function == "jax.numpy.stack" and isinstance(axis, int) and rank is not None:
        return "puts a new dim behind the first" if axis % (rank + 1) == rank or (rank == 2 and axis % 3 == 1) else None
    if event.function == "jax.numpy.repeat" and isinstance(axis, int) and rank is not None and rank > 1 and isinstance(first, Array):
        return "repeats its lanes" if axis % rank == rank - 1 else None
    if _joined_within_tiles(event):
        return "starts within a tile of 8 rows and 128 lanes"
    return "moves its rows" if _permutation(event) == (1, 0, 2) else None


def _joined_within_tiles(event: Operation) -> bool:
    """Whether a part of a concatenation, or what is padded, starts within a tile of 8 rows and 128 lanes."""
    arrays = lowered.arrays(event.args[:1])
    if event.function in ("jax.numpy.concatenate", "jax.lax.concatenate"):
        axis = event.get(1, "axis" if event.function == "jax.numpy.concatenate" else "dimension", 0)
        sizes = [_sizes(array) for array in arrays]
        if type(axis) is not int or any(size is None or len(size) != 2 or not -2 <= axis < 2 for size in sizes):
            return False
        starts = accumulate(size[axis] for size in sizes[:-1] if size is not None)
        return any(start % (8, _LANES)[axis] for start in starts)
    widths, rank = event.get(1, "pad_width"), len(arrays[0].shape or ())
    if event.function != "jax.numpy.pad" or rank != 2 or not isinstance(widths, tuple | list) or len(widths) != 2:
        return False
    before = [width[0] for width in widths if isinstance(width, tuple | list) and len(width) == 2 and type(width[0]) is int]
    return len(before) == 2 and any(start % tile for start, tile in zip(before, (8, _LANES), strict=True))


def _permutation(event: Operation) -> tuple[int, ...] | None:
    """The order in which a transpose puts the dims of an array of rank 3."""
    source, order = event.args[0], [0, 1, 2]
    if not isinstance(source, Array) or len(source.shape or ()) != 3:
        return None
    if event.function in ("jax.numpy.transpose", "jax.lax.transpose"):
        axes = event.get(1, "axes" if event.function == "jax.numpy.transpose" else "permutation")
        order = _axes(axes if isinstance(axes, tuple | list) else event.args[1:], 3)
    elif event.function in _PAIRS:
        pair = _axes([event.get(position, name) for position, name in enumerate(_PAIRS[event.function], 1)], 2)
        if not pair:
            return None
        if event.function == "jax.numpy.swapaxes":
            order[pair[0]], order[pair[1]] = order[pair[1]], order[pair[0]]
        else:
            order.insert(pair[1], order.pop(pair[0]))
    else:
        return None
    return tuple(order) or None


def _axes(values: Sequence[Value], count: int) -> list[int]:
    """So many axes of an array of rank 3, counted from the front; none where they are not all known."""
    known = [value % 3 for value in values if type(value) is int and -3 <= value < 3]
    return known if len(known) == len(values) == count else []


@rule("trailing-unit-dim-packed", on=Operation, order=111, also=(Computed,), stage="compile", functions=_MAKES_UNIT)
def trailing_unit_dim_packed(event: Operation | Computed, context: Context) -> Finding | None:
    """More than 128 lanes of narrow elements get a last dim of size 1, or are repeated."""
    if not refused_on(context, _OLD) or not lowered.is_used(event.result, event.where, context):
        return None
    found = _unit_of_value(event) if isinstance(event, Computed) else _unit(event, context)
    if found is None:
        return None
    dtype, what = found
    return Finding(
        event.where.location,
        f"{what} of {dtype}: {who(context, _OLD)} has it for 32-bit elements, `.astype(jnp.float32)` first",
        jax_message="infer-vector-layout: unsupported shape cast",
    )


def _is_narrow(dtype: str | None) -> bool:
    return dtype is not None and dtype != "bool" and dtypes.bits(dtype) in (8, 16)


def _is_wide(array: Array) -> bool:
    """Whether the lanes fill more than one register."""
    sizes = _sizes(array)
    return sizes is not None and len(sizes) > 0 and sizes[-1] > _LANES


def _unit_of_value(event: Computed) -> tuple[str, str] | None:
    narrow = _is_new_last_dim(event) and _is_narrow(event.source.dtype) and _is_wide(event.source)
    return (event.source.dtype or "", "a new last dim") if narrow else None


def _unit(event: Operation, context: Context) -> tuple[str, str] | None:
    reshaped = _reshape(event, context)
    if reshaped is not None:
        source, _, after = reshaped
        fresh = after[-1] == 1 and _is_wide(source) and _is_narrow(source.dtype)
        return (source.dtype or "", "a new last dim") if fresh else None
    arrays = lowered.arrays(event.args[:1])
    if not arrays or not all(_is_narrow(array.dtype) and _is_wide(array) for array in arrays):
        return None
    rank, dtype = len(arrays[0].shape or ()), arrays[0].dtype or ""
    axis = event.get(2 if event.function == "jax.numpy.repeat" else 1, "axis", 0)
    if not isinstance(axis, int):
        return None
    if event.function == "jax.numpy.stack" and axis % (rank + 1) == rank:
        return dtype, "a stack along a new last dim"
    return (dtype, "a repeat along the lanes") if event.function == "jax.numpy.repeat" and rank > 1 and axis % rank == rank - 1 else None


@rule("flatten-narrow", on=Operation, order=112, stage="compile", functions=_RESHAPES)
def flatten_narrow(event: Operation, context: Context) -> Finding | None:
    """A reshape takes apart lanes that do not fill the registers."""
    reshaped = _reshape(event, context)
    if reshaped is None or reshaped[0].dtype in (None, "bool") or not _breaks_lanes(*reshaped[1:]):
        return None
    _, before, after = reshaped
    return Finding(
        event.where.location,
        f"{lowered.name(event)} from {words.shape(before)} to {words.shape(after)} takes its lanes apart: the TPU compiler reshapes whole registers of {_LANES} lanes",
        jax_message="infer-vector-layout: unsupported shape cast",
    )


def _breaks_lanes(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    lanes, made = before[-1], after[-1]
    if lanes == made or 1 in (lanes, made):
        return False
    rows = math.prod(before[:-1])
    if len(after) == 1:
        return rows > 1 and lanes % _LANES != 0
    if len(before) < 2 or len(before) != len(after) or before[:-2] != after[:-2] or 1 in (before[-2], after[-2]):
        return False
    return lanes % _LANES == 0 and made % _LANES != 0 and lanes > _LANES


@rule("gather-wide", on=Operation, order=114, stage="compile", functions={"jax.numpy.take_along_axis"})
def gather_wide(event: Operation, context: Context) -> Finding | None:
    """``take_along_axis`` over more than one register, or of narrow elements."""
    if not lowered.is_used(event.result, event.where, context):
        return None
    source, axis = event.get(0, "arr"), event.get(2, "axis", -1)
    sizes = _sizes(source)
    if sizes is None or not isinstance(source, Array) or not isinstance(axis, int) or isinstance(axis, bool) or len(sizes) != 2:
        return None
    index = event.get(1, "indices")
    size, lanes = sizes[axis % 2], axis % 2 == 1
    if _is_narrow(source.dtype) and isinstance(index, Array) and index.dtype in ("int32", "uint32"):
        what, jax = (
            f"of {source.dtype} with 32-bit indices: both must be equally wide",
            "Not implemented: Gather indices and result have different bitwidths",
        )
    elif not _is_narrow(source.dtype) and source.dtype is not None and size > (_LANES if lanes else 8):
        what = f"along {size} {'lanes' if lanes else 'rows'}: it reaches over one register, {_LANES if lanes else 8}"
        jax = "Not implemented: Multiple source vregs along gather dimension"
    else:
        return None
    return Finding(event.where.location, f"{lowered.name(event)} {what}", jax_message=jax) if refused_on(context, ALL) else None
