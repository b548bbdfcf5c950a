"""The line above a kernel call: its grid, how much VMEM it takes, and whether it lowers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..kernels.joined import calls, joined_shape
from ..rules import words
from ..shapes.dims import render
from ..text.span import Location, Span

if TYPE_CHECKING:
    from ..analysis import Analysis
    from ..kernels.site import KernelSite
    from ..rules.diagnostic import Diagnostic


@dataclass(frozen=True, slots=True)
class Lens:
    """``title`` above the call at ``span``; ``faults``: where the errors are that it counts."""

    span: Span
    title: str
    faults: tuple[Location, ...] = ()


def lenses(analysis: Analysis, target: str | None = None) -> list[Lens]:
    """A lens for each kernel call of the file, whatever is known of it. ``target``: the chip that kernels are for."""
    return [
        _lens(location.span, sites, analysis.diagnostics, target)
        for location, sites in calls(analysis.sites)
        if location.path == analysis.source.path
    ]


def _lens(span: Span, sites: Sequence[KernelSite], diagnostics: Sequence[Diagnostic], target: str | None) -> Lens:
    faults = tuple(_faults(sites, diagnostics))
    return Lens(span, " · ".join([*_grid(sites), *_vmem(sites, target), _state(sites, len(faults))]), faults)


def _grid(sites: Sequence[KernelSite]) -> Iterator[str]:
    if grid := joined_shape(site.grid for site in sites):
        yield f"grid {'×'.join(map(render, grid)) if all(isinstance(size, int) for size in grid) else words.grid(grid)}"


def _vmem(sites: Sequence[KernelSite], target: str | None) -> Iterator[str]:
    """What the configuration that takes most needs, and what it may use on the target."""
    known = [(site.vmem_bytes, dict(site.vmem_limits)) for site in sites if site.vmem_bytes is not None]
    if known:
        size, limits = max(known, key=lambda one: one[0])
        limit = f" of {words.memory(limits[target])} ({target})" if target in limits else ""
        yield f"VMEM {words.memory(size)}{limit}"


def _state(sites: Sequence[KernelSite], errors: int) -> str:
    """The verdict: of several configurations that of the one that fails, else of the calls that the program makes."""
    if errors:
        return words.count(errors, "error")
    verdicts = {site.verdict for site in sites}
    if "fails" in verdicts:
        return "fails"
    if "lowers" in verdicts:
        return "lowers" if len(verdicts) == 1 else "lowers as it is called"
    why = next((unknown for site in sites for unknown in site.unknowns), None)
    return f"undecided: {why}" if why else "undecided"


def _faults(sites: Sequence[KernelSite], diagnostics: Sequence[Diagnostic]) -> Iterator[Location]:
    """Where the errors of a call are that are shown: in it, in its specs, in its kernel and what that calls."""
    faults = {fault for site in sites for fault in site.faults}
    return (found.location for found in diagnostics if found.severity == "error" and found.location in faults)
