"""Whether a kernel call lowers: ``lowers``, ``fails`` or ``undecided``, with what leaves it undecided.

``lowers`` is safe by construction: it needs that the interpreter met nothing that it does not know (``Record.doubts``), that every event
of the call is one that is understood whole (``Judge.doubt``), and that no rule refuses any of them. Whatever is new is a doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ..interpreter.events import Event, KernelCall, KernelRun, Record
from ..text.span import Location
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


def events_by_record(events: Iterable[Event]) -> Mapping[int, list[Event]]:
    """The events of each record, by its id."""
    found: dict[int, list[Event]] = {}
    for event in events:
        if event.where.record is not None:
            found.setdefault(id(event.where.record), []).append(event)
    return found


def verdict_of(call: KernelCall, events: Mapping[int, list[Event]], judge: Judge) -> Verdict:
    """The verdict of one kernel call on one path; ``events``: see ``events_by_record``."""
    record = call.where.record or Record()
    own = [event for part in record.whole() for event in events.get(id(part), ())]
    refused = [(event, place) for event in (*call.before, *own) if (place := judge.refused(event)) is not None]
    faults = tuple(dict.fromkeys(place for _, place in refused))
    if any(not event.where.conditions for event, _ in refused):
        return Verdict("fails", faults=faults)
    unknowns = dict.fromkeys(f"whether {words}" for event, _ in refused for words in event.where.conditions)
    run = next((event for event in own if isinstance(event, KernelRun)), None)
    unknowns |= dict.fromkeys(info.doubt for info in refs_of(run) if info.doubt) if run is not None else {"what the kernel is": None}
    for part in record.whole():
        unknowns |= part.doubts
    unknowns |= dict.fromkeys(doubt for event in own if (doubt := judge.doubt(event)) is not None)
    if not unknowns and any(map(judge.may_refuse, (*call.before, *own))):
        unknowns = {"the version of JAX": None}
    return Verdict("undecided", tuple(unknowns), faults) if unknowns else Verdict("lowers")


def joined(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of one configuration that several paths met: it fails where one fails, and lowers where all do."""
    verdicts = list(verdicts)
    word = next((word for word in ("fails", "undecided") if any(v.word == word for v in verdicts)), "lowers")
    unknowns = dict.fromkeys(unknown for v in verdicts for unknown in v.unknowns)
    faults = dict.fromkeys(fault for v in verdicts for fault in v.faults)
    return Verdict(word, tuple(unknowns) if word == "undecided" else (), tuple(faults))
