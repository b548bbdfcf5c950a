"""From events to diagnostics: run the rules, join what several paths found, apply select, ignore and suppressions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..interpreter.events import Event
from ..resolve.project import Project
from ..settings import Settings
from ..text.span import Location
from .diagnostic import Diagnostic, Related
from .registry import Context, Finding, Rule, RuleTable


@dataclass(slots=True)
class _Joined:
    """One finding as all paths saw it: its conditions are those that every path shared."""

    rule: Rule
    finding: Finding
    conditions: tuple[str, ...]
    call: Location | None


def diagnostics_of(events: Iterable[Event], table: RuleTable, context: Context, project: Project, settings: Settings) -> list[Diagnostic]:
    """The diagnostics of a run, sorted by place. Findings that settings leave out are not there."""
    joined: dict[tuple[str, Location], _Joined] = {}
    for event in events:
        found = table.first(event, context)
        if found is None or not is_selected(found[0].id, settings):
            continue
        entry, finding = found
        key = (entry.id, finding.location)
        known = joined.get(key)
        if known is None:
            joined[key] = _Joined(entry, finding, event.where.conditions, event.where.call)
        else:
            if len(event.where.conditions) < len(known.conditions):
                known.finding = finding
            known.conditions = tuple(words for words in known.conditions if words in event.where.conditions)
    return sorted((_diagnostic(item) for item in joined.values()), key=lambda d: (d.location.path, d.location.span, d.rule))


def is_selected(rule_id: str, settings: Settings) -> bool:
    """Whether the settings let the rule speak."""
    return (settings.select is None or rule_id in settings.select) and rule_id not in settings.ignore


_MOST_CONDITIONS = 3


def _when(conditions: tuple[str, ...]) -> str:
    """The assumptions a finding rests on, in words; the last ones met are the nearest to it."""
    if not conditions:
        return ""
    left = len(conditions) - _MOST_CONDITIONS
    others = f", and {left} more condition{'s' if left > 1 else ''}" if left > 0 else ""
    return f" (when {' and '.join(conditions[-_MOST_CONDITIONS:])}{others})"


def _diagnostic(item: _Joined) -> Diagnostic:
    finding = item.finding
    message = finding.message + _when(item.conditions)
    related = finding.related
    if item.call is not None and item.call.path != finding.location.path and all(r.location != item.call for r in related):
        related = (*related, Related(item.call, "the kernel is called here"))
    return Diagnostic(item.rule.id, item.rule.severity, message, finding.location, related, (), finding.jax_message)
