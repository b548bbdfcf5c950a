"""Views of refs: ``.at[...]``, ``.reshape``, ``.bitcast``, ``.T``.

Mirrors ``jax/_src/state/types.py`` (``RefReshaper``, ``RefBitcaster``) and the transforms of ``jax/_src/pallas/mosaic/lowering.py``
(``_transform_ref``).
"""

from __future__ import annotations

from ..interpreter.cores import EVERY
from ..interpreter.events import Access, CopyRef, ViewEvent
from ..interpreter.operation_events import CopyStep
from ..interpreter.values import DynamicSlice, Ref, RefTransform
from ..shapes import dims
from ..shapes.dims import Truth
from . import words
from .memory_spaces import happens
from .registry import Context, Finding, rule


def is_strided(event: Access) -> bool:
    """Whether the access's own indexer, or the last view's, has a step."""
    values = [entry.value for entry in event.entries] or list(event.ref.key or ())
    return any(_step(value) not in (None, 1) for value in values)


def _step(value: object) -> object:
    if isinstance(value, slice):
        return value.step
    return value.stride if isinstance(value, DynamicSlice) else None


@rule("strided-ref-view", on=Access, also=(CopyRef,), order=70, stage="lower")
def strided_ref_view(event: Access | CopyRef, context: Context) -> Finding | None:
    """A strided view is indexed again or copied."""
    if isinstance(event, CopyRef):
        if not event.live:
            return None
        transforms, what = event.ref.transforms, "copied: copies move contiguous slices"
    else:
        transforms, what = event.transforms, "indexed again: a step is allowed in the last index only"
        if event.fault is not None or not happens(event, context):
            return None
    if not any(step.strided for step in transforms):
        return None
    return Finding(
        event.where.location,
        f"a view of {words.name(event.ref)} with a step is {what}",
        jax_message="Strided slices of references are unsupported.",
    )


@rule("narrow-view-index", on=Access, also=(CopyRef,), order=74, stage="lower")
def narrow_view_index(event: Access | CopyRef, context: Context) -> Finding | None:
    """A view that starts at a traced index of fewer than 32 bits is indexed again or copied."""
    if isinstance(event, CopyRef):
        if not event.live:
            return None
    elif event.fault is not None or not happens(event, context):
        return None
    transforms = event.ref.transforms if isinstance(event, CopyRef) else event.transforms
    narrow = next((step.narrow for step in transforms if step.narrow), None)
    if narrow is None:
        return None
    return Finding(
        event.where.location,
        f"this view of {words.name(event.ref)} starts at an index that is {narrow}: `.astype(jnp.int32)` makes it one that a view can start at",
        jax_message="'tpu.memref_slice' op operand #1 must be variadic of 32-bit signless integer",
    )


@rule("ref-transpose", on=Access, order=71, stage="lower", cores=EVERY)
def ref_transpose(event: Access, context: Context) -> Finding | None:
    """A transposed view of a ref is used."""
    if not any(step.kind == "transpose" for step in event.transforms) or not happens(event, context):
        return None
    return Finding(
        event.where.location,
        f"a transposed view of {words.name(event.ref)}: transpose the loaded value instead, `{event.ref.root.name}[...].T`",
        jax_message="Unsupported transform: TransposeTransform(permutation=(1, 0))",
    )


@rule("reshape-squeezed-minor-dims", on=Access, order=72, stage="lower")
def reshape_squeezed_minor_dims(event: Access, context: Context) -> Finding | None:
    """A ref whose last two dims are partly squeezed is reshaped."""
    if not any(step.kind == "reshape" and step.squeezed for step in event.transforms) or not happens(event, context):
        return None
    return Finding(
        event.where.location,
        f"{words.name(event.ref)} is reshaped, but one of its last two dims is squeezed: reshape the loaded value instead",
        words.shaped(event.ref),
        "Reshape a ref with squeezed dimension on last two dimensions.",
    )


@rule("reshape-1d-ref", on=Access, order=73, stage="lower")
def reshape_1d_ref(event: Access, context: Context) -> Finding | None:
    """A ref or view of rank below 2 is reshaped."""
    if not any(step.kind == "reshape" and step.rank is not None and step.rank < 2 for step in event.transforms) or not happens(
        event, context
    ):
        return None
    return Finding(
        event.where.location,
        f"a view of {words.name(event.ref)} with fewer than 2 dims is reshaped: reshape the loaded value instead",
        jax_message="Reshape 1D ref is not supported.",
    )


@rule("ref-reshape-size", on=ViewEvent, order=20, stage="trace")
def ref_reshape_size(event: ViewEvent, context: Context) -> Finding | None:
    """A ref is reshaped to another number of elements."""
    shape = event.ref.shape
    if event.kind != "reshape" or shape is None or any(size is None for size in event.detail):
        return None
    facts = event.where.facts
    wanted = [size for size in event.detail if size != -1]
    total, part = dims.product(map(facts.resolve, shape)), dims.product(map(facts.resolve, wanted))
    if len(wanted) < len(event.detail) - 1:
        wrong, jax = True, f"At most one dimension can be -1, but got {words.shape(tuple(event.detail))}"
    elif len(wanted) < len(event.detail):
        wrong = dims.divides(part, total) is Truth.NO
        jax = f"Specified dims {words.shape(tuple(wanted))} do not evenly divide the size of the ref ({words.dim(total)})."
    else:
        wrong = dims.equal(total, part) is Truth.NO
        jax = f"cannot reshape shape {words.shape(shape)} into shape {words.shape(tuple(event.detail))}"
    if not wrong:
        return None
    return Finding(
        event.where.location,
        f"{words.name(event.ref)} of shape {words.shape(shape)} cannot be reshaped to {words.shape(tuple(event.detail))}: the number of elements differs",
        words.shaped(event.ref),
        jax,
    )


@rule("bitcast-1d-ref", on=Access, order=9, stage="trace")
def bitcast_1d_ref(event: Access, context: Context) -> Finding | None:
    """A bitcast view of a ref of rank 1 is read or written."""
    step = next((step for step in event.transforms if step.kind == "bitcast" and step.rank == 1), None)
    if step is None:
        return None
    same_width = step.widths is not None and step.widths[0] == step.widths[1]
    message = "list index out of range" if same_width else "Bitcast 1D ref with bitwidth change is not supported."
    return Finding(
        event.where.location,
        f"a bitcast of {words.name(event.ref)}, which has 1 dim: a bitcast needs at least 2",
        words.shaped(event.ref),
        message,
    )


@rule("bitcast-rows-not-divisible", on=Access, order=9, stage="trace", also=(ViewEvent, CopyStep))
def bitcast_rows_not_divisible(event: Access | ViewEvent | CopyStep, context: Context) -> Finding | None:
    """A view is used whose bitcast to a wider dtype does not divide the second-last dim."""
    refs = (event.copy.source, event.copy.destination) if isinstance(event, CopyStep) else (event.ref,)
    uneven = ((ref, step) for ref in refs if isinstance(ref, Ref) for step in ref.transforms if _leaves_rows_over(step))
    ref, step = next(uneven, (None, None))
    if ref is None or step is None or step.widths is None:
        return None
    old, new = step.widths
    return Finding(
        event.where.location,
        f"{words.name(ref)} has {words.dim(step.rows)} rows of {old} bits: they do not make whole rows of {new} bits",
        words.shaped(ref),
        "Expected input and output shapes are the same after multiplying the second-minor dimension by the bitwidths.",
    )


def _leaves_rows_over(step: RefTransform) -> bool:
    """Whether the rows that a bitcast was applied to certainly do not make whole rows of the new width."""
    return step.widths is not None and dims.divides(step.widths[1], dims.mul(step.rows, step.widths[0])) is Truth.NO


@rule("strided-last-dim", on=Access, order=121, stage="compile")
def strided_last_dim(event: Access, context: Context) -> Finding | None:
    """A strided access on the last dim, of rank 1, or of rows that are not 128 wide."""
    shape = event.ref.shape if event.entries else event.ref.before
    if shape is None or event.ref.root.space != "vmem" or event.fault is not None or not happens(event, context) or not is_strided(event):
        return None
    values = [entry.value for entry in event.entries] or list(event.ref.key or ())
    if any(value is Ellipsis for value in values):
        return None
    width = event.where.facts.resolve(event.ref.root.shape[-1]) if event.ref.root.shape else None
    on_last = len(values) == len(shape) and _step(values[-1]) not in (None, 1)
    if on_last and len(shape) == 1:
        reason = "a strided access needs at least 2 dims"
    elif on_last:
        reason = "the last dim can only be read without a step"
    elif isinstance(width, int) and width > 128:
        reason = f"rows can only be skipped where the last dim is at most 128 wide, here it is {width}"
    else:
        return None
    return Finding(
        event.where.at(words.target(event)),
        f"strided access to {words.name(event.ref)} that the TPU compiler refuses: {reason}",
        words.shaped(event.ref),
        "Not Implemented: Stride on last dim is not 1" if on_last else "The last dim size is not 128 in original base memref",
    )
