"""Analyses the files of a run and makes one list of what was found in all of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from ..config import TABLE, ConfigError
from ..errors import CannotRun
from ..given import GivenCall
from ..rules.diagnostic import Diagnostic
from ..settings import Settings
from ..text.source import Source
from .options import Choices
from .processes import each
from .workspace import File, Workspace

if TYPE_CHECKING:
    from ..analysis import Analysis
    from ..kernels.site import KernelSite

TRACEBACK_VARIABLE = "PALLAS_LSP_TRACEBACK"

Answer = TypeVar("Answer")


class Checker:
    """Analyses the same files as often as asked, with the texts that their projects hold then.

    A file that does not say "pallas" is not analysed: a kernel call in it would have to be reached through a module that does,
    and such a kernel is analysed with its own module. Such files cost a read and a search. ``call``: look at nothing but this call.
    """

    def __init__(self, files: Sequence[File], workspace: Workspace, choices: Choices, call: GivenCall | None = None) -> None:
        self.workspace = workspace
        self._choices = choices
        self._call = call
        self._paths = {file.path for file in files}
        self._roots = sorted({file.root for file in files})
        self._analysed: dict[str, Source] = {}
        self._unread = 0
        self._files = [file for file in files if self._says_pallas(file)]

    def findings(self) -> tuple[Diagnostic, ...]:
        """The findings of all files in order of place, each once.

        Raises CannotRun where there was something to analyse and none of it could be; a single file that fails is named on
        standard error.
        """
        found: dict[object, Diagnostic] = {}
        for findings in self._answered(each(self._findings_of, self._files, _packed)):
            for diagnostic in findings:
                found.setdefault((diagnostic.rule, diagnostic.location, diagnostic.message), diagnostic)
        return tuple(sorted(found.values(), key=lambda diagnostic: (diagnostic.location, diagnostic.rule, diagnostic.message)))

    def sites(self) -> list[KernelSite]:
        """The kernel calls in the files and, where these reach them, in their projects' other files: each configuration once, in order."""
        analyses = self._answered(map(self._analysis_of, self._files))
        found = [(file, site) for file, analysis in analyses for site in analysis.sites]
        own = (site for file, site in found if self._call is not None or self._is_own(site.location.path, file.root))
        return sorted(dict.fromkeys(own), key=lambda site: site.location)

    def read(self, path: str) -> Source | None:
        """The text of ``path`` as it was analysed, even if the file has changed since."""
        texts = (self.workspace.project(root).read(path) for root in self._roots)
        return self._analysed.get(path) or next(filter(None, texts), None)

    def text(self, path: str) -> str:
        """The text of ``path``, which must be one that `read` gives."""
        source = self.read(path)
        assert source is not None, path
        return source.text

    def may_edit(self, path: str) -> bool:
        """Whether ``path`` is one of the files, or of their projects' own."""
        return any(self._is_own(path, root) for root in self._roots)

    def set_text(self, path: str, text: str) -> None:
        """Let ``text`` stand for the file ``path`` from now on."""
        self._analysed.pop(path, None)
        for root in self._roots:
            self.workspace.project(root).set_overlay(path, text)

    def _answered(self, answers: Iterable[Answer | None]) -> Iterator[Answer]:
        """The answers that there are. Raises CannotRun where there is none for any file."""
        failures = self._unread
        for answer in answers:
            if answer is not None:
                yield answer
            else:
                failures += 1
        if failures and failures == len(self._files) + self._unread:
            raise CannotRun("no file could be analysed")

    def _findings_of(self, file: File) -> list[Diagnostic] | None:
        found = self._analysis_of(file, details=False)
        return [finding for finding in found[1].diagnostics if self._is_wanted(finding, file.root)] if found is not None else None

    def _analysis_of(self, file: File, details: bool = True) -> tuple[File, Analysis] | None:
        """A file with its analysis, None where that failed; without ``details`` the analysis has findings only."""
        try:
            return file, self._analyse(file, details)
        except CannotRun:
            raise
        except Exception as error:  # a mistake of ours in one file must not take the others' findings away
            _complain(file.path, error)
            return None

    def _says_pallas(self, file: File) -> bool:
        source = self.workspace.project(file.root).read(file.path)
        if source is None:
            self._unread += 1
            print(f"pallas-lsp: cannot read {file.path}: not a text of at most 2 MB", file=sys.stderr)
        return source is not None and ("pallas" in source.text or self._call is not None)

    def _analyse(self, file: File, details: bool) -> Analysis:
        from ..analysis import analyze

        project = self.workspace.project(file.root)
        source = project.read(file.path)
        if source is None:
            raise OSError("the file has gone")
        self._analysed[file.path] = source
        # Callers that are analysed anyway need not be run again for this file, unless it must be known whether its comments are of use.
        callers = "pallas: ignore" in source.text or not all(path in self._paths for path in project.importers(file.path))
        analysis = analyze(source, project, self._settings(file.path), callers=callers, call=self._call, details=details)
        for wrong in analysis.wrong_calls:
            raise ConfigError(f"{self.workspace.config(file.path).path}: [{TABLE}] shapes: {wrong}")
        return analysis

    def _settings(self, path: str) -> Settings:
        return self._choices.over(self.workspace.config(path).settings)

    def _is_wanted(self, diagnostic: Diagnostic, root: str) -> bool:
        path = diagnostic.location.path
        return self._is_own(path, root) and not self.workspace.config(path).ignores(path, diagnostic.rule)

    def _is_own(self, path: str, root: str) -> bool:
        return path in self._paths or self.workspace.tree(root).holds(path)


def _packed(findings: list[Diagnostic] | None) -> list[Diagnostic] | None:
    """Findings with their fixes worked out."""
    return findings and [replace(finding, fixes=tuple(finding.fixes)) for finding in findings]


def _complain(path: str, error: Exception) -> None:
    """One line for a person; the traceback, which a bug report needs, only where it was asked for."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    print(f"pallas-lsp: internal error in {path}: {text} ({TRACEBACK_VARIABLE}=1 shows where)", file=sys.stderr)
    if os.environ.get(TRACEBACK_VARIABLE):
        import traceback

        traceback.print_exception(error)
