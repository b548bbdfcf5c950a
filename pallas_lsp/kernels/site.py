"""A kernel call as it was understood: the model behind ``inspect``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..interpreter.call_events import Footprint, Window
from ..interpreter.events import Event, KernelRun
from ..interpreter.library.refusals import location_of
from ..interpreter.library.uses import named_refs, refs_in
from ..interpreter.truth import as_dim
from ..interpreter.values import Array, Function, Ref, RefRoot, Unknown, Value
from ..shapes.dims import MaybeDim, Shape
from ..text.span import Location, Span
from .vmem import shares, total


@dataclass(frozen=True, slots=True)
class RefWindow:
    """What a ref shows of an operand or output, step by step.

    ``array``: the shape of the whole (None: rank unknown); ``block``: its dims as the BlockSpec has them, ``squeezed`` for a squeezed one;
    ``kinds``: ``blocked``, ``squeezed``, ``element`` … for each dim; ``index``: what the index map gives, as polynomials of the grid
    indices (``interpreter.library.index_maps.grid_symbol``) with None for one that is none, and as a whole where there is no such map.
    """

    array: Shape
    block: tuple[MaybeDim | str, ...] | None
    kinds: tuple[str, ...] | None
    index: tuple[MaybeDim, ...] | None


@dataclass(frozen=True, slots=True)
class RefInfo:
    """One ref of a kernel. ``shape``: None when the rank is unknown; ``why``: the cause of what is unknown.

    ``parameter``: the name in the kernel's head that receives it; ``spec``: the BlockSpec or scratch entry that made it, or the call where
    none is written; ``source``: the operand's expression, or the entry of ``out_shape``.
    """

    name: str
    role: str
    shape: Shape
    dtype: str | None
    memory_space: str | None
    why: str = ""
    parameter: Location | None = None
    spec: Location | None = None
    source: Location | None = None
    window: RefWindow | None = None


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
    vmem: dict[int, MaybeDim] = {}
    for event in events:
        if isinstance(event, Footprint):
            vmem.update(dict.fromkeys(map(id, event.roots), total(shares(event, "vmem"), event)))
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
    parameters = _parameters(kernel) if isinstance(kernel, Function) else {}
    refs = tuple(_info(name_, ref, parameters.get(given)) for given, value in event.refs for name_, ref in named_refs(given, value))
    unknowns = tuple(dict.fromkeys(info.why for info in refs if info.why and (info.shape is None or info.dtype is None)))
    size = next((vmem[id(ref.root)] for ref in refs_in([value for _, value in event.refs]) if id(ref.root) in vmem), None)
    taken = size if isinstance(size, int) else None
    return KernelSite(event.where.location, name, place, _grid(event.grid), refs, taken, "undecided", unknowns)


def _grid(grid: Value) -> tuple[MaybeDim, ...] | None:
    if isinstance(grid, tuple | list):
        return tuple(as_dim(dim) if not isinstance(dim, Array) else None for dim in grid)
    dim = as_dim(grid) if not isinstance(grid, Unknown) else None
    return (dim,) if dim is not None else None


def _parameters(kernel: Function) -> dict[str, Location]:
    """Where the names of a function's parameters stand."""
    spec, source = kernel.node.args, kernel.module.source
    nodes = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *filter(None, (spec.vararg, spec.kwarg))]
    starts = {node.arg: source.span_of(node).start for node in nodes}
    return {name: Location(source.path, Span(start, start + len(name))) for name, start in starts.items()}


def _info(name: str, ref: Ref, parameter: Location | None) -> RefInfo:
    root = ref.root
    source = root.given_at or (location_of(root.typed) if root.role == "output" and root.typed is not None else None)
    places = (parameter, root.decided_at, source)
    return RefInfo(name, root.role, root.shape, root.dtype, root.space, root.why, *places, _window(root))


def _window(root: RefRoot) -> RefWindow | None:
    window = root.window
    if not isinstance(window, Window):
        return None
    index: tuple[MaybeDim, ...] | None = window.result.formula if window.result is not None else None
    if not window.mapped and root.block is not None:
        index = (0,) * len(root.block)
    return RefWindow(root.array, root.block, window.kinds, index)
