"""Operations on the subcores of a SparseCore, which have fewer than a TensorCore.

Mirrors ``jax/_src/pallas/mosaic/sc_lowering.py`` (``_iota_lowering_rule_sc``, ``_sort_lowering_rule``, ``_debug_print_lowering_rule``),
``jax/_src/pallas/mosaic/sc_primitives.py`` (``_cumsum_lowering_rule``, ``_reduce_op_lowering_rule``) and the table ``lowering_rules`` of
``jax/_src/pallas/mosaic/lowering.py``. Which function needs which primitive is data: ``pallas_lsp/data/operations_vector.toml`` and
``operations_scalar.toml``.
"""

from __future__ import annotations

import string

from ..data import chips
from ..interpreter.cores import SPARSE
from ..interpreter.events import Access, Computed
from ..interpreter.operation_events import Operation, SubcoreCall
from ..interpreter.values import Array
from . import lowered, words
from .primitives import reason
from .registry import Context, Finding, rule
from .sparse_functions import SCANS

_UNIMPLEMENTED = (
    "Unimplemented primitive in Pallas TPU lowering for sc_{}_subcore: {}. Please file an issue at https://github.com/jax-ml/jax/issues/new/choose."
)
_INSTEAD = {
    "integer_pow": "`x * x`", "square": "`x * x`", "logistic": "`1 / (1 + jnp.exp(-x))`", "custom_jvp_call": "`jnp.maximum(x, 0)` for `relu`",
    "dynamic_slice": "index the ref, refs take traced indices", "scatter": "store to a ref, or select with `jnp.where`",
    "masked_load": "index the ref, `plsc.load_expanded` takes a mask", "masked_swap": "index the ref, `plsc.store_compressed` takes a mask",
    "addupdate": "`plsc.addupdate`",
}  # fmt: skip
_OF_COMPUTED = {"dynamic-slice": "dynamic_slice", "outside": "dynamic_slice", "scatter": "scatter"}


@rule("sc-unimplemented-primitive", on=Operation, also=(Access, Computed), order=20, stage="lower", cores=SPARSE)
def sc_unimplemented_primitive(event: Operation | Access | Computed, context: Context) -> Finding | None:
    """An operation that a subcore of a SparseCore does not have."""
    found = _missing(event, context)
    if found is None:
        return None
    what, primitive = found
    kind = event.where.core.kind
    instead = f": {_INSTEAD[primitive]}" if primitive in _INSTEAD else ""
    return Finding(
        event.where.location,
        f"{what} needs the primitive `{primitive}`, which a {kind} subcore does not have{instead}",
        jax_message=_UNIMPLEMENTED.format(kind, primitive),
    )


def _missing(event: Operation | Access | Computed, context: Context) -> tuple[str, str] | None:
    """What needs a primitive that there is not, and which."""
    if isinstance(event, Access):
        if event.fault is not None:
            return None
        if event.api == "pltpu":
            name = "load" if event.op == "load" else "store"
            return f"`pltpu.{name}`", "masked_load" if event.op == "load" else "masked_swap"
        return ("`addupdate`", "addupdate") if event.op == "addupdate" and event.api != "plsc" else None
    if isinstance(event, Operation):
        if event.function == "jax.numpy.power" and type(power := event.get(1, "x2")) is int and power not in (0, 1):
            return lowered.name(event), "integer_pow"
        kind, _, primitive = (reason(event, context) or "").partition(" ")
        return (lowered.name(event), primitive) if kind == "primitive" else None
    primitive = _OF_COMPUTED.get(event.kind, "dynamic_slice" if event.kind == "ds-slice" and context.jax(until="0.12") else "")
    what = "`.at[...]` on a value" if event.kind == "scatter" else "this index of a value"
    return (what, primitive) if primitive else None


_IOTAS = ("jax.numpy.arange", "jax.lax.iota", "jax.lax.broadcasted_iota")


def _of_vectors(event: Operation) -> bool:
    return event.where.core.kind == "vector"


@rule("sc-iota-shape", on=Operation, order=40, stage="lower", cores=SPARSE)
def sc_iota_shape(event: Operation, context: Context) -> Finding | None:
    """A vector subcore counts through another number of elements than a register has."""
    if event.function not in _IOTAS or not _of_vectors(event) or not isinstance(event.result, Array):
        return None
    shape = event.result.shape
    lanes = sorted(chips.lanes(context.target))
    if not shape or not all(isinstance(dim, int) and dim > 0 for dim in shape) or shape in [(n,) for n in lanes]:
        return None
    registers = " or ".join(map(str, lanes))
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of shape {words.shape(shape)}: a vector subcore counts through one register, {registers} elements",
        jax_message=f"Unsupported iota shape for SC vector subcore. Got {words.shape(shape)}, supported shape is ({lanes[-1]},).",
    )


@rule("sc-sort-shape", on=Operation, order=41, stage="lower", cores=SPARSE)
def sc_sort_shape(event: Operation, context: Context) -> Finding | None:
    """A vector subcore sorts another shape than one register."""
    value = event.get(0, "a" if event.function.startswith("jax.numpy") else "operand")
    if event.function not in ("jax.numpy.sort", "jax.lax.sort") or not isinstance(value, Array) or not _of_vectors(event):
        return None
    lanes = sorted(chips.lanes(context.target))
    shape = value.shape
    if not shape or not all(isinstance(dim, int) for dim in shape) or shape in [(n,) for n in lanes]:
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of {words.array(value)}: a vector subcore sorts one register, {' or '.join(map(str, lanes))} elements",
        jax_message=f"Unsupported shape for operand 0 of SC sort: Got {words.shape(shape)}, expected ({lanes[-1]},)",
    )


@rule("sc-cumsum", on=Operation, also=(SubcoreCall,), order=42, stage="lower", cores=SPARSE)
def sc_cumsum(event: Operation | SubcoreCall, context: Context) -> Finding | None:
    """A running sum over more than one dim, backwards, or of numbers that are not 32 bits wide."""
    if isinstance(event, SubcoreCall):
        return _of_scan(event)
    value = event.get(0, "a" if event.function.startswith("jax.numpy") else "operand")
    if event.function not in ("jax.numpy.cumsum", "jax.lax.cumsum") or not isinstance(value, Array) or not value.shape or not _of_vectors(event):
        return None
    axis, rank = event.get(1, "axis", None if event.function.startswith("jax.numpy") else 0), len(value.shape)
    if event.function == "jax.lax.cumsum" and event.get(2, "reverse", False) is True:
        what, jax = "backwards: a subcore adds up forwards", "SC cumsum: reverse=True is not yet supported"
    elif rank > 1 and isinstance(axis, int):
        axis = axis % rank
        what = f"of {words.array(value)}: a subcore adds up along the only dim of a vector"
        jax = f"SC cumsum: axis={axis} must be 0." if axis else f"SC cumsum: x={value.dtype}[...] must be rank 1"
    else:
        return None
    return Finding(event.where.location, f"{lowered.name(event)} {what}", jax_message=jax)


def _of_scan(event: SubcoreCall) -> Finding | None:
    """``plsc.cumsum`` and its like, which take a vector of 32-bit numbers."""
    value = event.given.get("x")
    if event.function not in SCANS or not isinstance(value, Array):
        return None
    name = f"`plsc.{event.function}` of {words.array(value)}"
    if event.function != "scan_count" and value.shape is not None and len(value.shape) != 1:
        jax = f"{event.function}: x={words.array(value)} must be rank 1"
        return Finding(event.where.location, f"{name}: it takes a vector", jax_message=jax)
    if value.dtype not in (None, "uint32", "int32", "float32"):
        jax = f"x.dtype={value.dtype} must be uint32, int32 or float32"
        return Finding(event.where.location, f"{name}: it takes uint32, int32 and float32", jax_message=jax)
    return None


_REDUCTIONS = frozenset(f"jax.numpy.{name}" for name in ("sum", "max", "min", "amax", "amin", "mean"))


@rule("sc-reduction-axis", on=Operation, order=43, stage="lower", cores=SPARSE)
def sc_reduction_axis(event: Operation, context: Context) -> Finding | None:
    """A reduction of an array with more than one dim."""
    value, axis = event.get(0, "a"), event.get(1, "axis")
    if event.function not in _REDUCTIONS or not isinstance(value, Array) or value.shape is None or not _of_vectors(event):
        return None
    axes = range(len(value.shape)) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    if len(value.shape) < 2 or not axes or not all(isinstance(axis, int) for axis in axes):
        return None
    reduced = tuple(sorted(axis % len(value.shape) for axis in axes))
    jax = f"reductions require axes to be (0,) on SparseCore, but got {reduced}."
    if reduced == (0,):
        jax = "Pallas encountered an internal verification error. ... 'tpu.scan' op"
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of {words.array(value)}: a vector subcore reduces vectors of one dim, add or compare the rows one by one",
        jax_message=jax,
    )


@rule("sc-debug-print", on=Operation, order=44, stage="lower", cores=SPARSE)
def sc_debug_print(event: Operation, context: Context) -> Finding | None:
    """A print in the kernel of a SparseCore that is more than a label with one value."""
    if event.function not in ("jax.experimental.pallas.debug_print", "jax.debug.print"):
        return None
    fmt = event.get(0, "fmt")
    if event.kwargs.get("ordered") is True:
        what, jax = "prints in order", "ordered print"
    elif isinstance(fmt, str) and _has_fields(fmt):
        what, jax = "has a placeholder", "placeholders"
    elif len(event.args) > 2:
        what, jax = f"prints {len(event.args) - 1} values", "multiple inputs"
    else:
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} {what}: a subcore prints a label and one value, `pl.debug_print('x', x)`",
        jax_message=f"pl.debug_print() does not support {jax} when lowering to SparseCore",
    )


def _has_fields(fmt: str) -> bool:
    try:
        return any(field is not None for _, field, _, _ in string.Formatter().parse(fmt))
    except ValueError:
        return False
