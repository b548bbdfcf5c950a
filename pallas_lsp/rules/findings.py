"""From events to diagnostics: run the rules, join what several paths found, apply select, ignore and suppressions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..interpreter.events import Event
from ..interpreter.paths import Decision
from ..resolve.project import Project
from ..settings import Settings
from ..text.span import Location
from ..text.suppressions import Suppressions, Unused, find_suppressions
from .diagnostic import Diagnostic, Fix, FixesOnDemand, Related, Severity
from .registry import RULES, Finding, Rule, RuleTable

UNUSED = "unused-suppression"


@dataclass(frozen=True, slots=True)
class Judged:
    """What a rule found in an event; ``call``: the kernel call that the event belongs to."""

    rule: Rule
    finding: Finding
    event: Event
    call: Location | None

    def moved(self, to: Callable[[Any], Any]) -> Judged:
        """The same where the text is now; ``to`` gives data with its locations moved."""
        return Judged(self.rule, to(self.finding), self.event, to(self.call))


def judged(events: Iterable[Event], table: RuleTable) -> list[Judged]:
    """What the rules find in these events."""
    found = ((event, table.first(event)) for event in events)
    return [Judged(*first, event, event.where.call) for event, first in found if first is not None]


@dataclass(slots=True)
class _Joined:
    """One finding as all paths saw it: its conditions are those that every path shared."""

    rule: Rule
    finding: Finding
    cases: list[Judged]
    conditions: tuple[str, ...]

    @property
    def rests_on_a_guess(self) -> bool:
        """Whether no path saw it for sure: one does if for each guess that it took the path that only answers it otherwise does so too."""
        trails = list(dict.fromkeys(case.event.where.trail for case in self.cases))
        while trails:
            sure = [t for t in trails if all(any(map(partial(_differs_in, guess, t), trails)) for guess in t if guess.is_guess)]
            if len(sure) == len(trails):
                return False
            trails = sure
        return True


def _differs_in(guess: Decision, trail: Sequence[Decision], other: Sequence[Decision]) -> bool:
    """Whether ``other`` answers ``guess`` otherwise than ``trail`` and nothing else that both decide."""
    answers = {decision.key: decision.answer for decision in other}
    return all(answers.get(d.key, d.answer) == d.answer for d in trail if d.key != guess.key) and answers.get(guess.key) == (not guess.answer)


Offer = Callable[[str, Location, Sequence[Event]], Iterator[Fix]]
"""Gives the fixes of a finding: its rule, where it is, and all the events that it is about, of which the first gave it its words."""


def diagnostics_of(
    found: Iterable[Judged], settings: Settings, suppressions: SuppressionComments, offer: Offer, called: Collection[Location] = ()
) -> list[Diagnostic]:
    """The diagnostics of a run, sorted by place. Findings that settings or comments leave out are not there.

    ``called``: the kernel calls that the program itself makes with known arguments. What is wrong with them only under a condition that
    those arguments do not meet is no error of this program: it is told as information.
    """
    joined: dict[tuple[str, Location], _Joined] = {}
    for case in found:
        if not is_selected(case.rule.id, settings):
            continue
        key, conditions = (case.rule.id, case.finding.location), case.event.where.assumed
        known = joined.get(key)
        if known is None:
            joined[key] = _Joined(case.rule, case.finding, [case], conditions)
        else:
            simpler = (case.finding.hint, len(conditions)) < (known.finding.hint, len(known.conditions))
            known.finding = case.finding if simpler else known.finding
            known.cases.insert(0 if simpler else len(known.cases), case)
            known.conditions = tuple(words for words in known.conditions if words in conditions)
    certain = [item for item in joined.values() if not item.rests_on_a_guess]
    diagnostics = [_diagnostic(item, offer, called) for item in _one_a_cause(_first_refusals(certain))]
    return sorted((d for d in diagnostics if not suppressions.silence(d)), key=lambda d: (d.location.path, d.location.span, d.rule))


def _first_refusals(found: Collection[_Joined]) -> Iterator[_Joined]:
    """Without what JAX would not come to: runs that know more refuse an expression earlier than runs that know less."""
    first: dict[tuple[type[Event], Location], int] = {}
    for item in found:
        key = (type(item.cases[0].event), item.finding.location)
        first[key] = min(first.get(key, item.rule.order), item.rule.order)
    return (item for item in found if item.rule.order == first[type(item.cases[0].event), item.finding.location])


def _one_a_cause(found: Iterable[_Joined]) -> list[_Joined]:
    """Of the findings of a rule that have one cause the first in the text, and all that name none."""
    kept: dict[object, _Joined] = {}
    for item in sorted(found, key=lambda item: (item.finding.location.path, item.finding.location.span)):
        kept.setdefault((item.rule.id, item.finding.cause) if item.finding.cause is not None else id(item), item)
    return list(kept.values())


class SuppressionComments:
    """The suppression comments of every file that has findings."""

    def __init__(self, project: Project, document: Suppressions) -> None:
        self._project = project
        self._by_path = {document.source.path: document}

    def silence(self, diagnostic: Diagnostic) -> bool:
        """Whether a comment silences the diagnostic; the comment counts as used then."""
        path = diagnostic.location.path
        if path not in self._by_path:
            source, parsed = self._project.read(path), self._project.parsed(path)
            if source is None or parsed is None:
                return False
            self._by_path[path] = find_suppressions(source, parsed)
        return self._by_path[path].matches(diagnostic.rule, diagnostic.location.span) is not None


def unused_suppressions(document: Suppressions, settings: Settings) -> list[Diagnostic]:
    """A diagnostic for every suppression of the document that silenced nothing."""
    if not document.found or not is_selected(UNUSED, settings):
        return []
    checked = {rule_id for rule_id in RULES if is_selected(rule_id, settings)}
    return [_unused(document.source.path, entry) for entry in document.unused(RULES, checked)]


def _unused(path: str, entry: Unused) -> Diagnostic:
    what = f"`{entry.rule}` is suppressed here, but it reports nothing" if entry.rule else "this comment suppresses nothing"
    fix = Fix("Remove the unused suppression", "safe", (entry.edit,))
    return Diagnostic(UNUSED, "warning", f"{what}: it can go", Location(path, entry.span), (), (fix,))


def is_selected(rule_id: str, settings: Settings) -> bool:
    """Whether the settings let the rule speak."""
    return (settings.select is None or rule_id in settings.select) and rule_id not in settings.ignore


_MOST_CONDITIONS = 3
_MOST_ASSUMED = 2


def _when(conditions: tuple[str, ...]) -> str:
    """The assumptions a finding rests on, in words; the last ones met are the nearest to it."""
    if not conditions:
        return ""
    left = len(conditions) - _MOST_CONDITIONS
    others = f", and {left} more condition{'s' if left > 1 else ''}" if left > 0 else ""
    return f" (when {' and '.join(conditions[-_MOST_CONDITIONS:])}{others})"


def _diagnostic(item: _Joined, offer: Offer, called: Collection[Location]) -> Diagnostic:
    finding, call = item.finding, item.cases[0].call
    message = finding.message + _when(item.conditions)
    related = finding.related
    if call is not None and call.path != finding.location.path and all(r.location != call for r in related):
        related = (*related, Related(call, "the kernel is called here"))
    fixes = FixesOnDemand(offer(item.rule.id, finding.location, [case.event for case in item.cases]))
    elsewhere = bool(item.conditions) and all(case.call in called for case in item.cases)
    # Each assumption can be met, but whether all of them can be met together is not proved: with many of them a finding is a hint.
    severity: Severity = "info" if finding.hint or elsewhere or len(item.conditions) > _MOST_ASSUMED else item.rule.severity
    return Diagnostic(item.rule.id, severity, message, finding.location, related, fixes, finding.jax_message, item.conditions)
