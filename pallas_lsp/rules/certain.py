"""Which events are understood whole: where no rule refuses one of these, JAX lowers what it is about. Everything else is a doubt.

The functions that work element by element are listed in ``data/lowered.toml``, by dtype; the forms of the others are in ``certain_forms``. Both are compared
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
from ..interpreter.values import Array, Dtype, DynamicSlice, Opaque, Ref, Value
from . import lowered
from .certain_forms import COMMON, FORMS, KNOWN, is_common, is_whole
from .registry import Context

Judge = Callable[[Any, Context], bool]

_PALLAS, _TPU = "jax.experimental.pallas.", "jax.experimental.pallas.tpu."
# What only tells of the call, or is refused by a rule wherever JAX refuses it.
_JUDGED = (
    events.KernelRun, events.CopyRef, operation_events.CopyLeft, operation_events.SemaphoreUse, call_events.FirstRead, call_events.NeverWritten, call_events.Footprint,
    call_events.ScratchBuffer, call_events.RefPassed, call_events.GridAxis, call_events.Aliased, call_events.Captured,
)  # fmt: skip
# Functions that compute nothing themselves: what they do is events of its own, or values that are known.
_FREE = frozenset(
    {
        *(_PALLAS + name for name in ("BlockSpec", "program_id", "num_programs", "ds", "dslice", "Slice", "when", "loop", "cdiv", "run_scoped", "multiple_of")),
        *(_TPU + name for name in ("emit_pipeline", "VMEM", "SMEM", "SemaphoreType.DMA", "load", "store", "sync_copy", "make_async_copy", "async_copy")),
        *(f"jax.ref.{name}" for name in ("get", "set", "swap", "addupdate")),
        *(f"jax.lax.{name}" for name in ("fori_loop", "while_loop", "cond", "switch")),
        "jax.jit", "jax.named_scope", "jax.ShapeDtypeStruct", "jax.dtypes.itemsize_bits", "jax.tree.map",
    }
)  # fmt: skip

def doubt_about(event: Event, context: Context) -> str | None:
    """What about the event cannot be judged, in words; None where a rule would speak if JAX refused it."""
    if isinstance(event, _JUDGED):
        return None
    if event.where.core.is_sparse:
        return "what a SparseCore makes of it"
    known = _JUDGES.get(type(event))
    if known is None:
        return f"what JAX makes of a {type(event).__name__}"
    words, judge = known
    return None if judge(event, context) else words(event)


def _call(event: events.KernelCall, context: Context) -> bool:
    """A grid of numbers and of traced ones, whose axes may have names."""
    grid = event.grid if isinstance(event.grid, tuple | list) else () if event.grid is None else (event.grid,)
    sizes = [size[1] if isinstance(size, tuple) and len(size) == 2 and isinstance(size[0], str) else size for size in grid]
    return all(map(_is_index, sizes))


def _window(event: call_events.Window, context: Context) -> bool:
    root, kinds = event.root, event.kinds or ()
    mapped = event.result is not None or not event.mapped
    return (
        event.fault is None and mapped and not event.batched and event.grid is not None and is_whole(root.array)
        and all(kind in ("blocked", "squeezed") for kind in kinds)
    )  # fmt: skip


def _options(event: call_events.Options, context: Context) -> bool:
    """Compiler parameters of which only what rules look at is set, to plain values."""
    parameters = event.parameters
    if parameters is None:
        return True
    plain = isinstance(parameters, Opaque) and parameters.name == f"{_TPU}CompilerParams" and not parameters.args
    return plain and all(name in FIELDS and _is_plain(value) for name, value in parameters.kwargs.items())


FIELDS = frozenset(
    {
        "dimension_semantics", "vmem_limit_bytes", "has_side_effects", "disable_bounds_checks", "disable_semaphore_checks",
        "skip_device_barrier", "shape_invariant_numerics", "needs_layout_passes", "fuse_transposed_lhs_in_matmul",
        "internal_scratch_in_bytes",
    }
)  # fmt: skip
"""Compiler parameters that change nothing of what lowers, whatever plain value they have, or that rules look at."""


def _is_plain(value: Value) -> bool:
    return isinstance(value, bool | int | str | None) or (isinstance(value, tuple | list) and all(map(_is_plain, value)))


def _access(event: events.Access, context: Context) -> bool:
    stored = event.value
    return (
        event.fault is None
        and is_whole(event.shape)
        and all(_is_static_entry(entry) or (event.op == "load" and _is_strided(entry)) for entry in event.entries)
        and (event.op == "load" or isinstance(stored, bool | int | float) or (isinstance(stored, Array) and is_whole(stored.shape)))
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
    """Indexers; and views of VMEM with other dims or another dtype, where no dim of the block is squeezed."""
    if event.fault is not None:
        return False
    if event.kind == "index":
        return all(map(_is_static_entry, event.entries))
    root = event.ref.root
    return (
        event.kind in ("reshape", "bitcast") and is_whole(event.ref.shape) and len(event.ref.shape or ()) >= 2 and root.space == "vmem"
        and "squeezed" not in (root.block or ()) and root.dtype in COMMON and "bool" not in (root.dtype, event.detail)
        and (event.kind == "bitcast" or len(event.detail) >= 2 or context.jax(since="0.12"))
    )  # fmt: skip


def _copy(event: operation_events.CopyMade, context: Context) -> bool:
    """A copy within a chip between refs of one known shape."""
    return all(
        isinstance(ref, Ref) and bool(ref.shape) and is_whole(ref.shape) and ref.root.space is not None and "squeezed" not in (ref.root.block or ())
        for ref in (event.source, event.destination)
    )


def _value_index(event: events.ValueIndex, context: Context) -> bool:
    """Numbers, new dims and slices without a step."""
    return event.array.dtype in COMMON and all(
        type(entry) is int or entry is Ellipsis or entry is None or (isinstance(entry, slice) and entry.step in (None, 1)) for entry in event.entries
    )


def _computed(event: events.Computed, context: Context) -> bool:
    return event.kind in ("squeeze", "extremum", "sum", "new-last-dim") and event.source.dtype in COMMON


def _operation(event: Operation, context: Context) -> bool:
    if event.function in _FREE or isinstance(event.result, bool | int | float | str | Dtype) or not lowered.is_used(event.result, event.where, context):
        return True  # what nothing uses is traced, and then dropped; Python's values are there before
    if not all(is_common(array) for array in lowered.arrays((*event.args, event.result))):
        return False
    if event.function in KNOWN:
        return True
    judge = FORMS.get(event.function)
    return judge(event) if judge is not None else _is_elementwise(event, context)


def _is_elementwise(event: Operation, context: Context) -> bool:
    """A function of the table, of operands of one dtype or of dtypes between which every cast is known."""
    result = event.result
    if not isinstance(result, Array) or event.kwargs:
        return False
    dtype = result.dtype if event.function == "jax.numpy.where" else lowered.operand_dtype(event, numbers=True)
    return load_lowered().covers(event.function, "vector" if result.shape else "scalar", dtype, context.version)


_JUDGES: dict[type[Event], tuple[Callable[[Any], str], Judge]] = {
    events.KernelCall: (lambda event: "the grid", _call),
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
