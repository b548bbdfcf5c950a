"""Functions whose primitives the TensorCore lowering does not have, or has for some dtypes only.

Mirrors the table ``lowering_rules`` of ``jax/_src/pallas/mosaic/lowering.py`` and the rules of single primitives there. Which function
needs which primitive is data: ``pallas_lsp/data/operations.toml``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from ..data.operations import MISSING, load_operations
from ..interpreter.events import CallFault, Computed
from ..interpreter.operation_events import Operation
from ..interpreter.values import Array, Value
from ..shapes import dtypes
from . import lowered, words
from .registry import Context, Finding, rule

UNIMPLEMENTED = (
    "Unimplemented primitive in Pallas TPU lowering for tc: {}. Please file an issue at https://github.com/jax-ml/jax/issues/new/choose."
)
# Primitives that other rules speak about.
_OWN_RULE = {
    "conv_general_dilated": "conv", "remat2": "checkpoint", "empty": "jnp-empty", "top_k": "top-k", "approx_top_k": "top-k",
    "random_split": "prng-form", "rng_bit_generator": "prng-form", "dynamic_slice": "value-dynamic-slice",
    "dynamic_update_slice": "value-dynamic-slice",
}  # fmt: skip
_INSTEAD = {
    "sort": "sort outside the kernel", "cumsum": "a product with a triangular matrix of ones adds up", "cumprod": "multiply in a `lax.fori_loop`",
    "cummax": "take `jnp.maximum` with rolled copies", "cummin": "take `jnp.minimum` with rolled copies", "rev": "store the rows in the other order",
    "reduce_prod": "multiply in a `lax.fori_loop`", "erfc": "`1 - lax.erf(x)` lowers", "expm1": "`jnp.exp(x) - 1` lowers",
    "atan": "`jnp.arctan2(x, 1.0)` lowers", "sinh": "`(jnp.exp(x) - jnp.exp(-x)) / 2` lowers", "cosh": "`(jnp.exp(x) + jnp.exp(-x)) / 2` lowers",
    "copy": "use the value itself, arrays do not change", "scatter": "store to a ref, or select with `jnp.where`",
    "scatter-add": "add to a ref, or a product with a one-hot matrix", "optimization_barrier": "leave it out", "cbrt": "`x ** (1 / 3)` lowers for x > 0",
    "pallas_call": "call the function itself, or `pltpu.emit_pipeline`", "pure_callback": "call it outside the kernel",
}  # fmt: skip


def reason(event: Operation, context: Context) -> str | None:
    """Why the table says that the function is refused for these operands; None where it is not, or where its result is not used."""
    table = load_operations(event.where.core.kind)
    if event.function not in table.refused or not lowered.is_used(event.result, event.where, context):
        return None

    def argument(position: int, name: str) -> Value:
        return event.get(position, name, MISSING)

    return table.reason(event.function, lowered.operand_dtype(event), context.version, argument)


def _primitive(event: Operation, context: Context, rule_id: str) -> str | None:
    """The missing primitive that the rule is about."""
    kind, _, primitive = (reason(event, context) or "").partition(" ")
    return primitive if kind == "primitive" and _rule_of(primitive) == rule_id else None


def refused(*reasons: str, also: Collection[str] = ()) -> Callable[[str], bool]:
    """The functions that the table refuses on TensorCores for one of these reasons, and others too."""
    return lambda function: function in also or not _reasons(function).isdisjoint(reasons)


def _reasons(function: str) -> set[str]:
    """Why the table refuses the function, whatever the operands: the first words of its lines, or the rule that speaks of the primitive."""
    split = [line.reason.partition(" ") for line in load_operations("tensor").refused.get(function, ())]
    return {_rule_of(primitive) if kind == "primitive" else kind for kind, _, primitive in split}


def _rule_of(primitive: str) -> str:
    return _OWN_RULE.get(primitive, "unimplemented-primitive")


def _missing(event: Operation | Computed | CallFault, what: str, primitive: str) -> Finding:
    instead = f": {_INSTEAD[primitive]}" if primitive in _INSTEAD else ""
    return Finding(
        event.where.location,
        f"{what} needs the primitive `{primitive}`, which has no TPU lowering{instead}",
        jax_message=UNIMPLEMENTED.format(primitive),
    )


_COPIES = ("jax.numpy.array", "jax.numpy.asarray")


@rule(
    "unimplemented-primitive", on=Operation, also=(Computed, CallFault), order=20, stage="lower",
    functions=refused("unimplemented-primitive", also=_COPIES),
)  # fmt: skip
def unimplemented_primitive(event: Operation | Computed | CallFault, context: Context) -> Finding | None:
    """An operation that no TPU lowering rule exists for."""
    if isinstance(event, CallFault):
        return _missing(event, "a kernel in a kernel", "pallas_call") if event.kind == "nested" else None
    if isinstance(event, Computed):
        if event.kind not in ("scatter", "rev") or not lowered.is_used(event.result, event.where, context):
            return None
        return _missing(event, "`.at[...]` on a value" if event.kind == "scatter" else "a negative step on a value", event.kind)
    primitive = _primitive(event, context, "unimplemented-primitive") or _copied(event, context)
    if primitive is None or (primitive == "copy" and _is_numpys(event)):
        return None
    return _missing(event, lowered.name(event), primitive)


def _copied(event: Operation, context: Context) -> str | None:
    """``jnp.array`` of an array copies it, ``jnp.asarray`` does when it is told to."""
    if event.function not in _COPIES or not isinstance(event.get(0, "object"), Array):
        return None
    default = event.function == "jax.numpy.array"
    return "copy" if event.kwargs.get("copy", default) is True and lowered.is_used(event.result, event.where, context) else None


def _is_numpys(event: Operation) -> bool:
    """Whether the first argument is NumPy's, of which JAX makes a constant (``array`` of ``jax/_src/numpy/array_constructors.py``)."""
    argument = event.args[0] if event.args else next(iter(event.kwargs.values()), None)
    return isinstance(argument, Array) and argument.numpy


@rule("value-dynamic-slice", on=Computed, also=(Operation,), order=21, stage="lower", functions=refused("value-dynamic-slice", also={"jax.numpy.roll"}))
def value_dynamic_slice(event: Computed | Operation, context: Context) -> Finding | None:
    """A value is indexed at a traced position, or at one that it does not have."""
    if isinstance(event, Operation):
        primitive = _primitive(event, context, "value-dynamic-slice") or ("dynamic_slice" if _rolled(event, context) else None)
        return _of_value(event, f"{lowered.name(event)} takes a slice of a value", primitive) if primitive else None
    if event.kind not in ("dynamic-slice", "ds-slice", "outside") or not lowered.is_used(event.result, event.where, context):
        return None
    if event.kind == "ds-slice" and not context.jax(until="0.12"):
        return None
    if event.kind == "outside":
        return Finding(
            event.where.location,
            f"an index is outside of the value {words.array(event.source)}: JAX makes a dynamic slice of it, which has no TPU lowering",
            jax_message=UNIMPLEMENTED.format("dynamic_slice"),
        )
    return _of_value(event, "a value is indexed at a traced position", "dynamic_slice")


def _of_value(event: Computed | Operation, what: str, primitive: str) -> Finding:
    return Finding(
        event.where.location,
        f"{what}, which has no TPU lowering: index the ref instead, refs take traced indices and `pl.ds`",
        jax_message=UNIMPLEMENTED.format(primitive),
    )


def _rolled(event: Operation, context: Context) -> bool:
    shift = event.get(1, "shift")
    traced = event.function == "jax.numpy.roll" and isinstance(shift, Array) and shift.traced and shift.constant is None
    return traced and lowered.is_used(event.result, event.where, context)


@rule("conv", on=Operation, order=22, stage="lower", until="0.12", functions=refused("conv"))
def conv(event: Operation, context: Context) -> Finding | None:
    """A convolution, which older versions do not lower."""
    primitive = _primitive(event, context, "conv")
    if primitive is None:
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} is a convolution, which JAX lowers for TPU kernels since 0.12 only: add shifted matrix products",
        jax_message=UNIMPLEMENTED.format(primitive),
    )


@rule("checkpoint", on=Operation, order=23, stage="lower", functions={"jax.checkpoint"})
def checkpoint(event: Operation, context: Context) -> Finding | None:
    """A function under ``jax.checkpoint`` is called in a kernel."""
    if not lowered.is_used(event.result, event.where, context):
        return None
    return Finding(
        event.where.location,
        "`jax.checkpoint` has no TPU lowering: call the function without it, nothing is differentiated in a kernel",
        jax_message=UNIMPLEMENTED.format("remat2"),
    )


_EMPTY = frozenset({"jax.numpy.empty", "jax.numpy.empty_like", "jax.lax.empty"})


@rule("jnp-empty", on=Operation, order=24, stage="lower", since="0.12", functions=_EMPTY)
def jnp_empty(event: Operation, context: Context) -> Finding | None:
    """``jnp.empty`` in a kernel."""
    if not lowered.is_used(event.result, event.where, context):
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} has no TPU lowering since JAX 0.12: `jnp.zeros` has",
        jax_message=UNIMPLEMENTED.format("empty"),
    )


_TOP = frozenset({"jax.lax.top_k", "jax.numpy.partition", "jax.numpy.argpartition"})


@rule("top-k", on=Operation, order=25, stage="lower", functions=_TOP)
def top_k(event: Operation, context: Context) -> Finding | None:
    """``lax.top_k`` in a kernel, in a form that is not lowered."""
    stable = event.kwargs.get("is_stable", MISSING)
    if stable is not MISSING and context.version is not None and context.jax(until="0.11"):
        return Finding(
            event.where.location,
            "`lax.top_k` takes `is_stable` since JAX 0.12 only",
            jax_message="top_k() got an unexpected keyword argument 'is_stable'",
        )
    if not lowered.is_used(event.result, event.where, context):
        return None
    if context.jax(until="0.12"):
        what, jax = "has no TPU lowering before JAX 0.12: take the maximum k times", UNIMPLEMENTED.format("top_k")
    elif stable is MISSING or stable is True:
        what = "must not be stable in a TPU kernel: pass `is_stable=False`" if event.function == "jax.lax.top_k" else "has no TPU lowering"
        jax = "is_stable=True is not supported in Pallas top_k. For efficiency, only is_stable=False is supported"
    else:
        return _top_k_dtype(event)
    return Finding(event.where.location, f"{lowered.name(event)} {what}", jax_message=jax)


def _top_k_dtype(event: Operation) -> Finding | None:
    dtype = lowered.operand_dtype(event)
    if dtype in (None, "float32", "bfloat16"):
        return None
    return Finding(
        event.where.location,
        f"`lax.top_k` of {dtype}: the TPU lowering takes float32 and bfloat16",
        jax_message=f"Pallas top_k only supports float32 and bfloat16, got {dtype}",
    )


def _is_for(event: Operation, context: Context, *reasons: str) -> bool:
    """Whether the table refuses the operation for one of these reasons."""
    return (reason(event, context) or "").partition(" ")[0] in reasons


@rule("argmax-dtype", on=Operation, order=30, stage="lower", functions=refused("argmax"))
def argmax_dtype(event: Operation, context: Context) -> Finding | None:
    """``argmax`` or ``argmin``, perhaps inside another function, of a dtype that is not lowered."""
    if not _is_for(event, context, "argmax"):
        return None
    short = event.function.rpartition(".")[2]
    hidden = "" if short in ("argmax", "argmin") else " takes an `argmax`, which"
    allowed = "float32 only" if context.jax(until="0.12") else "float32 and bfloat16 only"
    what = f"of {lowered.operand_dtype(event) or 'these operands'}" if not hidden else ""
    return Finding(
        event.where.location,
        f"{lowered.name(event)}{hidden or f' {what}'}: the TPU lowering has it for {allowed}"
        if not hidden
        else f"{lowered.name(event)}{hidden} the TPU lowering has for {allowed}",
        jax_message="Only float32 is supported"
        if context.jax(until="0.12")
        else "Unsupported combination of input dtype ... and index_dtype (int32) for reduce_index",
    )


@rule("reduction-dtype", on=Operation, order=31, stage="lower", functions=refused("reduction"))
def reduction_dtype(event: Operation, context: Context) -> Finding | None:
    """A reduction of a dtype that is not lowered."""
    if not _is_for(event, context, "reduction"):
        return None
    dtype, result = lowered.operand_dtype(event), event.result
    if event.function == "jax.lax.reduce_sum" and isinstance(result, Array) and result.shape == () and dtypes.kind(dtype) == "signed":
        return None  # to a scalar it is summed as `jnp.sum` does, in int32
    unsigned = dtype is not None and dtypes.kind(dtype) == "unsigned"
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of {dtype}: the TPU lowering reduces float and int32 values, cast first",
        jax_message="Reductions over unsigned integers not implemented." if unsigned else f"Reductions over {dtype} not implemented.",
    )


@rule("isfinite-bf16", on=Operation, order=32, stage="lower", functions=refused("is_finite"))
def isfinite_bf16(event: Operation, context: Context) -> Finding | None:
    """``isfinite``, perhaps inside another function, of a 16-bit float."""
    if not _is_for(event, context, "is_finite"):
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of {lowered.operand_dtype(event)} asks whether values are finite, which is lowered for float32 only: `.astype(jnp.float32)` first",
        jax_message="Pallas encountered an internal verification error. ... 'tpu.weird' op Input type must be F32",
    )


_OF_SOME_DTYPES = ("nextafter", "erf_inv", "extremum")


@rule("operation-dtype", on=Operation, order=33, stage="lower", functions=refused(*_OF_SOME_DTYPES))
def operation_dtype(event: Operation, context: Context) -> Finding | None:
    """A function that is lowered for some dtypes, of another one."""
    if not _is_for(event, context, *_OF_SOME_DTYPES):
        return None
    dtype = lowered.operand_dtype(event)
    short = event.function.rpartition(".")[2]
    jax = {
        "nextafter": f"`nextafter` only supports float32 and float64, but got {dtype}",
        "erf_inv": f"erf_inv_lowering_helper not implemented for {dtype}",
    }
    return Finding(
        event.where.location,
        f"{lowered.name(event)} of {dtype} has no TPU lowering: cast to {'int32' if dtype == 'bool' else 'float32'} first",
        jax_message=jax.get(short, f"{dtype}"),
    )


@rule("select-n-cases", on=Operation, order=34, stage="lower", functions={"jax.lax.select_n"})
def select_n_cases(event: Operation, context: Context) -> Finding | None:
    """``lax.select_n`` among more than two cases."""
    if len(event.args) < 4 or not lowered.is_used(event.result, event.where, context):
        return None
    return Finding(
        event.where.location,
        f"`lax.select_n` among {len(event.args) - 1} cases: the TPU lowering chooses between two, nest `jnp.where`",
        jax_message="select_n only supported with <= 2 arguments",
    )


@rule("complex-dtype", on=Operation, order=19, stage="lower")
def complex_dtype(event: Operation, context: Context) -> Finding | None:
    """A complex value is made in a kernel."""
    results = (event.result,) if isinstance(event.result, Array) else lowered.arrays((event.result,))
    made = next((array for array in results if dtypes.kind(array.dtype) == "complex"), None)
    if made is None and not event.function.startswith("jax.numpy.fft."):
        return None
    if any(dtypes.kind(array.dtype) == "complex" for array in lowered.arrays(event.args)):
        return None  # what made it is reported
    if (made is None and not _is_for(event, context, "complex", "primitive")) or not lowered.is_used(event.result, event.where, context):
        return None
    what = f"{lowered.name(event)} works on complex values" if made is None else f"{lowered.name(event)} makes {words.array(made)}"
    return Finding(
        event.where.location,
        f"{what}: a TPU kernel has no complex dtypes, keep real and imaginary parts apart",
        jax_message="Invalid type: error: ...: failed to verify 'elementType': VectorElementTypeInterface instance",
    )
