"""Functions and classes of Pallas called with arguments that they do not take.

Mirrors the signatures in ``jax/_src/pallas/pallas_call.py``, ``jax/_src/pallas/core.py``, ``jax/_src/pallas/helpers.py`` and
``jax/_src/pallas/mosaic/core.py``.
"""

from __future__ import annotations

import ast
from difflib import get_close_matches

from ..data.signatures import parameters
from ..interpreter.call_events import SignatureFault
from ..interpreter.events import CallFault
from ..text.span import Location
from . import words
from .registry import Context, Finding, rule

PALLAS, TPU = "jax.experimental.pallas", "jax.experimental.pallas.tpu"
_CALLS = (f"{PALLAS}.pallas_call", f"{PALLAS}.BlockSpec", f"{PALLAS}.GridSpec", f"{TPU}.PrefetchScalarGridSpec", f"{PALLAS}.Buffered", f"{PALLAS}.CostEstimate")
_MEMORY = (f"{TPU}.MemorySpace.__call__", f"{TPU}.SemaphoreType.__call__")
_MESH_KERNELS = (f"{PALLAS}.kernel", f"{PALLAS}.core_map")


def finding(event: SignatureFault, context: Context) -> Finding:
    """What does not fit, on the argument that it is about."""
    fault, name = event.fault, _spelled(event)
    short = name.rpartition(".")[2]
    if fault.kind == "missing":
        named = " and ".join(f"`{missing}`" for missing in fault.names)
        what = f"`{name}` is called without {named}, which {'has' if len(fault.names) == 1 else 'have'} no default"
        kind = "keyword-only" if event.function in _MESH_KERNELS else "positional"
        called = f"{short}.__init__" if event.function in ("jax.ShapeDtypeStruct", f"{PALLAS}.CostEstimate") else short
        quoted = " and ".join(repr(missing) for missing in fault.names)
        jax = f"{called}() missing {len(fault.names)} required {kind} argument{'s' * (len(fault.names) > 1)}: {quoted}"
    elif fault.kind == "unexpected":
        unexpected = fault.names[0]
        near = get_close_matches(unexpected, parameters(event.function, context.version), 1)
        what = f"`{name}` takes no argument `{unexpected}`" + (f": it has `{near[0]}`" if near else "")
        jax = f"{short}() got an unexpected keyword argument '{unexpected}'"
    else:
        taken = words.count(fault.takes, "positional argument")
        what = f"`{name}` takes {taken}, but {fault.given} are given: the others are keyword arguments"
        jax = f"{short}() takes {fault.takes} positional arguments but {fault.given} were given"
    return Finding(_place(event), what, jax_message=jax)


def _spelled(event: SignatureFault) -> str:
    """The function as the program writes it."""
    node = event.where.node
    return ast.unparse(node.func) if isinstance(node, ast.Call) else event.function.rpartition(".")[2]


def _place(event: SignatureFault) -> Location:
    node, fault = event.where.node, event.fault
    if not isinstance(node, ast.Call):
        return event.where.location
    if fault.kind == "unexpected":
        keyword = next((k for k in node.keywords if k.arg == fault.names[0]), None)
        return event.where.at(keyword if keyword is not None else node)
    if fault.kind == "too many" and len(node.args) == fault.given:
        return event.where.at(node.args[fault.takes])
    return event.where.at(node.func)


@rule("pallas-call-signature", on=SignatureFault, order=10, stage="trace")
def pallas_call_signature(event: SignatureFault, context: Context) -> Finding | None:
    """``pallas_call``, or a spec of its, is called with arguments that it does not take."""
    is_other = event.fault.kind == "missing" and event.fault.names == ("num_scalar_prefetch",)
    return finding(event, context) if event.function in _CALLS and not is_other and not _was_removed(event) else None


def _was_removed(event: SignatureFault) -> bool:
    return event.function == f"{PALLAS}.BlockSpec" and event.fault.names == ("indexing_mode",)


@rule("prefetch-num-missing", on=SignatureFault, order=11, stage="trace")
def prefetch_num_missing(event: SignatureFault, context: Context) -> Finding | None:
    """``PrefetchScalarGridSpec`` is not told how many operands it prefetches."""
    if event.function != f"{TPU}.PrefetchScalarGridSpec" or event.fault.names != ("num_scalar_prefetch",):
        return None
    found = finding(event, context)
    found.message += ": `pl.GridSpec` is the one without prefetched operands"
    found.jax_message = "PrefetchScalarGridSpec.__init__() missing 1 required positional argument: 'num_scalar_prefetch'"
    return found


@rule("compiler-params-unknown-field", on=SignatureFault, order=12, stage="trace")
def compiler_params_unknown_field(event: SignatureFault, context: Context) -> Finding | None:
    """``pltpu.CompilerParams`` has no such field."""
    if event.function != f"{TPU}.CompilerParams":
        return None
    found = finding(event, context)
    if event.fault.kind == "unexpected":
        found.jax_message = f"CompilerParams.__init__() got an unexpected keyword argument '{event.fault.names[0]}'"
    return found


@rule("plkernel-signature", on=SignatureFault, order=13, stage="trace")
def plkernel_signature(event: SignatureFault, context: Context) -> Finding | None:
    """``pl.kernel`` or ``pl.core_map`` is called with arguments that it does not take."""
    if event.function not in _MESH_KERNELS:
        return None
    found = finding(event, context)
    other = {"out_shape": "out_type", "scratch_shapes": "scratch_types"}.get(event.fault.names[0] if event.fault.names else "")
    if other is not None and event.fault.kind == "unexpected" and other in parameters(event.function, context.version):
        found.message = f"`pl.kernel` takes no argument `{event.fault.names[0]}`: it is called `{other}` there"
    elif event.fault.names and event.fault.names[0] in ("grid", "in_specs", "out_specs", "grid_spec"):
        found.message = f"`pl.kernel` takes no argument `{event.fault.names[0]}`: it runs over a mesh, not over a grid with specs"
    return found


@rule("operand-keyword", on=CallFault, order=20, stage="trace")
def operand_keyword(event: CallFault, context: Context) -> Finding | None:
    """An operand of a kernel call is given by keyword."""
    if event.kind != "operand-keyword":
        return None
    return Finding(
        event.where.location,
        f"operand `{event.detail}` is given by keyword: what `pl.pallas_call` returns takes positional operands only",
        jax_message=f"_pallas_call.<locals>.wrapped() got an unexpected keyword argument '{event.detail}'",
    )


@rule("operand-not-array", on=CallFault, order=21, stage="trace")
def operand_not_array(event: CallFault, context: Context) -> Finding | None:
    """An operand of a kernel call is no array."""
    if event.kind != "operand":
        return None
    kind = words.kind_of(event.detail)
    return Finding(
        event.where.location,
        f"an operand of this kernel call is {kind}, not an array: `functools.partial` binds static values to the kernel",
        jax_message="Error interpreting argument to <function _pallas_call.<locals>.wrapped at ...> as an abstract array.",
    )
