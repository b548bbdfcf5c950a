"""What the run of an entry left behind, so that it need not run again while nothing changes that it rests on.

A run is decided by the text that it reaches (``dependences``), by the other files that were read, and by what earlier runs of the
document have done already (``shared``). Where one leaves something behind that only the values of the modules show, none is used again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ..resolve.project import Project
from ..text.source import Source
from ..text.span import Location
from .dependences import void_units
from .events import Event
from .machine import Machine
from .modules import ModuleFile, Place
from .moves import Moves
from .noted import Noted
from .surroundings import Surroundings
from .values import SPEC_FIELDS, BlockSpec, GridSpec, Imported, Instance, Iteration, Value

Entry = tuple[str, Place]
"""How it is run, and the place of its function."""

_DEPTH = 3
_ITEMS = 64


@dataclass(slots=True)
class EntryRun:
    """One run: its events and notes, what it asked of what runs share and what it added to that.

    ``document``: the document as it was then; ``files``: those that were read. ``numbered``: whether it made a difference on which line
    something stands. ``findings`` and ``sites``: kept here by whoever judges the events,
    the latter by the ``id`` of an event.
    """

    document: ModuleFile
    events: list[Event]
    noted: Noted
    cut: dict[str, int]
    kernels: set[Place]
    asked: tuple[Mapping[Any, Any], Mapping[Any, Any]]
    added: tuple[Mapping[Any, Any], Mapping[Any, Any]]
    files: dict[str, Source]
    numbered: bool
    findings: Any = None
    sites: dict[int, Any] = field(default_factory=dict)


@dataclass(slots=True)
class EntryRuns:
    """The runs of the last interpreting of a document and its callers, by entry.

    ``is_sound``: none left anything behind but what it holds.
    """

    by_entry: dict[Entry, EntryRun] = field(default_factory=dict)
    is_sound: bool = True
    _document: ModuleFile | None = None
    _used: set[Entry] = field(default_factory=set)

    def turn_to(self, document: ModuleFile, project: Project) -> None:
        """Forget what does not hold for the document and the other files as they are now."""
        before, self._document, self._used = self._document, document, set()
        now = {path: project.read(path) for run in self.by_entry.values() for path in run.files}
        trees = (project.parsed(path) for path in now if path != document.path)
        layouts = [tree.layout for tree in trees if tree is not None]
        void = void_units(before.parsed.layout, document.parsed.layout, layouts) if before is not None and self.is_sound else None
        if before is None or void is None:
            self.by_entry, self.is_sound = {}, True
            return
        moved = before.source.line_count != document.source.line_count
        self.by_entry = {
            entry: run
            for entry, run in self.by_entry.items()
            if entry[1][1] not in void
            and not (moved and run.numbered)
            and all(path == document.path or now[path] is source for path, source in run.files.items())
        }

    def find(self, entry: Entry) -> EntryRun | None:
        """The run of an entry that may hold."""
        self._used.add(entry)
        return self.by_entry.get(entry)

    def keep(self, entry: Entry, run: EntryRun, is_sound: bool) -> None:
        """Keep a run; what it left behind beside makes all of them doubtful."""
        self.by_entry[entry] = run
        self.is_sound = self.is_sound and is_sound

    def settle(self) -> None:
        """Forget the entries that there are no more."""
        self.by_entry = {entry: run for entry, run in self.by_entry.items() if entry in self._used}


def made_by(machine: Machine, document: ModuleFile, run: Callable[[], None]) -> tuple[EntryRun, bool]:
    """Run something by itself, and whether it left nothing behind but its run."""
    total = machine.events, machine.noted, machine.cut, machine.kernels
    shared = machine.seen_kernels, machine.kernel_coverage
    machine.events, machine.noted, machine.cut, machine.kernels = [], Noted(), {}, set()
    machine.around, machine.numbered = Surroundings(), False
    for part in shared:
        part.start()
    before, wide = _state(machine), machine.wide
    try:
        run()
        made = EntryRun(
            document, machine.events, machine.noted, machine.cut, machine.kernels,
            (shared[0].asked, shared[1].asked), (shared[0].added, shared[1].added),
            {path: other.source for path, other in machine.modules.items()}, machine.numbered,
        )  # fmt: skip
    finally:
        machine.events, machine.noted, machine.cut, machine.kernels = total
    return made, machine.wide == wide and not _differs(before, machine)


def holds(machine: Machine, run: EntryRun) -> bool:
    """Whether a run now would be given the same answers as that of the run."""
    return machine.seen_kernels.agrees(run.asked[0]) and machine.kernel_coverage.agrees(run.asked[1])


@dataclass(frozen=True, slots=True)
class Taken:
    """A run that counts as part of an interpreting; ``moves`` is None where it is of the very text."""

    run: EntryRun
    moves: Moves | None

    @property
    def calls(self) -> set[Location]:
        """The kernel calls that its events are of."""
        found = {event.where.call for event in self.run.events if event.where.call is not None}
        return found if self.moves is None else set(map(self.moves.location, found))


def take(machine: Machine, document: ModuleFile, run: EntryRun) -> Taken:
    """Let a run, new or old, count as part of the interpreting."""
    moves = Moves(run.document, document) if run.document is not document else None
    machine.seen_kernels.adopt(run.added[0])
    machine.kernel_coverage.adopt(run.added[1])
    machine.kernels |= run.kernels
    for kind, count in run.cut.items():
        machine.cut[kind] = machine.cut.get(kind, 0) + count
    return Taken(run, moves)


def take_alone(machine: Machine, document: ModuleFile, run: Callable[[], None]) -> Taken:
    """Run something that is all of the interpreting."""
    return take(machine, document, made_by(machine, document, run)[0])


def _state(machine: Machine) -> dict[str, dict[str, Any]]:
    """The values that a run may change: of the names of every module, None for one that is only looked up when it is used."""
    return {
        path: {name: None if type(value) is Imported else _picture(value) for name, value in module.frame.names.items()}
        for path, module in machine.modules.items()
    }


def _differs(before: dict[str, dict[str, Any]], machine: Machine) -> bool:
    for path, names in before.items():
        for name, value in machine.modules[path].frame.names.items():
            if name not in names:
                return True
            known = names[name]
            if known is not None and known != _picture(value):
                return True
    return False


def _picture(value: Value, depth: int = _DEPTH) -> Any:
    """What tells whether an object is another one, or has other contents."""
    if not depth or not isinstance(value, list | dict | set | Instance | Iteration | tuple | BlockSpec | GridSpec):
        return id(value)
    if isinstance(value, BlockSpec | GridSpec):
        return id(value), *(_picture(getattr(value, field), depth - 1) for field in SPEC_FIELDS[type(value)].values())
    held = value.attrs if isinstance(value, Instance) else value.items if isinstance(value, Iteration) else value
    parts = held.items() if isinstance(held, dict) else held
    return id(value) if not isinstance(value, tuple) else 0, len(held), tuple(_picture(part, depth - 1) for part in islice(parts, _ITEMS))
