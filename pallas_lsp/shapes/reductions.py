"""Reductions, cumulative functions, softmax.

Mirrors ``_reduction``, ``_mean``, ``_var`` and ``_cumulative_reduction`` of ``jax/_src/numpy/reductions.py``, ``reduce_sum`` and its
kin of ``jax/_src/lax/lax.py``, ``logsumexp`` of ``jax/_src/ops/special.py``.
"""

from __future__ import annotations

from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array, axes_of, axis_of, dtype_or, flag, items, known_shape
from pallas_lsp.shapes.avals import Aval, ShapeError, Unknown, shape_text
from pallas_lsp.shapes.broadcasting import broadcast
from pallas_lsp.shapes.dims import Shape, add, maximum, product, sub
from pallas_lsp.shapes.dtypes import kind, to_inexact
from pallas_lsp.shapes.elementwise import BOOL, INEXACT, INTEGER, NUMBER, ORDERED, Kinds, check_kind, elementwise, inexact
from pallas_lsp.shapes.table import method_function, shape_function


def reduced_shape(shape: Shape, axis: Any, keepdims: Any) -> Shape:
    """``shape`` without the axes, or with them as 1. Raises ShapeError for axes that are not there."""
    if isinstance(keepdims, Unknown):
        return None
    kept = flag(keepdims)
    if isinstance(axis, Unknown):
        return (None,) * len(shape) if shape is not None and kept else None
    if shape is None:
        return () if axis is None and not kept else None
    gone = axes_of(axis, len(shape))
    if kept:
        return tuple(1 if i in gone else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in gone)


def _masked(a: Any, where: Any, out: Any) -> Aval:
    """The array as far as the mask lets it be: a mask may stretch it, but not add dimensions."""
    if out is not None:
        raise Undecided
    aval = array(a)
    if where is None:
        return aval
    mask = array(where)
    if aval.shape is None or mask.shape is None or len(mask.shape) > len(aval.shape):
        raise Undecided
    return Aval(broadcast(aval.shape, mask.shape), aval.dtype, aval.weak)


def widened(dtype: str | None) -> str | None:
    """The dtype of a sum: bool and the small integers become those of 32 bits."""
    of_kind = kind(dtype)
    if of_kind in ("bool", "signed"):
        return "int32"
    return "uint32" if of_kind == "unsigned" else dtype


@shape_function("jax.numpy.sum", "jax.numpy.prod")
@method_function("sum", "prod")
def sum_(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: Any = True,
) -> Aval:
    aval = _masked(a, where, out)
    default = widened(aval.dtype) if flag(promote_integers) or aval.dtype == "bool" else aval.dtype
    return Aval(reduced_shape(aval.shape, axis, keepdims), dtype_or(dtype, (default, False))[0])


@shape_function("jax.numpy.nansum", "jax.numpy.nanprod")
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Aval:
    return sum_(a, axis, dtype, out, keepdims, initial, where)


@shape_function("jax.numpy.max", "jax.numpy.min", "jax.numpy.amax", "jax.numpy.amin")
@method_function("max", "min")
def max_(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None) -> Aval:
    aval = _masked(a, where, out)
    if initial is None and aval.shape is not None and not isinstance(axis, Unknown):
        if any(aval.shape[i] == 0 for i in axes_of(axis, len(aval.shape))):
            raise ShapeError(f"there is no maximum or minimum of no elements: {shape_text(aval.shape)}")
        if where is not None:
            raise ShapeError("a maximum or minimum with a mask needs `initial`")
    return Aval(reduced_shape(aval.shape, axis, keepdims), aval.dtype)


@shape_function("jax.numpy.nanmax", "jax.numpy.nanmin")
def nanmax(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None) -> Aval:
    return max_(a, axis, out, keepdims, initial, where)


@shape_function("jax.numpy.ptp")
@method_function("ptp")
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Aval:
    aval = _masked(a, None, out)
    check_kind("ptp", aval.dtype, NUMBER)
    return max_(aval, axis, None, keepdims)


@shape_function("jax.numpy.all", "jax.numpy.any")
@method_function("all", "any")
def all_(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None) -> Aval:
    aval = _masked(a, where, out)
    return Aval(reduced_shape(aval.shape, axis, keepdims), "bool")


@shape_function("jax.numpy.count_nonzero")
def count_nonzero(a: Any, axis: Any = None, keepdims: Any = False) -> Aval:
    return Aval(reduced_shape(array(a).shape, axis, keepdims), "int32")


@shape_function("jax.numpy.mean")
@method_function("mean")
def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None) -> Aval:
    aval = _masked(a, where, out)
    made, _ = dtype_or(dtype, (to_inexact(aval.dtype), False))
    check_kind("mean", made, INEXACT)
    return Aval(reduced_shape(aval.shape, axis, keepdims), made)


@shape_function("jax.numpy.nanmean")
def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, where: Any = None) -> Aval:
    return mean(a, axis, dtype, out, keepdims, where=where)


@shape_function("jax.numpy.var", "jax.numpy.std")
@method_function("var", "std")
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Aval:
    aval = _masked(a, where, out)
    if mean is not None or kind(aval.dtype) == "complex":
        raise Undecided
    made, _ = dtype_or(dtype, (to_inexact(aval.dtype), False))
    check_kind("var", made, INEXACT)
    return Aval(reduced_shape(aval.shape, axis, keepdims), made)


@shape_function("jax.numpy.linalg.norm")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Aval:
    """Without ``ord`` the root of the sum of squares, over all axes or over those that are named."""
    aval = array(x)
    if ord is not None or kind(aval.dtype) == "complex":
        raise Undecided
    return Aval(reduced_shape(aval.shape, axis, keepdims), to_inexact(aval.dtype), False)


@shape_function("jax.numpy.argmax", "jax.numpy.argmin")
@method_function("argmax", "argmin")
def argmax(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None) -> Aval:
    aval = _masked(a, None, out)
    if isinstance(axis, tuple | list):
        raise ShapeError("argmax takes one axis")
    return Aval(reduced_shape(aval.shape, axis, False if keepdims is None else keepdims), "int32")


@shape_function("jax.lax.argmax", "jax.lax.argmin")
def lax_argmax(operand: Any, axis: Any, index_dtype: Any) -> Aval:
    aval = array(operand)
    check_kind("lax.argmax", aval.dtype, ORDERED)
    made, _ = dtype_or(index_dtype, (None, None))
    return Aval(reduced_shape(aval.shape, axis, False), made)


# --- lax.reduce_* ----------------------------------------------------------------------------------------------------

_LAX: dict[str, Kinds] = {
    "reduce_sum": NUMBER,
    "reduce_prod": NUMBER,
    "reduce_max": ORDERED | INEXACT,
    "reduce_min": ORDERED | INEXACT,
    "reduce_and": BOOL | INTEGER,
    "reduce_or": BOOL | INTEGER,
    "reduce_xor": BOOL | INTEGER,
}


def _register_lax(name: str, accepts: Kinds) -> None:
    @shape_function(f"jax.lax.{name}")
    def reduction(operand: Any, axes: Any, *, out_sharding: Any = None) -> Aval:
        aval = array(operand)
        check_kind(f"lax.{name}", aval.dtype, accepts)
        gone = axes if isinstance(axes, Unknown) else items(axes)
        weak = False if name in ("reduce_and", "reduce_or", "reduce_xor") else aval.weak
        return Aval(reduced_shape(aval.shape, gone, False), aval.dtype, weak)


for _name, _accepts in _LAX.items():
    _register_lax(_name, _accepts)


# --- cumulative ------------------------------------------------------------------------------------------------------


@shape_function("jax.numpy.cumsum", "jax.numpy.cumprod")
@method_function("cumsum", "cumprod")
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Aval:
    """Along one axis, or of all elements in a row."""
    aval = _masked(a, None, out)
    made, _ = dtype_or(dtype, ("int32" if aval.dtype == "bool" else aval.dtype, False))
    if axis is None:
        return Aval((product(known_shape(aval)),) if aval.shape is not None else (None,), made)
    if aval.shape is not None and not isinstance(axis, Unknown):
        axis_of(axis, max(len(aval.shape), 1))
    # A scalar is taken as an array of one element.
    return Aval((1,) if aval.shape == () else aval.shape if not isinstance(axis, Unknown) else None, made)


@shape_function("jax.numpy.cumulative_sum")
def cumulative_sum(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> Aval:
    """Widens small integers, unlike ``cumsum`` and ``cumulative_prod``."""
    return _cumulative(array(x), axis, dtype_or(dtype, (widened(array(x).dtype), False))[0], include_initial)


@shape_function("jax.numpy.cumulative_prod")
def cumulative_prod(x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> Aval:
    aval = array(x)
    return _cumulative(aval, axis, dtype_or(dtype, ("int32" if aval.dtype == "bool" else aval.dtype, False))[0], include_initial)


def _cumulative(aval: Aval, axis: Any, dtype: str | None, include_initial: Any) -> Aval:
    shape = known_shape(aval)
    if not shape or (axis is None and len(shape) > 1):
        raise ShapeError("a cumulative sum or product needs an axis, or an array of one dimension")
    at = 0 if axis is None else axis_of(axis, len(shape))
    return Aval((*shape[:at], add(shape[at], 1) if flag(include_initial) else shape[at], *shape[at + 1 :]), dtype)


@shape_function("jax.numpy.diff")
def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> Aval:
    aval = array(a)
    shape = known_shape(aval)
    if prepend is not None or append is not None or n != 1:
        raise Undecided
    if not shape:
        raise ShapeError("diff needs at least one dimension")
    at = axis_of(axis, len(shape))
    return Aval((*shape[:at], maximum(sub(shape[at], 1), 0), *shape[at + 1 :]), aval.dtype, aval.weak)


@shape_function("jax.lax.cumsum", "jax.lax.cumprod", "jax.lax.cummax", "jax.lax.cummin", "jax.lax.cumlogsumexp")
def lax_cumsum(operand: Any, axis: Any = 0, reverse: Any = False) -> Aval:
    aval = array(operand)
    if aval.shape is not None and not isinstance(axis, Unknown) and not 0 <= axis_of(axis, len(aval.shape)) == axis:
        raise ShapeError(f"lax.cumsum needs an axis of at least 0, not {axis}")
    return aval


# --- exponentials ----------------------------------------------------------------------------------------------------


@shape_function("jax.nn.logsumexp", "jax.scipy.special.logsumexp")
def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: Any = False,
    return_sign: Any = False,
    where: Any = None,
) -> Aval | tuple[Aval, Aval]:
    if b is not None:
        raise Undecided
    aval = elementwise("logsumexp", (_masked(a, where, None),), inexact)
    result = Aval(reduced_shape(aval.shape, axis, keepdims), aval.dtype)
    return (result, result) if flag(return_sign) else result


@shape_function("jax.nn.standardize")
def standardize(
    x: Any, axis: Any = -1, mean: Any = None, variance: Any = None, epsilon: Any = 1e-5, where: Any = None, *, algorithm: Any = "fast"
) -> Aval:
    if (mean, variance, where) != (None, None, None) or not isinstance(epsilon, float):
        raise Undecided
    aval = elementwise("standardize", (x,), inexact)
    reduced_shape(aval.shape, axis, True)
    return Aval(aval.shape, aval.dtype)


@shape_function("jax.nn.softmax", "jax.nn.log_softmax")
def softmax(x: Any, axis: Any = -1, where: Any = None) -> Aval:
    aval = elementwise("softmax", (_masked(x, where, None),), inexact)
    reduced_shape(aval.shape, axis, True)
    return Aval(aval.shape, aval.dtype)
