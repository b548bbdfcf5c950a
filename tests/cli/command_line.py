"""What the tests of the command line share: a run's result, and an analysis so simple that a test can say what it finds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pallas_lsp.resolve.project import Project
from pallas_lsp.rules.diagnostic import Diagnostic, Fix
from pallas_lsp.settings import Settings
from pallas_lsp.text.source import Source
from pallas_lsp.text.span import Edit, Location, Span

REPOSITORY = Path(__file__).parents[2]

Found = Callable[[Source, Project, Settings], list[Diagnostic]]


@dataclass(frozen=True)
class Result:
    """What a run of the command gave."""

    code: int
    out: str
    err: str


Run = Callable[..., Result]


def find_words(source: Source, project: Project, settings: Settings) -> list[Diagnostic]:
    """``fault`` is an error with a safe fix (``right``), ``doubt`` a warning with an unsafe one (``sure``), ``waste`` information."""
    found = [_word(source, match) for match in re.finditer(r"\b(fault|doubt|waste)\b", source.text)]
    return [d for d in found if d.rule not in settings.ignore and (settings.select is None or d.rule in settings.select)]


def _word(source: Source, match: re.Match[str]) -> Diagnostic:
    span = Span(*match.span())
    location = Location(source.path, span)
    if match[0] == "fault":
        fix = Fix("Write right", "safe", (Edit(source.path, span, "right"),))
        return Diagnostic("store-scalar-to-vmem", "error", "a fault", location, fixes=(fix,))
    if match[0] == "doubt":
        fix = Fix("Write sure", "unsafe", (Edit(source.path, span, "sure"),))
        return Diagnostic("masked-load", "warning", "a doubt", location, fixes=(fix,))
    return Diagnostic("ref-index-bounds", "info", "a waste", location)
