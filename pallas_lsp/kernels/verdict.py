"""Whether a kernel call lowers: ``lowers``, ``fails`` or ``undecided``, with what leaves it undecided.

``lowers`` is safe by construction: it needs that the interpreter met nothing that it does not know (``Record.doubts``), that every event
of the call is one that is understood whole (``Judge.doubt``), and that no rule refuses any of them. Whatever is new is a doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..interpreter.events import Event, KernelCall, KernelRun, Record
from ..text.span import Location
from .causes import root_causes
from .refs import refs_of


@dataclass(frozen=True, slots=True)
class Judge:
    """What is said of single events.

    ``refused``: where the JAX that is stated certainly refuses what it is about, None where it does not; ``may_refuse``: some JAX does that
    is not ruled out; ``doubt``: what of it nobody can judge, in words.
    """

    refused: Callable[[Event], Location | None]
    may_refuse: Callable[[Event], bool]
    doubt: Callable[[Event], str | None]


@dataclass(frozen=True, slots=True)
class Verdict:
    """``word``: ``lowers``, ``fails`` or ``undecided``; ``unknowns``: what leaves it undecided, first met first; ``faults``: where JAX
    refuses it, if need be under conditions."""

    word: str
    unknowns: tuple[str, ...] = ()
    faults: tuple[Location, ...] = ()


@dataclass(frozen=True, slots=True)
class _Summary:
    """What the events of one record come to: those that JAX refuses, each with the place, and what nobody can judge, in words."""

    refused: tuple[tuple[Event, Location], ...]
    doubts: tuple[str, ...]


class Verdicts:
    """The verdicts of the kernel calls among the events of a run."""

    def __init__(self, events: Iterable[Event], judge: Judge) -> None:
        self._judge = judge
        self._events: dict[int, list[Event]] = {}
        self._summaries: dict[int, _Summary] = {}
        for event in events:
            if event.where.record is not None:
                self._events.setdefault(id(event.where.record), []).append(event)

    def run_of(self, call: KernelCall) -> KernelRun | None:
        """The kernel's run, None where it never came to one."""
        return next((event for event in self._of(call.where.record or Record()) if isinstance(event, KernelRun)), None)

    def of(self, call: KernelCall) -> Verdict:
        """The verdict of one kernel call on one path."""
        run, records = self.run_of(call), list((call.where.record or Record()).whole())
        refused = [*self._refused(call.before), *(found for record in records for found in self._summary(record).refused)]
        faults = tuple(dict.fromkeys(place for _, place in refused))
        if any(not event.where.assumed for event, _ in refused):
            return Verdict("fails", faults=faults)
        unknowns = dict.fromkeys(f"whether {words}" for event, _ in refused for words in event.where.assumed)
        own = [*run.missing, *root_causes(refs_of(run))] if run is not None else ["what the kernel is"]
        unknowns |= dict.fromkeys(own)
        if not own:  # else what is not known in the body follows from it
            for record in records:
                unknowns |= record.doubts
            for record in records:
                unknowns |= dict.fromkeys(self._summary(record).doubts)
        if not unknowns and any(self._judge.may_refuse(event) for record in records for event in self._of(record)):
            unknowns = {"the version of JAX": None}
        return Verdict("undecided", tuple(unknowns), faults) if unknowns else Verdict("lowers")

    def _of(self, record: Record) -> Sequence[Event]:
        return self._events.get(id(record), ())

    def _refused(self, events: Sequence[Event]) -> Iterator[tuple[Event, Location]]:
        return ((event, place) for event in events if (place := self._judge.refused(event)) is not None)

    def _summary(self, record: Record) -> _Summary:
        """Worked out once, for many calls share the record of a body."""
        known = self._summaries.get(id(record))
        if known is None:
            events = self._of(record)
            doubts = dict.fromkeys(doubt for event in events if (doubt := self._judge.doubt(event)) is not None)
            known = self._summaries[id(record)] = _Summary(tuple(self._refused(events)), tuple(doubts))
        return known


def joined(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of one configuration that several paths met: it fails where one fails, and lowers where all do."""
    verdicts = list(verdicts)
    word = next((word for word in ("fails", "undecided") if any(v.word == word for v in verdicts)), "lowers")
    unknowns = dict.fromkeys(unknown for v in verdicts for unknown in v.unknowns)
    faults = dict.fromkeys(fault for v in verdicts for fault in v.faults)
    return Verdict(word, tuple(unknowns) if word == "undecided" else (), tuple(faults))
