"""What an editor offers to do about findings: their fixes, and to ignore them where they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..text.parse import parse
from ..text.span import Edit, Span
from ..text.suppressions import find_suppressions

if TYPE_CHECKING:
    from ..analysis import Analysis
    from ..rules.diagnostic import Diagnostic
    from ..text.source import Source


@dataclass(frozen=True, slots=True)
class Action:
    """An offer: its title, its edits (of other files too), the findings it resolves, and whether it is the one to take unasked."""

    title: str
    edits: tuple[Edit, ...]
    diagnostics: tuple[Diagnostic, ...]
    preferred: bool = False


def actions(analysis: Analysis, span: Span) -> list[Action]:
    """The offers for the findings of ``analysis.source`` that ``span`` (empty for a cursor) touches: fixes first, then ignoring."""
    path = analysis.source.path
    found = [finding for finding in analysis.diagnostics if finding.location.path == path and _touch(finding.location.span, span)]
    if not found:
        return []
    lines = _Lines(analysis.source)
    ignores = (_ignore(finding, lines) for finding in found)
    return [*(action for finding in found for action in _fixes(finding)), *filter(None, ignores)]


def _touch(one: Span, other: Span) -> bool:
    return one.start <= other.end and other.start <= one.end


def _fixes(finding: Diagnostic) -> Iterator[Action]:
    """The fixes, best first; the first safe one is preferred."""
    preferred = next((fix for fix in finding.fixes if fix.applicability == "safe"), None)
    for fix in finding.fixes:
        yield Action(fix.title, fix.edits, (finding,), preferred=fix is preferred)


def _ignore(finding: Diagnostic, lines: _Lines) -> Action | None:
    edit = lines.ignoring(finding.rule, finding.location.span)
    return Action(f"Ignore `{finding.rule}` on this line", (edit,), (finding,)) if edit else None


class _Lines:
    """Which lines of ``source`` can take a comment, and what they already ignore."""

    def __init__(self, source: Source) -> None:
        self._source = source
        parsed = parse(source.text)
        found = find_suppressions(source, parsed).found
        self._ignoring = {comment.line0: comment for comment in found if comment.rules is not None and not comment.whole_file}
        self._in_string = {line0 for node in ast.walk(parsed.tree) for line0 in _lines_ending_inside(node)}

    def ignoring(self, rule: str, span: Span) -> Edit | None:
        """The edit that ignores ``rule`` where the finding begins, or else ends: one more rule in the comment there, or a new comment.

        What is there stays, other comments too. None where neither line can take a comment.
        """
        for line0 in (self._source.line_of(span.start), self._source.line_of(max(span.start, span.end - 1))):
            if comment := self._ignoring.get(line0):
                *_, (_, last) = comment.rules or ((None, Span(comment.span.end - 1, comment.span.end - 1)),)
                return Edit(self._source.path, Span(last.end, last.end), f", {rule}" if comment.rules else rule)
            line, text = self._source.line_span(line0), self._source.line_text(line0)
            if line0 not in self._in_string and not text.endswith("\\"):
                return Edit(self._source.path, Span(line.start + len(text.rstrip()), line.end), f"  # pallas: ignore[{rule}]")
        return None


def _lines_ending_inside(node: ast.AST) -> range:
    """The 0-based lines whose end lies inside the string ``node``; none for any other node."""
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)):
        return range(node.lineno - 1, (node.end_lineno or node.lineno) - 1)
    return range(0)
