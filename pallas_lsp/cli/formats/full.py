"""For a person at a terminal: each finding with its source, the places that decided it, and the fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ...rules.diagnostic import Diagnostic
from ..colour import Paint
from ..excerpt import excerpt
from ..places import Places, display
from ..report import Report, usable_fix


def render(report: Report) -> str:
    paint = Paint(report.colour)
    blocks = ["\n".join(_finding(diagnostic, report.places, paint)) + "\n\n" for diagnostic in report.diagnostics]
    return "".join(blocks) + summary(report) + "\n"


def summary(report: Report) -> str:
    """The last line: how much was found, in how many files, and what ``--fix`` would do."""
    fixed = f" {_count(report.fixed, 'finding')} fixed." if report.fixed else ""
    checked = _count(report.checked, "file")
    if not report.diagnostics:
        return f"Nothing found in {checked}.{fixed}"
    severities = Counter(diagnostic.severity for diagnostic in report.diagnostics)
    kinds = [_count(severities[kind], kind) for kind in ("error", "warning") if severities[kind]]
    kinds += [f"{severities['info']} for information"] if severities["info"] else []
    files = len({diagnostic.location.path for diagnostic in report.diagnostics})
    return f"Found {_enumerated(kinds)} in {_count(files, 'file')} ({checked} checked).{fixed}{_fixable(report)}"


def _finding(diagnostic: Diagnostic, places: Places, paint: Paint) -> Iterator[str]:
    row, column = places.start(diagnostic.location)
    place = paint.bold(f"{display(diagnostic.location.path)}:{row}:{column}:")
    yield f"{place} {paint.severity(diagnostic.severity, f'{diagnostic.severity}[{diagnostic.rule}]')} {diagnostic.message}"
    yield from excerpt(diagnostic.location, places, lambda mark: paint.severity(diagnostic.severity, mark), paint.frame, around=1)
    for related in diagnostic.related:
        row, column = places.start(related.location)
        yield f"{paint.hint('note:')} {display(related.location.path)}:{row}:{column}: {related.message}"
        yield from excerpt(related.location, places, paint.hint, paint.frame)
    for fix in diagnostic.fixes:
        yield f"{paint.hint('help:' if fix is diagnostic.fixes[0] else 'or:')} {fix.title} ({fix.applicability} fix)"


def _fixable(report: Report) -> str:
    safe = sum(usable_fix(diagnostic, unsafe_fixes=False) is not None for diagnostic in report.diagnostics)
    either = sum(bool(diagnostic.fixes) for diagnostic in report.diagnostics)
    ways = [f"{safe} can be fixed with --fix"] if safe else []
    if either > safe:
        ways.append(f"{either} {'' if safe else 'can be fixed '}with --fix --unsafe-fixes")
    return f" {', '.join(ways)}." if ways else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _enumerated(items: list[str]) -> str:
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last
