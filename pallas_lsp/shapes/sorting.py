"""Sorting.

Mirrors ``jax/_src/numpy/sorting.py`` and ``top_k`` of ``jax/_src/lax/lax.py``.
"""

from __future__ import annotations

from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array, axis_of, dtype_or, known_shape, maybe_dim
from pallas_lsp.shapes.avals import Aval, ShapeError, Unknown
from pallas_lsp.shapes.dims import Poly, Truth, add, less, render
from pallas_lsp.shapes.dtypes import to_inexact
from pallas_lsp.shapes.shaping import ravel
from pallas_lsp.shapes.table import method_function, shape_function


@shape_function("jax.numpy.sort")
@method_function("sort")
def sort(a: Any, axis: Any = -1, *, kind: Any = None, order: Any = None, stable: Any = True, descending: Any = False) -> Aval:
    aval = array(a)
    if axis is None:
        return ravel(aval)
    if isinstance(axis, Unknown):
        return Aval(None, aval.dtype, aval.weak)
    if aval.shape is not None:
        axis_of(axis, len(aval.shape))
    return aval


@shape_function("jax.numpy.argsort")
@method_function("argsort")
def argsort(
    a: Any, axis: Any = -1, *, kind: Any = None, order: Any = None, stable: Any = True, descending: Any = False, dtype: Any = None
) -> Aval:
    made, _ = dtype_or(dtype, ("int32", False))
    return Aval(sort(a, axis).shape, made)


@shape_function("jax.lax.sort")
def lax_sort(operand: Any, dimension: Any = -1, is_stable: Any = True, num_keys: Any = 1) -> Aval:
    if isinstance(operand, tuple | list) or dimension is None:
        raise Undecided
    return sort(operand, dimension)


@shape_function("jax.lax.top_k")
def top_k(operand: Any, k: Any, *, axis: Any = -1, is_stable: Any = True) -> tuple[Aval, Aval]:
    """The ``k`` greatest along an axis, and where they are."""
    aval, count = array(operand), maybe_dim(k)
    shape = known_shape(aval)
    at = axis_of(axis, len(shape))
    if less(shape[at], count) is Truth.YES:
        raise ShapeError(f"top_k of {render(count)} in a dimension of {render(shape[at])}")
    best = (*shape[:at], count, *shape[at + 1 :])
    return Aval(best, aval.dtype, aval.weak), Aval(best, "int32", aval.weak)


@shape_function("jax.numpy.searchsorted")
def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None, *, method: Any = "scan") -> Aval:
    """Where each of ``v`` belongs in the sorted vector ``a``."""
    sorted_values = array(a)
    if sorted_values.shape is not None and len(sorted_values.shape) != 1:
        raise ShapeError("searchsorted needs a sorted array of one dimension")
    return Aval(array(v).shape, "int32")


@shape_function("jax.numpy.histogram")
def histogram(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: Any = None, out_sharding: Any = None
) -> tuple[Aval, Aval]:
    """How many elements are in each bin, and the edges of the bins (``histogram`` of ``jax/_src/numpy/setops.py``)."""
    count = bins if isinstance(bins, int | Poly) else None
    dtype = to_inexact(array(a).dtype) if count is not None and range is None and weights is None else None
    return Aval((count,), dtype), Aval((None if count is None else add(count, 1),), dtype)
