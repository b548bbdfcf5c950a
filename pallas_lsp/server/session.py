"""What the server knows: open documents, the latest analysis of each, and the findings of every file.

`Session.open`, `Session.close` and `Session.delivered` are called on the event loop; everything else on the one worker thread, as steps
of a job or between them (`Schedule`). What both sides read (``documents``, ``reports``) is replaced whole, never changed in place.
"""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Final, Protocol

from ..analysis import Analysis
from ..config import FILE_NAME, TABLE
from ..fixes.verification import edited
from ..interpreter.machine import Cancelled
from ..resolve.files import Stamp, stamp_of
from ..resolve.project import Project
from ..rules.diagnostic import Diagnostic
from ..settings import Settings
from ..text.source import Source
from .documents import Document, Report, Update, distinct, places_of
from .options import Options
from .workspaces import Workspaces

_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})


class Analyze(Protocol):
    """As `pallas_lsp.analysis.analyze`."""

    def __call__(
        self,
        source: Source,
        project: Project,
        settings: Settings,
        cancelled: Callable[[], bool] | None = None,
        *,
        lookup: bool = True,
        early: Callable[[list[Diagnostic]], None] | None = None,
    ) -> Analysis: ...


@dataclass(frozen=True, slots=True)
class _Result:
    """An analysis, the document that it is of, and what the files that it read looked like on the disk."""

    analysis: Analysis
    document: Document
    stamps: Mapping[str, Stamp | None]


class Session:
    """Analyses documents with ``analyze`` and keeps what came of it.

    ``log`` is told what went wrong here, ``complain`` what is wrong with the user's configuration, ``trace`` what was done.
    """

    def __init__(
        self, analyze: Analyze, log: Callable[[str], None], complain: Callable[[str], None], trace: Callable[[str], None]
    ) -> None:
        self.documents: dict[str, Document] = {}
        self.reports: dict[str, Report] = {}
        self._analyze = analyze
        self._log = log
        self._trace = trace
        self.workspaces = Workspaces(complain)
        self._taken: dict[str, Document] = {}  # the open documents as the projects know them
        self._results: dict[str, _Result] = {}
        self._stale: set[str] = set()  # documents whose result is of texts that have changed
        self._complain = complain
        self._lost: set[str] = set()  # documents whose result is of an older text, as little can be read of the newest

    def open(self, document: Document) -> None:
        """Take a document that was opened or edited; `refresh` does the rest."""
        self.documents = {**self.documents, document.path: document}

    def close(self, path: str) -> None:
        """Forget an open document; after `refresh` the disk's text counts again."""
        self.documents = {other: document for other, document in self.documents.items() if other != path}

    def delivered(self, report: Report) -> None:
        """Remember what the editor was told last of a file."""
        self.reports = {**self.reports, report.path: report}

    def configure(self, folders: dict[str, Options], elsewhere: Options) -> None:
        """Take these workspace folders and settings; every open document wants a `refresh` then."""
        self.workspaces.configure(folders, elsewhere)
        self._stale.update(self._results)

    def reread(self, paths: set[str]) -> list[str]:
        """Look anew at files that were written, made or deleted; gives the open documents that this concerns.

        What is not open counts by its text on disk, and a pyproject.toml for every document. Files that documents read are looked at
        too: not every client can tell when they change.
        """
        seen = {path: stamp for result in self._results.values() for path, stamp in result.stamps.items()}
        paths = paths | {path for path, stamp in seen.items() if stamp_of(path) != stamp}
        for path in paths:
            self.workspaces.invalidate(path)
        if any(os.path.basename(path) == FILE_NAME for path in paths):
            return list(self.documents)
        changed = paths - self.documents.keys()
        return [path for path in self.documents if path in paths or (path in self._results and self._reads(path, changed))]

    def refresh(self, path: str, early: Callable[[Update], None] | None = None) -> Iterator[Update]:
        """Analyse the document ``path``, which was opened, edited or closed, and then those that depend on it, one a step.

        A step gives the reports that differ from those delivered. A file is reported on when every analysis that has something
        to say of it is up to date, so that no finding flickers or stands in the wrong place. It ends early when there is a newer text.
        ``early`` is given the report of ``path`` with the first findings of what was edited, while the first step is still at work.
        """
        concerned = self._take(path)
        document = self._taken.get(path)

        def superseded() -> bool:
            return self.documents.get(path) is not document

        if not concerned:
            yield Update(self._reports(path), None)
        handed: list[Report] = []  # early, so that the editor need not have it yet
        for other in concerned:
            first = self._first_findings(document, handed, early) if document and early and other == path else None
            try:
                for _ in self._analyse(self._taken[other], superseded, first):
                    yield Update(self._reports(path, *handed), other)
                    handed.clear()
            except Cancelled:
                return

    def _take(self, path: str) -> list[str]:
        """Let the projects see the newest text of ``path``; gives the open documents to analyse on that account, itself first."""
        document = self.documents.get(path)
        if document:
            self._taken[path] = document
        else:
            self._taken.pop(path, None)
            self._results.pop(path, None)
            self._lost.discard(path)
            self._stale.discard(path)
        self.workspaces.set_overlay(path, document.text if document else None)
        concerned = [other for other in self._results if other != path and self._reads(other, {path})]
        if document and (concerned or path in self._results or _may_concern_pallas(document.text)):
            concerned.insert(0, path)
        self._stale.update(concerned)
        return concerned

    def _reads(self, path: str, changed: Set[str]) -> bool:
        """Whether the result of the document ``path`` rests on one of these files, or may now, for one of them has come to import it."""
        if not changed.isdisjoint(self._results[path].analysis.depends_on):
            return True
        project = self.workspaces.of(path).project
        return any(project.may_import(other, path) for other in changed)

    def _first_findings(
        self, document: Document, handed: list[Report], early: Callable[[Update], None]
    ) -> Callable[[list[Diagnostic]], None] | None:
        """What hands over the first findings of a document as a report; None where other documents have a say in it."""
        if self._givers(document.path) not in ([], [document.path]) or document.path in self._lost:
            return None

        def hand(found: list[Diagnostic]) -> None:
            if document is self.documents.get(document.path):
                report = self._report_of(document, self._shown(document.path, found))
                handed.append(report)
                early(Update([report], None))

        return hand

    def _analyse(
        self, document: Document, superseded: Callable[[], bool], early: Callable[[list[Diagnostic]], None] | None
    ) -> Iterator[None]:
        """Make the result of ``document`` that of the texts as they are now; keep the last one where little can be read of the text.

        The first time it is done in two steps, of which the second also looks up what installed packages define: that can take a while.
        Raises `Cancelled`, with the old result still marked as stale.
        """
        first = document.path not in self._results
        self._keep(document, self._analysis(document, superseded, lookup=not first, early=early))
        yield
        result = self._results.get(document.path)
        if first and result and result.analysis.unresolved:
            self._keep(document, self._analysis(document, superseded, lookup=True))
            yield

    def _analysis(
        self,
        document: Document,
        superseded: Callable[[], bool],
        *,
        lookup: bool,
        early: Callable[[list[Diagnostic]], None] | None = None,
    ) -> Analysis | None:
        """The analysis of the document as its project has it; None where it failed, which is logged."""
        path, project = document.path, self.workspaces.of(document.path).project
        source = project.read(path)
        assert source is not None, "it is open"
        began = time.perf_counter()
        try:
            analysis = self._analyze(source, project, self.workspaces.settings(path), superseded, lookup=lookup, early=early)
            milliseconds = 1000 * (time.perf_counter() - began)
            found = f"{len(analysis.diagnostics)} found"
            self._trace(f"analysed {path}, version {document.version}, in {milliseconds:.0f} ms: {found}")
            return analysis
        except Cancelled:
            self._trace(f"gave up on {path}, version {document.version}")
            raise
        except Exception:
            self._log(f"could not analyse {path}\n{traceback.format_exc()}")
            return None

    def _keep(self, document: Document, analysis: Analysis | None) -> None:
        self._stale.discard(document.path)
        if analysis is None or (analysis.parsed.mostly_lost and document.path in self._results):
            self._lost.add(document.path)
        else:
            self._lost.discard(document.path)
            for wrong in analysis.wrong_calls:
                self._complain(f"[{TABLE}] shapes: {wrong}")
            stamps = {path: stamp_of(path) for path in analysis.depends_on if path not in self._taken}
            self._results[document.path] = _Result(analysis, document, stamps)

    def _reports(self, path: str, *handed: Report) -> list[Report]:
        """The reports that differ from those delivered or ``handed`` over; ``path`` is the document that the job is about."""
        told = {**self.reports, **{report.path: report for report in handed}}
        found = {finding.location.path for result in self._results.values() for finding in result.analysis.diagnostics}
        reports = map(self._report, {path: None} | dict.fromkeys([*self.reports, *sorted(found)]))
        return [report for report in reports if report and report != told.get(report.path)]

    def _report(self, path: str) -> Report | None:
        """All that is to be said of ``path``; None while what there is would be wrong, or when there never was anything."""
        document, told = self._taken.get(path), self.reports.get(path)
        if document is not self.documents.get(path) or path in self._lost or path in self._stale:
            return None
        givers = self._givers(path)
        unchanged = told is not None and told.version == (document.version if document else None)
        if not self._stale.isdisjoint(givers) or (unchanged and not self._lost.isdisjoint(givers)):
            return None
        findings = self._findings(path)
        if document is None and not findings and not (told and told.findings):
            return None
        return self._report_of(document, findings) if document else Report(path, None, findings, self.sources(places_of(findings), path))

    def _report_of(self, document: Document, findings: tuple[Diagnostic, ...]) -> Report:
        return Report(document.path, document.version, findings, self.sources(places_of(findings), document.path))

    def _givers(self, path: str) -> list[str]:
        """The documents whose results have something to say of ``path``, itself first."""
        named = {other: {found.location.path for found in result.analysis.diagnostics} for other, result in self._results.items()}
        return sorted((other for other, places in named.items() if path in places), key=lambda other: (other != path, other))

    def _findings(self, path: str) -> tuple[Diagnostic, ...]:
        """All findings in ``path``: none where it is not the user's to mend, or the configuration forbids it."""
        results = [self._results[other].analysis for other in self._givers(path) if other not in self._lost]
        return self._shown(path, [finding for analysis in results for finding in analysis.diagnostics])

    def _shown(self, path: str, findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Those of these findings that are in ``path`` and are to be shown."""
        config = self.workspaces.config(path)
        in_workspace = self.workspaces.folder_of(path) and _INSTALLED.isdisjoint(path.split(os.sep))
        if config.excludes(path) or not (path in self._taken or in_workspace):
            return ()
        return distinct([finding for finding in findings if finding.location.path == path and not config.ignores(path, finding.rule)])

    def analysis_of(self, document: Document) -> Analysis | None:
        """The analysis of the very text of ``document``, with the findings that other documents' analyses have in it."""
        result = self._results.get(document.path)
        if result is None or result.document is not document or document.path in self._stale:
            return None
        return replace(result.analysis, diagnostics=list(self._findings(document.path)))

    def settings(self, path: str) -> Settings:
        """The settings that the file ``path`` is analysed with."""
        return self.workspaces.settings(path)

    def options(self, path: str) -> Options:
        """The editor's choices for the file ``path``."""
        return self.workspaces.of(path).options

    def with_text(self, path: str, text: str) -> Analysis:
        """The analysis of the document ``path`` if its text were ``text``."""
        project = self.workspaces.of(path).project
        with edited(project, {path: text}):
            source = project.read(path)
            assert source is not None, "it is open"
            return self._analyze(source, project, self.settings(path))

    def sources(self, paths: Iterable[str], seen_from: str) -> dict[str, Source]:
        """The texts of the files that can be read, as the project of ``seen_from`` has them."""
        project = self.workspaces.of(seen_from).project
        return {path: source for path in {*paths, seen_from} if (source := project.read(path))}


def _may_concern_pallas(text: str) -> bool:
    """Whether to analyse a file at all: most Python files hold no kernel, and they must cost nothing. Kernels are called with refs."""
    return "pallas" in text or "_ref" in text
