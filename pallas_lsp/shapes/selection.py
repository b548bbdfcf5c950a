"""Choosing between arrays: where, select, clip.

Mirrors ``_where`` of ``jax/_src/numpy/util.py``, ``select`` and ``clip`` of ``jax/_src/numpy/lax_numpy.py``,
``_select_shape_rule`` and ``_clamp_shape_rule`` of ``jax/_src/lax/lax.py``.
"""

from __future__ import annotations

from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array, arrays
from pallas_lsp.shapes.avals import Aval, ShapeError
from pallas_lsp.shapes.broadcasting import broadcast, same_shape
from pallas_lsp.shapes.elementwise import BOOL, INTEGER, ORDERED, all_weak, check_kind, elementwise
from pallas_lsp.shapes.lax_elementwise import same_dtype
from pallas_lsp.shapes.table import method_function, shape_function


@shape_function("jax.numpy.where")
def where(condition: Any, x: Any = None, y: Any = None, /, *, size: Any = None, fill_value: Any = None) -> Aval:
    if x is None or y is None:
        raise Undecided
    chosen = elementwise("where", (x, y))
    return Aval(broadcast(array(condition).shape, chosen.shape), chosen.dtype, chosen.weak)


@shape_function("jax.numpy.select")
def select_list(condlist: Any, choicelist: Any, default: Any = 0) -> Aval:
    conditions, choices = arrays(condlist), arrays(choicelist)
    if len(conditions) != len(choices):
        raise ShapeError(f"select needs as many choices as conditions, not {len(choices)} for {len(conditions)}")
    chosen = elementwise("select", (*choices, default))
    return Aval(broadcast(chosen.shape, *(c.shape for c in conditions)), chosen.dtype, chosen.weak)


@shape_function("jax.lax.select")
def select(pred: Any, on_true: Any, on_false: Any) -> Aval:
    return select_n(pred, on_true, on_false)


@shape_function("jax.lax.select_n")
def select_n(which: Any, *cases: Any) -> Aval:
    chooser, avals = array(which), [array(case) for case in cases]
    if not avals:
        raise ShapeError("lax.select_n needs a case")
    check_kind("the predicate of lax.select", chooser.dtype, BOOL | INTEGER)
    if chooser.dtype == "bool" and len(avals) > 2:
        raise ShapeError(f"lax.select_n with a bool predicate takes at most 2 cases, not {len(avals)}")
    shape = same_shape("lax.select", [aval.shape for aval in avals])
    if chooser.shape != ():
        same_shape("lax.select", [chooser.shape, shape])
    return Aval(shape, same_dtype("select", avals), all_weak(avals))


@shape_function("jax.numpy.clip")
@method_function("clip")
def clip(arr: Any = None, /, min: Any = None, max: Any = None, *, a: Any = None, a_min: Any = None, a_max: Any = None) -> Aval:
    result = array(a if arr is None else arr)
    for bound in (a_min if min is None else min, a_max if max is None else max):
        if bound is not None:
            result = elementwise("clip", (result, bound))
    check_kind("clip", result.dtype, ORDERED)
    return result


@shape_function("jax.lax.clamp")
def clamp(min: Any, x: Any, max: Any) -> Aval:
    low, aval, high = array(min), array(x), array(max)
    for bound in (low, high):
        if bound.shape != ():
            same_shape("lax.clamp", [bound.shape, aval.shape])
    dtype = same_dtype("clamp", [low, aval, high])
    check_kind("lax.clamp", dtype, ORDERED)
    return Aval(aval.shape, dtype, all_weak([low, aval, high]))
