"""The one pure function: ``analyze(source, project, settings) -> Analysis``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache

from .data.versions import KNOWN, parse_version
from .fixes.verification import Judgement, Verifier, judge
from .given import GivenCall
from .interpreter.events import Event, KernelRun
from .interpreter.given_calls import run_given
from .interpreter.importing import run_quietly
from .interpreter.machine import Machine
from .interpreter.modules import ModuleFile
from .interpreter.run import run_module
from .interpreter.values import Function
from .kernels.site import KernelSite, sites_of
from .kernels.verdict import Judge as VerdictJudge
from .notes import Notes
from .resolve.environment import jax_version
from .resolve.project import Project
from .rules.certain import doubt_about
from .rules.diagnostic import Diagnostic
from .rules.findings import SuppressionComments, diagnostics_of, unused_suppressions
from .rules.registry import Context, RuleTable
from .settings import Settings
from .text.parse import Parsed, parse
from .text.source import Source
from .text.span import Location
from .text.suppressions import find_suppressions

_RECURSION = 20_000
_CALLERS = 8
# A file that says none of these holds neither a kernel nor a spec, whoever imports it.
_SIGNS = ("pallas", "_ref", "BlockSpec", "VMEM", "SMEM")


@dataclass(frozen=True)
class Analysis:
    """All that is known of a document: its findings (those in other files too), its kernel calls, its values for hover.

    ``uses``: the calls in other files of kernels that are in this one. ``depends_on``: the files that were read; ``unresolved``: names of
    installed packages that were not looked up; ``cut``: what budgets left out, by kind; ``wrong_calls``: what is wrong with calls that the
    settings give.
    """

    source: Source
    parsed: Parsed
    diagnostics: list[Diagnostic]
    sites: list[KernelSite]
    uses: list[KernelSite]
    notes: Notes
    depends_on: frozenset[str] = frozenset()
    unresolved: frozenset[str] = frozenset()
    cut: dict[str, int] = field(default_factory=dict)
    wrong_calls: tuple[str, ...] = ()


def analyze(
    source: Source,
    project: Project,
    settings: Settings,
    cancelled: Callable[[], bool] | None = None,
    *,
    lookup: bool = True,
    callers: bool = True,
    call: GivenCall | None = None,
) -> Analysis:
    """Parse, interpret, judge. Reads files of the project and its environment only; never runs the user's code.

    ``cancelled`` is asked now and then; once it says yes, ``interpreter.machine.Cancelled`` is raised. ``lookup``: look up names of
    installed packages (jedi, slow the first time). ``callers``: interpret the project's files that import this one too, for a kernel
    or a spec is judged where it is called; their findings elsewhere are left to their own analysis. ``call``: interpret nothing but this
    call of a function of the document; `given.WrongCall` is raised where that cannot be.
    """
    parsed = project.parsed(source.path) if project.read(source.path) == source else parse(source.text)
    if parsed is None or (call is None and not any(sign in source.text for sign in _SIGNS)):
        parsed = parsed or parse(source.text)
        return Analysis(source, parsed, [], [], [], Notes.empty(source, parsed))
    interpreter = _Interpreter(project, settings, lookup, cancelled)
    run = interpreter.run(source, parsed, callers) if call is None else interpreter.trace(source, parsed, call)
    comments = find_suppressions(source, parsed)
    suppressions = SuppressionComments(project, comments)
    diagnostics = diagnostics_of(
        run.events, interpreter.table, settings, suppressions, _verifier(interpreter, run).fixes, run.machine.called
    )
    machine, judging = run.machine, _judging(interpreter.table)
    return Analysis(
        source,
        parsed,
        [*diagnostics, *(unused_suppressions(comments, settings) if call is None else ())],
        sites_of(run.events, judging),
        sites_of(run.calls_elsewhere(), judging),
        Notes(source, parsed, run.module, machine.notes, machine.varied),
        frozenset(machine.modules),
        frozenset(machine.unresolved),
        machine.cut,
        tuple(machine.wrong_calls),
    )


@dataclass(frozen=True)
class _Run:
    """A document that was interpreted, with its callers or not; ``own``: how many events came before theirs."""

    machine: Machine
    module: ModuleFile
    own: int
    with_callers: bool

    @property
    def events(self) -> list[Event]:
        """The events of the document's own run, and of its callers' those that happened in the document."""
        theirs = self.machine.events[self.own :]
        return self.machine.events[: self.own] + [event for event in theirs if event.where.module.path == self.module.path]

    def calls_elsewhere(self) -> list[Event]:
        """The events of the calls that callers make of kernels of the document."""
        events, path = self.machine.events, self.module.path
        runs = (event for event in events[self.own :] if isinstance(event, KernelRun) and event.where.module.path != path)
        own = [run.where.record for run in runs if isinstance(run.kernel, Function) and run.kernel.module.path == path]
        records = {id(part) for record in own if record is not None for part in record.whole()}
        return [event for event in events if id(event.where.record) in records] if records else []


class _Interpreter:
    """Interprets documents under the same settings, as often as asked."""

    def __init__(self, project: Project, settings: Settings, lookup: bool, cancelled: Callable[[], bool] | None) -> None:
        self.project = project
        self.version = settings.jax_version or jax_version(project.environment)
        self.table = RuleTable(Context(parse_version(self.version) if self.version else None, settings.target))
        self._lookup = lookup
        self._cancelled = cancelled
        self._callers: dict[str, list[str]] = {}
        self._shapes = settings.shapes

    def run(self, source: Source, parsed: Parsed, callers: bool = True) -> _Run:
        """Interpret the document, and then, with ``callers``, the files that import it, for which it is the same module."""
        machine, module = self._machine(source), ModuleFile(source, parsed)
        with _deep_recursion():
            if "pallas" in source.text:
                run_module(machine, module, self._given(module.path))
            own = len(machine.events)
            machine.modules.setdefault(module.path, module)
            for path in self.callers_of(source.path) if callers else ():
                caller, tree = self.project.read(path), self.project.parsed(path)
                if caller is not None and tree is not None:
                    run_module(machine, machine.modules.get(path) or ModuleFile(caller, tree), self._given(path))
        return _Run(machine, module, own, callers)

    def trace(self, source: Source, parsed: Parsed, call: GivenCall) -> _Run:
        """Interpret one call of a function of the document, whose top level only makes the names that it has."""
        machine, module = self._machine(source), ModuleFile(source, parsed)
        machine.modules[module.path] = module
        with _deep_recursion():
            run_quietly(machine, module)
            run_given(machine, module, call)
        return _Run(machine, module, len(machine.events), with_callers=False)

    def _machine(self, source: Source) -> Machine:
        return Machine(self.project, source.path, self.version, self.project.installed if self._lookup else None, self._cancelled)

    def _given(self, path: str) -> list[GivenCall]:
        return [call for call in self._shapes if call.is_of(path)]

    def callers_of(self, path: str) -> list[str]:
        """The files that import ``path``, looked for once."""
        if path not in self._callers:
            self._callers[path] = self.project.importers(path)[:_CALLERS]
        return self._callers[path]


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Around the interpreting of texts that nest deeper than Python lets its own interpreter go."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _judging(table: RuleTable) -> VerdictJudge:
    """What the verdicts of kernel calls rest on: the rules, and what is certain where no rule speaks."""

    def refused(event: Event, table: RuleTable) -> Location | None:
        found = table.first(event)
        return found[1].location if found is not None and found[0].severity == "error" and not found[1].hint else None

    context = table.context
    tables = [RuleTable(replace(context, version=version)) for version in KNOWN] if context.version is None else [table]
    return VerdictJudge(
        refused=lambda event: refused(event, table),
        may_refuse=lambda event: any(refused(event, each) is not None for each in tables),
        doubt=lambda event: doubt_about(event, context),
    )


def _verifier(interpreter: _Interpreter, run: _Run) -> Verifier:
    """What tries the fixes of a run, when they are looked at: by interpreting the edited texts, callers and all."""
    project, document = interpreter.project, run.module.path

    def judged(paths: frozenset[str], events: list[Event]) -> Judgement:
        for path in sorted(paths):
            source, parsed = project.read(path), project.parsed(path)
            if source is not None and parsed is not None:
                events = events + interpreter.run(source, parsed).machine.events
        return judge(events, interpreter.table)

    @cache
    def before(paths: frozenset[str]) -> Judgement:
        if run.with_callers or not interpreter.callers_of(document):
            return judged(paths - {document}, run.machine.events)
        return judged(paths | {document}, [])

    texts = {path: module.source for path, module in run.machine.modules.items()}
    return Verifier(project, texts, before, after=lambda paths: judged(paths | {document}, []))
