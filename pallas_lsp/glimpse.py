"""What can be told of an edit before all of it is interpreted: the first findings of what was edited, beside the last ones of the rest."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from .interpreter.events import Event
from .interpreter.modules import ModuleFile
from .rules.diagnostic import Diagnostic, Related
from .rules.findings import SuppressionComments, diagnostics_of, judged
from .rules.registry import RULES, RuleTable
from .settings import Settings
from .text.parse import Parsed
from .text.shift import Shift
from .text.source import Source
from .text.span import Location
from .text.units import Layout


@dataclass(frozen=True, slots=True)
class Told:
    """What the analysis of a document found, and the text and the units that it is of."""

    source: Source
    layout: Layout
    diagnostics: Sequence[Diagnostic]


def edited_units(before: Layout, after: Layout) -> set[int]:
    """The numbers of the units that the earlier layout does not have."""
    old = set(before.units)
    return {number for number, unit in enumerate(after.units) if unit not in old}


def half_written(parsed: Parsed) -> set[int]:
    """The numbers of the units that are functions with damage, of which nothing is told."""
    layout = parsed.layout
    defined = (ast.FunctionDef, ast.AsyncFunctionDef)
    hurt = layout.touching(parsed.damaged, parsed.source) if layout.units else ()
    return {number for number in hurt if all(isinstance(part, defined) for part in layout.bodies[number])}


def is_shown(edited: Collection[int], events: Iterable[Event], module: ModuleFile) -> bool:
    """Whether something happened in one of these units of the document."""
    nodes = (event.where.node for event in events if event.where.module is module)
    return any(module.parsed.layout.index_at(getattr(node, "lineno", 1) - 1) in edited for node in nodes)


def first_findings(
    told: Told,
    source: Source,
    parsed: Parsed,
    events: Sequence[Event],
    table: RuleTable,
    settings: Settings,
    suppressions: SuppressionComments,
) -> list[Diagnostic]:
    """The findings of the events that rest on no condition, which stand whatever other paths see, and those of ``told`` beside them.

    Of the latter those are gone that the edit touches or that are in a function that is half written now, and those that rest on no
    condition either and are of a place that these events come by without them. They are where the text is now; those of the events have
    no fixes yet.
    """
    sure = [event for event in events if not event.where.assumed]
    new = diagnostics_of(judged(sure, table), settings, suppressions, lambda *_: iter(()))
    known = {(found.rule, found.location) for found in new}
    seen = {(type(event), event.where.module.path, event.where.span.start) for event in sure}
    hurt = half_written(parsed)

    def stays(found: Diagnostic) -> bool:
        place = (found.location.path, found.location.span.start)
        if (found.rule, found.location) in known or (place[0] == source.path and _unit_at(place[1], source, parsed) in hurt):
            return False
        passed = any((kind, *place) in seen for kind in (RULES[found.rule].events if found.rule in RULES else ()))
        return (bool(found.conditions) or not passed) and not suppressions.silence(found)

    kept = filter(stays, _moved(told, source))
    return sorted([*new, *kept], key=lambda found: (found.location.path, found.location.span, found.rule))


def _unit_at(offset: int, source: Source, parsed: Parsed) -> int:
    return parsed.layout.index_at(source.line_of(offset))


def _moved(told: Told, source: Source) -> Iterator[Diagnostic]:
    """The findings that the edit does not touch, where they are now."""
    shift = Shift(told.source.text, source.text)

    def now(location: Location) -> Location | None:
        span = shift.span(location.span) if location.path == source.path else location.span
        return Location(location.path, span) if span is not None else None

    for found in told.diagnostics:
        if (location := now(found.location)) is not None:
            related = [Related(place, entry.message) for entry in found.related if (place := now(entry.location)) is not None]
            yield replace(found, location=location, related=tuple(related))
