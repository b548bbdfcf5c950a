"""Slices and gathers of ``jax.lax``, and ``take``.

Mirrors ``_slice_shape_rule``, ``_dynamic_slice_shape_rule`` and ``_dynamic_update_slice_shape_rule`` of ``jax/_src/lax/slicing.py``, and
``_take`` and ``take_along_axis`` of ``jax/_src/numpy/indexing.py``.
"""

from __future__ import annotations

from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array, axis_of, flag, items, known_shape, maybe_dim
from pallas_lsp.shapes.avals import Aval, ShapeError, Unknown, shape_text
from pallas_lsp.shapes.broadcasting import broadcast
from pallas_lsp.shapes.dims import MaybeDim, Truth, add, cdiv, less, render, sub
from pallas_lsp.shapes.elementwise import BOOL, INTEGER, all_weak, check_kind
from pallas_lsp.shapes.lax_elementwise import same_dtype
from pallas_lsp.shapes.shaping import ravel
from pallas_lsp.shapes.table import method_function, shape_function


def _cut(start: MaybeDim, limit: MaybeDim, stride: MaybeDim, d: MaybeDim) -> MaybeDim:
    """The elements from ``start`` to ``limit`` by ``stride``. Raises ShapeError where they certainly leave the dimension."""
    if less(start, 0) is Truth.YES or less(d, limit) is Truth.YES or less(limit, start) is Truth.YES:
        raise ShapeError(f"lax.slice from {render(start)} to {render(limit)} leaves a dimension of {render(d)}")
    if less(stride, 1) is Truth.YES:
        raise Undecided
    return cdiv(sub(limit, start), stride)


@shape_function("jax.lax.slice")
def slice_(operand: Any, start_indices: Any, limit_indices: Any, strides: Any = None) -> Aval:
    aval = array(operand)
    shape = known_shape(aval)
    starts, limits = items(start_indices), items(limit_indices)
    steps = (1,) * len(shape) if strides is None else items(strides)
    if not len(shape) == len(starts) == len(limits) == len(steps):
        raise ShapeError(f"lax.slice of {shape_text(shape)} needs {len(shape)} starts, limits and strides")
    cuts = zip(starts, limits, steps, shape, strict=True)
    dims = tuple(_cut(maybe_dim(start), maybe_dim(limit), maybe_dim(step), d) for start, limit, step, d in cuts)
    return Aval(dims, aval.dtype, aval.weak)


@shape_function("jax.lax.slice_in_dim")
def slice_in_dim(operand: Any, start_index: Any, limit_index: Any, stride: Any = 1, axis: Any = 0) -> Aval:
    aval = array(operand)
    shape = known_shape(aval)
    at = axis_of(axis, len(shape))
    start = 0 if start_index is None else _from_front(maybe_dim(start_index), shape[at])
    limit = shape[at] if limit_index is None else _from_front(maybe_dim(limit_index), shape[at])
    return _replaced(aval, at, _cut(start, limit, maybe_dim(stride), shape[at]))


def _from_front(index: MaybeDim, d: MaybeDim) -> MaybeDim:
    negative = less(index, 0)
    if negative is Truth.MAYBE:
        return None
    return add(index, d) if negative is Truth.YES else index


def _replaced(aval: Aval, at: int, *dims: MaybeDim) -> Aval:
    """The array with the dimension ``at`` replaced by ``dims``."""
    shape = known_shape(aval)
    return Aval((*shape[:at], *dims, *shape[at + 1 :]), aval.dtype, aval.weak)


@shape_function("jax.lax.index_in_dim")
def index_in_dim(operand: Any, index: Any, axis: Any = 0, keepdims: Any = True) -> Aval:
    return _one_of(array(operand), axis, keepdims)


def _one_of(aval: Aval, axis: Any, keepdims: Any) -> Aval:
    at = axis_of(axis, len(known_shape(aval)))
    return _replaced(aval, at, 1) if flag(keepdims) else _replaced(aval, at)


@shape_function("jax.lax.dynamic_slice")
def dynamic_slice(operand: Any, start_indices: Any, slice_sizes: Any, *, allow_negative_indices: Any = True) -> Aval:
    aval = array(operand)
    sizes = items(slice_sizes)
    if aval.shape is None:
        return Aval(tuple(maybe_dim(size) for size in sizes), aval.dtype, aval.weak)
    if len(sizes) != len(aval.shape) or (isinstance(start_indices, tuple | list) and len(start_indices) != len(aval.shape)):
        raise ShapeError(f"dynamic_slice of {shape_text(aval.shape)} needs {len(aval.shape)} starts and sizes")
    return Aval(tuple(_fits(maybe_dim(size), d) for size, d in zip(sizes, aval.shape, strict=True)), aval.dtype, aval.weak)


def _fits(size: MaybeDim, d: MaybeDim) -> MaybeDim:
    if less(size, 0) is Truth.YES or less(d, size) is Truth.YES:
        raise ShapeError(f"a slice of {render(size)} does not fit in a dimension of {render(d)}")
    return size


@shape_function("jax.lax.dynamic_slice_in_dim")
def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: Any, axis: Any = 0, *, allow_negative_indices: Any = True) -> Aval:
    aval = array(operand)
    shape = known_shape(aval)
    at = axis_of(axis, len(shape))
    return _replaced(aval, at, _fits(maybe_dim(slice_size), shape[at]))


@shape_function("jax.lax.dynamic_index_in_dim")
def dynamic_index_in_dim(operand: Any, index: Any, axis: Any = 0, keepdims: Any = True, *, allow_negative_indices: Any = True) -> Aval:
    return _one_of(array(operand), axis, keepdims)


@shape_function("jax.lax.dynamic_update_slice")
def dynamic_update_slice(operand: Any, update: Any, start_indices: Any, *, allow_negative_indices: Any = True) -> Aval:
    aval, new = array(operand), array(update)
    if aval.shape is not None and new.shape is not None:
        if len(aval.shape) != len(new.shape):
            raise ShapeError(f"an update needs the rank of the operand: {shape_text(new.shape)} for {shape_text(aval.shape)}")
        for size, d in zip(new.shape, aval.shape, strict=True):
            _fits(size, d)
    return _updated(aval, new)


def _updated(aval: Aval, new: Aval) -> Aval:
    """The operand; it stays weak only if the update and the start indices are weak too."""
    same_dtype("dynamic_update_slice", [aval, new])
    return Aval(aval.shape, aval.dtype, None if all_weak([aval, new]) is not False else False)


@shape_function("jax.lax.dynamic_update_slice_in_dim")
def dynamic_update_slice_in_dim(operand: Any, update: Any, start_index: Any, axis: Any, *, allow_negative_indices: Any = True) -> Aval:
    aval = dynamic_update_slice(operand, update, None)
    if aval.shape is not None and not isinstance(axis, Unknown):
        axis_of(axis, len(aval.shape))
    return aval


@shape_function("jax.lax.dynamic_update_index_in_dim")
def dynamic_update_index_in_dim(operand: Any, update: Any, index: Any, axis: Any, *, allow_negative_indices: Any = True) -> Aval:
    aval, new = array(operand), array(update)
    return _updated(aval, new)


@shape_function("jax.numpy.take")
@method_function("take")
def take(
    a: Any,
    indices: Any,
    axis: Any = None,
    out: Any = None,
    mode: Any = None,
    unique_indices: Any = False,
    indices_are_sorted: Any = False,
    fill_value: Any = None,
) -> Aval:
    """The dims of the indices stand where the axis was."""
    if out is not None:
        raise Undecided
    aval, chosen = array(a), array(indices)
    check_kind("take", chosen.dtype, INTEGER | BOOL)
    if axis is None:
        aval, axis = ravel(aval), 0
    at = axis_of(axis, len(known_shape(aval)))
    return _replaced(aval, at, *known_shape(chosen))


@shape_function("jax.numpy.take_along_axis")
def take_along_axis(
    arr: Any, indices: Any, axis: Any = -1, mode: Any = None, fill_value: Any = None, *, wrap_negative_indices: Any = None
) -> Aval:
    aval, chosen = array(arr), array(indices)
    check_kind("take_along_axis", chosen.dtype, INTEGER)
    if axis is None:
        aval, axis = ravel(aval), 0
    shape, wanted = known_shape(aval), known_shape(chosen)
    if len(shape) != len(wanted):
        raise ShapeError(f"take_along_axis needs indices of {len(shape)} dimensions, not {shape_text(wanted)}")
    at = axis_of(axis, len(shape))
    return Aval(broadcast(wanted, _replaced(aval, at, 1).shape), aval.dtype, aval.weak)
