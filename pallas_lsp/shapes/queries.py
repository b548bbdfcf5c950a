"""Functions that ask about shapes and dtypes, and functions that return their argument.

Mirrors ``jax/_src/dtypes.py`` (``result_type``, ``promote_types``, ``issubdtype``, ``itemsize_bits``, ``finfo``, ``iinfo``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pallas_lsp.shapes.arguments import Undecided, array, dtype_of, known_shape, shape_of
from pallas_lsp.shapes.avals import UNKNOWN, Aval, ShapeError, Unknown
from pallas_lsp.shapes.broadcasting import broadcast
from pallas_lsp.shapes.dims import MaybeDim, Poly, product
from pallas_lsp.shapes.dtypes import Operand, canonical, is_floating, is_integer, kind, promote
from pallas_lsp.shapes.dtypes import bits as bits_of
from pallas_lsp.shapes.table import shape_function


@shape_function("jax.numpy.shape")
def shape(a: Any) -> tuple[Any, ...]:
    return tuple(UNKNOWN if d is None else d for d in known_shape(array(a)))


@shape_function("jax.numpy.ndim")
def ndim(a: Any) -> int:
    return len(known_shape(array(a)))


@shape_function("jax.numpy.size")
def size(a: Any, axis: Any = None) -> Any:
    if axis is not None:
        raise Undecided
    return _or_unknown(product(known_shape(array(a))))


def _or_unknown(d: MaybeDim) -> Any:
    return UNKNOWN if d is None else d


@shape_function("jax.numpy.broadcast_shapes")
def broadcast_shapes(*shapes: Any) -> tuple[Any, ...]:
    result = broadcast(*(shape_of(one) for one in shapes))
    if result is None:
        raise Undecided
    return tuple(_or_unknown(d) for d in result)


@shape_function("jax.numpy.dtype")
def dtype(dtype: Any, align: Any = False, copy: Any = False) -> str:
    return _known(dtype)


def _known(value: Any) -> str:
    name = dtype_of(value)
    if name is None:
        raise Undecided
    return name


@shape_function("jax.numpy.result_type")
def result_type(*args: Any) -> str:
    result, _ = promote(*(_operand(arg) for arg in args))
    if result is None:
        raise Undecided
    return result


def _operand(value: Any) -> Operand:
    if isinstance(value, str):
        return _known(value), False
    aval = array(value)
    return aval.dtype, aval.weak


@shape_function("jax.numpy.promote_types")
def promote_types(a: Any, b: Any) -> str:
    return result_type(_known(a), _known(b))


_ABSTRACT: dict[str, tuple[str, ...]] = {
    "generic": ("bool", "signed", "unsigned", "float", "complex"),
    "number": ("signed", "unsigned", "float", "complex"),
    "integer": ("signed", "unsigned"),
    "signedinteger": ("signed",),
    "unsignedinteger": ("unsigned",),
    "inexact": ("float", "complex"),
    "floating": ("float",),
    "complexfloating": ("complex",),
}


@shape_function("jax.numpy.issubdtype")
def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is of a kind: the name of a dtype, or of one of NumPy's abstract types (``"jax.numpy.floating"``)."""
    name = _known(arg1)
    if isinstance(arg2, Unknown) or kind(name) == "extended":
        raise Undecided
    kinds = _ABSTRACT.get(str(arg2).rpartition(".")[2])
    return kind(name) in kinds if kinds else name == _known(arg2)


@shape_function("jax.dtypes.issubdtype")
def dtypes_issubdtype(a: Any, b: Any) -> bool:
    return issubdtype(a, b)


@shape_function("jax.dtypes.itemsize_bits")
def itemsize_bits(dtype: Any) -> int:
    width = bits_of(_known(dtype))
    if width is None:
        raise ShapeError("an extended dtype has no number of bits")
    return width


@dataclass(frozen=True, slots=True)
class FloatInfo:
    """``jnp.finfo``: the limits are scalars of the dtype itself."""

    dtype: str
    bits: int

    def __getattr__(self, name: str) -> Aval:
        if name in ("max", "min", "eps", "epsneg", "tiny", "smallest_normal", "smallest_subnormal", "resolution"):
            return Aval((), self.dtype)
        raise AttributeError(name)


@dataclass(frozen=True, slots=True)
class IntegerInfo:
    """``jnp.iinfo``: the limits are Python ints."""

    dtype: str
    bits: int
    min: int
    max: int


@shape_function("jax.numpy.finfo")
def finfo(dtype: Any) -> FloatInfo:
    name = canonical(_known(dtype))
    width = bits_of(name)
    if name is None or width is None or not is_floating(name):
        raise Undecided
    return FloatInfo(name, width)


@shape_function("jax.numpy.iinfo")
def iinfo(int_type: Any) -> IntegerInfo:
    name = _known(int_type)
    width = bits_of(name)
    if width is None or not is_integer(name):
        raise Undecided
    if kind(name) == "unsigned":
        return IntegerInfo(name, width, 0, 2**width - 1)
    return IntegerInfo(name, width, -(2 ** (width - 1)), 2 ** (width - 1) - 1)


# --- functions that return what they are given -----------------------------------------------------------------------


@shape_function("jax.numpy.isscalar")
def isscalar(element: Any) -> Any:
    """Whether something is a number or an array without dims (``isscalar`` of ``jax/_src/numpy/lax_numpy.py``)."""
    if isinstance(element, Unknown):
        return UNKNOWN
    return not known_shape(element) if isinstance(element, Aval) else isinstance(element, int | float | complex | str | Poly)


@shape_function("jax.numpy.array_equal")
def array_equal(a1: Any, a2: Any, equal_nan: Any = False) -> Aval:
    return Aval((), "bool")


@shape_function("jax.numpy.allclose")
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Aval:
    return Aval((), "bool")


@shape_function("jax.lax.stop_gradient", "jax.block_until_ready")
def stop_gradient(x: Any) -> Any:
    return _copy(x)


@shape_function("jax.lax.optimization_barrier")
def optimization_barrier(operand: Any, /) -> Any:
    return _copy(operand)


@shape_function("jax.ad_checkpoint.checkpoint_name")
def checkpoint_name(x: Any, name: Any) -> Any:
    return _copy(x)


def _copy(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(_copy(one) for one in value)
    if isinstance(value, Unknown):
        raise Undecided
    return array(value)
