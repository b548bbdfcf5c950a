"""An analysis that a test can foresee: each BAD is a finding, each WORSE of an imported file is one in that file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pallas_lsp.resolve.project import Project
from pallas_lsp.rules.diagnostic import Diagnostic, Fix, Related
from pallas_lsp.settings import Settings
from pallas_lsp.text.parse import Parsed, parse
from pallas_lsp.text.source import Source
from pallas_lsp.text.span import Edit, Location, Span


class NoNotes:
    def value_at(self, offset: int) -> None:
        return None

    def library_name_at(self, offset: int) -> None:
        return None


@dataclass(frozen=True)
class Analysis:
    source: Source
    parsed: Parsed
    diagnostics: list[Diagnostic]
    depends_on: frozenset[str]
    notes: NoNotes


class Analyzer:
    """Remembers which files it was asked about, in order."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, source: Source, project: Project, settings: Settings, cancelled: Callable[[], bool] | None = None) -> Analysis:
        self.asked.append(os.path.basename(source.path))
        if "CRASH" in source.text:
            raise ValueError("the fake was told to crash")
        names = re.findall(r"^import (\w+)", source.text, re.MULTILINE)
        imported = [found for name in names if (found := project.read(sibling(source, name)))]
        findings = [*own(source), *(finding for other in imported for finding in called(other, source))]
        kept = [finding for finding in findings if finding.rule not in settings.ignore]
        return Analysis(source, parse(source.text), kept, frozenset({source.path, *(other.path for other in imported)}), NoNotes())


def sibling(source: Source, name: str) -> str:
    return os.path.join(os.path.dirname(source.path), f"{name}.py")


def own(source: Source) -> Iterator[Diagnostic]:
    for match in re.finditer("BAD", source.text):
        location = Location(source.path, Span(*match.span()))
        fix = Fix("Make it good", "safe", (Edit(source.path, location.span, "GOOD"),))
        yield Diagnostic("store-scalar-to-vmem", "error", "this is bad", location, fixes=(fix,))


def called(other: Source, caller: Source) -> Iterator[Diagnostic]:
    for match in re.finditer("WORSE", other.text):
        related = Related(Location(caller.path, Span(0, 6)), "called here")
        yield Diagnostic("load-vector-from-smem", "error", "worse when called", Location(other.path, Span(*match.span())), (related,))
