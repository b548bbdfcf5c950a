"""Interpreting a document with the files that import it, anew or with what is kept of the last time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeVar

from .data.versions import parse_version
from .depth import deep
from .fixes.verification import Judgement, Verifier, judge
from .given import GivenCall
from .glimpse import Told, edited_units, half_written, is_shown
from .interpreter.entry_runs import EntryRuns, Taken, take_alone
from .interpreter.events import Event, KernelRun
from .interpreter.given_calls import run_given
from .interpreter.importing import run_quietly
from .interpreter.machine import Cancelled, Machine
from .interpreter.modules import ModuleFile
from .interpreter.noted import Noted, merged
from .interpreter.run import run_module
from .interpreter.values import Function
from .kernels.site import KernelSite
from .resolve.environment import jax_version
from .resolve.project import Project
from .rules.findings import Judged, judged
from .rules.registry import Context, Finding, Rule, RuleTable
from .settings import Settings
from .text.parse import Parsed
from .text.source import Source
from .text.units import Layout

_CALLERS = 8

Data = TypeVar("Data")
Glimpsed = Callable[[list[Event]], None]


class Memory:
    """What is kept of the analyses of one document for the next one, which it makes faster and never changes."""

    def __init__(self) -> None:
        self._runs = EntryRuns()
        self._rests_on: object = None
        self._missed = False
        self.told: Told | None = None

    def runs(self, rests_on: object, lookup: bool) -> EntryRuns:
        """The runs that hold under what they rest on beside the texts; none where that has changed, or where ``lookup`` may tell more."""
        if rests_on != self._rests_on or (lookup and self._missed):
            self._runs, self._rests_on, self._missed, self.told = EntryRuns(), rests_on, False, None
        return self._runs

    def missed(self, names: Collection[str]) -> None:
        """Remember whether there were names that a lookup could have told."""
        self._missed = self._missed or bool(names)


@dataclass(frozen=True)
class Run:
    """A document that was interpreted, with its callers or not: its own runs, and theirs."""

    machine: Machine
    module: ModuleFile
    own: list[Taken]
    theirs: list[Taken]
    with_callers: bool

    @property
    def is_new(self) -> bool:
        """Whether nothing in it is kept from an earlier text."""
        return all(taken.moves is None for taken in (*self.own, *self.theirs))

    @property
    def events(self) -> list[Event]:
        """The events of the document's own runs, and of its callers' those that happened in the document."""
        return [event for taken in (*self.own, *self.theirs) for event in self._told(taken)]

    @property
    def all_events(self) -> list[Event]:
        """The events of all runs, in whichever file. The machine does not hold them: what is kept of it would keep all of them."""
        return [event for taken in (*self.own, *self.theirs) for event in taken.run.events]

    @property
    def noted(self) -> Noted:
        """What names were seen to be."""
        return merged((taken.run.noted, taken.moves) for taken in (*self.own, *self.theirs))

    @property
    def files(self) -> frozenset[str]:
        """The files that were read."""
        return frozenset(self.machine.modules).union(*(taken.run.files for taken in (*self.own, *self.theirs)))

    def judged(self, table: RuleTable) -> Iterator[Judged]:
        """What the rules find in the events, where it is now."""
        for taken in (*self.own, *self.theirs):
            if taken.run.findings is None:
                taken.run.findings = judged(self._while_wanted(self._told(taken)), table)
            for found in taken.run.findings:
                yield found if taken.moves is None else found.moved(taken.moves.data)

    def _while_wanted(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events, unless nobody wants the result any more."""
        cancelled = self.machine.cancelled
        for number, event in enumerate(events):
            if not number & 63 and cancelled is not None and cancelled():
                raise Cancelled
            yield event

    def moved(self, event: Event, data: Data) -> Data:
        """What was found at an event, where it is now."""
        taken = self._taken.get(id(event))
        return data if taken is None or taken.moves is None else taken.moves.data(data)

    def site(self, event: Event, make: Callable[[], KernelSite]) -> KernelSite:
        """What ``make`` makes of the event of a kernel call, where it is now; it is made once for the run that the event is of."""
        taken = self._taken.get(id(event))
        if taken is None:
            return make()
        if id(event) not in taken.run.sites:
            taken.run.sites[id(event)] = make()
        site: KernelSite = taken.run.sites[id(event)]
        return self.moved(event, site)

    def first(self, event: Event, table: RuleTable) -> tuple[Rule, Finding] | None:
        """The finding that JAX would raise for an event (`RuleTable.first`), which was looked for already where the event was judged."""
        if id(event) not in self._judged:
            return table.first(event)
        found = self._judged[id(event)]
        return (found.rule, found.finding) if found is not None else None

    def calls_elsewhere(self) -> list[Event]:
        """The events of the calls that callers make of kernels of the document."""
        path = self.module.path
        theirs = (event for taken in self.theirs for event in taken.run.events)
        runs = (event for event in theirs if isinstance(event, KernelRun) and event.where.module.path != path)
        own = [run.where.record for run in runs if isinstance(run.kernel, Function) and run.kernel.module.path == path]
        records = {id(part) for record in own if record is not None for part in record.whole()}
        return [event for event in self.all_events if id(event.where.record) in records] if records else []

    @cached_property
    def _taken(self) -> dict[int, Taken]:
        return {id(event): taken for taken in (*self.own, *self.theirs) for event in taken.run.events}

    @cached_property
    def _judged(self) -> dict[int, Judged | None]:
        judged = [taken for taken in (*self.own, *self.theirs) if taken.run.findings is not None]
        known: dict[int, Judged | None] = {id(event): None for taken in judged for event in self._told(taken)}
        return known | {id(found.event): found for taken in judged for found in taken.run.findings}

    @cached_property
    def _foreign(self) -> set[int]:
        return {id(taken) for taken in self.theirs}

    def _told(self, taken: Taken) -> list[Event]:
        """What a run tells of the document: a caller's findings elsewhere are left to its own analysis."""
        events = taken.run.events
        return [event for event in events if event.where.module.path == self.module.path] if id(taken) in self._foreign else events


class Interpreter:
    """Interprets documents under the same settings, as often as asked."""

    def __init__(
        self, project: Project, settings: Settings, lookup: bool, cancelled: Callable[[], bool] | None, details: bool = True
    ) -> None:
        self.project = project
        self.version = settings.jax_version or jax_version(project.environment)
        self.table = RuleTable.of(Context(parse_version(self.version) if self.version else None, settings.target))
        self._lookup = lookup
        self._details = details
        self._cancelled = cancelled
        self._callers: dict[str, list[str]] = {}
        self._settings = settings

    def run(
        self, source: Source, parsed: Parsed, callers: bool = True, memory: Memory | None = None, glimpsed: Glimpsed | None = None
    ) -> Run:
        """Interpret the document, and then, with ``callers``, the files that import it, for which it is the same module.

        ``glimpsed`` is given the events that there are once some are of what was edited since ``memory`` was told of the document.
        """
        rests_on = self._settings, self.version, self._details, self.project, self.project.generation
        earlier = memory.runs(rests_on, self._lookup) if memory is not None else EntryRuns()
        watched = (memory.told.layout, glimpsed) if memory is not None and memory.told is not None and glimpsed is not None else None
        run = self._run(source, parsed, callers, earlier, watched)
        if memory is not None:
            memory.missed(run.machine.unresolved)
        if not earlier.is_sound and not run.is_new:  # what was kept may have done what now is missing
            return self._run(source, parsed, callers, EntryRuns())
        return run

    @deep
    def _run(
        self, source: Source, parsed: Parsed, callers: bool, known: EntryRuns, watched: tuple[Layout, Glimpsed] | None = None
    ) -> Run:
        machine, module = self._machine(source), ModuleFile(source, parsed)
        if watched is not None and (edited := edited_units(watched[0], parsed.layout)):
            if edited <= half_written(parsed):
                watched[1]([])  # nothing will be told of what was edited
            else:
                machine.glance = _glancing(machine, module, edited, watched[1])
        own: list[Taken] = []
        theirs: list[Taken] = []
        known.turn_to(module, self.project)
        if "pallas" in source.text:
            own = run_module(machine, module, self._given(module.path), known, module)
        machine.modules.setdefault(module.path, module)
        for path in self.callers_of(source.path) if callers else ():
            caller, tree = self.project.read(path), self.project.parsed(path)
            if caller is not None and tree is not None:
                found = machine.modules.get(path) or ModuleFile(caller, tree)
                theirs += run_module(machine, found, self._given(path), known, module)
        known.settle()
        return Run(machine, module, own, theirs, callers)

    @deep
    def trace(self, source: Source, parsed: Parsed, call: GivenCall) -> Run:
        """Interpret one call of a function of the document, whose top level only makes the names that it has."""
        machine, module = self._machine(source), ModuleFile(source, parsed)
        machine.modules[module.path] = module
        run_quietly(machine, module)
        taken = take_alone(machine, module, lambda: run_given(machine, module, call))
        return Run(machine, module, [taken], [], with_callers=False)

    def _machine(self, source: Source) -> Machine:
        installed = self.project.installed if self._lookup else None
        return Machine(self.project, source.path, self.version, installed, self._cancelled, self._details, self._settings.target)

    def _given(self, path: str) -> list[GivenCall]:
        return [call for call in self._settings.shapes if call.is_of(path)]

    def callers_of(self, path: str) -> list[str]:
        """The files that import ``path``, looked for once."""
        if path not in self._callers:
            self._callers[path] = self.project.importers(path)[:_CALLERS]
        return self._callers[path]


def _glancing(machine: Machine, module: ModuleFile, edited: set[int], glimpsed: Glimpsed) -> Callable[[], None]:
    """What looks, at the end of every path, whether there is something to tell of what was edited, and tells it once."""
    before = machine.glance

    def glance() -> None:
        if is_shown(edited, machine.events, module):
            machine.glance = before
            glimpsed(machine.events)

    return glance


def verifier(interpreter: Interpreter, run: Run) -> Verifier:
    """What tries the fixes of a run, when they are looked at: by interpreting the edited texts, callers and all."""
    project, document = interpreter.project, run.module.path

    def judgement(paths: frozenset[str], events: list[Event]) -> Judgement:
        for path in sorted(paths):
            source, parsed = project.read(path), project.parsed(path)
            if source is not None and parsed is not None:
                events = events + interpreter.run(source, parsed).all_events
        return judge(events, interpreter.table)

    @cache
    def before(paths: frozenset[str]) -> Judgement:
        if run.with_callers or not interpreter.callers_of(document):
            return judgement(paths - {document}, run.all_events)
        return judgement(paths | {document}, [])

    texts = {path: module.source for path, module in run.machine.modules.items()}
    return Verifier(project, texts, before, after=lambda paths: judgement(paths | {document}, []))
