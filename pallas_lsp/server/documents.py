"""Open documents, and the reports on files that the editor is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..resolve.project import Project
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
    finding, a related place or a fix lies in, as it was analysed.
    """

    path: str
    version: int | None
    findings: tuple[Diagnostic, ...]
    sources: Mapping[str, Source] = field(compare=False)


def distinct(findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings in the order of the text, those that say the same of the same place only once."""
    found: dict[tuple[Span, str, str], Diagnostic] = {}
    for finding in findings:
        found.setdefault((finding.location.span, finding.rule, finding.message), finding)
    return tuple(sorted(found.values(), key=lambda finding: (finding.location.span, finding.rule)))


def sources_of(findings: Iterable[Diagnostic], project: Project) -> dict[str, Source]:
    """The text of every file that the findings, their related places or their fixes lie in, where it can be read."""
    paths = {
        path
        for finding in findings
        for path in (
            finding.location.path,
            *(related.location.path for related in finding.related),
            *(edit.path for fix in finding.fixes for edit in fix.edits),
        )
    }
    return {path: source for path in paths if (source := project.read(path))}
