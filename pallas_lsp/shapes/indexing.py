"""What indexing does to a shape: NumPy's rules for array values, JAX's ``NDIndexer`` for refs.

Mirrors ``jax/_src/numpy/indexing.py`` (``_parse_indices``, ``_index_to_gather``) and ``jax/_src/state/indexing.py``
(``NDIndexer.from_indices_shape``, ``get_indexer_shape``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import EllipsisType
from typing import TypeAlias

from pallas_lsp.shapes.avals import Aval, ShapeError, Unknown, shape_text
from pallas_lsp.shapes.broadcasting import broadcast
from pallas_lsp.shapes.dims import (
    MaybeDim,
    Poly,
    Shape,
    Truth,
    add,
    cdiv,
    equal,
    less,
    less_equal,
    maximum,
    minimum,
    mul,
    render,
    sub,
)
from pallas_lsp.shapes.dtypes import is_inexact, short

Bound: TypeAlias = "int | Poly | Aval | Unknown | None"


@dataclass(frozen=True, slots=True)
class SliceIndex:
    """A Python slice; a bound that is an Aval (traced) or UNKNOWN makes a dimension of unknown size."""

    start: Bound = None
    stop: Bound = None
    step: Bound = None


@dataclass(frozen=True, slots=True)
class DsIndex:
    """``pl.ds(start, size, stride)``: its size is the dimension, it never clamps."""

    start: Bound
    size: Bound
    stride: Bound = 1


Index: TypeAlias = "int | Poly | Aval | SliceIndex | DsIndex | EllipsisType | Unknown | None"

_FULL = SliceIndex()


def index(aval: Aval, key: Index | tuple[Index, ...]) -> Aval:
    """``value[key]`` of an array value: shape by NumPy's rules, dtype kept.

    Raises ShapeError for too many indices, a second ellipsis, an index of a floating dtype, arrays that do not broadcast together, and a
    slice step of 0.
    """
    keys = key if isinstance(key, tuple) else (key,)
    return Aval(_index_shape(aval.shape, keys), aval.dtype, aval.weak)


def ref_index(shape: Shape, key: Index | tuple[Index, ...]) -> Shape:
    """The shape of ``ref[key]`` for a ref of ``shape``: what a load returns, and what a store wants.

    Raises ShapeError for too many indices, a second ellipsis, None beside other indices, a slice step below 1, a ``pl.ds`` that is
    certainly out of bounds, and arrays that do not broadcast together. A lone None is a full slice.
    """
    keys = key if isinstance(key, tuple) else (key,)
    if keys == (None,):
        return shape
    if any(k is None for k in keys):
        raise ShapeError("a ref takes no None beside other indices", rule="unsupported-index-type")
    _check_ellipses(keys)
    # An unknown index may be a tuple of indices, so nothing is known of the rank.
    if shape is None or any(isinstance(k, Unknown) for k in keys):
        return None
    keys = _expand_ellipsis(keys, shape, consumed=sum(k is not ... for k in keys))
    sliced = [isinstance(k, SliceIndex | DsIndex) for k in keys]
    kept = tuple(_ref_slice(k, d) for k, d in zip(keys, shape, strict=True) if isinstance(k, SliceIndex | DsIndex))
    arrays = broadcast(*(k.shape if isinstance(k, Aval) else () for k in keys if not isinstance(k, SliceIndex | DsIndex)))
    if arrays is None:
        return None
    return _insert(kept, arrays, [i for i, is_slice in enumerate(sliced) if not is_slice], sliced)


def _insert(kept: tuple[MaybeDim, ...], arrays: tuple[MaybeDim, ...], places: list[int], sliced: Sequence[bool]) -> Shape:
    """The dims of array indices stand where the indices stood, and in front of all when these were not side by side."""
    side_by_side = all(b - a == 1 for a, b in pairwise(places))
    position = sum(sliced[: places[0]]) if places and side_by_side else 0
    return kept[:position] + arrays + kept[position:]


def _check_ellipses(keys: tuple[Index, ...]) -> None:
    if sum(k is ... for k in keys) > 1:
        raise ShapeError("only one ellipsis is allowed in an index", rule="multiple-ellipsis")


def _expand_ellipsis(keys: tuple[Index, ...], shape: tuple[MaybeDim, ...], consumed: int) -> tuple[Index, ...]:
    """``keys`` with the ellipsis, and the dimensions that are left out, as full slices."""
    missing = len(shape) - consumed
    if missing < 0:
        raise ShapeError(f"{consumed} indices for a shape of {len(shape)} dimensions, {shape_text(shape)}", rule="too-many-indices")
    full = (_FULL,) * missing
    if ... in keys:
        at = next(i for i, k in enumerate(keys) if k is ...)
        return keys[:at] + full + keys[at + 1 :]
    return keys + full


# --- refs ------------------------------------------------------------------------------------------------------------


def _ref_slice(k: SliceIndex | DsIndex, d: MaybeDim) -> MaybeDim:
    if isinstance(k, DsIndex):
        _check_bounds(k, d)
        return _dim(k.size)
    step = 1 if k.step is None else k.step
    if isinstance(step, int) and step < 1:
        raise ShapeError(f"a ref takes slice steps of at least 1, not {step}", rule="slice-step-not-positive")
    return slice_size(k, d)


def _check_bounds(k: DsIndex, d: MaybeDim) -> None:
    """JAX checks a ``pl.ds`` whose start is known and not 0 (since 0.12 also 0, which is left out here)."""
    start, size, stride = _dim(k.start), _dim(k.size), _dim(k.stride)
    if stride is not None and less(stride, 0) is Truth.YES:
        raise ShapeError(f"a stride must be at least 0, not {render(stride)}", rule="slice-step-not-positive")
    if less_equal(1, start) is not Truth.YES:
        return
    last = add(start, mul(sub(size, 1), stride))
    if less_equal(d, start) is Truth.YES or (less_equal(1, size) is Truth.YES and less_equal(d, last) is Truth.YES):
        raise ShapeError(
            f"the slice from {render(start)} of size {render(size)} leaves a dimension of {render(d)}", rule="slice-out-of-bounds"
        )


def _dim(bound: Bound) -> MaybeDim:
    return bound if isinstance(bound, int | Poly) else None


# --- values ----------------------------------------------------------------------------------------------------------


def _index_shape(shape: Shape, keys: tuple[Index, ...]) -> Shape:
    _check_ellipses(keys)
    for k in keys:
        if isinstance(k, Aval) and is_inexact(k.dtype):
            raise ShapeError(f"an index must be of an integer or boolean type, not {short(k.dtype)}")
    if any(isinstance(k, Unknown | bool) or (isinstance(k, Aval) and (k.dtype in ("bool", None) or k.shape is None)) for k in keys):
        return None
    if shape is None:
        return None
    advanced = any(isinstance(k, Aval) and k.shape != () for k in keys)
    gathered = [isinstance(k, int | Poly | Aval) for k in keys]
    places = [i for i, is_gathered in enumerate(gathered) if is_gathered]
    side_by_side = all(b - a == 1 for a, b in pairwise(places))
    expanded = _expand_ellipsis(keys, shape, consumed=sum(k is not ... and k is not None for k in keys))
    kept: list[MaybeDim] = []
    position: int | None = None
    dims = iter(shape)
    for k in expanded:
        if k is None:
            kept.append(1)
            continue
        d = next(dims)
        if isinstance(k, SliceIndex | DsIndex):
            kept.append(_dim(k.size) if isinstance(k, DsIndex) else slice_size(k, d))
            continue
        if position is None:
            position = len(kept)
        if not advanced and d == 0:
            raise ShapeError("a dimension of size 0 has no element")
    if not advanced:
        return tuple(kept)
    arrays = broadcast(*(k.shape if isinstance(k, Aval) else () for k in keys if isinstance(k, int | Poly | Aval)))
    if arrays is None:
        return None
    at = position if side_by_side and position is not None else 0
    return (*kept[:at], *arrays, *kept[at:])


def slice_size(k: SliceIndex, d: MaybeDim) -> MaybeDim:
    """How many elements a Python slice takes of a dimension of ``d``; None where that is not known.

    Raises ShapeError for a step of 0.
    """
    step = 1 if k.step is None else k.step
    if not isinstance(step, int):
        return None
    if step == 0:
        raise ShapeError("a slice step must not be 0")
    start, stop = k.start, k.stop
    if any(isinstance(bound, Aval | Unknown) for bound in (start, stop)):
        return None
    if isinstance(d, int) and not isinstance(start, Poly) and not isinstance(stop, Poly):
        first, end, stride = slice(_int(start), _int(stop), step).indices(d)
        return len(range(first, end, stride))
    if start is None and stop is None:
        return cdiv(d, abs(step))
    if step < 0:
        return None
    low = 0 if start is None else _clamped(_dim(start), d)
    high = d if stop is None else _clamped(_dim(stop), d)
    return cdiv(maximum(sub(high, low), 0), step)


def _int(bound: Bound) -> int | None:
    return bound if isinstance(bound, int) else None


def _clamped(bound: MaybeDim, d: MaybeDim) -> MaybeDim:
    """Where a slice bound ends up in a dimension of ``d``: counted from the end when negative, then kept within it."""
    if equal(bound, 0) is Truth.YES:
        return 0
    negative = less(bound, 0)
    if negative is Truth.MAYBE:
        return None
    return maximum(add(bound, d), 0) if negative is Truth.YES else minimum(bound, d)
