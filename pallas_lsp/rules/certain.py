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
_PLAIN = ("float32", "int32")
_NUMBERS = ("float32", "bfloat16", "int32")
# What only tells of the call, or is refused by a rule wherever JAX refuses it.
_JUDGED = (
    events.KernelCall, events.KernelRun, events.CopyRef, operation_events.CopyLeft, call_events.FirstRead, call_events.NeverWritten, call_events.Footprint,
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
_MAKERS = frozenset(
    f"jax.numpy.{name}" for name in ("zeros", "ones", "full", "empty", "zeros_like", "ones_like", "full_like", "empty_like")
) | {"jax.lax.full", "jax.lax.full_like"}  # fmt: skip
_IOTAS = frozenset({"jax.lax.broadcasted_iota"})
_REDUCTIONS = frozenset(f"jax.numpy.{name}" for name in ("sum", "max", "min", "mean", "amax", "amin"))
_CASTS = frozenset({"jax.numpy.astype", "jax.numpy.asarray", "jax.numpy.array", "jax.lax.convert_element_type"})
_SHAPERS = frozenset(f"jax.numpy.{name}" for name in ("reshape", "squeeze", "expand_dims", "broadcast_to", "ravel"))
_CONTRACTIONS = frozenset({"jax.numpy.dot", "jax.numpy.matmul"})


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
        and all(map(_is_static_entry, event.entries))
        and (event.op == "load" or isinstance(stored, bool | int | float) or (isinstance(stored, Array) and _is_whole(stored.shape)))
    )


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
    return event.array.dtype in _PLAIN and all(
        type(entry) is int or entry is Ellipsis or (isinstance(entry, slice) and entry.step in (None, 1)) for entry in event.entries
    )


def _computed(event: events.Computed, context: Context) -> bool:
    return event.kind in ("squeeze", "extremum") and event.source.dtype in _PLAIN


def _operation(event: Operation, context: Context) -> bool:
    if event.function in _FREE or not lowered.is_used(event.result, event.where, context):
        return True  # what nothing uses is traced, and then dropped
    judge = _FORMS.get(event.function)
    return judge(event) if judge is not None else _is_cast(event) or _is_elementwise(event, context)


def _is_elementwise(event: Operation, context: Context) -> bool:
    result = event.result
    if not isinstance(result, Array) or result.shape is None or event.kwargs or 0 in result.shape:
        return False
    operands = [value for value in event.args if isinstance(value, Array)]
    if any(value.dtype not in (*_NUMBERS, "bool") for value in operands) and len({value.dtype for value in operands}) > 1:
        return False
    dtype = lowered.operand_dtype(event)
    if event.function == "jax.numpy.where":
        dtype = result.dtype
    return load_lowered().covers(event.function, "vector" if result.shape else "scalar", dtype, context.version)


def _is_cast(event: Operation) -> bool:
    """A cast between the common dtypes, by whatever function."""
    named = event.function.startswith("jax.numpy.") and dtypes.canonical(event.function.rpartition(".")[2]) is not None
    if event.function not in _CASTS and not named:
        return False
    source, result = event.args[0] if event.args else None, event.result
    if not isinstance(result, Array) or result.dtype not in (*_NUMBERS, "bool"):
        return False
    if isinstance(source, bool | int | float):
        return result.dtype in _PLAIN
    return isinstance(source, Array) and (source.dtype == result.dtype or (source.dtype in (*_NUMBERS, "bool") and result.dtype in _NUMBERS))


def _makes_array(event: Operation) -> bool:
    result = event.result
    return isinstance(result, Array) and bool(result.shape) and result.dtype in (*_NUMBERS, "bool") and 0 not in (result.shape or ())


def _makes_iota(event: Operation) -> bool:
    return isinstance(event.result, Array) and event.result.dtype == "int32" and len(event.result.shape or ()) >= 2


def _reduces(event: Operation) -> bool:
    source = event.args[0] if event.args else None
    return isinstance(source, Array) and source.dtype == "float32" and len(source.shape or ()) >= 2 and set(event.kwargs) <= {"axis", "keepdims"}


def _reshapes(event: Operation) -> bool:
    source = event.args[0] if event.args else None
    return isinstance(source, Array) and isinstance(event.result, Array) and source.dtype in _PLAIN and bool(source.shape) and bool(event.result.shape)


def _contracts(event: Operation) -> bool:
    a, b = (event.get(0, "a"), event.get(1, "b"))
    return (
        isinstance(a, Array) and isinstance(b, Array) and a.dtype == b.dtype and a.dtype in ("float32", "bfloat16")
        and len(a.shape or ()) == len(b.shape or ()) == 2 and set(event.kwargs) <= {"preferred_element_type"}
    )  # fmt: skip


_FORMS: dict[str, Callable[[Operation], bool]] = {
    **dict.fromkeys(_MAKERS, _makes_array),
    **dict.fromkeys(_IOTAS, _makes_iota),
    **dict.fromkeys(_REDUCTIONS, _reduces),
    **dict.fromkeys(_SHAPERS, _reshapes),
    **dict.fromkeys(_CONTRACTIONS, _contracts),
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
