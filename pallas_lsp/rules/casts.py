"""Casts and bit casts of values.

Mirrors ``jax/_src/pallas/mosaic/lowering.py``: ``_convert_element_type_lowering_rule`` with ``_convert_helper``,
``_bitcast_convert_type_lowering_rule``; and ``bitcast`` of ``jax/_src/pallas/mosaic/primitives.py``.
"""

from __future__ import annotations

from ..interpreter.events import ShapeFault
from ..interpreter.library.specs import wide_dtype
from ..interpreter.operation_events import Operation
from ..interpreter.values import Array, Library
from ..shapes import dtypes
from . import lowered, words
from .operands import all_known
from .registry import Context, Finding, rule

_NARROW = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "float32"}
_TPU_BITCAST = "jax.experimental.pallas.tpu.bitcast"


def _makes_dtype(function: str) -> bool:
    return is_cast(function) or function in _MAKES_WIDE


@rule("cast-unsupported", on=Operation, order=60, stage="lower", functions=_makes_dtype)
def cast_unsupported(event: Operation, context: Context) -> Finding | None:
    """A cast between two floats of the same width, or to 64 bits."""
    if not lowered.is_used(event.result, event.where, context):
        return None
    made = _made_wide(event) if event.wide else None
    if made is not None:
        what = f"with 64 bits on, {lowered.name(event)} makes {made[0]} here, and a TPU kernel computes with 32 bits at most: {made[1]}"
        return Finding(event.where.location, what, jax_message="64-bit types are not supported")
    if not is_cast(event.function):
        return None
    wide = _wide(event) if event.wide else None
    if wide is not None:
        what = f"with 64 bits on, this is a cast to {wide}, and a TPU kernel computes with 32 bits at most: cast to {_NARROW[wide]}"
        return Finding(event.where.location, what, jax_message="64-bit types are not supported")
    source, result = event.args[0], event.result
    if not isinstance(source, Array) or not isinstance(result, Array) or source.dtype is None or result.dtype is None:
        return None
    pair = source.dtype, result.dtype
    if pair[0] == pair[1] or not all(map(dtypes.is_floating, pair)) or dtypes.bits(pair[0]) != dtypes.bits(pair[1]):
        return None
    return Finding(
        event.where.location,
        f"there is no TPU cast from {pair[0]} to {pair[1]}, which are equally wide: cast to float32 between them",
        jax_message=f"Unsupported cast: {pair[0]} -> {pair[1]}",
    )


def _wide(event: Operation) -> str | None:
    """The 64-bit dtype that a cast names, ``jnp.float64(x)`` among them."""
    return wide_dtype(event.get(1, "dtype", event.get(1, "new_dtype"))) or wide_dtype(Library(event.function))


# Where the dtype is given of functions that cast a mask of their own, and of those that count in the widest integers.
_MAKERS = {"identity": 1, "eye": 3}
_COUNTS = {"sum": 2, "prod": 2}
_POSITIONS = ("argmax", "argmin", "count_nonzero")
_MIXED = ("add", "subtract", "multiply")
_MAKES_WIDE = frozenset(f"jax.numpy.{short}" for short in (*_MAKERS, *_COUNTS, *_POSITIONS, *_MIXED))


def _made_wide(event: Operation) -> tuple[str, str] | None:
    """The 64-bit dtype that a function makes of what has none, and what avoids it; None where it makes none."""
    if event.function not in _MAKES_WIDE:
        return None
    short = event.function.rpartition(".")[2]
    if short in _MAKERS and event.get(_MAKERS[short], "dtype") is None:
        return "float64", "name the dtype, `dtype=jnp.float32`"
    first = event.args[0] if event.args else None
    kind = dtypes.kind(first.dtype) if isinstance(first, Array) and first.dtype is not None else None
    if short in _COUNTS and kind in ("signed", "bool") and event.get(_COUNTS[short], "dtype") is None:
        return "int64", "sum float32 values"
    if short in _POSITIONS and kind is not None:
        return "int64", "`jax.lax.argmax` takes the dtype of the index" if short != "count_nonzero" else "sum float32 values"
    arrays = [value for value in event.args if isinstance(value, Array)]
    if short in _MIXED and len(arrays) == 1 and any(type(value) is float for value in event.args):
        integer = arrays[0].aval.weak is False and dtypes.kind(arrays[0].dtype) in ("signed", "unsigned")
        return ("float64", "cast the integers first, `.astype(jnp.float32)`") if integer else None
    return None


def is_cast(function: str) -> bool:
    """Whether a function casts its first argument."""
    short = function.rpartition(".")[2]
    return short in ("astype", "convert_element_type", "asarray") or (function.startswith("jax.numpy.") and dtypes.canonical(short) is not None)


_BITCASTS = frozenset({"jax.lax.bitcast_convert_type", "jax.numpy.view", _TPU_BITCAST})


@rule("bitcast-width", on=Operation, also=(ShapeFault,), order=61, stage="lower", functions=_BITCASTS)
def bitcast_width(event: Operation | ShapeFault, context: Context) -> Finding | None:
    """A bit cast that changes the width of the elements, or does not divide the rows."""
    if isinstance(event, ShapeFault):
        return _unfit(event, context) if event.operation == _TPU_BITCAST and all_known(event.operands) else None
    source, result = event.get(0, "operand", event.get(0, "x")), event.result
    if not isinstance(source, Array) or not isinstance(result, Array) or source.dtype is None or result.dtype is None:
        return None
    if not lowered.is_used(result, event.where, context):
        return None
    if event.function == _TPU_BITCAST:
        if (source.dtype == "bool") == (result.dtype == "bool"):
            return None
        jax = "Pallas encountered an internal verification error. ... Expected input and output shapes are the same after multiplying ..."
    elif _bits(source.dtype) == _bits(result.dtype):
        return None
    else:
        jax = "Changing bitwidths not supported."
    return Finding(
        event.where.location,
        f"{lowered.name(event)} reads {source.dtype} as {result.dtype}, of another width: `pltpu.bitcast` does that along the rows, of numbers",
        jax_message=jax,
    )


def _bits(dtype: str) -> int | None:
    return 8 if dtype == "bool" else dtypes.bits(dtype)


def _unfit(event: ShapeFault, context: Context) -> Finding:
    source = event.operands[0] if event.operands else None
    vector = isinstance(source, Array) and source.shape is not None and len(source.shape) < 2
    if context.jax(since="0.11"):
        jax = (
            "Cannot bitcast a 1D array along the second minor dimension."
            if vector
            else "dim ... of size ... cannot be perfectly packed or unpacked"
        )
    else:
        jax = "Not implemented: bitcast 1D" if vector else "Not implemented: the 2nd minor dim can not be perfectly packed or unpacked"
    return Finding(
        event.where.location,
        f"`pltpu.bitcast` of {words.array(source)} does not fit: it packs or unpacks rows, so there must be rows, and a whole number of them",
        jax_message=jax,
    )
