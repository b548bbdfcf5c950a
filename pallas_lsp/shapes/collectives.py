"""Functions over a mapped axis, whose size is not known here.

Mirrors the functions of the same names of ``jax/_src/lax/parallel.py``.
"""

from __future__ import annotations

from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array, axis_of, flag, known_shape
from pallas_lsp.shapes.avals import Aval
from pallas_lsp.shapes.dtypes import to_inexact
from pallas_lsp.shapes.table import shape_function


@shape_function("jax.lax.axis_index")
def axis_index(axis_name: Any) -> Aval:
    return Aval((), "int32")


@shape_function("jax.lax.psum", "jax.lax.pmax", "jax.lax.pmin")
def psum(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Aval:
    """Keeps the shape; whether a weak dtype stays weak hangs on what is mapped."""
    aval = array(x)
    if aval.dtype == "bool":
        raise Undecided
    return Aval(aval.shape, aval.dtype, aval.weak and None)


@shape_function("jax.lax.pmean")
def pmean(x: Any, axis_name: Any, *, axis_index_groups: Any = None) -> Aval:
    aval = psum(x, axis_name)
    return Aval(aval.shape, to_inexact(aval.dtype), aval.weak)


@shape_function("jax.lax.ppermute")
def ppermute(x: Any, axis_name: Any, perm: Any) -> Aval:
    return psum(x, axis_name)


@shape_function("jax.lax.all_gather")
def all_gather(x: Any, axis_name: Any, *, axis_index_groups: Any = None, axis: Any = 0, tiled: Any = False, to: Any = None) -> Aval:
    """A new dimension of the axis' size, or a dimension that many times as long."""
    aval = array(x)
    shape = known_shape(aval)
    whole = flag(tiled)
    at = axis_of(axis, len(shape) + (not whole))
    return Aval((*shape[:at], None, *shape[at + whole :]), aval.dtype, aval.weak and None)


@shape_function("jax.lax.psum_scatter")
def psum_scatter(x: Any, axis_name: Any, *, scatter_dimension: Any = 0, axis_index_groups: Any = None, tiled: Any = False) -> Aval:
    """Without a dimension of the axis' size, or with one that many times as short."""
    aval = psum(x, axis_name)
    shape = known_shape(aval)
    at = axis_of(scatter_dimension, len(shape))
    kept = (None,) if flag(tiled) else ()
    return Aval((*shape[:at], *kept, *shape[at + 1 :]), aval.dtype, aval.weak)
