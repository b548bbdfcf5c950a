"""Functions that are not element by element, and in which forms JAX surely lowers them where no rule speaks.

Mirrors ``jax/_src/pallas/mosaic/lowering.py``; ``tests/verdicts`` compares each form with JAX over random shapes and dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..interpreter.operation_events import Operation
from ..interpreter.values import Array
from ..shapes import dtypes
from . import lowered
from .contraction import contraction_of

_PALLAS, _TPU = "jax.experimental.pallas.", "jax.experimental.pallas.tpu."
COMMON = ("float32", "bfloat16", "int32", "int8", "uint8", "uint32", "bool")
# Whatever form they have, for the common dtypes.
KNOWN = frozenset(
    {
        *(f"jax.numpy.{name}" for name in ("zeros", "ones", "full", "empty", "zeros_like", "ones_like", "full_like", "empty_like", "arange")),
        *(f"jax.numpy.{name}" for name in ("sum", "max", "min", "amax", "amin", "mean", "argmax", "argmin", "var", "std", "any", "all")),
        *(f"jax.numpy.{name}" for name in ("astype", "asarray", "array", "bfloat16", "float32", "int32", "int8", "uint32", "uint8", "bool_")),
        *(f"jax.numpy.{name}" for name in ("reshape", "squeeze", "expand_dims", "ravel", "broadcast_to", "transpose", "swapaxes", "moveaxis")),
        *(f"jax.numpy.{name}" for name in ("concatenate", "stack", "tile", "repeat", "pad", "roll")),
        *(f"jax.lax.{name}" for name in ("full", "full_like", "convert_element_type", "broadcasted_iota", "iota")),
        *(f"jax.lax.{name}" for name in ("reshape", "squeeze", "expand_dims", "broadcast", "broadcast_in_dim", "transpose", "concatenate")),
        f"{_TPU}roll", f"{_PALLAS}reciprocal", f"{_TPU}reciprocal",
    }
)  # fmt: skip


def is_common(value: Array) -> bool:
    """Whether an array is of a dtype and shape that the forms are about."""
    return value.dtype in COMMON and is_whole(value.shape) and len(value.shape or ()) <= 5 and 0 not in (value.shape or ())


def is_whole(sizes: Any) -> bool:
    """Whether all the sizes are known numbers."""
    return sizes is not None and all(type(size) is int for size in sizes)


def _is_product(event: Operation) -> bool:
    """A product whose form is known whole: the rules know all that is refused of one."""
    product = contraction_of(event)
    if product is None or (product.precision is None and _asks_precision(event)):
        return False
    return all(side.dtype in COMMON and is_whole(side.shape) for side in (product.left, product.right))


def _asks_precision(event: Operation) -> bool:
    return event.get({"jax.lax.dot_general": 3, "jax.lax.dot": 2}.get(event.function, 99), "precision") is not None


def _is_wide(event: Operation) -> bool:
    return all(len(array.shape or ()) >= 2 and 1 not in (array.shape or ()) for array in lowered.arrays(event.args))


def _normalises(event: Operation) -> bool:
    return all(len(array.shape or ()) >= 2 and dtypes.is_floating(array.dtype) for array in lowered.arrays(event.args))


def _keeps_width(event: Operation) -> bool:
    """Bits that are read as another dtype of the same width, none of them booleans."""
    pair = [value.dtype for value in (event.get(0, "operand"), event.result) if isinstance(value, Array)]
    return "bool" not in pair and len({dtypes.bits(dtype) for dtype in pair}) == 1


def _packs_rows(event: Operation) -> bool:
    """Rows that are read as rows of another dtype, which they fill, none of them booleans (``bitcast`` of ``mosaic/primitives.py``)."""
    source, result = event.get(0, "x"), event.result
    if not isinstance(source, Array) or not isinstance(result, Array) or len(source.shape or ()) < 2 or "bool" in (source.dtype, result.dtype):
        return False
    rows, old, new = (source.shape or ())[-2], dtypes.bits(source.dtype), dtypes.bits(result.dtype)
    return isinstance(rows, int) and old is not None and new is not None and rows * old % new == 0


FORMS: dict[str, Callable[[Operation], bool]] = {
    **dict.fromkeys((f"jax.numpy.{name}" for name in ("dot", "matmul", "einsum")), _is_product),
    **dict.fromkeys((f"jax.lax.{name}" for name in ("dot", "dot_general")), _is_product),
    "jax.lax.bitcast_convert_type": _keeps_width,
    f"{_TPU}bitcast": _packs_rows,
    "jax.numpy.take_along_axis": _is_wide,
    "jax.nn.softmax": _normalises,
}
