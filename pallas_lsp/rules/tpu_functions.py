"""What functions of ``pl`` and ``pltpu`` ask of their arguments: roll, reciprocal, packing, printing.

Mirrors ``jax/_src/pallas/mosaic/primitives.py`` (``roll``, ``pack_elementwise``, ``unpack_elementwise``, ``stochastic_round``),
``jax/_src/pallas/primitives.py`` (``debug_print``, ``check_debug_print_format``) and ``jax/_src/pallas/mosaic/lowering.py``
(``_reciprocal_lowering_rule``, ``_debug_print_rule``).
"""

from __future__ import annotations

import string
from collections.abc import Callable

from ..interpreter.operation_events import Operation
from ..interpreter.truth import dtype_of
from ..interpreter.values import Array, Value
from ..shapes import dtypes
from . import lowered, words
from .registry import Context, Finding, rule

_PALLAS = "jax.experimental.pallas."
_TPU = "jax.experimental.pallas.tpu."


@rule("roll-args", on=Operation, order=10, stage="trace", functions={f"{_TPU}roll"})
def roll_args(event: Operation, context: Context) -> Finding | None:
    """``pltpu.roll`` with a negative shift or an axis that the value does not have."""
    value, shift, axis = event.get(0, "x"), event.get(1, "shift"), event.get(2, "axis")
    rank = len(value.shape) if isinstance(value, Array) and value.shape is not None else None
    if type(shift) is int and shift < 0:
        what, jax = f"a shift of {shift}", "shift must be non-negative."
    elif type(axis) is int and rank is not None and not 0 <= axis < rank:
        what, jax = f"axis {axis} of {words.array(value)}", "axis is out of range."
    else:
        return None
    return Finding(
        event.where.location,
        f"`pltpu.roll` is given {what}: it counts neither from the end, `jnp.roll` does",
        jax_message=jax,
    )


@rule("pltpu-op-precondition", on=Operation, order=11, stage="trace", functions=lambda function: function in _PRECONDITIONS)
def pltpu_op_precondition(event: Operation, context: Context) -> Finding | None:
    """Operands that a packing function of ``pltpu`` does not take."""
    check = _PRECONDITIONS.get(event.function)
    found = check(event) if check is not None else None
    return Finding(event.where.location, f"{lowered.name(event)}: {found[0]}", jax_message=found[1]) if found is not None else None


def _width(dtype: str | None) -> int | None:
    return dtypes.bits(dtype) if dtype is not None and dtype != "bool" else None


def _packing(unpacked: str | None, packed: str | None) -> tuple[int, int] | None:
    widths = _width(unpacked), _width(packed)
    return (widths[0], widths[1]) if widths[0] is not None and widths[1] is not None else None


def _unpack(event: Operation) -> tuple[str, str] | None:
    value, index = event.get(0, "x"), event.kwargs.get("index")
    packed, unpacked = dtype_of(event.kwargs.get("packed_dtype")), dtype_of(event.kwargs.get("unpacked_dtype"))
    have, widths = _width(value.dtype) if isinstance(value, Array) else None, _packing(unpacked, packed)
    if have is None or widths is None or not isinstance(value, Array):
        return None
    if have != widths[0]:
        what = f"{words.array(value)} holds elements of {have} bits, `unpacked_dtype` {unpacked} has {widths[0]}"
        return (
            what,
            f"The bitwidth of `x` must match the bitwidth of `unpacked_dtype` for unpack_elementwise, but got {value.dtype} and {unpacked}",
        )
    if widths[0] % widths[1]:
        return _indivisible(unpacked, packed, widths)
    count = widths[0] // widths[1]
    if type(index) is int and not 0 <= index < count:
        return (
            f"index {index}, but {unpacked} holds {words.count(count, 'element')} of {packed}",
            f"Index {index} is out of bounds for packing factor {count}",
        )
    return None


def _indivisible(unpacked: str | None, packed: str | None, widths: tuple[int, int]) -> tuple[str, str]:
    return (
        f"{unpacked} is no multiple of {packed}",
        f"Unpacked bitwidth must be a multiple of packed bitwidth, got {widths[0]} and {widths[1]}",
    )


def _pack(event: Operation) -> tuple[str, str] | None:
    parts, packed = event.get(0, "xs"), dtype_of(event.kwargs.get("packed_dtype"))
    if not isinstance(parts, tuple | list) or not parts or not all(isinstance(part, Array) for part in parts):
        return None
    known = {part.dtype for part in parts}
    if None in known or packed is None:
        return None
    if len(known) > 1:
        return f"its sources are {' and '.join(sorted(map(str, known)))}, they must be alike", "All sources must have the same dtype"
    dtype = known.pop()
    floats, integers = (dtype, packed) == ("float32", "bfloat16"), dtypes.is_integer(dtype) and dtypes.is_integer(packed)
    if not floats and not integers:
        return (
            f"it packs float32 to bfloat16 and integers to integers, not {dtype} to {packed}",
            f"Only f32 -> bf16 and int -> int are supported. Got {dtype} and {packed}",
        )
    widths = _packing(dtype, packed)
    if widths is None:
        return None
    if widths[0] % widths[1]:
        return _indivisible(dtype, packed, widths)
    count = widths[0] // widths[1]
    if len(parts) != count:
        jax = f"The number of sources must match the packing factor ({count}), got {len(parts)}"
        return f"{words.count(len(parts), 'source')}, but {words.count(count, 'element')} of {packed} make one of {dtype}", jax
    return None


def _round(event: Operation) -> tuple[str, str] | None:
    bits = event.get(1, "random_bits")
    if not isinstance(bits, Array) or bits.dtype in (None, "uint32"):
        return None
    return (
        f"its random bits are {bits.dtype}, not uint32",
        f"The dtype of `random_bits` must be uint32 for stochastic_round, but got {bits.dtype}",
    )


_PRECONDITIONS: dict[str, Callable[[Operation], tuple[str, str] | None]] = {
    f"{_TPU}unpack_elementwise": _unpack, f"{_TPU}pack_elementwise": _pack, f"{_TPU}stochastic_round": _round,
}  # fmt: skip


@rule("reciprocal-dtype", on=Operation, order=70, stage="lower", functions={f"{_PALLAS}reciprocal", f"{_TPU}reciprocal"})
def reciprocal_dtype(event: Operation, context: Context) -> Finding | None:
    """``pl.reciprocal`` of something else than a float32 vector."""
    if not lowered.is_used(event.result, event.where, context):
        return None
    value = event.get(0, "x")
    if not isinstance(value, Array):
        return None
    if value.shape == ():
        what, jax = "a scalar: it takes vectors, `1.0 / x` does scalars too", "'F32Type' object has no attribute 'element_type'"
    elif value.dtype in (None, "float32") or (value.dtype == "bfloat16" and not context.jax(until="0.12")):
        return None
    else:
        what = f"{value.dtype}: cast to float32 first"
        jax = "Only float32 is supported." if context.jax(until="0.12") else "Only float32 and bfloat16 are supported."
    return Finding(event.where.location, f"{lowered.name(event)} is given {what}", jax_message=jax)


@rule("debug-print-form", on=Operation, order=71, stage="lower", functions={f"{_PALLAS}debug_print", "jax.debug.print"})
def debug_print_form(event: Operation, context: Context) -> Finding | None:
    """A print whose format and values do not go together on TPU."""
    names = [name for name in event.kwargs if name not in ("fmt", "ordered", "partitioned", "skip_format_check", "_use_logging")]
    if event.kwargs.get("ordered") is True:
        return _print(event, "prints in order, which a TPU kernel cannot", "Ordered debug_print is not supported on Pallas.")
    if names and event.function == "jax.debug.print":
        return _print(event, _NAMED, "Only positional arguments are supported by debug_print on Pallas.")
    if names:
        return _print(event, _NAMED, f"debug_print() got an unexpected keyword argument '{names[0]}'")
    fmt, values = event.get(0, "fmt"), event.args[1:]
    return _format_fault(event, fmt, values, context) if isinstance(fmt, str) and all(map(_is_known, values)) else None


_NAMED = "names a value, which a TPU kernel cannot print: use `{}` and pass the values in order"


def _is_known(value: Value) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, Array) and value.shape is not None)


def _print(event: Operation, what: str, jax: str) -> Finding:
    return Finding(event.where.location, f"{lowered.name(event)} {what}", jax_message=jax)


def _format_fault(event: Operation, fmt: str, values: tuple[Value, ...], context: Context) -> Finding | None:
    vectors = [value for value in values if isinstance(value, Array) and value.shape]
    if vectors and len(values) > 1:
        jax = "All inputs to debug_print must be all scalars or a single vector, but got ..."
        return _print(event, "prints scalars or a single vector, not both", jax)
    if vectors:
        good = fmt.endswith("{}")
        return (
            None
            if good
            else _print(event, "of a vector needs a text that ends with `{}`", "For vector input, the format string must end with {}.")
        )
    try:
        fields = [part[1:] for part in string.Formatter().parse(fmt) if part[1] is not None]
    except ValueError:
        return None
    return _scalar_fault(event, fields, values, context) if fields else None


def _scalar_fault(
    event: Operation, fields: list[tuple[str | None, str | None, str | None]], values: tuple[Value, ...], context: Context
) -> Finding | None:
    if any(spec or conversion for _, spec, conversion in fields):
        return _print(
            event,
            "formats a value, which a TPU kernel cannot: use plain `{}`",
            "The format string should not contain any format specs or conversions",
        )
    if any(name for name, _, _ in fields):
        return _print(event, _NAMED, "The format string should not reference arguments by position or name")
    if len(fields) != len(values):
        jax = f"The format string expects {len(fields)} argument{'' if len(fields) == 1 else 's'}, but got {len(values)}"
        return _print(event, f"has {words.count(len(fields), 'placeholder')} for {words.count(len(values), 'value')}", jax)
    refused = next((value for value in values if not _prints(value, context)), None)
    if refused is None:
        return None
    kinds = "32-bit integers" if context.jax(until="0.12") else "32-bit integers or floats"
    return _print(
        event,
        f"prints {words.array(refused)} in a placeholder, which takes {kinds}: leave out the `{{}}`, or cast",
        f"All arguments must be {kinds} when using placeholders (`{{...}}`). If you need to print values of other types, remove placeholders from the format string.",
    )


def _prints(value: Value, context: Context) -> bool:
    """Whether a scalar may stand for a placeholder; what is not known may."""
    dtype = (
        value.dtype
        if isinstance(value, Array)
        else "bool"
        if isinstance(value, bool)
        else "float32"
        if isinstance(value, float)
        else "int32"
    )
    if dtype is None or dtype in ("int32", "uint32"):
        return True
    return dtype == "float32" and not context.jax(until="0.12")
