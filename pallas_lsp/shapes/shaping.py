"""Changing the shape without changing the elements: reshape, transpose, broadcast, roll, flip.

Mirrors ``_reshape`` and ``_transpose`` of ``jax/_src/numpy/array_methods.py``, the functions of ``jax/_src/numpy/lax_numpy.py`` of the same
names, and ``_broadcast_in_dim_shape_rule`` and its neighbours of ``jax/_src/lax/lax.py``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array, axes_of, axis_of, integer, items, known_shape, maybe_dim, shape_of
from pallas_lsp.shapes.avals import Aval, ShapeError, Unknown, shape_text
from pallas_lsp.shapes.broadcasting import broadcast, broadcast_to
from pallas_lsp.shapes.dims import MaybeDim, Shape, Truth, and_, divides, equal, floordiv, less, product, truth
from pallas_lsp.shapes.table import method_function, shape_function


def _with_shape(aval: Aval, shape: Shape) -> Aval:
    return Aval(shape, aval.dtype, aval.weak)


# --- reshape ---------------------------------------------------------------------------------------------------------


@shape_function("jax.numpy.reshape")
def reshape(a: Any, shape: Any, order: Any = "C", *, copy: Any = None, out_sharding: Any = None) -> Aval:
    aval = array(a)
    return _with_shape(aval, new_shape(aval.shape, shape))


@method_function("reshape")
def reshape_method(a: Aval, *args: Any, order: Any = "C", out_sharding: Any = None) -> Aval:
    return reshape(a, args[0] if len(args) == 1 else args)


@shape_function("jax.lax.reshape")
def lax_reshape(operand: Any, new_sizes: Any, dimensions: Any = None, *, out_sharding: Any = None) -> Aval:
    """JAX checks the number of elements only when it lowers this one."""
    return _with_shape(array(operand), shape_of(new_sizes if isinstance(new_sizes, Unknown) else items(new_sizes)))


def new_shape(shape: Shape, wanted: Any) -> Shape:
    """The shape that a reshape to ``wanted``, a dim or a sequence of dims with at most one -1, gives.

    Raises ShapeError where the sizes certainly differ.
    """
    if isinstance(wanted, Unknown):
        return None
    dims = [maybe_dim(d) for d in (wanted if isinstance(wanted, tuple | list) else (wanted,))]
    open_dims = [i for i, d in enumerate(dims) if d == -1]
    size = None if shape is None else product(shape)
    if len(open_dims) > 1 or any(isinstance(d, int) and d < -1 for d in dims):
        raise ShapeError(f"a shape has at most one -1 and no other negative dimension: {shape_text(tuple(dims))}")
    if not open_dims:
        if equal(product(dims), size) is Truth.NO:
            raise _cannot_reshape(shape, dims)
        return tuple(dims)
    at = open_dims[0]
    others = product(d for i, d in enumerate(dims) if i != at)
    if divides(others, size) is Truth.NO:
        raise _cannot_reshape(shape, dims)
    # What is left over: if JAX accepts the call, the division is exact.
    dims[at] = floordiv(size, others)
    return tuple(dims)


def _cannot_reshape(shape: Shape, dims: list[MaybeDim]) -> ShapeError:
    return ShapeError(f"cannot reshape {shape_text(shape)} into {shape_text(tuple(dims))}", rule="ref-reshape-size")


@shape_function("jax.numpy.ravel")
@method_function("ravel", "flatten")
def ravel(a: Any, order: Any = "C", *, out_sharding: Any = None) -> Aval:
    aval = array(a)
    return _with_shape(aval, (None if aval.shape is None else product(aval.shape),))


@shape_function("jax.lax.collapse")
def collapse(operand: Any, start_dimension: Any, stop_dimension: Any = None) -> Aval:
    """Merges the dimensions ``[start, stop)`` into one."""
    aval = array(operand)
    shape = known_shape(aval)
    start = axis_of(start_dimension, len(shape))
    stop = len(shape) if stop_dimension is None else integer(stop_dimension)
    stop = stop + len(shape) if stop < 0 else stop
    if not start < stop <= len(shape):
        raise Undecided
    return _with_shape(aval, (*shape[:start], product(shape[start:stop]), *shape[stop:]))


# --- axes ------------------------------------------------------------------------------------------------------------


@shape_function("jax.numpy.transpose")
def transpose(a: Any, axes: Any = None) -> Aval:
    aval = array(a)
    if aval.shape is None:
        return aval if axes is None or isinstance(axes, Unknown) else _with_shape(aval, (None,) * len(items(axes)))
    if isinstance(axes, Unknown):
        return _with_shape(aval, (None,) * len(aval.shape))
    order = tuple(reversed(range(len(aval.shape)))) if axes is None else axes_of(items(axes), len(aval.shape))
    if len(order) != len(aval.shape):
        raise ShapeError(f"a transpose of {shape_text(aval.shape)} needs {len(aval.shape)} axes, not {len(order)}")
    return _with_shape(aval, tuple(aval.shape[i] for i in order))


@shape_function("jax.numpy.permute_dims")
def permute_dims(a: Any, /, axes: Any) -> Aval:
    return lax_transpose(a, axes)


@shape_function("jax.lax.transpose")
def lax_transpose(operand: Any, permutation: Any) -> Aval:
    if not isinstance(permutation, Unknown) and any(isinstance(i, int) and i < 0 for i in items(permutation)):
        raise ShapeError("lax.transpose takes no negative axes")
    return transpose(operand, permutation)


@method_function("transpose")
def transpose_method(a: Aval, *args: Any) -> Aval:
    if len(args) == 1 and not isinstance(args[0], int):
        return transpose(a, args[0])
    return transpose(a, args or None)


@method_function("T")
def transposed(a: Aval) -> Aval:
    return transpose(a)


@shape_function("jax.numpy.matrix_transpose")
@method_function("mT")
def matrix_transpose(x: Any, /) -> Aval:
    aval = array(x)
    shape = known_shape(aval)
    if len(shape) < 2:
        raise ShapeError(f"a matrix has at least 2 dimensions, not {shape_text(shape)}")
    return _with_shape(aval, (*shape[:-2], shape[-1], shape[-2]))


@shape_function("jax.numpy.swapaxes")
@method_function("swapaxes")
def swapaxes(a: Any, axis1: Any, axis2: Any) -> Aval:
    aval = array(a)
    if aval.shape is None or isinstance(axis1, Unknown) or isinstance(axis2, Unknown):
        return _with_shape(aval, None if aval.shape is None else (None,) * len(aval.shape))
    dims = list(aval.shape)
    i, j = axis_of(axis1, len(dims)), axis_of(axis2, len(dims))
    dims[i], dims[j] = dims[j], dims[i]
    return _with_shape(aval, tuple(dims))


@shape_function("jax.numpy.moveaxis")
def moveaxis(a: Any, source: Any, destination: Any) -> Aval:
    aval = array(a)
    shape = known_shape(aval)
    sources, destinations = axes_of(source, len(shape)), axes_of(destination, len(shape))
    if source is None or destination is None:
        raise Undecided
    if len(sources) != len(destinations):
        raise ShapeError("moveaxis needs as many destinations as sources")
    order = [i for i in range(len(shape)) if i not in sources]
    for to, what in sorted(zip(destinations, sources, strict=True)):
        order.insert(to, what)
    return _with_shape(aval, tuple(shape[i] for i in order))


@shape_function("jax.numpy.expand_dims")
def expand_dims(a: Any, axis: Any) -> Aval:
    """Inserts dimensions of 1 at these axes of the result."""
    aval = array(a)
    if isinstance(axis, Unknown) or aval.shape is None:
        return _with_shape(aval, None)
    count = len(axis) if isinstance(axis, tuple | list) else 1
    added = axes_of(axis, len(aval.shape) + count)
    if axis is None:
        raise Undecided
    rest = iter(aval.shape)
    return _with_shape(aval, tuple(1 if i in added else next(rest) for i in range(len(aval.shape) + count)))


@shape_function("jax.lax.expand_dims")
def lax_expand_dims(array: Any, dimensions: Any) -> Aval:
    return expand_dims(array, dimensions)


@shape_function("jax.numpy.squeeze")
@method_function("squeeze")
def squeeze(a: Any, axis: Any = None) -> Aval:
    """Removes dimensions of 1. Raises ShapeError for a named one that certainly is not 1."""
    aval = array(a)
    if isinstance(axis, Unknown) or aval.shape is None:
        return _with_shape(aval, None)
    if axis is None:
        ones = [equal(d, 1) for d in aval.shape]
        if Truth.MAYBE in ones:
            return _with_shape(aval, None)
        return _with_shape(aval, tuple(d for d, one in zip(aval.shape, ones, strict=True) if one is Truth.NO))
    gone = axes_of(axis, len(aval.shape))
    if any(equal(aval.shape[i], 1) is Truth.NO for i in gone):
        raise ShapeError(f"only dimensions of 1 can be squeezed: {shape_text(aval.shape)} at {gone}")
    return _with_shape(aval, tuple(d for i, d in enumerate(aval.shape) if i not in gone))


@shape_function("jax.lax.squeeze")
def lax_squeeze(array: Any, dimensions: Any) -> Aval:
    if dimensions is None:
        raise Undecided
    return squeeze(array, dimensions)


# --- broadcasting ----------------------------------------------------------------------------------------------------


@shape_function("jax.numpy.broadcast_to")
def jnp_broadcast_to(array: Any, shape: Any, *, out_sharding: Any = None) -> Aval:
    return _broadcast_to(array, shape)


def _broadcast_to(a: Any, shape: Any) -> Aval:
    aval = array(a)
    return _with_shape(aval, broadcast_to(aval.shape, shape_of(shape)))


@shape_function("jax.experimental.pallas.broadcast_to")
def pl_broadcast_to(a: Any, shape: Any) -> Aval:
    """JAX checks nothing here; a dtype stays weak only where the shape stays as it is."""
    aval, target = array(a), shape_of(shape)
    if aval.weak is False or aval.shape is None or target is None:
        return Aval(target, aval.dtype, aval.weak and None)
    same = and_(truth(len(aval.shape) == len(target)), *(equal(d, wanted) for d, wanted in zip(aval.shape, target, strict=False)))
    return Aval(target, aval.dtype, {Truth.YES: aval.weak, Truth.NO: False, Truth.MAYBE: None}[same])


@shape_function("jax.numpy.broadcast_arrays")
def broadcast_arrays(*args: Any) -> list[Aval]:
    avals = [array(arg) for arg in args]
    shape = broadcast(*(aval.shape for aval in avals))
    return [_with_shape(aval, shape) for aval in avals]


@shape_function("jax.lax.broadcast")
def lax_broadcast(operand: Any, sizes: Any, *, out_sharding: Any = None) -> Aval:
    aval, front = array(operand), shape_of(sizes)
    return _with_shape(aval, None if front is None or aval.shape is None else (*front, *aval.shape))


@shape_function("jax.lax.broadcast_in_dim")
def broadcast_in_dim(operand: Any, shape: Any, broadcast_dimensions: Any, *, out_sharding: Any = None) -> Aval:
    aval, target = array(operand), shape_of(shape)
    if target is None or aval.shape is None or isinstance(broadcast_dimensions, Unknown):
        return _with_shape(aval, target)
    places = items(broadcast_dimensions)
    if len(places) != len(aval.shape):
        raise ShapeError(f"broadcast_in_dim of {shape_text(aval.shape)} needs {len(aval.shape)} broadcast_dimensions, not {len(places)}")
    for d, place in zip(aval.shape, places, strict=True):
        at = integer(place)
        if not 0 <= at < len(target):
            raise ShapeError(f"broadcast dimension {at} is out of bounds for {shape_text(target)}")
        if equal(d, 1) is Truth.NO and equal(d, target[at]) is Truth.NO:
            raise ShapeError(f"cannot broadcast {shape_text(aval.shape)} along {places} to {shape_text(target)}")
    if any(a >= b for a, b in pairwise(places)):
        raise ShapeError("broadcast_dimensions must be strictly increasing")
    return _with_shape(aval, target)


@shape_function("jax.numpy.atleast_1d")
def atleast_1d(*arys: Any) -> Aval:
    return _at_least(1, arys)


@shape_function("jax.numpy.atleast_2d")
def atleast_2d(*arys: Any) -> Aval:
    return _at_least(2, arys)


def _at_least(rank: int, arrays: tuple[Any, ...]) -> Aval:
    (one,) = arrays
    aval = array(one)
    shape = known_shape(aval)
    return _with_shape(aval, (1,) * (rank - len(shape)) + shape)


# --- same shape ------------------------------------------------------------------------------------------------------


@shape_function("jax.numpy.flip")
def flip(m: Any, axis: Any = None) -> Aval:
    return _along(m, axis)


@shape_function("jax.lax.rev")
def rev(operand: Any, dimensions: Any) -> Aval:
    return _along(operand, dimensions)


@shape_function("jax.numpy.roll")
def roll(a: Any, shift: Any, axis: Any = None) -> Aval:
    aval = array(a)
    if aval.shape is not None and not isinstance(axis, Unknown):
        for one in axis if isinstance(axis, tuple | list) else () if axis is None else (axis,):
            axis_of(one, len(aval.shape))
    return aval


@shape_function("jax.experimental.pallas.tpu.roll")
def tpu_roll(x: Any, shift: Any, axis: Any, *, stride: Any = None, stride_axis: Any = None) -> Aval:
    """Takes only axes counted from the front and shifts of at least 0."""
    aval = array(x)
    if isinstance(shift, int) and less(shift, 0) is Truth.YES:
        raise ShapeError(f"pltpu.roll needs a shift of at least 0, not {shift}")
    for one in (axis, stride_axis):
        if aval.shape is not None and isinstance(one, int) and not 0 <= one < len(aval.shape):
            raise ShapeError(f"pltpu.roll needs an axis between 0 and {len(aval.shape) - 1}, not {one}")
    return aval


def _along(a: Any, axis: Any) -> Aval:
    """An array whose elements only change places; the axes are checked."""
    aval = array(a)
    if aval.shape is not None and not isinstance(axis, Unknown):
        axes_of(axis, len(aval.shape))
    return aval


@shape_function("jax.numpy.rot90")
def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> Aval:
    aval = array(m)
    shape = known_shape(aval)
    i, j = axes_of(items(axes), len(shape))
    return swapaxes(aval, i, j) if integer(k) % 2 else aval
