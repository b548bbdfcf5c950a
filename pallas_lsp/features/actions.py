"""What an editor offers to do about findings: their fixes, and to ignore them where they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..text.suppressions import Suppressions, find_suppressions

if TYPE_CHECKING:
    from ..analysis import Analysis
    from ..rules.diagnostic import Diagnostic
    from ..text.span import Edit, Span


@dataclass(frozen=True, slots=True)
class Action:
    """An offer: its title, its edits (of other files too), the findings it resolves, and whether it is the one to take unasked."""

    title: str
    edits: tuple[Edit, ...]
    diagnostics: tuple[Diagnostic, ...]
    preferred: bool = False


def actions(analysis: Analysis, span: Span) -> list[Action]:
    """The offers for the findings of ``analysis.source`` that ``span`` (empty for a cursor) touches: fixes first, then ignoring."""
    path = analysis.source.path
    found = [finding for finding in analysis.diagnostics if finding.location.path == path and _touch(finding.location.span, span)]
    suppressions = find_suppressions(analysis.source, analysis.parsed)
    ignores = (_ignore(finding, suppressions) for finding in found)
    return [*(action for finding in found for action in _fixes(finding)), *filter(None, ignores)]


def _touch(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end


def _fixes(finding: Diagnostic) -> Iterator[Action]:
    """The fixes, best first; the first safe one is preferred."""
    preferred = next((fix for fix in finding.fixes if fix.applicability == "safe"), None)
    for fix in finding.fixes:
        yield Action(fix.title, fix.edits, (finding,), preferred=fix is preferred)


def _ignore(finding: Diagnostic, suppressions: Suppressions) -> Action | None:
    edit = suppressions.suppress(finding.rule, finding.location.span)
    return Action(f"Ignore `{finding.rule}` on this line", (edit,), (finding,)) if edit else None
