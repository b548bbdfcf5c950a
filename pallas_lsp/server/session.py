"""What the server knows: open documents, the latest analysis of each, and the findings of every file.

`Session.open`, `Session.close` and `Session.delivered` are called on the event loop; everything else on the one worker thread, as steps
of a job or between them (`Schedule`). What both sides read (``documents``, ``reports``) is replaced whole, never changed in place.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol

from ..analysis import Analysis
from ..config import FILE_NAME, TABLE
from ..features.actions import Action, actions
from ..features.hover import Hover, hover
from ..interpreter.machine import Cancelled
from ..resolve.project import Project
from ..rules.diagnostic import Diagnostic
from ..settings import Settings
from ..text.source import Encoding, Source
from ..text.span import Span
from .documents import Document, Report, distinct, places_of
from .options import Options
from .workspaces import Workspaces

Position = tuple[int, int]
"""A 0-based line and a column in units of the encoding agreed with the client."""

_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})


class Analyze(Protocol):
    """As `pallas_lsp.analysis.analyze`."""

    def __call__(
        self, source: Source, project: Project, settings: Settings, cancelled: Callable[[], bool] | None = None, *, lookup: bool = True
    ) -> Analysis: ...


@dataclass(frozen=True, slots=True)
class _Result:
    """An analysis, and the document that it is of."""

    analysis: Analysis
    document: Document


class Session:
    """Analyses documents with ``analyze`` and keeps what came of it; ``log`` is told what went wrong."""

    def __init__(self, analyze: Analyze, log: Callable[[str], None]) -> None:
        self.documents: dict[str, Document] = {}
        self.reports: dict[str, Report] = {}
        self._analyze = analyze
        self._log = log
        self._workspaces = Workspaces(log)
        self._taken: dict[str, Document] = {}  # the open documents as the projects know them
        self._results: dict[str, _Result] = {}
        self._stale: set[str] = set()  # documents whose result is of texts that have changed
        self._complained: set[str] = set()
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
        self._workspaces.configure(folders, elsewhere)
        self._stale.update(self._results)

    def reread(self, paths: set[str]) -> list[str]:
        """Look anew at files that were written, made or deleted; gives the open documents that this concerns.

        What is not open counts by its text on disk, and a pyproject.toml for every document.
        """
        for path in paths:
            self._workspaces.invalidate(path)
        if any(os.path.basename(path) == FILE_NAME for path in paths):
            return list(self.documents)
        changed = paths - self.documents.keys()
        readers = {path for path, result in self._results.items() if not changed.isdisjoint(result.analysis.depends_on)}
        return [path for path in self.documents if path in paths or path in readers]

    def refresh(self, path: str) -> Iterator[list[Report]]:
        """Analyse the document ``path``, which was opened, edited or closed, and then those that depend on it, one a step.

        A step gives the reports that differ from those delivered. A file is reported on when every analysis that has something
        to say of it is up to date, so that no finding flickers or stands in the wrong place. It ends early when there is a newer text.
        """
        concerned = self._take(path)
        document = self._taken.get(path)

        def superseded() -> bool:
            return self.documents.get(path) is not document

        if not concerned:
            yield self._reports(path)
        for other in concerned:
            try:
                for _ in self._analyse(self._taken[other], superseded):
                    yield self._reports(path)
            except Cancelled:
                return

    def hover(self, document: Document, at: Position, encoding: Encoding) -> tuple[Hover, Source] | None:
        """What to show at a position of ``document``, and the text that its span is in; None when that is no longer the newest."""
        analysis = self._analysis_of(document)
        if analysis is None:
            return None
        found = hover(analysis, analysis.source.offset_from(*at, encoding))
        return (found, analysis.source) if found else None

    def actions(self, document: Document, start: Position, end: Position, encoding: Encoding) -> tuple[list[Action], dict[str, Source]]:
        """The actions for a range of ``document``, and the text of every file that their edits or findings lie in."""
        analysis = self._analysis_of(document)
        if analysis is None:
            return [], {}
        span = Span(analysis.source.offset_from(*start, encoding), analysis.source.offset_from(*end, encoding))
        offered = actions(analysis, span)
        paths = {edit.path for action in offered for edit in action.edits}
        paths |= places_of(finding for action in offered for finding in action.diagnostics)
        return offered, self._sources(paths, document.path)

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
        self._workspaces.set_overlay(path, document.text if document else None)
        concerned = [other for other, result in self._results.items() if other != path and path in result.analysis.depends_on]
        if document and (concerned or path in self._results or _may_concern_pallas(document.text)):
            concerned.insert(0, path)
        self._stale.update(concerned)
        return concerned

    def _analyse(self, document: Document, superseded: Callable[[], bool]) -> Iterator[None]:
        """Make the result of ``document`` that of the texts as they are now; keep the last one where little can be read of the text.

        The first time it is done in two steps, of which the second also looks up what installed packages define: that can take a while.
        Raises `Cancelled`, with the old result still marked as stale.
        """
        first = document.path not in self._results
        self._keep(document, self._analysis(document, superseded, lookup=not first))
        yield
        result = self._results.get(document.path)
        if first and result and result.analysis.unresolved:
            self._keep(document, self._analysis(document, superseded, lookup=True))
            yield

    def _analysis(self, document: Document, superseded: Callable[[], bool], *, lookup: bool) -> Analysis | None:
        """The analysis of the document as its project has it; None where it failed, which is logged."""
        path, project = document.path, self._workspaces.of(document.path).project
        source = project.read(path)
        assert source is not None, "it is open"
        try:
            return self._analyze(source, project, self._workspaces.settings(path), superseded, lookup=lookup)
        except Cancelled:
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
            self._complain(analysis.wrong_calls)
            self._results[document.path] = _Result(analysis, document)

    def _complain(self, wrong_calls: tuple[str, ...]) -> None:
        """Say once what is wrong with the calls of the configuration."""
        for wrong in wrong_calls:
            if wrong not in self._complained:
                self._complained.add(wrong)
                self._log(f"[{TABLE}] shapes: {wrong}")

    def _reports(self, path: str) -> list[Report]:
        """The reports that differ from those delivered; ``path`` is the document that the job is about."""
        found = {finding.location.path for result in self._results.values() for finding in result.analysis.diagnostics}
        reports = map(self._report, {path: None} | dict.fromkeys([*self.reports, *sorted(found)]))
        return [report for report in reports if report and report != self.reports.get(report.path)]

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
        return Report(path, document.version if document else None, findings, self._sources(places_of(findings), path))

    def _givers(self, path: str) -> list[str]:
        """The documents whose results have something to say of ``path``, itself first."""
        named = {other: {found.location.path for found in result.analysis.diagnostics} for other, result in self._results.items()}
        return sorted((other for other, places in named.items() if path in places), key=lambda other: (other != path, other))

    def _findings(self, path: str) -> tuple[Diagnostic, ...]:
        """All findings in ``path``: none where it is not the user's to mend, or the configuration forbids it."""
        config = self._workspaces.config(path)
        in_workspace = self._workspaces.folder_of(path) and _INSTALLED.isdisjoint(path.split(os.sep))
        if config.excludes(path) or not (path in self._taken or in_workspace):
            return ()
        results = [self._results[other].analysis for other in self._givers(path) if other not in self._lost]
        found = [finding for analysis in results for finding in analysis.diagnostics if finding.location.path == path]
        return distinct([finding for finding in found if not config.ignores(path, finding.rule)])

    def _analysis_of(self, document: Document) -> Analysis | None:
        """The analysis of the very text of ``document``, with the findings that other documents' analyses have in it."""
        result = self._results.get(document.path)
        if result is None or result.document is not document or document.path in self._stale:
            return None
        return replace(result.analysis, diagnostics=list(self._findings(document.path)))

    def _sources(self, paths: set[str], seen_from: str) -> dict[str, Source]:
        """The texts of the files that can be read, as the project of ``seen_from`` has them."""
        project = self._workspaces.of(seen_from).project
        return {path: source for path in paths | {seen_from} if (source := project.read(path))}


def _may_concern_pallas(text: str) -> bool:
    """Whether to analyse a file at all: most Python files hold no kernel, and they must cost nothing. Kernels are called with refs."""
    return "pallas" in text or "_ref" in text
