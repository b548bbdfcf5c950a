"""Changing the dtype: astype, scalar types as functions, bitcasts.

Mirrors ``_convert_element_type`` and ``_bitcast_convert_type_shape_rule`` of ``jax/_src/lax/lax.py``, ``_view`` of
``jax/_src/numpy/array_methods.py`` and ``bitcast`` of ``jax/_src/pallas/mosaic/primitives.py``.
"""

from __future__ import annotations

from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array, dtype_of
from pallas_lsp.shapes.avals import Aval, ShapeError, shape_text
from pallas_lsp.shapes.dims import MaybeDim, Truth, divides, equal, floordiv, mul
from pallas_lsp.shapes.dtypes import bits, kind, short
from pallas_lsp.shapes.table import method_function, shape_function


@shape_function("jax.numpy.astype")
def jnp_astype(x: Any, dtype: Any, /, *, copy: Any = False, device: Any = None) -> Aval:
    return cast(array(x), dtype)


@method_function("astype")
def astype(x: Aval, dtype: Any, copy: Any = False, device: Any = None, *, out_sharding: Any = None) -> Aval:
    return cast(x, dtype)


@shape_function("jax.lax.convert_element_type")
def convert_element_type(operand: Any, new_dtype: Any) -> Aval:
    return cast(array(operand), new_dtype)


def cast(aval: Aval, dtype: Any) -> Aval:
    """The array in another dtype, which is never weak. Raises ShapeError for a cast from or to an extended dtype."""
    if dtype is None:
        return Aval(aval.shape, "float32")
    target = dtype_of(dtype)
    if "extended" in (kind(aval.dtype), kind(target)) and aval.dtype != target and None not in (aval.dtype, target):
        raise ShapeError(f"there is no cast from {short(aval.dtype)} to {short(target)}")
    return Aval(aval.shape, target)


@shape_function("jax.lax.bitcast_convert_type")
def bitcast_convert_type(operand: Any, new_dtype: Any) -> Aval:
    """Another reading of the same bits: a narrower type adds a last dimension, a wider one takes it away."""
    aval, target = array(operand), dtype_of(new_dtype)
    old, new = bits(aval.dtype), bits(target)
    if old is not None and old == new:
        return Aval(aval.shape, target)
    if aval.shape is None or old is None or new is None:
        return Aval(None, target)
    if old > new:
        return Aval((*aval.shape, old // new), target)
    if not aval.shape or equal(aval.shape[-1], new // old) is Truth.NO:
        raise ShapeError(f"a bitcast from {short(aval.dtype)} to {short(target)} needs a last dimension of {new // old}")
    return Aval(aval.shape[:-1], target)


@method_function("view")
def view(x: Aval, dtype: Any = None, type: Any = None) -> Aval:
    """Another reading of the same bits along the last dimension."""
    if dtype is None:
        return x
    target = dtype_of(dtype)
    made = _rescale(x, target, -1)
    if target is None or x.dtype is None:
        return Aval(made.shape, target, False if x.weak is False else None)
    return Aval(made.shape, target, x.weak if target == x.dtype else False)


@shape_function("jax.experimental.pallas.tpu.bitcast")
def tpu_bitcast(x: Any, ty: Any, dim: Any = -2) -> Aval:
    """Another reading of the same bits along the second minor dimension."""
    aval, target = array(x), dtype_of(ty)
    if dim != -2:
        raise Undecided
    if aval.shape is not None and len(aval.shape) < 2:
        raise ShapeError("pltpu.bitcast needs at least 2 dimensions", rule="bitcast-1d-ref")
    return _rescale(aval, target, -2)


def _rescale(aval: Aval, target: str | None, axis: int) -> Aval:
    """The array with the dimension ``axis`` scaled by the ratio of the widths of the two dtypes."""
    old, new = bits(aval.dtype), bits(target)
    if aval.shape is None:
        return Aval(None, target)
    if not aval.shape:
        if None not in (old, new) and old != new:
            raise ShapeError(f"a scalar of {short(aval.dtype)} can not be seen as {short(target)}")
        return Aval((), target)
    size: MaybeDim = mul(aval.shape[axis], old)
    if divides(new, size) is Truth.NO:
        raise ShapeError(
            f"{shape_text(aval.shape)} of {short(aval.dtype)} can not be seen as {short(target)}: the bits do not divide evenly",
            rule="bitcast-rows-not-divisible" if axis == -2 else None,
        )
    at = axis % len(aval.shape)
    return Aval((*aval.shape[:at], floordiv(size, new), *aval.shape[at + 1 :]), target)
