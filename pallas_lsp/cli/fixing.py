"""Applying fixes: in memory round by round, each round analysed again, then to the files or as a diff."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..fixes.batch import edits_of, together
from ..rules.diagnostic import Diagnostic, Fix
from ..text.source import Source
from ..text.span import Edit
from .checker import Checker
from .places import display
from .report import usable_fix

_ROUNDS = 10


@dataclass(slots=True)
class Fixer:
    """Applies fixes to the texts that ``checker`` holds; `write` and `diff` say what came of it.

    ``unsafe``: take unsafe fixes too.
    """

    checker: Checker
    unsafe: bool
    originals: dict[str, Source] = field(default_factory=dict)
    _refused: set[Fix] = field(default_factory=set)

    def run(self) -> tuple[tuple[Diagnostic, ...], int]:
        """Fix until nothing is left to fix, at most ten rounds; the findings that remain and the number that went.

        Fixes whose edits touch wait for the next round. A round that does not keep its promise (each fix takes its finding away and
        brings no other) is taken back and tried with its first fix alone; one that does not help alone is not tried again.
        """
        before = self.checker.findings()
        found = len(before)
        for _ in range(_ROUNDS):
            batch = self._batch(before)
            if not batch:
                break
            after = self._try(batch, before)
            if after is None and len(batch) > 1:
                after = self._try(batch[:1], before)
            if after is None:
                self._refused.add(batch[0])
            else:
                before = after
        return before, found - len(before)

    def changes(self) -> Iterator[tuple[Source, str]]:
        """Each changed file as it was, with its new text, in order of path."""
        for path, original in sorted(self.originals.items()):
            text = self.checker.text(path)
            if text != original.text:
                yield original, text

    def write(self) -> None:
        """Write the changed files in their own encoding; one that changed on the disk in the meantime is left alone."""
        for original, text in self.changes():
            assert original.encoding is not None
            try:
                _write(original, text.encode(original.encoding))
            except (OSError, UnicodeError) as error:
                print(f"pallas-lsp: {display(original.path)} was not fixed: {error}", file=sys.stderr)

    def diff(self) -> str:
        """The changes as one unified diff."""
        return "".join(_unified_diff(original, text) for original, text in self.changes())

    def _batch(self, diagnostics: Sequence[Diagnostic]) -> list[Fix]:
        """A fix for as many findings as can be fixed at once."""
        fixes = (usable_fix(diagnostic, self.unsafe) for diagnostic in diagnostics)
        return together(fix for fix in fixes if fix is not None and fix not in self._refused and self._may_make(fix))

    def _may_make(self, fix: Fix) -> bool:
        return all(self._is_editable(edit.path) for edit in fix.edits)

    def _is_editable(self, path: str) -> bool:
        if path not in self.originals:
            source = self.checker.read(path)
            if source is None or source.encoding is None or not self.checker.may_edit(path):
                return False
            self.originals[path] = source
        return True

    def _try(self, batch: Sequence[Fix], found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...] | None:
        """Apply the fixes; the findings then, or None and the texts as before where a finding of the batch did not go or one came."""
        edits = edits_of(batch)
        before = {path: self.checker.text(path) for path in {edit.path for edit in edits}}
        for path, text in before.items():
            own = [edit for edit in edits if edit.path == path]
            self.checker.set_text(path, _edited(text, own, self.originals[path].newline))
        after = self.checker.findings()
        if len(after) <= len(found) - len(batch) and Counter(d.rule for d in after) <= Counter(d.rule for d in found):
            return after
        for path, text in before.items():
            self.checker.set_text(path, text)
        return None


def _edited(text: str, edits: Sequence[Edit], newline: str) -> str:
    """``text`` with the edits, which do not touch each other, made in it; new lines end as the file's do."""
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        content = re.sub(r"\r\n|\r|\n", newline, edit.content)
        text = text[: edit.span.start] + content + text[edit.span.end :]
    return text


def _write(original: Source, data: bytes) -> None:
    assert original.encoding is not None
    with open(original.path, "r+b") as file:
        if file.read() != original.text.encode(original.encoding):
            raise OSError("it changed while it was checked")
        file.seek(0)
        file.write(data)
        file.truncate()


def _unified_diff(original: Source, text: str) -> str:
    name = display(original.path).replace(os.sep, "/")
    lines = difflib.unified_diff(_lines(original.text), _lines(text), name, name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """The lines as diff and patch see them: a line feed ends one, nothing else does."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
