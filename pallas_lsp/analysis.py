"""The one pure function: ``analyze(source, project, settings) -> Analysis``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from .data.versions import parse_version
from .interpreter.machine import Machine
from .interpreter.modules import ModuleFile
from .interpreter.run import run_module
from .kernels.site import KernelSite, sites_of
from .notes import Notes
from .resolve.environment import jax_version
from .resolve.project import Project
from .rules.diagnostic import Diagnostic
from .rules.findings import SuppressionComments, diagnostics_of, unused_suppressions
from .rules.registry import Context, RuleTable
from .settings import Settings
from .text.parse import Parsed, parse
from .text.source import Source
from .text.suppressions import find_suppressions

_RECURSION = 20_000
_CALLERS = 8
# A file that says none of these holds neither a kernel nor a spec, whoever imports it.
_SIGNS = ("pallas", "_ref", "BlockSpec", "VMEM", "SMEM")


@dataclass(frozen=True)
class Analysis:
    """All that is known of a document: its findings (those in other files too), its kernel calls, its values for hover.

    ``depends_on``: the files that were read; ``unresolved``: names of installed packages that were not looked up;
    ``cut``: what budgets left out, by kind.
    """

    source: Source
    parsed: Parsed
    diagnostics: list[Diagnostic]
    sites: list[KernelSite]
    notes: Notes
    depends_on: frozenset[str] = frozenset()
    unresolved: frozenset[str] = frozenset()
    cut: dict[str, int] = field(default_factory=dict)


def analyze(
    source: Source,
    project: Project,
    settings: Settings,
    cancelled: Callable[[], bool] | None = None,
    *,
    lookup: bool = True,
    callers: bool = True,
) -> Analysis:
    """Parse, interpret, judge. Reads files of the project and its environment only; never runs the user's code.

    ``cancelled`` is asked now and then; once it says yes, ``interpreter.machine.Cancelled`` is raised. ``lookup``: look up names of installed
    packages (jedi, up to half a second each). ``callers``: interpret the project's files that import this one too, for a kernel or a spec is
    judged where it is called; their findings elsewhere are left to their own analysis.
    """
    parsed = project.parsed(source.path) if project.read(source.path) == source else parse(source.text)
    if parsed is None or not any(sign in source.text for sign in _SIGNS):
        parsed = parsed or parse(source.text)
        return Analysis(source, parsed, [], [], Notes.empty(source, parsed))
    version = settings.jax_version or jax_version(project.environment)
    machine = Machine(project, source.path, version, project.installed if lookup else None, cancelled)
    module = ModuleFile(source, parsed)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION))
    try:
        if "pallas" in source.text:
            run_module(machine, module)
        own = len(machine.events)
        if callers:
            _run_callers(machine, module)
    finally:
        sys.setrecursionlimit(limit)
    events = machine.events[:own] + [event for event in machine.events[own:] if event.where.module.path == source.path]
    context = Context(parse_version(version) if version else None, settings.target)
    comments = find_suppressions(source, parsed)
    diagnostics = diagnostics_of(events, RuleTable(), context, settings, SuppressionComments(project, comments))
    return Analysis(
        source,
        parsed,
        [*diagnostics, *unused_suppressions(comments, settings)],
        sites_of(events),
        Notes(source, parsed, module, machine.notes),
        frozenset(machine.modules),
        frozenset(machine.unresolved),
        machine.cut,
    )


def _run_callers(machine: Machine, module: ModuleFile) -> None:
    """Interpret the files that import the document, which is the same module to all of them."""
    machine.modules.setdefault(module.path, module)
    for path in machine.project.importers(module.path)[:_CALLERS]:
        source, parsed = machine.project.read(path), machine.project.parsed(path)
        if source is not None and parsed is not None:
            run_module(machine, machine.modules.get(path) or ModuleFile(source, parsed))
