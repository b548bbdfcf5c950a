"""Joining, splitting, repeating and padding arrays.

Mirrors the functions of the same names of ``jax/_src/numpy/lax_numpy.py``, and ``_concatenate_shape_rule``, ``_pad_shape_rule`` and
``_split_shape_rule`` of ``jax/_src/lax/lax.py``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array, arrays, axis_of, dtype_or, integer, items, known_shape, maybe_dim
from pallas_lsp.shapes.avals import Aval, ShapeError, Unknown, shape_text
from pallas_lsp.shapes.broadcasting import same_shape
from pallas_lsp.shapes.dims import MaybeDim, Shape, Truth, add, divides, equal, floordiv, less, mul, render, sub
from pallas_lsp.shapes.dtypes import Operand, promote
from pallas_lsp.shapes.elementwise import all_weak
from pallas_lsp.shapes.lax_elementwise import same_dtype
from pallas_lsp.shapes.shaping import expand_dims, ravel
from pallas_lsp.shapes.table import method_function, shape_function

# --- joining ---------------------------------------------------------------------------------------------------------


def _joined(shapes: list[Shape], axis: Any) -> Shape:
    """The shape of arrays one after the other along an axis."""
    ranks = {len(shape) for shape in shapes if shape is not None}
    if not ranks or isinstance(axis, Unknown):
        # An unknown axis may be None, which flattens.
        return None
    if 0 in ranks:
        raise ShapeError("arrays without dimensions can not be concatenated")
    at = axis_of(axis, max(ranks))
    common = same_shape("concatenate", shapes, free=at)
    assert common is not None
    total: MaybeDim = 0
    for shape in shapes:
        total = add(total, None if shape is None else shape[at])
    return (*common[:at], total, *common[at + 1 :])


def _arrays(value: Any) -> list[Aval]:
    """The arrays of a sequence, or the rows of an array. Raises ShapeError for none at all."""
    if isinstance(value, Aval):
        shape = known_shape(value)
        if not shape or not isinstance(shape[0], int):
            raise Undecided
        return [Aval(shape[1:], value.dtype, value.weak)] * shape[0]
    avals = arrays(value)
    if not avals:
        raise ShapeError("there must be at least one array")
    return avals


def _promoted(arrays: Any, avals: list[Aval], dtype: Any) -> Operand:
    """The dtype asked for, or that of the arrays together; the rows of an array need no promotion."""
    if isinstance(arrays, Aval):
        return dtype_or(dtype, (arrays.dtype, arrays.weak))
    return dtype_or(dtype, promote(*((aval.dtype, aval.weak) for aval in avals)))


@shape_function("jax.numpy.concatenate")
def concatenate(arrays: Any, axis: Any = 0, dtype: Any = None) -> Aval:
    avals = _arrays(arrays)
    if axis is None:
        avals, axis = [ravel(aval) for aval in avals], 0
    return Aval(_joined([aval.shape for aval in avals], axis), *_promoted(arrays, avals, dtype))


@shape_function("jax.numpy.concat")
def concat(arrays: Any, /, *, axis: Any = 0) -> Aval:
    return concatenate(arrays, axis)


@shape_function("jax.numpy.append")
def append(arr: Any, values: Any, axis: Any = None) -> Aval:
    return concatenate([arr, values], axis)


@shape_function("jax.lax.concatenate")
def lax_concatenate(operands: Any, dimension: Any) -> Aval:
    avals = _arrays(operands)
    if isinstance(dimension, int) and dimension < 0:
        raise ShapeError("lax.concatenate takes no negative axis")
    return Aval(_joined([aval.shape for aval in avals], dimension), same_dtype("concatenate", avals), all_weak(avals))


@shape_function("jax.numpy.stack")
def stack(arrays: Any, axis: Any = 0, out: Any = None, dtype: Any = None) -> Aval:
    if out is not None:
        raise Undecided
    avals = _arrays(arrays)
    shape = same_shape("stack", [aval.shape for aval in avals])
    made, weak = _promoted(arrays, avals, dtype)
    whole = expand_dims(Aval(shape, made, weak), axis)
    if whole.shape is None:
        return whole
    at = axis_of(axis, len(whole.shape))
    return Aval((*whole.shape[:at], len(avals), *whole.shape[at + 1 :]), made, weak)


@shape_function("jax.numpy.hstack")
def hstack(tup: Any, dtype: Any = None) -> Aval:
    avals = [_at_least(1, aval) for aval in _arrays(tup)]
    return concatenate(avals, 0 if len(known_shape(avals[0])) == 1 else 1, dtype)


@shape_function("jax.numpy.vstack")
def vstack(tup: Any, dtype: Any = None) -> Aval:
    return concatenate([_at_least(2, aval) for aval in _arrays(tup)], 0, dtype)


def _at_least(rank: int, aval: Aval) -> Aval:
    shape = known_shape(aval)
    return Aval((1,) * (rank - len(shape)) + shape, aval.dtype, aval.weak)


# --- splitting -------------------------------------------------------------------------------------------------------


def _pieces(aval: Aval, at: int, sizes: list[MaybeDim]) -> list[Aval]:
    shape = known_shape(aval)
    return [Aval((*shape[:at], size, *shape[at + 1 :]), aval.dtype, aval.weak) for size in sizes]


@shape_function("jax.numpy.split")
def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Aval]:
    """Into equal parts, or at the given places."""
    aval = array(ary)
    shape = known_shape(aval)
    at = axis_of(axis, len(shape))
    if not isinstance(indices_or_sections, tuple | list):
        count = integer(indices_or_sections)
        if count <= 0:
            raise Undecided
        if divides(count, shape[at]) is Truth.NO:
            raise ShapeError(f"a dimension of {render(shape[at])} does not split into {count} equal parts")
        return _pieces(aval, at, [floordiv(shape[at], count)] * count)
    places = [0, *(maybe_dim(place) for place in indices_or_sections), shape[at]]
    sizes = [sub(b, a) for a, b in pairwise(places)]
    if any(less(size, 0) is Truth.YES for size in sizes):
        raise Undecided
    return _pieces(aval, at, sizes)


@shape_function("jax.lax.split")
def lax_split(operand: Any, sizes: Any, axis: Any = 0) -> list[Aval]:
    aval = array(operand)
    shape = known_shape(aval)
    at = axis_of(axis, len(shape))
    parts = [maybe_dim(size) for size in items(sizes)]
    total: MaybeDim = 0
    for part in parts:
        total = add(total, part)
    if equal(total, shape[at]) is Truth.NO:
        raise ShapeError(f"the sizes add up to {render(total)}, not to the dimension of {render(shape[at])}")
    return _pieces(aval, at, parts)


# --- repeating -------------------------------------------------------------------------------------------------------


@shape_function("jax.numpy.tile")
def tile(A: Any, reps: Any) -> Aval:
    aval = array(A)
    if isinstance(reps, Unknown) or aval.shape is None:
        return Aval(None, aval.dtype, aval.weak)
    counts = tuple(maybe_dim(rep) for rep in (reps if isinstance(reps, tuple | list) else (reps,)))
    rank = max(len(counts), len(aval.shape))
    counts = (1,) * (rank - len(counts)) + counts
    dims = (1,) * (rank - len(aval.shape)) + aval.shape
    return Aval(tuple(mul(d, count) for d, count in zip(dims, counts, strict=True)), aval.dtype, aval.weak)


@shape_function("jax.numpy.repeat")
@method_function("repeat")
def repeat(a: Any, repeats: Any, axis: Any = None, *, total_repeat_length: Any = None, out_sharding: Any = None) -> Aval:
    """Each element so many times along an axis; an array of counts needs the total."""
    aval = array(a)
    if axis is None or (aval.shape == () and axis in (0, -1)):
        aval, axis = ravel(aval), 0
    if aval.shape is None or isinstance(axis, Unknown):
        return Aval(None, aval.dtype, aval.weak)
    at = axis_of(axis, len(aval.shape))
    if total_repeat_length is not None:
        size = maybe_dim(total_repeat_length)
    elif isinstance(repeats, Aval):
        size = None
    else:
        size = mul(aval.shape[at], maybe_dim(repeats))
    return Aval((*aval.shape[:at], size, *aval.shape[at + 1 :]), aval.dtype, aval.weak)


@shape_function("jax.experimental.pallas.tpu.repeat")
def tpu_repeat(x: Any, repeats: Any, axis: Any) -> Aval:
    """The whole array so many times along an axis."""
    aval = array(x)
    shape = known_shape(aval)
    at = axis_of(axis, len(shape))
    return Aval((*shape[:at], mul(shape[at], maybe_dim(repeats)), *shape[at + 1 :]), aval.dtype, aval.weak)


# --- padding ---------------------------------------------------------------------------------------------------------


@shape_function("jax.numpy.pad")
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Aval:
    return _pad(array, pad_width)


def _pad(a: Any, pad_width: Any) -> Aval:
    aval = array(a)
    if isinstance(pad_width, Unknown) or aval.shape is None:
        return Aval(None if aval.shape is None else (None,) * len(aval.shape), aval.dtype, aval.weak)
    pairs = _pairs(pad_width, len(aval.shape))
    for low, high in pairs:
        if less(low, 0) is Truth.YES or less(high, 0) is Truth.YES:
            raise ShapeError("jnp.pad takes no negative widths")
    return Aval(tuple(add(d, add(low, high)) for d, (low, high) in zip(aval.shape, pairs, strict=True)), aval.dtype, aval.weak)


def _pairs(widths: Any, rank: int) -> list[tuple[MaybeDim, MaybeDim]]:
    """The width before and after each dimension, from NumPy's five ways to write them."""
    if not isinstance(widths, tuple | list):
        return [(maybe_dim(widths), maybe_dim(widths))] * rank
    if any(isinstance(width, Unknown) for width in widths):
        # It may be a pair or a number, so all that is known is that the rank stays.
        return [(None, None)] * rank
    if all(isinstance(width, tuple | list) for width in widths):
        pairs = [_pair(width) for width in widths]
        if len(pairs) == 1:
            return pairs * rank
        if len(pairs) != rank:
            raise ShapeError(f"jnp.pad of {rank} dimensions takes {rank} pairs of widths, not {len(pairs)}")
        return pairs
    return [_pair(widths)] * rank


def _pair(widths: Any) -> tuple[MaybeDim, MaybeDim]:
    first, *others = (maybe_dim(width) for width in widths)
    if len(others) > 1:
        raise Undecided
    return first, others[0] if others else first


@shape_function("jax.lax.pad")
def lax_pad(operand: Any, padding_value: Any, padding_config: Any) -> Aval:
    """Low, high and interior padding of each dimension; negative low and high padding cuts."""
    aval, value = array(operand), array(padding_value)
    if value.shape not in (None, ()):
        raise ShapeError(f"lax.pad needs a scalar to pad with, not {shape_text(value.shape)}")
    dtype, weak = same_dtype("pad", [aval, value]), all_weak([aval, value])
    if isinstance(padding_config, Unknown) or aval.shape is None:
        return Aval(None if aval.shape is None else (None,) * len(aval.shape), dtype, weak)
    config = items(padding_config)
    if len(config) != len(aval.shape):
        raise ShapeError(f"lax.pad of {shape_text(aval.shape)} needs {len(aval.shape)} triples, not {len(config)}")
    return Aval(tuple(_padded(d, triple) for d, triple in zip(aval.shape, config, strict=True)), dtype, weak)


def _padded(d: MaybeDim, triple: Any) -> MaybeDim:
    if isinstance(triple, Unknown):
        return None
    low, high, interior = (maybe_dim(width) for width in items(triple))
    if less(interior, 0) is Truth.YES:
        raise ShapeError("lax.pad takes no negative interior padding")
    size = add(d, add(low, high))
    if interior != 0:
        size = add(size, mul(interior, sub(d, 1))) if equal(d, 0) is Truth.NO else None
    if less(size, 0) is Truth.YES:
        raise ShapeError(f"lax.pad would leave {render(size)} elements")
    return size
