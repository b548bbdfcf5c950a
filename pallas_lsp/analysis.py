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
from .rules.findings import diagnostics_of
from .rules.registry import Context, RuleTable
from .settings import Settings
from .text.parse import Parsed
from .text.source import Source

_RECURSION = 20_000


@dataclass(frozen=True)
class Analysis:
    """All that is known of a document: its findings (those in other files too), its kernel calls, its values for hover."""

    source: Source
    parsed: Parsed
    diagnostics: list[Diagnostic]
    sites: list[KernelSite]
    notes: Notes
    depends_on: frozenset[str]
    cut: dict[str, int] = field(default_factory=dict)


def analyze(source: Source, project: Project, settings: Settings, cancelled: Callable[[], bool] | None = None) -> Analysis:
    """Parse, interpret, judge. Reads files of the project only; never runs the user's code.

    ``cancelled`` is asked now and then; once it says yes, ``interpreter.machine.Cancelled`` is raised.
    """
    parsed = project.parsed(source.path)
    if parsed is None or project.read(source.path) != source:
        from .text.parse import parse

        parsed = parse(source.text)
    if not concerns_pallas(source.text, parsed):
        return Analysis(source, parsed, [], [], Notes.empty(source, parsed), frozenset())
    version = settings.jax_version or jax_version(project.environment)
    machine = Machine(project, source.path, version, cancelled=cancelled)
    module = ModuleFile(source, parsed)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION))
    try:
        run_module(machine, module)
    finally:
        sys.setrecursionlimit(limit)
    context = Context(parse_version(version) if version else None, settings.target)
    diagnostics = diagnostics_of(machine.events, RuleTable(), context, project, settings)
    return Analysis(
        source, parsed, diagnostics, sites_of(machine.events), Notes(source, parsed, module, machine.notes), frozenset(machine.modules), machine.cut
    )


def concerns_pallas(text: str, parsed: Parsed) -> bool:
    """Whether the file can hold a kernel call: it says so itself, or imports something of its project."""
    return "pallas" in text or "pl." in text
