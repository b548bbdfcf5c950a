"""Which events are understood whole: where no rule refuses one of these, JAX lowers what it is about. Everything else is a doubt.

The functions that work element by element are listed in ``data/lowered.toml``, by dtype; the forms of the others are here. Both are compared
with JAX by ``tests/verdicts``: a kernel that is said to lower does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..data.operations import load_lowered
from ..interpreter import call_events, events, operation_events
from ..interpreter.events import Event
from ..interpreter.operation_events import Operation
from ..interpreter.values import Array, DynamicSlice, Opaque, Ref, Value
from ..shapes import dtypes
from . import lowered
from .registry import Context

Judge = Callable[[Any, Context], bool]

_PALLAS, _TPU = "jax.experimental.pallas.", "jax.experimental.pallas.tpu."
_DTYPES = ("float32", "bfloat16", "int32", "int8", "uint8", "uint32", "bool")
# What only tells of the call, or is refused by a rule wherever JAX refuses it.
_JUDGED = (
    events.KernelCall, events.KernelRun, events.CopyRef, operation_events.CopyLeft, operation_events.SemaphoreUse, call_events.FirstRead, call_events.NeverWritten, call_events.Footprint,
    call_events.ScratchBuffer, call_events.GridAxis, call_events.Aliased, call_events.Captured,
)  # fmt: skip
# Functions that compute nothing themselves: what they do is events of its own, or values that are known.
_FREE = frozenset(
    {
        *(_PALLAS + name for name in ("program_id", "num_programs", "ds", "dslice", "Slice", "when", "loop", "cdiv", "run_scoped", "multiple_of")),
        *(_TPU + name for name in ("VMEM", "SMEM", "SemaphoreType.DMA", "load", "store", "sync_copy", "make_async_copy", "async_copy")),
        *(f"jax.ref.{name}" for name in ("get", "set", "swap", "addupdate")),
        *(f"jax.lax.{name}" for name in ("fori_loop", "while_loop", "cond", "switch")),
        "jax.jit", "jax.named_scope", "jax.ShapeDtypeStruct",
    }
)  # fmt: skip
# Functions whose forms the rules know whole, for the common dtypes: where no rule speaks of one, it lowers.
_KNOWN = frozenset(
    {
        *(f"jax.numpy.{name}" for name in ("zeros", "ones", "full", "empty", "zeros_like", "ones_like", "full_like", "empty_like", "arange")),
        *(f"jax.numpy.{name}" for name in ("sum", "max", "min", "amax", "amin", "mean", "argmax", "argmin", "var", "std")),
        *(f"jax.numpy.{name}" for name in ("astype", "asarray", "array", "bfloat16", "float32", "int32", "int8", "uint32", "uint8", "bool_")),
        *(f"jax.numpy.{name}" for name in ("reshape", "squeeze", "expand_dims", "ravel", "broadcast_to", "transpose", "swapaxes")),
        *(f"jax.numpy.{name}" for name in ("concatenate", "stack", "tile", "repeat", "pad", "roll")),
        *(f"jax.lax.{name}" for name in ("full", "full_like", "convert_element_type", "bitcast_convert_type", "broadcasted_iota", "iota")),
        f"{_TPU}roll", f"{_PALLAS}reciprocal", f"{_TPU}reciprocal",
    }
)  # fmt: skip


def doubt_about(event: Event, context: Context) -> str | None:
    """What about the event cannot be judged, in words; None where a rule would speak if JAX refused it."""
    if isinstance(event, _JUDGED):
        return None
    known = _JUDGES.get(type(event))
    if known is None:
        return f"what JAX makes of a {type(event).__name__}"
    words, judge = known
    return None if judge(event, context) else words(event)


def _is_whole(sizes: Any) -> bool:
    return sizes is not None and all(type(size) is int for size in sizes)


def _window(event: call_events.Window, context: Context) -> bool:
    root, kinds = event.root, event.kinds or ()
    mapped = event.result is not None or not event.mapped
    return (
        event.fault is None and mapped and not event.batched and _is_whole(event.grid) and _is_whole(root.array)
        and all(kind in ("blocked", "squeezed") for kind in kinds)
    )  # fmt: skip


def _options(event: call_events.Options, context: Context) -> bool:
    """Compiler parameters of which only what rules look at is set, to plain values."""
    parameters = event.parameters
    if parameters is None:
        return True
    plain = isinstance(parameters, Opaque) and parameters.name == f"{_TPU}CompilerParams" and not parameters.args
    return plain and all(name in _FIELDS and _is_plain(value) for name, value in parameters.kwargs.items())


_FIELDS = frozenset({"dimension_semantics", "vmem_limit_bytes", "has_side_effects", "disable_bounds_checks"})


def _is_plain(value: Value) -> bool:
    return isinstance(value, bool | int | str | None) or (isinstance(value, tuple | list) and all(map(_is_plain, value)))


def _access(event: events.Access, context: Context) -> bool:
    stored = event.value
    return (
        event.fault is None
        and _is_whole(event.shape)
        and all(_is_static_entry(entry) or (event.op == "load" and _is_strided(entry)) for entry in event.entries)
        and (event.op == "load" or isinstance(stored, bool | int | float) or (isinstance(stored, Array) and _is_whole(stored.shape)))
    )


def _is_strided(entry: events.IndexEntry) -> bool:
    """A Python slice with a step, which a load may have where no rule speaks."""
    value = entry.value
    return isinstance(value, slice) and all(part is None or type(part) is int for part in (value.start, value.stop, value.step))


def _is_static_entry(entry: events.IndexEntry) -> bool:
    value = entry.value
    if isinstance(value, slice):
        return value.step in (None, 1)
    if isinstance(value, DynamicSlice):
        literal = isinstance(value.start, Array) and not value.start.operands and not _is_step(value.start)
        return type(value.size) is int and value.stride == 1 and _is_index(value.start) and not literal
    return value is Ellipsis or value is None or _is_index(value)


def _is_step(value: Array) -> bool:
    """Whether a scalar is one of the running kernel's: the index of a grid or of a loop."""
    made = value.made_by
    return value.constant is None and (made is None or (isinstance(made, ast.Call) and ast.unparse(made.func).endswith("program_id")))


def _is_index(value: Value) -> bool:
    return type(value) is int or (isinstance(value, Array) and value.shape == () and value.dtype == "int32")


def _view(event: events.ViewEvent, context: Context) -> bool:
    return event.kind == "index" and event.fault is None and all(map(_is_static_entry, event.entries))


def _copy(event: operation_events.CopyMade, context: Context) -> bool:
    """A copy within a chip between refs of one known shape."""
    return all(
        isinstance(ref, Ref) and bool(ref.shape) and _is_whole(ref.shape) and ref.root.space is not None and "squeezed" not in (ref.root.block or ())
        for ref in (event.source, event.destination)
    )


def _value_index(event: events.ValueIndex, context: Context) -> bool:
    """Numbers, new dims and slices without a step."""
    return event.array.dtype in _DTYPES and all(
        type(entry) is int or entry is Ellipsis or entry is None or (isinstance(entry, slice) and entry.step in (None, 1)) for entry in event.entries
    )


def _computed(event: events.Computed, context: Context) -> bool:
    return event.kind in ("squeeze", "extremum", "new-last-dim") and event.source.dtype in _DTYPES


def _operation(event: Operation, context: Context) -> bool:
    if event.function in _FREE or not lowered.is_used(event.result, event.where, context):
        return True  # what nothing uses is traced, and then dropped
    if not all(_is_common(array) for array in lowered.arrays((*event.args, event.result))):
        return False
    if event.function in _KNOWN:
        return True
    judge = _FORMS.get(event.function)
    return judge(event) if judge is not None else _is_elementwise(event, context)


def _is_common(value: Array) -> bool:
    return value.dtype in _DTYPES and _is_whole(value.shape) and len(value.shape or ()) <= 4 and 0 not in (value.shape or ())


def _is_elementwise(event: Operation, context: Context) -> bool:
    """A function of the table, of operands of one dtype or of dtypes between which every cast is known."""
    result = event.result
    if not isinstance(result, Array) or event.kwargs:
        return False
    dtype = result.dtype if event.function == "jax.numpy.where" else lowered.operand_dtype(event)
    return load_lowered().covers(event.function, "vector" if result.shape else "scalar", dtype, context.version)


def _contracts(event: Operation) -> bool:
    """A product of matrices; with vectors the lowering has holes."""
    return all(isinstance(value, Array) and len(value.shape or ()) >= 2 for value in (event.get(0, "a"), event.get(1, "b")))


def _contracts_generally(event: Operation) -> bool:
    """One contraction of two matrices, none of whose dims is 1."""
    operands = (event.get(0, "lhs"), event.get(1, "rhs"))
    return event.get(3, "precision") is None and all(
        isinstance(value, Array) and value.dtype in ("float32", "bfloat16", "int8") and len(value.shape or ()) == 2 and 1 not in (value.shape or ())
        for value in operands
    )


def _is_wide(event: Operation) -> bool:
    return all(len(array.shape or ()) >= 2 and 1 not in (array.shape or ()) for array in lowered.arrays(event.args))


def _normalises(event: Operation) -> bool:
    return all(len(array.shape or ()) >= 2 and dtypes.is_floating(array.dtype) for array in lowered.arrays(event.args))


_FORMS: dict[str, Callable[[Operation], bool]] = {
    "jax.numpy.dot": _contracts,
    "jax.numpy.matmul": _contracts,
    "jax.lax.dot_general": _contracts_generally,
    "jax.numpy.take_along_axis": _is_wide,
    "jax.nn.softmax": _normalises,
}
_JUDGES: dict[type[Event], tuple[Callable[[Any], str], Judge]] = {
    call_events.Window: (lambda event: f"the window of `{event.root.name}`", _window),
    call_events.Options: (lambda event: "`compiler_params`", _options),
    events.Access: (lambda event: f"this {event.op} of `{event.ref.root.name}`", _access),
    events.ViewEvent: (lambda event: f"a view of `{event.ref.root.name}`", _view),
    events.ValueIndex: (lambda event: "an index of a value", _value_index),
    events.Computed: (lambda event: f"a {event.kind} of a value", _computed),
    operation_events.CopyMade: (lambda event: f"`{event.function}`", _copy),
    operation_events.CopyStep: (lambda event: f"`{event.step}` of a copy", lambda event, context: True),
    Operation: (lambda event: f"what JAX makes of {lowered.name(event)} here", _operation),
}
