"""An analysis that a test can foresee: each BAD is a finding, each WORSE one where the file is imported."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pallas_lsp.interpreter.machine import Cancelled
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
    unresolved: frozenset[str]
    notes: NoNotes
    wrong_calls: tuple[str, ...] = ()


class Analyzer:
    """Remembers which files it was asked about, in order; ``?`` marks those for which no installed package was to be looked at.

    Where the text says EARLY, its first finding is told early.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.before: Callable[[], None] | None = None

    def __call__(
        self,
        source: Source,
        project: Project,
        settings: Settings,
        cancelled: Callable[[], bool] | None = None,
        *,
        lookup: bool = True,
        early: Callable[[list[Diagnostic]], None] | None = None,
    ) -> Analysis:
        if self.before is not None:
            self.before()
        self.asked.append(os.path.basename(source.path) + ("" if lookup else "?"))
        if cancelled is not None and cancelled():
            raise Cancelled
        if "CRASH" in source.text:
            raise ValueError("the fake was told to crash")
        if early is not None and "EARLY" in source.text:
            early(list(own(source))[:1])
        names = re.findall(r"^import (\w+)", source.text, re.MULTILINE)
        imported = [found for name in names if (found := project.read(sibling(source, name)))]
        callers = [caller for path in project.importers(source.path) if (caller := project.read(path))]
        findings = [*own(source), *(called(source, caller) for caller in callers), *(called(other, source) for other in imported)]
        kept = [finding for finding in findings if isinstance(finding, Diagnostic) and finding.rule not in settings.ignore]
        unresolved = frozenset({"installed"} if "UNRESOLVED" in source.text and not lookup else ())
        reads = frozenset({source.path, *(other.path for other in [*imported, *callers])})
        return Analysis(source, parse(source.text), kept, reads, unresolved, NoNotes())


def sibling(source: Source, name: str) -> str:
    return os.path.join(os.path.dirname(source.path), f"{name}.py")


def own(source: Source) -> Iterator[Diagnostic]:
    for match in re.finditer("BAD", source.text):
        location = Location(source.path, Span(*match.span()))
        fix = Fix("Make it good", "safe", (Edit(source.path, location.span, "GOOD"),))
        yield Diagnostic("store-scalar-to-vmem", "error", "this is bad", location, fixes=(fix,))


def called(kernels: Source, caller: Source) -> Diagnostic | None:
    match = re.search("WORSE", kernels.text)
    if match is None:
        return None
    related = Related(Location(caller.path, Span(0, 6)), "called here")
    return Diagnostic("load-vector-from-smem", "error", "worse when called", Location(kernels.path, Span(*match.span())), (related,))
