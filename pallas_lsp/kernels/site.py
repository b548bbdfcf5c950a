"""A kernel call as it was understood: the model behind ``inspect``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from ..data.chips import load_chips
from ..interpreter.call_events import Footprint
from ..interpreter.events import Event, KernelCall, KernelRun
from ..interpreter.library.uses import refs_in
from ..interpreter.truth import as_dim
from ..interpreter.values import Array, Function, Unknown, Value
from ..shapes.dims import MaybeDim
from ..text.span import Location
from .budget import Budget, budget_of
from .parameters import vmem_limit
from .refs import RefInfo, refs_of
from .verdict import Judge, Verdict, Verdicts, joined


@dataclass(frozen=True, slots=True)
class KernelSite:
    """One kernel call in one configuration.

    ``grid``: None when unknown; ``vmem_bytes``: None when not all sizes are known; ``vmem_limits``: what it may use on each chip, by its
    compiler parameters; ``budget``: the VMEM as a table, None when not all refs are known.

    ``verdict``: ``lowers``, ``fails`` or ``undecided``; ``unknowns``: what would have to be known, most useful first; ``conditions``: what
    was assumed on the way to the call, which may be so or not; ``faults``: where JAX refuses it.
    """

    location: Location
    kernel_name: str | None
    kernel_location: Location | None
    grid: tuple[MaybeDim, ...] | None
    refs: tuple[RefInfo, ...]
    vmem_bytes: int | None
    verdict: str
    unknowns: tuple[str, ...]
    conditions: tuple[str, ...] = ()
    faults: tuple[Location, ...] = ()
    vmem_limits: tuple[tuple[str, int], ...] = ()
    budget: Budget | None = None


def sites_of(
    events: Iterable[Event], judge: Judge, kept: Callable[[Event, Callable[[], KernelSite]], KernelSite] = lambda _, make: make()
) -> list[KernelSite]:
    """The kernel calls of a run, each configuration once, in the order of the text; ``judge`` judges their events, ``kept`` gives
    what is known of a call already, where the text is now, or else what it is given to make it.
    """
    events = list(events)
    judged = Verdicts(events, judge)
    footprints: dict[int, Footprint] = {}
    for event in events:
        if isinstance(event, Footprint):
            footprints.update(dict.fromkeys(map(id, event.roots), event))
    found: dict[tuple[object, ...], tuple[KernelSite, list[Verdict]]] = {}
    for event in events:
        if isinstance(event, KernelCall):
            site = kept(event, partial(_site, event, judged.run_of(event), footprints))
            key = (site.location, site.kernel_location, site.grid, site.refs)
            known, verdicts = found.get(key, (site, []))
            shared = tuple(words for words in known.conditions if words in site.conditions)
            found[key] = replace(known, conditions=shared), [*verdicts, judged.of(event)]
    joint = [(site, joined(verdicts)) for site, verdicts in found.values()]
    sites = [replace(site, verdict=verdict.word, unknowns=verdict.unknowns, faults=verdict.faults) for site, verdict in joint]
    return sorted(sites, key=lambda site: (site.location.path, site.location.span))


def _site(call: KernelCall, run: KernelRun | None, footprints: dict[int, Footprint]) -> KernelSite:
    kernel = run.kernel if run is not None else call.kernel
    name = kernel.name if isinstance(kernel, Function) else None
    place = Location(kernel.module.path, kernel.module.source.span_of(kernel.node)) if isinstance(kernel, Function) else None
    refs = refs_of(run) if run is not None else ()
    values = [value for _, value in run.refs] if run is not None else []
    footprint = next((footprints[id(ref.root)] for ref in refs_in(values) if id(ref.root) in footprints), None)
    budget = budget_of(footprint) if footprint is not None else None
    limits = tuple((chip, vmem_limit(footprint.parameters, chip)) for chip in load_chips()) if footprint is not None else ()
    taken = budget.total if budget is not None and isinstance(budget.total, int) else None
    conditions = call.where.conditions
    return KernelSite(
        call.where.location, name, place, _grid(call.grid), refs, taken, "undecided", (), conditions, vmem_limits=limits, budget=budget
    )  # fmt: skip


def _grid(grid: Value) -> tuple[MaybeDim, ...] | None:
    if isinstance(grid, tuple | list):
        return tuple(as_dim(dim) if not isinstance(dim, Array) else None for dim in grid)
    dim = as_dim(grid) if not isinstance(grid, Unknown) else None
    return (dim,) if dim is not None else None

