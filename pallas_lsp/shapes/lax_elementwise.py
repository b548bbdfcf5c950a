"""Element by element functions of ``jax.lax``: no promotion, equal dtypes, equal ranks or scalars.

Mirrors ``naryop``, ``unop`` and ``broadcasting_shape_rule`` of ``jax/_src/lax/lax.py``.
"""

from __future__ import annotations

from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array, integer
from pallas_lsp.shapes.avals import Aval, ShapeError
from pallas_lsp.shapes.broadcasting import broadcast_lax
from pallas_lsp.shapes.dtypes import short
from pallas_lsp.shapes.elementwise import ANY, BOOL, INEXACT, INTEGER, NUMBER, ORDERED, REAL, Kinds, all_weak, boolean, check_kind
from pallas_lsp.shapes.table import shape_function


def strict(name: str, operands: tuple[Any, ...], accepts: Kinds) -> Aval:
    """The operands of an n-ary ``lax`` function as one array.

    Raises ShapeError where dtypes differ or are not accepted, or the shapes do not go together.
    """
    avals = [array(operand) for operand in operands]
    for aval in avals:
        check_kind(f"lax.{name}", aval.dtype, accepts)
    return Aval(broadcast_lax(*(aval.shape for aval in avals)), same_dtype(name, avals), all_weak(avals))


def same_dtype(name: str, avals: list[Aval]) -> str | None:
    """The one dtype of all. Raises ShapeError where two differ."""
    dtypes = sorted({aval.dtype for aval in avals if aval.dtype is not None})
    if len(dtypes) > 1:
        raise ShapeError(f"lax.{name} needs operands of one dtype, not {' and '.join(short(dtype) for dtype in dtypes)}")
    return dtypes[0] if dtypes else None


_WITH_ACCURACY = ("exp", "exp2", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "sqrt", "rsqrt", "logistic")
_UNARY: tuple[tuple[str, Kinds], ...] = (
    *((name, INEXACT) for name in ("asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh")),
    *((name, REAL) for name in ("floor", "ceil", "erf", "erf_inv", "lgamma", "digamma")),
    *((name, NUMBER) for name in ("neg", "sign", "square")),
    *((name, INTEGER) for name in ("population_count", "clz")),
    ("bitwise_not", BOOL | INTEGER),
    ("reciprocal", INEXACT),
)
_BINARY: tuple[tuple[str, Kinds], ...] = (
    *((name, NUMBER) for name in ("add", "sub", "div")),
    ("rem", INTEGER | REAL),
    *((name, ANY) for name in ("max", "min")),
    ("atan2", INEXACT),
    *((name, BOOL | INTEGER) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")),
    *((name, INTEGER) for name in ("shift_left", "shift_right_logical", "shift_right_arithmetic")),
)
_COMPARISONS: tuple[tuple[str, Kinds], ...] = (
    *((name, ANY) for name in ("eq", "ne")),
    *((name, ORDERED) for name in ("lt", "le", "gt", "ge")),
)


def _register(name: str, accepts: Kinds) -> None:
    @shape_function(f"jax.lax.{name}")
    def unary(x: Any) -> Aval:
        return strict(name, (x,), accepts)


def _register_with_accuracy(name: str) -> None:
    @shape_function(f"jax.lax.{name}")
    def unary(x: Any, accuracy: Any = None) -> Aval:
        return strict(name, (x,), INEXACT)


def _register_binary(name: str, accepts: Kinds) -> None:
    @shape_function(f"jax.lax.{name}")
    def binary(x: Any, y: Any) -> Aval:
        return strict(name, (x, y), accepts)


def _register_comparison(name: str, accepts: Kinds) -> None:
    @shape_function(f"jax.lax.{name}")
    def comparison(x: Any, y: Any) -> Aval:
        return boolean(strict(name, (x, y), accepts | {"extended"} if name in ("eq", "ne") else accepts))


for _name, _accepts in _UNARY:
    _register(_name, _accepts)
for _name in _WITH_ACCURACY:
    _register_with_accuracy(_name)
for _name, _accepts in _BINARY:
    _register_binary(_name, _accepts)
for _name, _accepts in _COMPARISONS:
    _register_comparison(_name, _accepts)


@shape_function("jax.lax.cbrt", "jax.lax.erfc")
def cbrt(x: Any, accuracy: Any = None) -> Aval:
    return strict("cbrt", (x,), REAL)


@shape_function("jax.lax.mul")
def mul(x: Any, y: Any, *, out_dtype: Any = None) -> Aval:
    if out_dtype is not None:
        raise Undecided
    return strict("mul", (x, y), NUMBER)


@shape_function("jax.lax.nextafter")
def nextafter(x1: Any, x2: Any) -> Aval:
    return strict("nextafter", (x1, x2), REAL)


@shape_function("jax.lax.abs")
def abs_(x: Any) -> Aval:
    aval = strict("abs", (x,), NUMBER - {"unsigned"})
    return Aval(aval.shape, "float32", aval.weak) if aval.dtype == "complex64" else aval


@shape_function("jax.lax.round")
def round_(x: Any, rounding_method: Any = None) -> Aval:
    return strict("round", (x,), REAL)


@shape_function("jax.lax.is_finite")
def is_finite(x: Any) -> Aval:
    return boolean(strict("is_finite", (x,), REAL))


@shape_function("jax.lax.integer_pow")
def integer_pow(x: Any, y: Any) -> Aval:
    integer(y)
    return strict("integer_pow", (x,), NUMBER)


@shape_function("jax.lax.pow")
def pow_(x: Any, y: Any) -> Aval:
    """The exponent of a floating base may be of any integer type."""
    base, exponent = array(x), array(y)
    check_kind("lax.pow", base.dtype, INEXACT)
    if exponent.dtype is None or base.dtype is None:
        raise Undecided
    check_kind("lax.pow", exponent.dtype, NUMBER)
    if base.dtype != exponent.dtype and exponent.dtype not in ("int32", "int8", "int16", "uint8", "uint16", "uint32"):
        raise ShapeError(f"lax.pow needs an exponent of an integer type or {short(base.dtype)}, not {short(exponent.dtype)}")
    return Aval(broadcast_lax(base.shape, exponent.shape), base.dtype, all_weak([base, exponent]))


@shape_function("jax.lax.reduce_precision")
def reduce_precision(operand: Any, exponent_bits: Any, mantissa_bits: Any) -> Aval:
    return strict("reduce_precision", (operand,), REAL)
