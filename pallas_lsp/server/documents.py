"""Open documents, and the reports on files that the editor is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..rules.diagnostic import Diagnostic
from ..text.source import Source
from ..text.span import Span


@dataclass(frozen=True, slots=True)
class Document:
    """An open document at one version. ``path`` is its file's, or one made up for a document that is no file."""

    uri: str
    path: str
    version: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Report:
    """All findings of the file ``path``, whichever analysis they came from.

    ``version`` is that of the open document, None where the file is not open. ``sources`` holds the text of every file that a
    finding or a related place lies in, as it was analysed.
    """

    path: str
    version: int | None
    findings: tuple[Diagnostic, ...]
    sources: Mapping[str, Source] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Update:
    """What one step of a job brought: reports that differ from what the editor was told, and the document that was analysed."""

    reports: list[Report]
    analysed: str | None


def distinct(findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings in the order of the text, those that say the same of the same place only once."""
    found: dict[tuple[Span, str, str], Diagnostic] = {}
    for finding in findings:
        found.setdefault((finding.location.span, finding.rule, finding.message), finding)
    return tuple(sorted(found.values(), key=lambda finding: (finding.location.span, finding.rule)))


def places_of(findings: Iterable[Diagnostic]) -> set[str]:
    """The files that the findings and their related places lie in. (Their fixes are worked out only when they are looked at.)"""
    return {place.path for finding in findings for place in (finding.location, *(related.location for related in finding.related))}
