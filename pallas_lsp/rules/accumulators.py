"""The accumulators of an MXU.

Mirrors ``check_accumulator_ref`` of ``jax/_src/pallas/mosaic/core.py``, ``matmul_acc_lhs`` and its abstract evaluation in
``jax/_src/pallas/mosaic/primitives.py``, and ``_load_lowering_rule`` and ``_swap_lowering_rule`` of
``jax/_src/pallas/mosaic/lowering.py``.
"""

from __future__ import annotations

from ..interpreter.call_events import ScratchBuffer
from ..interpreter.events import Access, CallFault
from ..interpreter.operation_events import AccumulatorUse
from ..interpreter.refs import same_shape
from ..interpreter.values import Array
from ..shapes.dims import Truth
from . import words
from .memory_spaces import happens
from .registry import Context, Finding, rule

_SINCE = "0.11.2"


@rule("acc-shape", on=CallFault, order=110, stage="trace", since=_SINCE)
def acc_shape(event: CallFault, context: Context) -> Finding | None:
    """An accumulator has a shape that the MXU does not."""
    if event.kind != "acc-shape":
        return None
    shape = event.detail
    if len(shape) < 2:
        what, jax = "has at least 2 dims", f"Acc ref must be at least 2D, got shape {words.shape(shape)}"
    elif shape[-1] != 256:
        what, jax = "is 256 wide", f"The minor dimension size of an accumulator ref must be 256 but got {words.dim(shape[-1])}"
    else:
        what, jax = "has a multiple of 8 rows", "The product of the major dimensions must be a multiple of 8, but got ..."
    return Finding(event.where.location, f"an accumulator of shape {words.shape(shape)}: it {what}", jax_message=jax)


@rule("acc-dtype", on=CallFault, order=111, stage="trace", since=_SINCE)
def acc_dtype(event: CallFault, context: Context) -> Finding | None:
    """An accumulator holds something else than float32 or int32."""
    if event.kind != "acc-dtype":
        return None
    jax = f"Acc ref dtype must be float32 or int32, got <class 'jax.numpy.{event.detail}'>"
    return Finding(event.where.location, f"an accumulator of {event.detail}: it holds float32 or int32", jax_message=jax)


@rule("acc-mxu-id", on=CallFault, order=112, stage="trace", since=_SINCE)
def acc_mxu_id(event: CallFault, context: Context) -> Finding | None:
    """An accumulator of an MXU that there is not."""
    if event.kind != "acc-unit":
        return None
    jax = f"mxu_id must be in [0, 2), got mxu_id={event.detail}"
    return Finding(event.where.location, f"an accumulator of MXU {event.detail}: a core has 0 and 1", jax_message=jax)


@rule("acc-as-scratch", on=ScratchBuffer, order=10, stage="lower", since=_SINCE)
def acc_as_scratch(event: ScratchBuffer, context: Context) -> Finding | None:
    """An accumulator stands among the scratch buffers of a kernel call."""
    if event.root.space != "acc":
        return None
    what = f"the accumulator `{event.root.name}` is no scratch buffer: `pl.run_scoped` makes one inside the kernel"
    where = event.where.call if event.where.call is not None else event.where.location
    return Finding(where, what, jax_message="Invalid memory space: AccMemorySpace(mxu_id=...)")


@rule("acc-direct-access", on=Access, order=20, stage="lower", since=_SINCE)
def acc_direct_access(event: Access, context: Context) -> Finding | None:
    """An accumulator is read or written with an index."""
    if event.ref.root.space != "acc" or event.fault is not None or not happens(event, context):
        return None
    if event.op == "load":
        what = "is read directly: `pltpu.matmul_pop` gives what it holds and clears it"
        jax = "Loading from an accumulator is not supported. Use `matmul_pop` instead, which will additionally zero out the accumulator."
    else:
        what, jax = "is written directly: only `pltpu.matmul_acc_lhs` adds to it", "Storing into an accumulator is not supported."
    return Finding(event.where.at(words.target(event)), f"the accumulator {words.name(event.ref)} {what}", words.decided(event.ref), jax)


@rule("acc-load-staged-bool", on=AccumulatorUse, order=10, stage="trace", since=_SINCE)
def acc_load_staged_bool(event: AccumulatorUse, context: Context) -> Finding | None:
    """``load_staged_rhs`` is a truth value."""
    if not isinstance(event.staged, bool):
        return None
    what = f"`load_staged_rhs` is {event.staged}: it is the number of a staging register, or None"
    return Finding(event.where.location, what, jax_message="load_staged_rhs must be an integer or None.")


@rule("acc-not-an-acc", on=AccumulatorUse, order=11, stage="trace", since=_SINCE)
def acc_not_an_acc(event: AccumulatorUse, context: Context) -> Finding | None:
    """A function of accumulators is given a ref that is none."""
    root = event.acc.root
    if root.space in (None, "acc"):
        return None
    what = f"`pltpu.{event.function}` works on an accumulator, {words.name(event.acc)} is in {words.space(root)}"
    return Finding(event.where.location, what, words.decided(event.acc), f"Expected an accumulator ref, got Ref<{root.space}>{{...}}")


@rule("acc-lhs-shape", on=AccumulatorUse, order=12, stage="trace", since=_SINCE)
def acc_lhs_shape(event: AccumulatorUse, context: Context) -> Finding | None:
    """What is multiplied has another number of rows than the accumulator."""
    shape, lhs = event.acc.shape, event.lhs
    if event.function != "matmul_acc_lhs" or shape is None or event.acc.root.space != "acc":
        return None
    if len(shape) != 2:
        jax = f"The shape of the accumulator {words.shape(shape)} is not 2-dimensional."
        return Finding(event.where.location, f"the accumulator {words.name(event.acc)} has shape {words.shape(shape)}: it has 2 dims here", jax_message=jax)
    if not isinstance(lhs, Array) or not lhs.shape or same_shape(event.where.facts, shape[:1], lhs.shape[:1]) is not Truth.NO:
        return None
    given = words.shape(lhs.shape)
    what = f"the accumulator {words.name(event.acc)} has shape {words.shape(shape)}, what is multiplied {given}: both have the same rows"
    jax = f"The shape of the accumulator {words.shape(shape)} does not match the shape of the lhs {given}."
    return Finding(event.where.location, what, jax_message=jax)
