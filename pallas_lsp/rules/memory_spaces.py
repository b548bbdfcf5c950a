"""What each memory space lets a kernel do: vectors in VMEM, scalars in SMEM, copies for the rest.

Mirrors ``jax/_src/pallas/mosaic/lowering.py``: ``_load_lowering_rule`` and ``_swap_lowering_rule``.
"""

from __future__ import annotations

from ..interpreter.events import Access
from . import words
from .registry import Context, Finding, rule

_BUFFERS = ("any", "hbm", "semaphore", "host", "cmem", "vmem_shared")


def happens(event: Access, context: Context) -> bool:
    """Whether JAX still lowers the access: since 0.9.1 it drops a load that nothing uses, outside ``pl.kernel`` and pipelines."""
    return (
        event.op != "load" or event.live or event.where.dead_code_kept or (context.version is not None and not context.jax(since="0.9.1"))
    )


@rule("zero-rank-ref-not-in-smem", on=Access, order=80, stage="lower")
def zero_rank_ref_not_in_smem(event: Access, context: Context) -> Finding | None:
    """A ref without dims lies outside SMEM."""
    root = event.ref.root
    if event.before != () or root.space in (None, "smem") or not happens(event, context):
        return None
    if root.block == () and root.role in ("input", "output"):  # block-rank-zero speaks of it, where the call is
        return None
    what = f"{words.name(event.ref)} has no dims" if not event.transforms else f"this view of {words.name(event.ref)} has no dims left"
    return Finding(
        event.where.at(words.target(event)),
        f"{what} and is in {words.space(root)}: on TPU only SMEM holds refs of shape ()",
        words.decided(event.ref),
        "Indexing into a ()-shaped Ref not yet supported on TPU.",
    )


@rule("load-vector-from-smem", on=Access, order=90, stage="lower")
def load_vector_from_smem(event: Access, context: Context) -> Finding | None:
    """A vector is loaded from SMEM, which holds scalars."""
    if event.op != "load" or event.ref.root.space != "smem" or not event.shape or not happens(event, context):
        return None
    return Finding(
        event.where.location,
        f"vector of shape {words.shape(event.shape)} loaded from {words.name(event.ref)}, which is in SMEM: SMEM is read one scalar at a time",
        words.decided(event.ref),
        "Can only load scalars from SMEM",
    )


@rule("store-vector-to-smem", on=Access, order=91, stage="lower")
def store_vector_to_smem(event: Access, context: Context) -> Finding | None:
    """A vector is stored to SMEM, which holds scalars."""
    if event.op not in ("store", "swap") or event.ref.root.space != "smem" or not event.shape:
        return None
    return Finding(
        event.where.at(words.target(event)),
        f"vector of shape {words.shape(event.shape)} stored to {words.name(event.ref)}, which is in SMEM: SMEM is written one scalar at a time",
        words.decided(event.ref),
        "Can only store scalars to SMEM",
    )


@rule("access-any-or-hbm", on=Access, order=95, stage="lower")
def access_any_or_hbm(event: Access, context: Context) -> Finding | None:
    """A ref in HBM or ANY is loaded from or stored to directly."""
    root = event.ref.root
    if event.op == "addupdate" or root.space not in _BUFFERS or not happens(event, context) or event.ref.dtype in ("semaphore", "dma_sem"):
        return None
    verb = "read" if event.op == "load" else "written"
    allowed = "Loads are" if event.op == "load" else "Loads and stores are"
    suffix = " ANY memory space can only be accessed using async_copy." if root.space == "any" else ""
    return Finding(
        event.where.at(words.target(event)),
        f"{words.name(event.ref)} is {verb} directly, but it is in {words.space(root)}: only VMEM and SMEM can be, copy to or from it instead",
        words.decided(event.ref),
        f"{allowed} only allowed on VMEM and SMEM references.{suffix}",
    )


def _is_scalar_write(event: Access) -> bool:
    return event.op in ("store", "swap") and event.ref.root.space == "vmem" and event.shape == () and event.before != ()


@rule("store-scalar-to-vmem", on=Access, order=100, stage="lower")
def store_scalar_to_vmem(event: Access, context: Context) -> Finding | None:
    """A scalar is stored to VMEM, which holds vectors."""
    if event.op != "store" or not _is_scalar_write(event):
        return None
    return Finding(
        event.where.at(words.target(event)),
        f"scalar stored to {words.name(event.ref)}, which is in VMEM: VMEM holds vectors only",
        words.decided(event.ref),
        "Cannot store scalars to VMEM",
    )


@rule("swap-scalar-to-vmem", on=Access, order=101, stage="lower")
def swap_scalar_to_vmem(event: Access, context: Context) -> Finding | None:
    """A scalar is swapped with VMEM, which holds vectors."""
    if event.op != "swap" or not _is_scalar_write(event):
        return None
    return Finding(
        event.where.at(words.target(event)),
        f"scalar swapped with an element of {words.name(event.ref)}, which is in VMEM: VMEM holds vectors only",
        words.decided(event.ref),
        "Cannot store scalars to VMEM",
    )
