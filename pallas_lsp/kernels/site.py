"""A kernel call as it was understood: the model behind ``inspect``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..interpreter.call_events import Footprint
from ..interpreter.events import Event, KernelRun
from ..interpreter.library.uses import refs_in
from ..interpreter.truth import as_dim
from ..interpreter.values import Array, Function, Ref, Unknown, Value
from ..shapes.dims import MaybeDim, Shape
from ..text.span import Location
from .vmem import shares, total


@dataclass(frozen=True, slots=True)
class RefInfo:
    """One ref of a kernel. ``shape``: None when the rank is unknown; ``why``: the cause of what is unknown."""

    name: str
    role: str
    shape: Shape
    dtype: str | None
    memory_space: str | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class KernelSite:
    """One kernel call in one configuration. ``grid``: None when unknown; ``vmem_bytes``: None when not all sizes are known.

    ``verdict``: ``lowers``, ``fails`` or ``undecided``; ``unknowns``: what would have to be known, most useful first.
    """

    location: Location
    kernel_name: str | None
    kernel_location: Location | None
    grid: tuple[MaybeDim, ...] | None
    refs: tuple[RefInfo, ...]
    vmem_bytes: int | None
    verdict: str
    unknowns: tuple[str, ...]


def sites_of(events: Iterable[Event]) -> list[KernelSite]:
    """The kernel calls of a run, each configuration once, in the order of the text."""
    events = list(events)
    vmem = {id(root): total(shares(event, "vmem"), event) for event in events if isinstance(event, Footprint) for root in event.roots}
    found: dict[tuple[object, ...], KernelSite] = {}
    for event in events:
        if isinstance(event, KernelRun):
            site = _site(event, vmem)
            found.setdefault((site.location, site.kernel_location, site.grid, site.refs), site)
    return sorted(found.values(), key=lambda site: (site.location.path, site.location.span))


def _site(event: KernelRun, vmem: dict[int, MaybeDim]) -> KernelSite:
    kernel = event.kernel
    name = kernel.name if isinstance(kernel, Function) else None
    place = Location(kernel.module.path, kernel.module.source.span_of(kernel.node)) if isinstance(kernel, Function) else None
    refs = tuple(info for name_, value in event.refs for info in _refs(name_, value))
    unknowns = tuple(dict.fromkeys(info.why for info in refs if info.why and (info.shape is None or info.dtype is None)))
    size = next((vmem[id(ref.root)] for ref in refs_in([value for _, value in event.refs]) if id(ref.root) in vmem), None)
    taken = size if isinstance(size, int) else None
    return KernelSite(event.where.location, name, place, _grid(event.grid), refs, taken, "undecided", unknowns)


def _grid(grid: Value) -> tuple[MaybeDim, ...] | None:
    if isinstance(grid, tuple | list):
        return tuple(as_dim(dim) if not isinstance(dim, Array) else None for dim in grid)
    dim = as_dim(grid) if not isinstance(grid, Unknown) else None
    return (dim,) if dim is not None else None


def _refs(name: str, value: Value) -> list[RefInfo]:
    if isinstance(value, Ref):
        root = value.root
        return [RefInfo(name, root.role, root.shape, root.dtype, root.space, root.why)]
    if isinstance(value, tuple | list):
        return [info for index, part in enumerate(value) for info in _refs(f"{name}[{index}]", part)]
    if isinstance(value, dict):
        return [info for key, part in value.items() for info in _refs(f"{name}[{key!r}]", part)]
    return []
