"""Element by element functions and operators with NumPy's broadcasting and JAX's promotion.

Mirrors ``jax/_src/numpy/ufuncs.py`` and ``promote_args`` of ``jax/_src/numpy/util.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array
from pallas_lsp.shapes.avals import Aval, ShapeError
from pallas_lsp.shapes.broadcasting import broadcast
from pallas_lsp.shapes.dtypes import Kind, Operand, kind, promote, short, to_inexact
from pallas_lsp.shapes.table import method_function, operator_function, shape_function

Promotion = Callable[..., Operand]
Kinds = frozenset[Kind]

BOOL: Kinds = frozenset({"bool"})
INTEGER: Kinds = frozenset({"signed", "unsigned"})
REAL: Kinds = frozenset({"float"})
INEXACT: Kinds = frozenset({"float", "complex"})
ORDERED: Kinds = frozenset({"bool", "signed", "unsigned", "float"})
NUMBER: Kinds = INTEGER | INEXACT
ANY: Kinds = NUMBER | BOOL


def numeric(*operands: Operand) -> Operand:
    """Promotion to a type that is not bool."""
    dtype, weak = promote(*operands)
    return ("int32", False) if dtype == "bool" else (dtype, weak)


def inexact(*operands: Operand) -> Operand:
    """Promotion to a floating or complex type."""
    dtype, weak = promote(*operands)
    return ("float32", False) if dtype == "bool" else (to_inexact(dtype), weak)


def elementwise(name: str, operands: tuple[Any, ...], promotion: Promotion = promote, accepts: Kinds = ANY) -> Aval:
    """The broadcast and promoted operands of the function ``name``.

    Raises ShapeError where shapes or dtypes do not go together, or the promoted dtype is of a kind that is not accepted.
    """
    avals = [array(operand) for operand in operands]
    shape = broadcast(*(aval.shape for aval in avals))
    dtype, weak = promotion(*((aval.dtype, aval.weak) for aval in avals))
    check_kind(name, dtype, accepts)
    return Aval(shape, dtype, weak)


def check_kind(name: str, dtype: str | None, accepts: Kinds) -> None:
    """Raises ShapeError where the dtype is of a kind that is not accepted."""
    of_kind = kind(dtype)
    if of_kind is not None and of_kind not in accepts:
        raise ShapeError(f"{name} takes no {short(dtype)}")


def boolean(aval: Aval) -> Aval:
    """The array of bools of the same shape; JAX makes weak bools of weak numbers."""
    return Aval(aval.shape, "bool", aval.weak)


def all_weak(avals: list[Aval]) -> bool | None:
    """A result that JAX does not promote is weak if all operands are."""
    if any(aval.weak is False for aval in avals):
        return False
    return None if any(aval.weak is None for aval in avals) else True


def beside_constant(aval: Aval) -> Aval:
    """What is left of a weak dtype beside ``lax._const``, a constant that is weak only next to a weak scalar."""
    if aval.shape == () or aval.weak is False:
        return aval
    return Aval(aval.shape, aval.dtype, None if aval.shape is None else False)


def perhaps_weak(aval: Aval) -> Aval:
    """A result that stays weak in some versions of JAX and not in others."""
    return Aval(aval.shape, aval.dtype, False if aval.weak is False else None)


def strong(aval: Aval) -> Aval:
    """The same with a dtype that is not weak."""
    return Aval(aval.shape, aval.dtype)


# --- unary -----------------------------------------------------------------------------------------------------------

_FLOATING = (
    *("exp", "exp2", "expm1", "log", "log1p", "sqrt", "reciprocal", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh", "asin", "acos", "atan", "asinh", "acosh", "atanh"),
)
_BESIDE_CONSTANT = ("sinc", "deg2rad", "rad2deg", "degrees", "radians")


def _register_floating(name: str, accepts: Kinds) -> None:
    @shape_function(f"jax.numpy.{name}")
    def unary(x: Any, /) -> Aval:
        return elementwise(name, (x,), inexact, accepts)


def _register_beside_constant(name: str) -> None:
    @shape_function(f"jax.numpy.{name}")
    def unary(x: Any, /) -> Aval:
        return beside_constant(elementwise(name, (x,), inexact, INEXACT))


for _name in _FLOATING:
    _register_floating(_name, INEXACT)
for _name in ("cbrt", "fabs"):
    _register_floating(_name, REAL)
for _name in _BESIDE_CONSTANT:
    _register_beside_constant(_name)


@shape_function("jax.numpy.log2")
def log2(x: Any, /) -> Aval:
    return perhaps_weak(elementwise("log2", (x,), inexact, INEXACT))


@shape_function("jax.numpy.log10")
def log10(x: Any, /) -> Aval:
    return strong(elementwise("log10", (x,), inexact, INEXACT))


@shape_function("jax.numpy.floor", "jax.numpy.ceil")
def floor(x: Any, /) -> Aval:
    return elementwise("floor", (x,), promote, ORDERED)


@shape_function("jax.numpy.trunc")
def trunc(x: Any) -> Aval:
    return floor(x)


@shape_function("jax.numpy.rint")
def rint(x: Any, /) -> Aval:
    aval = array(x)
    return Aval(aval.shape, "float32") if kind(aval.dtype) in BOOL | INTEGER else elementwise("rint", (aval,), promote)


@shape_function("jax.numpy.round", "jax.numpy.around")
@method_function("round")
def round_(a: Any, decimals: Any = 0, out: Any = None) -> Aval:
    aval = array(a)
    if kind(aval.dtype) not in INTEGER | REAL or decimals != 0:
        raise Undecided
    return aval


@shape_function("jax.numpy.abs", "jax.numpy.absolute")
def absolute(x: Any, /) -> Aval:
    aval = elementwise("abs", (x,))
    return Aval(aval.shape, "float32", aval.weak) if kind(aval.dtype) == "complex" else aval


@shape_function("jax.numpy.square")
def square(x: Any, /) -> Aval:
    return elementwise("square", (x,), numeric, NUMBER)


@shape_function("jax.numpy.sign")
def sign(x: Any, /) -> Aval:
    return elementwise("sign", (x,), promote, NUMBER)


@shape_function("jax.numpy.negative")
def negative(x: Any, /) -> Aval:
    return elementwise("negative", (x,), promote, NUMBER)


@shape_function("jax.numpy.positive")
def positive(x: Any, /) -> Aval:
    return elementwise("positive", (x,))


@shape_function("jax.numpy.bitwise_not", "jax.numpy.invert", "jax.numpy.bitwise_invert")
def invert(x: Any, /) -> Aval:
    return elementwise("invert", (x,), promote, BOOL | INTEGER)


@shape_function("jax.numpy.bitwise_count")
def bitwise_count(x: Any, /) -> Aval:
    return Aval(elementwise("bitwise_count", (x,), numeric, INTEGER).shape, "uint8")


@shape_function("jax.numpy.logical_not")
def logical_not(x: Any, /) -> Aval:
    return _to_bool(elementwise("logical_not", (x,)))


@shape_function("jax.numpy.isnan")
def isnan(x: Any, /) -> Aval:
    return boolean(elementwise("isnan", (x,)))


@shape_function("jax.numpy.isfinite")
def isfinite(x: Any, /) -> Aval:
    """Of integers JAX knows the answer, a strong constant."""
    aval = elementwise("isfinite", (x,))
    if kind(aval.dtype) in INEXACT or aval.weak is False:
        return boolean(aval)
    return Aval(aval.shape, "bool", False if aval.dtype else None)


@shape_function("jax.numpy.isinf")
def isinf(x: Any, /) -> Aval:
    return boolean(strong(elementwise("isinf", (x,))))


@shape_function("jax.numpy.isposinf", "jax.numpy.isneginf")
def isposinf(x: Any, /, out: Any = None) -> Aval:
    return boolean(strong(elementwise("isposinf", (x,), promote, ORDERED)))


def _to_bool(aval: Aval) -> Aval:
    """The comparison with 0 that makes bools of numbers."""
    return aval if aval.dtype == "bool" else beside_constant(boolean(aval))


@shape_function("jax.numpy.real", "jax.numpy.imag")
def real(val: Any, /) -> Aval:
    return absolute(val)


@shape_function("jax.numpy.conj", "jax.numpy.conjugate")
def conj(x: Any, /) -> Aval:
    return elementwise("conj", (x,))


@shape_function("jax.numpy.nan_to_num")
def nan_to_num(x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Aval:
    aval = elementwise("nan_to_num", (x,))
    return strong(aval) if kind(aval.dtype) in INEXACT else aval


# --- binary ----------------------------------------------------------------------------------------------------------


@shape_function("jax.numpy.add")
@operator_function("+")
def add(x: Any, y: Any, /) -> Aval:
    return elementwise("add", (x, y))


@shape_function("jax.numpy.subtract")
@operator_function("-")
def subtract(x: Any, y: Any, /) -> Aval:
    return elementwise("subtract", (x, y), promote, NUMBER)


@shape_function("jax.numpy.multiply")
@operator_function("*")
def multiply(x: Any, y: Any, /) -> Aval:
    return elementwise("multiply", (x, y))


@shape_function("jax.numpy.divide", "jax.numpy.true_divide")
@operator_function("/")
def divide(x1: Any, x2: Any, /) -> Aval:
    return elementwise("divide", (x1, x2), inexact)


@shape_function("jax.numpy.floor_divide")
@operator_function("//")
def floor_divide(x1: Any, x2: Any, /) -> Aval:
    return elementwise("floor_divide", (x1, x2), numeric, ORDERED)


@shape_function("jax.numpy.remainder", "jax.numpy.mod")
@operator_function("%")
def remainder(x1: Any, x2: Any, /) -> Aval:
    return elementwise("remainder", (x1, x2), numeric, ORDERED)


@shape_function("jax.numpy.fmod")
def fmod(x1: Any, x2: Any, /) -> Aval:
    return elementwise("fmod", (x1, x2), numeric, ORDERED)


@shape_function("jax.numpy.divmod")
def divmod_(x1: Any, x2: Any, /) -> tuple[Aval, Aval]:
    both = elementwise("divmod", (x1, x2), numeric, ORDERED)
    return both, both


@shape_function("jax.numpy.power", "jax.numpy.pow")
@operator_function("**")
def power(x1: Any, x2: Any, /) -> Aval:
    """A known integer exponent keeps the base's dtype; an integer array as exponent of a floating base does too."""
    base = array(x1)
    if isinstance(x2, int):
        return elementwise("power", (base,), numeric, NUMBER)
    exponent = array(x2)
    if not isinstance(x2, Aval | float | complex):
        # A symbolic exponent is an integer that JAX knows when it traces.
        raise Undecided
    both = elementwise("power", (base, exponent), numeric, NUMBER)
    if kind(base.dtype) in INEXACT and kind(exponent.dtype) in INTEGER:
        return Aval(both.shape, base.dtype, all_weak([base, exponent]))
    # Integer powers are unrolled, starting from a strong 1.
    return both if kind(both.dtype) in INEXACT else Aval(both.shape, both.dtype, False if both.dtype else both.weak and None)


@shape_function("jax.numpy.float_power", "jax.numpy.arctan2", "jax.numpy.atan2")
def arctan2(x1: Any, x2: Any, /) -> Aval:
    return elementwise("arctan2", (x1, x2), inexact, INEXACT)


@shape_function("jax.numpy.logaddexp")
def logaddexp(x1: Any, x2: Any, /) -> Aval:
    return elementwise("logaddexp", (x1, x2), inexact, INEXACT)


@shape_function("jax.numpy.logaddexp2")
def logaddexp2(x1: Any, x2: Any, /) -> Aval:
    return beside_constant(logaddexp(x1, x2))


@shape_function("jax.numpy.hypot")
def hypot(x1: Any, x2: Any, /) -> Aval:
    aval = elementwise("hypot", (x1, x2), inexact, REAL)
    return aval if aval.shape == () else perhaps_weak(aval)


@shape_function("jax.numpy.maximum", "jax.numpy.minimum")
def maximum(x: Any, y: Any, /) -> Aval:
    return elementwise("maximum", (x, y))


@shape_function("jax.numpy.fmax", "jax.numpy.fmin")
def fmax(x1: Any, x2: Any) -> Aval:
    return elementwise("fmax", (x1, x2))


@shape_function("jax.numpy.bitwise_and", "jax.numpy.bitwise_or", "jax.numpy.bitwise_xor")
@operator_function("&", "|", "^")
def bitwise_and(x: Any, y: Any, /) -> Aval:
    return elementwise("a bitwise operation", (x, y), promote, BOOL | INTEGER)


@shape_function("jax.numpy.left_shift", "jax.numpy.bitwise_left_shift", "jax.numpy.right_shift", "jax.numpy.bitwise_right_shift")
@operator_function("<<", ">>")
def left_shift(x: Any, y: Any, /) -> Aval:
    return elementwise("a shift", (x, y), numeric, INTEGER)


@shape_function("jax.numpy.gcd", "jax.numpy.lcm")
def gcd(x1: Any, x2: Any) -> Aval:
    """Raises ShapeError where the dtype that both are promoted to is no integer. A loop computes it, and loses some weakness."""
    made = elementwise("gcd", (x1, x2), promote, INTEGER)
    return Aval(made.shape, made.dtype, False if made.weak is False else None)


@shape_function("jax.numpy.logical_and", "jax.numpy.logical_or", "jax.numpy.logical_xor")
def logical_and(x: Any, y: Any, /) -> Aval:
    return _to_bool(elementwise("logical_and", (x, y)))


@shape_function(
    "jax.numpy.equal",
    "jax.numpy.not_equal",
    "jax.numpy.less",
    "jax.numpy.less_equal",
    "jax.numpy.greater",
    "jax.numpy.greater_equal",
)
@operator_function("==", "!=", "<", "<=", ">", ">=")
def equal(x: Any, y: Any, /) -> Aval:
    if any(kind(array(operand).dtype) == "extended" for operand in (x, y)):
        raise Undecided
    return boolean(elementwise("a comparison", (x, y)))


@operator_function("unary -")
def unary_minus(x: Any, /) -> Aval:
    return negative(x)


@operator_function("unary +")
def unary_plus(x: Any, /) -> Aval:
    return positive(x)


@operator_function("~")
def tilde(x: Any, /) -> Aval:
    return invert(x)


@operator_function("abs")
def builtin_abs(x: Any, /) -> Aval:
    return absolute(x)
