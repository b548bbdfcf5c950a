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
    return Aval(_index_shape(aval.shape, keys), aval.dtype, aval.weak, aval.named)


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
    kept = tuple(_ref_slice(k, d) for k, d in zip(keys, shape, strict=True) if isinstance(k, SliceIndex | DsIndex))
    arrays = broadcast(*(k.shape if isinstance(k, Aval) else () for k in keys if not isinstance(k, SliceIndex | DsIndex)))
    return None if arrays is None else _insert(kept, arrays, keys, keys)


def _insert(kept: tuple[MaybeDim, ...], arrays: tuple[MaybeDim, ...], written: Sequence[Index], expanded: Sequence[Index]) -> Shape:
    """The dims of array indices stand where the indices stood, and in front of all when these were not side by side as written."""
    places = [i for i, k in enumerate(written) if isinstance(k, int | Poly | Aval)]
    if any(b - a > 1 for a, b in pairwise(places)):
        return arrays + kept
    position = next((i for i, k in enumerate(expanded) if isinstance(k, int | Poly | Aval)), 0)
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
    arrays = [k for k in keys if isinstance(k, Aval)]
    floating = next((k for k in arrays if is_inexact(k.dtype)), None)
    if floating is not None:
        raise ShapeError(f"an index must be of an integer or boolean type, not {short(floating.dtype)}")
    # An unknown index may be a tuple of indices, and a mask takes as many elements as it is true for.
    undecided = any(isinstance(k, Unknown | bool) for k in keys) or any(k.dtype in ("bool", None) or k.shape is None for k in arrays)
    if shape is None or undecided:
        return None
    expanded = _expand_ellipsis(keys, shape, consumed=sum(k is not ... and k is not None for k in keys))
    kept = _kept_dims(expanded, shape)
    if all(k.shape == () for k in arrays):
        if any(d == 0 for d in _dropped_dims(expanded, shape)):
            raise ShapeError("a dimension of size 0 has no element to take")
        return kept
    spread = broadcast(*(k.shape for k in arrays))
    # Here an ellipsis or None between two indices parts them, whatever it stands for.
    return None if spread is None else _insert(kept, spread, keys, expanded)


def _kept_dims(keys: tuple[Index, ...], shape: tuple[MaybeDim, ...]) -> tuple[MaybeDim, ...]:
    """The dimensions that slices keep, and the 1 that each None adds."""
    dims = iter(shape)
    kept: list[MaybeDim] = []
    for k in keys:
        d = 1 if k is None else next(dims)
        if k is None:
            kept.append(1)
        elif isinstance(k, SliceIndex | DsIndex):
            kept.append(slice_size(k, d) if isinstance(k, SliceIndex) else _ds_size(k, d))
    return tuple(kept)


def _dropped_dims(keys: tuple[Index, ...], shape: tuple[MaybeDim, ...]) -> tuple[MaybeDim, ...]:
    """The dimensions of which ints and arrays take elements."""
    taking = (k for k in keys if k is not None)
    return tuple(d for k, d in zip(taking, shape, strict=True) if isinstance(k, int | Poly | Aval))


def _ds_size(k: DsIndex, d: MaybeDim) -> MaybeDim:
    """The size of ``pl.ds`` on an array value, where it fits; one of a static start that does not is clamped since JAX 0.12."""
    if isinstance(k.start, Aval) or less_equal(add(_dim(k.start), _dim(k.size)), d) is Truth.YES:
        return _dim(k.size)
    return None


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
