"""Copies of a SparseCore by indices, and copies that add.

Mirrors ``jax/_src/pallas/mosaic/sc_lowering.py``: ``_prepare_dma_refs`` and ``_extract_indirect_offsets``, with its order of checks.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..interpreter.cores import SPARSE
from ..interpreter.operation_events import CopyStep
from ..interpreter.refs import same_shape
from ..interpreter.values import Array, Ref, RefIndexer, Value
from ..shapes.dims import Shape, Truth
from . import words
from .copies import is_indexed
from .registry import Context, Finding, rule

_FAR = ("hbm", "vmem_shared")


@dataclass(frozen=True, slots=True)
class Picked:
    """The end ``ref`` of a copy that is indexed by ``indices``; ``followed``: another view step comes after that."""

    ref: Ref
    indices: Value
    followed: bool

    @property
    def shape(self) -> Shape:
        """The shape of the indices, None where it is not known."""
        return self.indices.shape if isinstance(self.indices, Array | Ref) else None


@dataclass(frozen=True, slots=True)
class Ends:
    """Both ends of a copy; ``far``: the one whose memory is shared, where the other one is a subcore's own VMEM, with ``near``."""

    source: Ref
    destination: Ref
    far: Ref | None
    near: Ref | None


def _ends(event: CopyStep) -> Ends | None:
    """The ends of a local copy whose memories are known; None for any other."""
    source, destination = event.copy.source, event.copy.destination
    if event.step != "start" or event.copy.target is not None or "remote" in event.copy.function:
        return None
    if not isinstance(source, Ref) or not isinstance(destination, Ref):
        return None
    spaces = source.root.space, destination.root.space
    if None in spaces or "any" in spaces:
        return None
    if spaces[0] in _FAR and spaces[1] == "vmem":
        return Ends(source, destination, source, destination)
    if spaces[0] == "vmem" and spaces[1] in _FAR:
        return Ends(source, destination, destination, source)
    return Ends(source, destination, None, None)


def _picked(ref: Ref | None) -> Picked | None:
    """How an end is indexed by indices; None where it is not."""
    for place, step in enumerate(ref.transforms if ref is not None else ()):
        indices = step.picks.ref if isinstance(step.picks, RefIndexer) else step.picks
        if indices is not None and ref is not None:
            return Picked(ref, indices, place + 1 < len(ref.transforms))
    return None


def _route(ends: Ends) -> str:
    return f"from {words.space(ends.source.root)} to {words.space(ends.destination.root)}"


@rule("sc-gather-indexed-side", on=CopyStep, order=20, stage="lower", cores=SPARSE)
def sc_gather_indexed_side(event: CopyStep, context: Context) -> Finding | None:
    """The wrong end of a copy is taken by indices."""
    ends = _ends(event)
    found = _picked(ends.near) if ends is not None else None
    if ends is None or found is None:
        return None
    side, doing = ("source", "gather") if ends.far is ends.source else ("destination", "scatter")
    return Finding(
        event.where.location,
        f"a copy {_route(ends)} takes {words.name(found.ref)} by indices: only its end in {words.space((ends.far or found.ref).root)}, the {side}, "
        "can be",
        jax_message=f"Only the {side} ref can be indexed when doing a {doing} via `pltpu.async_copy`",
    )


@rule("sc-gather-route", on=CopyStep, order=21, stage="lower", cores=SPARSE)
def sc_gather_route(event: CopyStep, context: Context) -> Finding | None:
    """A copy by indices that does not go between VMEM and HBM or VMEM_SHARED."""
    ends = _ends(event)
    if ends is None or ends.far is not None or not (is_indexed(ends.source) or is_indexed(ends.destination)):
        return None
    spaces = " to ".join(words.space(ref.root) for ref in (ends.source, ends.destination))
    return Finding(
        event.where.location,
        f"a copy by indices {_route(ends)}: it goes between VMEM and HBM or VMEM_SHARED",
        (*words.decided(ends.source), *words.decided(ends.destination)),
        f"Scatter/gather via `pltpu.async_copy` from {spaces} is not supported",
    )


@rule("sc-gather-index-rank", on=CopyStep, order=22, stage="lower", cores=SPARSE)
def sc_gather_index_rank(event: CopyStep, context: Context) -> Finding | None:
    """The indices of a copy have more than one dim."""
    ends = _ends(event)
    found = _picked(ends.far) if ends is not None else None
    if found is None or found.shape is None or len(found.shape) == 1 or (isinstance(found.indices, Ref) and found.indices.is_view):
        return None
    return Finding(
        event.where.location,
        f"the indices of this copy have shape {words.shape(found.shape)}: they are a vector",
        jax_message=f"Only 1D indices are supported by scatter/gather via `pltpu.async_copy` on SparseCore, got rank {len(found.shape)}",
    )


@rule("sc-gather-shape", on=CopyStep, order=23, stage="lower", cores=SPARSE)
def sc_gather_shape(event: CopyStep, context: Context) -> Finding | None:
    """A copy by indices picks another shape than the other end has."""
    ends = _ends(event)
    found = _picked(ends.far) if ends is not None else None
    if ends is None or ends.near is None or found is None or found.followed or (isinstance(found.indices, Ref) and found.indices.is_view):
        return None
    if found.shape is None or same_shape(event.where.facts, found.ref.shape, ends.near.shape) is not Truth.NO:
        return None
    picked, other = words.shape(found.ref.shape), words.shape(ends.near.shape)
    return Finding(
        event.where.location,
        f"the indices pick {picked} of {words.name(found.ref)}, {words.name(ends.near)} has shape {other}",
        words.shaped(ends.near),
        f"The indexer shape in scatter/gather via `pltpu.async_copy` does not match the expected shape. Want: {other}, got: {picked}.",
    )


@rule("sc-gather-index-space", on=CopyStep, order=24, stage="lower", cores=SPARSE)
def sc_gather_index_space(event: CopyStep, context: Context) -> Finding | None:
    """The indices of a copy are a ref outside of VMEM."""
    ends = _ends(event)
    found = _picked(ends.far) if ends is not None else None
    if found is None or not isinstance(found.indices, Ref) or found.indices.root.space in (None, "vmem", "any"):
        return None
    space = words.space(found.indices.root)
    return Finding(
        event.where.location,
        f"the indices {words.name(found.indices)} of this copy are in {space}: copy them to VMEM first",
        words.decided(found.indices),
        f"Indices for scatter/gather via `pltpu.async_copy` must be in VMEM, got {space}",
    )


@rule("sc-gather-transforms", on=CopyStep, order=25, stage="lower", cores=SPARSE)
def sc_gather_transforms(event: CopyStep, context: Context) -> Finding | None:
    """What indices pick is indexed once more."""
    ends = _ends(event)
    found = _picked(ends.far) if ends is not None else None
    if found is None or not found.followed:
        return None
    return Finding(
        event.where.location,
        f"what the indices pick of {words.name(found.ref)} is indexed again: index by them last",
        jax_message="The indexed ref in scatter/gather via `pltpu.async_copy` cannot have any transforms following the indexer",
    )


@rule("sc-dma-add", on=CopyStep, order=26, stage="lower", cores=SPARSE)
def sc_dma_add(event: CopyStep, context: Context) -> Finding | None:
    """A copy that adds, but not by indices, or to memory where nothing can be added."""
    ends = _ends(event)
    if ends is None or event.add is not True:
        return None
    into = ends.destination.root
    if ends.far is None:
        what = f"a copy {_route(ends)} cannot add: it goes to VMEM, or from VMEM to VMEM_SHARED"
        jax = "DMAs with `add=True` are only supported ..."
    elif not is_indexed(ends.far):
        what = "a copy that adds takes its end in shared memory by indices: `ref.at[indices]`"
        jax = "DMAs with `add=True` must (for now) specify offsets of the majormost dimension. ..."
    elif into.space == "hbm" and context.jax(since="0.12"):
        what = f"this copy adds to {words.name(ends.destination)} in HBM: add up in VMEM_SHARED, and copy that"
        jax = "Scatter from VMEM with `add=True` via `pltpu.async_copy` is only supported when the destination is in VMEM_SHARED, got HBM"
    else:
        return None
    return Finding(event.where.location, what, words.decided(ends.destination), jax)
