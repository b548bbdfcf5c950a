"""What the run of an entry left behind, so that it need not run again while nothing changes that it rests on.

A run is decided by the text that it reaches (``dependences``), by the other files that were read, and by what earlier runs of the
document have done already (``shared``). Where one leaves something behind that only the values of the modules show, none is used again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any

from ..text.source import Source
from ..text.span import Location
from .dependences import void_units
from .events import Event
from .machine import Machine
from .modules import ModuleFile, Place
from .moves import Moves
from .surroundings import Surroundings
from .values import Imported, Instance, Iteration, Value

Entry = tuple[str, Place, bool]
"""How it is run, the place of its function, and whether its parameters are all unknown."""

_DEPTH = 3
_ITEMS = 64


@dataclass(slots=True)
class EntryRun:
    """One run: its events and notes, what it asked of what runs share and what it added to that.

    ``module``: the file as it was then; ``files``: those that were read. ``numbered``: whether it made a difference on which line
    something stands. ``findings``: kept here by whoever judges the events.
    """

    module: ModuleFile
    events: list[Event]
    notes: dict[tuple[int, int], Value]
    varied: set[tuple[int, int]]
    cut: dict[str, int]
    kernels: set[Place]
    asked: tuple[Mapping[Any, Any], Mapping[Any, Any]]
    added: tuple[Mapping[Any, Any], Mapping[Any, Any]]
    files: dict[str, Source]
    numbered: bool
    findings: Any = None


@dataclass(slots=True)
class EntryRuns:
    """The runs of a document's last interpreting, by entry. ``is_sound``: none left anything behind but what it holds."""

    by_entry: dict[Entry, EntryRun] = field(default_factory=dict)
    is_sound: bool = True
    _module: ModuleFile | None = None

    def turn_to(self, module: ModuleFile, read: Callable[[str], Source | None]) -> None:
        """Forget what does not hold for the document as it is now; ``read`` gives the files that there are now."""
        before, self._module = self._module, module
        void = void_units(before.parsed.layout, module.parsed.layout) if before is not None and self.is_sound else None
        if before is None or void is None:
            self.by_entry, self.is_sound = {}, True
            return
        units = set(module.parsed.layout.units) - void
        moved = before.source.line_count != module.source.line_count
        now = cache(read)
        self.by_entry = {
            entry: run
            for entry, run in self.by_entry.items()
            if entry[1][1] in units
            and not (moved and run.numbered)
            and all(path == module.path or now(path) is source for path, source in run.files.items())
        }

    def keep(self, entry: Entry, run: EntryRun, is_sound: bool) -> None:
        """Keep a run; what it left behind beside makes all of them doubtful."""
        self.by_entry[entry] = run
        self.is_sound = self.is_sound and is_sound

    def settle(self, entries: Iterable[Entry]) -> None:
        """Forget all but these entries."""
        self.by_entry = {entry: self.by_entry[entry] for entry in entries if entry in self.by_entry}


def made_by(machine: Machine, module: ModuleFile, run: Callable[[], None]) -> tuple[EntryRun, bool]:
    """Run something of a module by itself, and whether it left nothing behind but its run."""
    total = machine.events, machine.notes, machine.varied, machine.cut, machine.kernels
    shared = machine.seen_kernels, machine.kernel_coverage
    machine.events, machine.notes, machine.varied, machine.cut, machine.kernels = [], {}, set(), {}, set()
    machine.around, machine.numbered = Surroundings(), False
    for part in shared:
        part.start()
    before = _state(machine)
    try:
        run()
        made = EntryRun(
            module, machine.events, machine.notes, machine.varied, machine.cut, machine.kernels,
            (shared[0].asked, shared[1].asked), (shared[0].added, shared[1].added),
            {path: other.source for path, other in machine.modules.items()}, machine.numbered,
        )  # fmt: skip
    finally:
        machine.events, machine.notes, machine.varied, machine.cut, machine.kernels = total
    return made, not machine.entangled and not _differs(before, machine)


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


def take(machine: Machine, module: ModuleFile, run: EntryRun) -> Taken:
    """Let a run, new or old, count as part of the interpreting."""
    moves = Moves(run.module, module) if run.module is not module else None
    machine.seen_kernels.adopt(run.added[0])
    machine.kernel_coverage.adopt(run.added[1])
    machine.events += run.events
    machine.kernels |= run.kernels
    for kind, count in run.cut.items():
        machine.cut[kind] = machine.cut.get(kind, 0) + count
    for place, value in run.notes.items():
        if moves is None:
            machine.merge_note(place, value)
        else:
            machine.merge_note(moves.place(place), moves.value(value))
    machine.varied.update(run.varied if moves is None else map(moves.place, run.varied))
    return Taken(run, moves)


def take_alone(machine: Machine, module: ModuleFile, run: Callable[[], None]) -> Taken:
    """Run something of a module that is all of the interpreting."""
    return take(machine, module, made_by(machine, module, run)[0])


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
    if not depth or not isinstance(value, list | dict | set | Instance | Iteration | tuple):
        return id(value)
    held = value.attrs if isinstance(value, Instance) else value.items if isinstance(value, Iteration) else value
    parts = held.items() if isinstance(held, dict) else held
    return id(value) if not isinstance(value, tuple) else 0, len(held), tuple(_picture(part, depth - 1) for part in islice(parts, _ITEMS))
