"""Masks of ``pltpu.load`` and ``pltpu.store``. Mirrors ``jax/_src/pallas/mosaic/lowering.py``: ``_load_lowering_rule``,
``_swap_lowering_rule``.
"""

from __future__ import annotations

from ..interpreter.events import Access
from ..interpreter.refs import same_shape
from ..interpreter.values import ABSENT, Array
from ..shapes import dtypes
from ..shapes.avals import as_aval
from ..shapes.dims import Truth
from . import words
from .memory_spaces import happens
from .registry import Context, Finding, rule
from .stored_values import stored_aval
from .views import is_strided


def _has_mask(event: Access) -> bool:
    return event.mask is not ABSENT and event.mask is not None and event.fault is None


@rule("masked-load", on=Access, order=60, stage="lower")
def masked_load(event: Access, context: Context) -> Finding | None:
    """A load has a mask."""
    if event.op != "load" or not _has_mask(event) or words.is_unknown(event.mask) or not happens(event, context):
        return None
    return Finding(
        event.where.location,
        f"masked load from {words.name(event.ref)}: TPU lowering has masked stores only, select after the load with `jnp.where`",
        jax_message="NotImplementedError (no text)",
    )


@rule("masked-store-not-32-bit", on=Access, order=61, stage="lower")
def masked_store_not_32_bit(event: Access, context: Context) -> Finding | None:
    """A masked store writes values that are not 32 bits wide."""
    aval = stored_aval(event) if event.op != "load" and _has_mask(event) and not words.is_unknown(event.mask) else None
    dtype = event.ref.dtype if event.cast or aval is None else aval.dtype
    bits = dtypes.bits(dtype) if dtype is not None and aval is not None else None
    if bits is None or (bits == 32 and dtype != "bool"):
        return None
    return Finding(
        event.where.location,
        f"masked store of {dtype} to {words.name(event.ref)}: a mask needs 32-bit values",
        jax_message="masked swap with non-32-bit data",
    )


@rule("mask-shape-mismatch", on=Access, order=62, stage="lower")
def mask_shape_mismatch(event: Access, context: Context) -> Finding | None:
    """A mask has another shape than the stored value."""
    aval = stored_aval(event) if event.op != "load" and _has_mask(event) else None
    if aval is None or words.is_unknown(event.mask):
        return None
    mask = event.mask.aval if isinstance(event.mask, Array) else as_aval(event.mask)
    if same_shape(event.where.facts, mask.shape, aval.shape) is not Truth.NO:
        return None
    return Finding(
        event.where.location,
        f"mask of shape {words.shape(mask.shape)} for a value of shape {words.shape(aval.shape)}: a mask does not broadcast",
        jax_message=f"Expected value and mask to have the same shape, but got value shape {words.shape(aval.shape)} vs. mask shape {words.shape(mask.shape)}.",
    )


@rule("masked-store-to-smem", on=Access, order=89, stage="lower")
def masked_store_to_smem(event: Access, context: Context) -> Finding | None:
    """A masked store writes SMEM."""
    if event.op == "load" or not _has_mask(event) or words.is_unknown(event.mask) or event.ref.root.space != "smem":
        return None
    return Finding(
        event.where.location,
        f"masked store to {words.name(event.ref)}, which is in SMEM: SMEM is written one scalar at a time, without masks",
        words.decided(event.ref),
        "SMEM store does not support masks",
    )


@rule("masked-strided-store", on=Access, order=110, stage="lower")
def masked_strided_store(event: Access, context: Context) -> Finding | None:
    """A masked store has a strided indexer."""
    if (
        event.op == "load"
        or not _has_mask(event)
        or words.is_unknown(event.mask)
        or event.ref.root.space != "vmem"
        or not is_strided(event)
    ):
        return None
    return Finding(
        event.where.location,
        f"masked store to {words.name(event.ref)} with a step: a mask and a step cannot be combined",
        jax_message="masked swap with strided store",
    )
