"""What the server knows: open documents, the latest analysis of each, and the findings of every file.

`Session.open`, `Session.close` and `Session.delivered` are called on the event loop; everything else on the one worker thread, as steps
of a job or between them (`Schedule`). What both sides read (``documents``, ``reports``) is replaced whole, never changed in place.
"""

from __future__ import annotations

import itertools
import os
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Protocol

from ..analysis import Analysis
from ..config import FILE_NAME
from ..features.actions import Action, actions
from ..features.hover import Hover, hover
from ..interpreter.machine import Cancelled
from ..resolve.project import Project
from ..rules.diagnostic import Diagnostic
from ..settings import Settings
from ..text.source import Encoding, Source
from ..text.span import Span
from .documents import Document, Report, distinct, sources_of
from .options import Options
from .workspaces import Workspaces

Position = tuple[int, int]
"""A 0-based line and a column in units of the encoding agreed with the client."""

MOST_IMPORTERS: Final = 16
"""How many files that are not open, but import an open one, are analysed on its account: calls in them may fault its kernels."""

_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})


class Analyze(Protocol):
    """As `pallas_lsp.analysis.analyze`."""

    def __call__(self, source: Source, project: Project, settings: Settings, cancelled: Callable[[], bool] | None = None) -> Analysis: ...


@dataclass(frozen=True, slots=True)
class _Result:
    """An analysis, and the open document that it is of (None for a file that is not open)."""

    analysis: Analysis
    document: Document | None


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
        self._stale: set[str] = set()  # files whose result is of texts that have changed
        self._lost: set[str] = set()  # files whose result is of an older text, as little can be read of the newest
        self._importers: dict[str, list[str]] = {}

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
        self._importers.clear()
        self._stale.update(self._results)

    def reread(self, paths: set[str]) -> list[str]:
        """Look anew at files that were written, made or deleted, and at who imports whom; gives the open documents that this concerns.

        What is not open counts by its text on disk, and a pyproject.toml for every document.
        """
        for path in paths:
            self._workspaces.invalidate(path)
        self._importers.clear()
        if any(os.path.basename(path) == FILE_NAME for path in paths):
            return list(self.documents)
        changed = paths - self.documents.keys()
        readers = {file for file, result in self._results.items() if not changed.isdisjoint({file, *result.analysis.depends_on})}
        concerned = readers.union(*(self._results[file].analysis.depends_on for file in readers))
        return [path for path in self.documents if path in paths or path in concerned]

    def refresh(self, path: str) -> Iterator[list[Report]]:
        """Analyse the document ``path``, which was opened, edited or closed, and then what depends on it, one file a step.

        A step gives the reports that differ from those delivered. A file is reported on when every analysis that has something
        to say of it is up to date, so that no finding flickers or stands in the wrong place. It ends early when there is a newer text.
        """
        concerned = self._take(path)
        document = self._taken.get(path)

        def superseded() -> bool:
            return self.documents.get(path) is not document

        if not concerned:
            yield self._reports(path)
        for file in itertools.chain(concerned, self._other_importers(path)):
            try:
                self._analyse(file, superseded)
            except Cancelled:
                return
            yield self._reports(path)

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
        sources = sources_of((finding for action in offered for finding in action.diagnostics), self._workspaces.of(document.path).project)
        return offered, {**sources, document.path: analysis.source}

    def _take(self, path: str) -> list[str]:
        """Let the projects see the newest text of ``path``; gives the files to analyse on that account, itself first."""
        document = self.documents.get(path)
        if document:
            self._taken[path] = document
        else:
            self._taken.pop(path, None)
            self._lost.discard(path)
            self._importers.pop(path, None)
            for file in [file for file in self._results if not self._is_wanted(file)]:
                del self._results[file]
        self._workspaces.set_overlay(path, document.text if document else None)
        readers = [file for file, result in self._results.items() if file != path and path in result.analysis.depends_on]
        if path in self._results or (document and (readers or _says_pallas(document.text))):
            readers.insert(0, path)
        self._stale.update(readers)
        return readers

    def _is_wanted(self, file: str) -> bool:
        """Whether the result of ``file`` is of use: it is open, or it may say something of an open file."""
        return file in self._taken or not self._taken.keys().isdisjoint(self._results[file].analysis.depends_on)

    def _other_importers(self, path: str) -> Iterator[str]:
        """The nearest files that are not analysed yet and import the open document ``path``; looked for when first asked for."""
        document = self._taken.get(path)
        if document is None or not _says_pallas(document.text):
            return
        if path not in self._importers:
            found = self._workspaces.of(path).project.importers(path)
            self._importers[path] = sorted(found, key=lambda file: len(os.path.commonpath([file, path])), reverse=True)[:MOST_IMPORTERS]
        yield from (file for file in self._importers[path] if file not in self._results and file not in self.documents)

    def _analyse(self, path: str, superseded: Callable[[], bool]) -> None:
        """Make the result of ``path`` that of the texts as they are now; keep the last one where little can be read of the text.

        Raises `Cancelled`, with the old result still marked as stale.
        """
        workspace = self._workspaces.of(path)
        source = workspace.project.read(path)
        if source is None:
            self._results.pop(path, None)
            self._stale.discard(path)
            return
        try:
            analysis = self._analyze(source, workspace.project, self._workspaces.settings(path), superseded)
        except Cancelled:
            raise
        except Exception:
            self._log(f"could not analyse {path}\n{traceback.format_exc()}")
            self._stale.discard(path)
            self._lost.add(path)
            return
        self._stale.discard(path)
        parsed = workspace.project.parsed(path)
        if path in self._results and parsed and parsed.mostly_lost:
            self._lost.add(path)
        else:
            self._lost.discard(path)
            self._results[path] = _Result(analysis, self._taken.get(path))

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
        if document is None:  # a file that nobody looks at is shown what open documents do to it, not what is wrong with it anyway
            givers = [file for file in givers if file in self._taken]
        unchanged = told is not None and told.version == (document.version if document else None)
        if not self._stale.isdisjoint(givers) or (unchanged and not self._lost.isdisjoint(givers)):
            return None
        givers.sort(key=lambda file: (file != path, file))
        findings = self._findings(path, [file for file in givers if file not in self._lost])
        if document is None and not findings and not (told and told.findings):
            return None
        return Report(path, document.version if document else None, findings, sources_of(findings, self._workspaces.of(path).project))

    def _givers(self, path: str) -> list[str]:
        """The files whose results have something to say of ``path``."""
        return [file for file, result in self._results.items() if any(found.location.path == path for found in result.analysis.diagnostics)]

    def _findings(self, path: str, givers: list[str]) -> tuple[Diagnostic, ...]:
        """What the results of ``givers`` say of ``path``: nothing where it is not the user's to mend, or the configuration forbids it."""
        config = self._workspaces.config(path)
        in_workspace = self._workspaces.folder_of(path) and _INSTALLED.isdisjoint(path.split(os.sep))
        if config.excludes(path) or not (path in self._taken or in_workspace):
            return ()
        found = [finding for file in givers for finding in self._results[file].analysis.diagnostics if finding.location.path == path]
        return distinct([finding for finding in found if not config.ignores(path, finding.rule)])

    def _analysis_of(self, document: Document) -> Analysis | None:
        """The analysis of the very text of ``document``, with the findings that other files' analyses have in it."""
        result, report = self._results.get(document.path), self.reports.get(document.path)
        if result is None or result.document is not document or report is None or report.version != document.version:
            return None
        return replace(result.analysis, diagnostics=list(report.findings))


def _says_pallas(text: str) -> bool:
    """Whether the file may concern Pallas at all; most Python files do not, and they must cost nothing. ``pl`` may come by way of a module
    that has the word."""
    return "pallas" in text or "pl." in text
