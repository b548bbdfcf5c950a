"""Copies and semaphores: what goes together, and which semaphore does what.

Mirrors ``jax/_src/pallas/mosaic/primitives.py`` (``_dma_start_abstract_eval``, ``_dma_wait_abstract_eval``),
``jax/_src/pallas/primitives.py`` (``check_sem_avals``), ``_dma_start_lowering_rule`` of ``jax/_src/pallas/mosaic/lowering.py`` and the
verifiers of ``tpu.enqueue_dma`` and ``tpu.wait_dma``.
"""

from __future__ import annotations

from ..interpreter.cores import EVERY
from ..interpreter.operation_events import CopyLeft, CopyMade, CopyStep, ScopedRun, SemaphoreUse
from ..interpreter.refs import same_shape
from ..interpreter.values import ABSENT, Ref, Value
from ..shapes.dims import Truth
from . import words
from .registry import Context, Finding, rule

_VERIFIER = "Pallas encountered an internal verification error. ... 'tpu.{}' op DMA source and target {} mismatch"
_SEMAPHORES = ("semaphore", "barrier_semaphore", "dma_sem")


def is_indexed(ref: Value) -> bool:
    """Whether a view takes its ref by indices, as the copies of a SparseCore do."""
    return isinstance(ref, Ref) and any(step.picks is not None for step in ref.transforms)


def _ends(event: CopyStep) -> tuple[Ref, Ref] | None:
    """The two refs of a copy that is started."""
    return _refs_of(event.copy) if event.step == "start" else None


def _ends_compared(event: CopyStep, context: Context) -> tuple[Ref, Ref] | None:
    """The two refs of a copy where the verifier compares them: at its start, since 0.12 where it is waited for too."""
    return _refs_of(event.copy) if event.step == "start" or context.jax(since="0.12") else None


def _refs_of(made: CopyMade) -> tuple[Ref, Ref] | None:
    source, destination = made.source, made.destination
    return (source, destination) if isinstance(source, Ref) and isinstance(destination, Ref) else None


@rule("semaphore-missing", on=CopyMade, order=5, also=(CopyStep,), stage="trace")
def semaphore_missing(event: CopyMade | CopyStep, context: Context) -> Finding | None:
    """A copy is given no semaphore."""
    at_start = isinstance(event, CopyStep)
    if at_start and event.where.core.is_sparse:
        return None
    made = event.copy if isinstance(event, CopyStep) else event
    name = made.function.rpartition(".")[2]
    nothing = made.semaphore is None and name in ("make_async_copy", "async_copy")  # told so
    if not (made.semaphore is ABSENT or nothing) or "remote" in made.function or (isinstance(event, CopyStep) and event.step != "start"):
        return None
    older = context.jax(until="0.11")
    if at_start == (older and not nothing):
        return None
    jax = "Local DMA semaphore cannot be None on TensorCore."
    if older:
        jax = "DMA source/destination/semaphore arguments must be Refs." if nothing else f"{name}() missing 1 required positional argument: 'sem'"
    return Finding(
        event.where.location,
        "this copy has no semaphore, which a TensorCore needs to know that it is done: pass one of `pltpu.SemaphoreType.DMA`",
        jax_message=jax,
    )


@rule("semaphore-not-scalar", on=SemaphoreUse, order=10, also=(CopyStep,), stage="trace")
def semaphore_not_scalar(event: SemaphoreUse | CopyStep, context: Context) -> Finding | None:
    """A whole array of semaphores, or a ref that is none, is signalled or waited for."""
    if isinstance(event, CopyStep):
        ref, operation = event.copy.semaphore, "signal"
        if not isinstance(ref, Ref) or event.step != "start":
            return None
    else:
        ref, operation = event.ref, event.operation
        if operation == "read":
            return None
    if not ref.shape:
        return None
    many = ref.dtype in _SEMAPHORES
    what = (
        f"is an array of semaphores of shape {words.shape(ref.shape)}: `{ref.root.name}.at[i]` is one of them"
        if many
        else "is no semaphore"
    )
    return Finding(
        event.where.location,
        f"{words.name(ref)} {what}",
        words.decided(ref) if not many else words.shaped(ref),
        f"Cannot {operation} on a non-()-shaped semaphore: {words.shape(ref.shape)}",
    )


@rule("semaphore-kind", on=SemaphoreUse, order=11, also=(CopyStep,), stage="trace")
def semaphore_kind(event: SemaphoreUse | CopyStep, context: Context) -> Finding | None:
    """A DMA semaphore is signalled, or a regular one waited for by a copy."""
    if isinstance(event, CopyStep):
        ref = event.copy.semaphore
        if not isinstance(ref, Ref) or event.step not in ("wait", "wait_recv") or ref.dtype not in ("semaphore", "barrier_semaphore"):
            return None
        return Finding(
            event.where.location,
            f"{words.name(ref)} is a regular semaphore, a copy is waited for with one of `pltpu.SemaphoreType.DMA`",
            words.decided(ref),
            "dma_wait requires a DMA semaphore, but got a regular semaphore. Use pl.semaphore_wait() instead.",
        )
    ref = event.ref
    if event.operation == "read" or ref.shape != () or ref.dtype in (None, "semaphore", "barrier_semaphore"):
        return None
    what = "a DMA semaphore, which copies signal: `.wait()` of the copy waits for it" if ref.dtype == "dma_sem" else f"a ref of {ref.dtype}"
    return Finding(
        event.where.location,
        f"`pl.semaphore_{event.operation}` works on regular semaphores, {words.name(ref)} is {what}",
        words.decided(ref),
        f"Must {event.operation} semaphores of the following types: {{...}}. Got {ref.dtype}.",
    )


@rule("dma-bool", on=CopyStep, order=20, stage="lower", until="0.11", cores=EVERY)
def dma_bool(event: CopyStep, context: Context) -> Finding | None:
    """A copy of booleans, which older versions do not have."""
    ends = _ends(event)
    if ends is None or ends[0].dtype != "bool":
        return None
    return Finding(
        event.where.location,
        f"{words.name(ends[0])} holds booleans, which this JAX does not copy: keep the mask as int8",
        words.shaped(ends[0]),
        "DMAs with bool dtypes are not supported.",
    )


@rule("dma-shape-mismatch", on=CopyStep, order=30, stage="lower", cores=EVERY)
def dma_shape_mismatch(event: CopyStep, context: Context) -> Finding | None:
    """Source and destination of a copy differ in shape."""
    ends = _ends_compared(event, context)
    if ends is None or any(is_indexed(end) for end in ends) or same_shape(event.where.facts, ends[0].shape, ends[1].shape) is not Truth.NO:
        return None
    shapes = " and ".join(f"{words.name(ref)} has shape {words.shape(ref.shape)}" for ref in ends)
    return Finding(
        event.where.location,
        f"a copy between different shapes: {shapes}{' where it is copied' if any(ref.is_view for ref in ends) else ''}",
        (*words.shaped(ends[0]), *words.shaped(ends[1])),
        _verifier(event, "shape"),
        cause=event.copy.where.location,
    )


@rule("dma-dtype-mismatch", on=CopyStep, order=31, stage="lower", cores=EVERY)
def dma_dtype_mismatch(event: CopyStep, context: Context) -> Finding | None:
    """Source and destination of a copy differ in dtype."""
    ends = _ends_compared(event, context)
    if ends is None or None in (ends[0].dtype, ends[1].dtype) or ends[0].dtype == ends[1].dtype:
        return None
    return Finding(
        event.where.location,
        f"a copy from {ends[0].dtype} to {ends[1].dtype}: copies move bits, copy first and cast what was loaded",
        (*words.shaped(ends[0]), *words.shaped(ends[1])),
        _verifier(event, "element type"),
        cause=event.copy.where.location,
    )


def _verifier(event: CopyStep, what: str) -> str:
    return _VERIFIER.format("enqueue_dma" if event.step == "start" else "wait_dma", what)


@rule("wait-send-on-local-copy", on=CopyStep, order=4, stage="trace")
def wait_send_on_local_copy(event: CopyStep, context: Context) -> Finding | None:
    """A copy on one device is asked whether it is sent, or only read."""
    if event.copy.target is not None or "remote" in event.copy.function:
        return None
    if event.step == "wait_read":
        return _wait_read(event, context)
    if event.step != "wait_send":
        return None
    what = "`wait_send` waits until a remote copy has left the device, this copy stays on it: `wait` waits until it is done"
    return Finding(event.where.location, what, jax_message="Cannot `wait_send` on a local copy.")


def _wait_read(event: CopyStep, context: Context) -> Finding | None:
    """What came with JAX 0.12, for copies to other devices and on SparseCores."""
    newer = context.jax(since="0.12")
    if event.where.core.is_sparse or not (newer or context.jax(until="0.11")):
        return None
    jax = "`wait_read` on a local copy without device_id is not implemented on TensorCore."
    what = "on a TensorCore there is no waiting until a copy that stays on the device has read its source: `wait` waits until it is done"
    return Finding(event.where.location, what, jax_message=jax if newer else "'AsyncCopyDescriptor' object has no attribute 'wait_read'")


@rule("dma-priority", on=CopyStep, order=15, stage="lower", cores=EVERY)
def dma_priority(event: CopyStep, context: Context) -> Finding | None:
    """A copy is started with a priority that there is not."""
    priority = event.priority
    if event.step != "start" or not isinstance(priority, int) or priority in (0, 1):
        return None
    jax = f"DMA start priority must be non-negative: {priority}"
    if priority > 1:
        jax = "Pallas encountered an internal verification error. ... only support priority 0 or 1"
    return Finding(event.where.location, f"a copy has the priority 0 or 1, not {priority}", jax_message=jax)


@rule("dma-add-on-tensorcore", on=CopyStep, order=19, stage="lower", since="0.8.3")
def dma_add_on_tensorcore(event: CopyStep, context: Context) -> Finding | None:
    """A copy adds to its destination, which only SparseCores do."""
    if event.step != "start" or event.add is not True:
        return None
    what = "only the copies of a SparseCore add to their destination, on a TensorCore load both and store the sum"
    return Finding(event.where.location, what, jax_message="DMA with add=True is not supported.")


@rule("dma-semaphore", on=CopyLeft, order=10, stage="run")
def dma_semaphore(event: CopyLeft, context: Context) -> Finding | None:
    """A copy is never started, or nobody waits until it is done."""
    name = words.name(event.copy.semaphore) if isinstance(event.copy.semaphore, Ref) else "its semaphore"
    said = {
        "made": "this copy is never started, so that nothing is copied: `.start()` it, and `.wait()` before its data are used",
        "started": f"this copy is started and nothing waits for {name}: what is read may be old, and the semaphore is not back at 0 at the end",
        "waited": f"this waits for {name}, which no copy that was started ever signals: the kernel hangs",
    }
    return Finding(event.where.location, said[event.kind])


@rule("run-scoped-arity", on=ScopedRun, order=10, stage="trace")
def run_scoped_arity(event: ScopedRun, context: Context) -> Finding | None:
    """The function of ``pl.run_scoped`` does not take the refs that are made for it."""
    if event.kind != "arity":
        return None
    return Finding(
        event.where.location,
        f"the function does not take what `pl.run_scoped` makes for it: {event.detail}",
        jax_message=str(event.detail),
    )


@rule("run-scoped-escape", on=ScopedRun, order=11, stage="trace")
def run_scoped_escape(event: ScopedRun, context: Context) -> Finding | None:
    """A ref leaves the ``pl.run_scoped`` that it was made for."""
    if event.kind != "escape":
        return None
    return Finding(
        event.where.location,
        f"the function gives back {words.name(event.detail)}, which lives only while it runs: give back `{event.detail.root.name}[...]`",
        jax_message="`JaxprInputEffect` ... does not have a corresponding jaxpr input.",
    )
