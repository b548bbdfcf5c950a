"""Functions that make arrays.

Mirrors ``jax/_src/numpy/array_creation.py``, ``array`` of ``jax/_src/numpy/array_constructors.py``, and ``full``,
``full_like`` and ``iota`` of ``jax/_src/lax/lax.py``.
"""

from __future__ import annotations

from math import ceil
from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array, dtype_of, dtype_or, flag, integer, known_shape, maybe_dim, shape_of
from pallas_lsp.shapes.avals import Aval, ShapeError, Unknown, shape_text
from pallas_lsp.shapes.broadcasting import broadcast, broadcast_to, same_shape
from pallas_lsp.shapes.dims import MaybeDim, Poly, cdiv, maximum, sub
from pallas_lsp.shapes.dtypes import promote, to_inexact
from pallas_lsp.shapes.table import shape_function


@shape_function("jax.numpy.zeros", "jax.numpy.ones", "jax.numpy.empty")
def zeros(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Aval:
    made, _ = dtype_or(dtype, ("float32", False))
    return Aval(shape_of(shape), made)


@shape_function("jax.numpy.full")
def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Aval:
    value = array(fill_value)
    made, weak = dtype_or(dtype, (value.dtype, value.weak))
    return Aval(broadcast_to(value.shape, shape_of(shape)), made, weak)


@shape_function("jax.lax.full")
def lax_full(shape: Any, fill_value: Any, dtype: Any = None, *, sharding: Any = None) -> Aval:
    if array(fill_value).shape not in ((), None):
        raise ShapeError("lax.full needs a scalar to fill with")
    return full(shape, fill_value, dtype)


def _like(a: Any, dtype: Any, shape: Any) -> Aval:
    """An array of the same shape and dtype, unless others are given; a weak dtype stays weak."""
    aval = array(a)
    made, weak = dtype_or(dtype, (aval.dtype, aval.weak))
    # An unknown shape may be None, but then nothing is lost by not knowing it.
    return Aval(aval.shape if shape is None else shape_of(shape), made, weak)


@shape_function("jax.numpy.zeros_like", "jax.numpy.ones_like")
def zeros_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None) -> Aval:
    return _like(a, dtype, shape)


@shape_function("jax.numpy.empty_like")
def empty_like(prototype: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Aval:
    return _like(prototype, dtype, shape)


@shape_function("jax.numpy.full_like")
def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None) -> Aval:
    value, made = array(fill_value), _like(a, dtype, shape)
    if value.shape == ():
        return made
    weak = None if value.shape is None and made.weak is not False else False
    return Aval(broadcast_to(value.shape, made.shape), made.dtype, weak)


@shape_function("jax.lax.full_like")
def lax_full_like(x: Any, fill_value: Any, dtype: Any = None, shape: Any = None, sharding: Any = None) -> Aval:
    return _like(x, dtype, shape)


@shape_function("jax.lax.iota")
def iota(dtype: Any, size: Any) -> Aval:
    return Aval((maybe_dim(size),), dtype_of(dtype))


@shape_function("jax.lax.broadcasted_iota")
def broadcasted_iota(dtype: Any, shape: Any, dimension: Any, *, out_sharding: Any = None) -> Aval:
    dims = shape_of(shape)
    if dims is not None and isinstance(dimension, int) and not 0 <= dimension < len(dims):
        raise ShapeError(f"an iota over {shape_text(dims)} has no dimension {dimension}")
    return Aval(dims, dtype_of(dtype))


@shape_function("jax.numpy.arange")
def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Aval:
    """The dtype is that of the bounds together, never weak; the size is known where all bounds are."""
    bounds = [array(bound) for bound in (start, stop, step) if bound is not None]
    if any(bound.shape not in ((), None) for bound in bounds):
        raise ShapeError("jnp.arange needs scalars")
    made, _ = dtype_or(dtype, (promote(*((bound.dtype, bound.weak) for bound in bounds))[0], False))
    if any(isinstance(bound, Unknown) for bound in (stop, step)):
        return Aval((None,), made)
    low, high = (0, start) if stop is None else (start, stop)
    return Aval((_count(low, high, 1 if step is None else step),), made)


def _count(low: Any, high: Any, step: Any) -> MaybeDim:
    if isinstance(low, int | float) and isinstance(high, int | float) and isinstance(step, int | float):
        return max(0, ceil((high - low) / step))
    if all(isinstance(bound, int | Poly) for bound in (low, high)) and isinstance(step, int) and step > 0:
        return cdiv(maximum(sub(high, low), 0), step)
    return None


@shape_function("jax.numpy.eye")
def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = None, *, device: Any = None) -> Aval:
    return tri(N, M, k, dtype)


@shape_function("jax.numpy.tri")
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> Aval:
    made, _ = dtype_or(dtype, ("float32", False))
    return Aval(shape_of((N, N if M is None else M)), made)


@shape_function("jax.numpy.identity")
def identity(n: Any, dtype: Any = None) -> Aval:
    return tri(n, dtype=dtype)


@shape_function("jax.numpy.tril", "jax.numpy.triu")
def tril(m: Any, k: Any = 0) -> Aval:
    aval = array(m)
    if aval.shape is not None and len(aval.shape) < 2:
        raise ShapeError(f"a triangle needs at least 2 dimensions, not {shape_text(aval.shape)}")
    return aval


@shape_function("jax.numpy.linspace")
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    retstep: Any = False,
    dtype: Any = None,
    axis: Any = 0,
    *,
    device: Any = None,
) -> Aval:
    if flag(retstep):
        raise Undecided
    low, high = array(start), array(stop)
    shape = broadcast(low.shape, high.shape)
    made, _ = dtype_or(dtype, (to_inexact(promote((low.dtype, low.weak), (high.dtype, high.weak))[0]), False))
    if shape is None:
        return Aval(None, made)
    at = integer(axis) + (len(shape) + 1 if integer(axis) < 0 else 0)
    if not 0 <= at <= len(shape):
        raise Undecided
    return Aval((*shape[:at], maybe_dim(num), *shape[at:]), made)


@shape_function("jax.numpy.meshgrid")
def meshgrid(*xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy") -> list[Aval]:
    avals = [array(x) for x in xi]
    if any(len(known_shape(aval)) != 1 for aval in avals):
        raise ShapeError("jnp.meshgrid needs arrays of one dimension")
    sizes = [known_shape(aval)[0] for aval in avals]
    order = list(range(len(avals)))
    if len(order) >= 2 and indexing == "xy":
        order[:2] = [1, 0]
    elif indexing not in ("xy", "ij"):
        raise Undecided
    spread = flag(sparse)
    shapes = [tuple(sizes[j] if not spread or j == i else 1 for j in order) for i in range(len(avals))]
    return [Aval(shape, aval.dtype, aval.weak) for shape, aval in zip(shapes, avals, strict=True)]


# --- from values -----------------------------------------------------------------------------------------------------


@shape_function("jax.numpy.array")
def array_of(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    ndmin: Any = 0,
    device: Any = None,
    out_sharding: Any = None,
) -> Aval:
    aval = _assembled(object)
    made, weak = dtype_or(dtype, (aval.dtype, aval.weak))
    if aval.shape is None:
        return Aval(None, made, weak)
    return Aval((1,) * (integer(ndmin) - len(aval.shape)) + aval.shape, made, weak)


@shape_function("jax.numpy.asarray")
def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, device: Any = None, out_sharding: Any = None) -> Aval:
    return array_of(a, dtype)


def _assembled(value: Any) -> Aval:
    """A number or an array as it is; nested sequences stacked, their elements promoted, which is never weak."""
    if not isinstance(value, tuple | list):
        return array(value)
    if not value:
        return Aval((0,), "float32")
    parts = [_assembled(one) for one in value]
    shape = same_shape("jnp.array", [part.shape for part in parts])
    dtype, weak = promote(*((leaf.dtype, leaf.weak) for leaf in _leaves(value)))
    del weak
    return Aval(None if shape is None else (len(parts), *shape), dtype)


def _leaves(value: Any) -> list[Aval]:
    if isinstance(value, tuple | list):
        return [leaf for one in value for leaf in _leaves(one)] or [Aval((), "float32")]
    return [array(value)]


_SCALAR_TYPES = (
    *("bool_", "float16", "float32", "float64", "bfloat16", "half", "single", "double", "float_"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz"),
    *("int4", "int8", "int16", "int32", "int64", "int_", "uint4", "uint8", "uint16", "uint32", "uint64", "uint"),
)


def _register_scalar_type(name: str) -> None:
    @shape_function(f"jax.numpy.{name}")
    def scalar_type(x: Any = 0) -> Aval:
        return array_of(x, name)


for _name in _SCALAR_TYPES:
    _register_scalar_type(_name)
