"""A tree for any text, however broken it is while someone types.

``ast`` does the work. What it refuses is blanked, with all other offsets kept (``recovery.py``), and reported as damage,
so that nothing is said about a function that is half written.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest

from .recovery import Draft, recover
from .source import BOM, Source
from .span import Span
from .units import Layout, lay_out

MOSTLY = 1 / 3
"""Text is mostly lost when more than this share of its code was blanked."""

_LINE_ENDING = re.compile(r"\r\n|\n|\r")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Parsed:
    """What could be parsed of a text.

    ``text``: the text that ``tree`` is the tree of: as long as the original, with its damage blanked. ``damaged``: the
    blanked statements and what hangs on them, in order. ``error``: Python's message and the offset of the first syntax
    error, None for a sound text (notebook magics at the start of a line are sound). ``mostly_lost``: so much was
    blanked that an earlier tree of this file serves better.
    """

    text: str = field(repr=False)
    tree: ast.Module
    damaged: tuple[Span, ...] = ()
    error: tuple[str, int] | None = None
    mostly_lost: bool = False
    _source: Source | None = field(default=None, repr=False, compare=False)
    _layout: Layout | None = field(default=None, repr=False, compare=False)

    @cached_property
    def source(self) -> Source:
        """The text as it is written, without a path."""
        return self._source or Source("", self.text)

    @cached_property
    def layout(self) -> Layout:
        """The units of the text."""
        return self._layout or lay_out(self.tree.body, self.source, range(self.source.line_count))

    @cached_property
    def loops(self) -> list[ast.For | ast.ListComp | ast.GeneratorExp]:
        """The loops that ``for`` makes in statements, lists and generators."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.For | ast.ListComp | ast.GeneratorExp)]

    def is_damaged(self, node: ast.AST) -> bool:
        """Whether a function or class, its decorators or anything inside it touches damage."""
        if not self.damaged:
            return False
        span = self.source.span_of(node)
        for decorator in getattr(node, "decorator_list", ()):
            span = Span(min(span.start, self.source.span_of(decorator).start), span.end)
        return any(damage.overlaps(span) for damage in self.damaged)


def parse(text: str) -> Parsed:
    """Parse ``text`` as a Python module; never raises.

    Positions of the tree are positions of ``text``, a leading byte order mark counted as one code point. Not safe to run
    in two threads at once: Python's warning filters, which it silences, belong to the process.
    """
    text = parsable(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in the user's strings
        try:
            return Parsed(text, ast.parse(text))
        # ValueError, RecursionError and MemoryError: integers, expressions and blocks past the parser's limits.
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return _recovered(text)


def _recovered(text: str) -> Parsed:
    source = Source("", text)
    draft = Draft(split_lines(text))
    tree, refusal = recover(draft)
    if tree is None:
        draft.blank(0, len(draft.lines) - 1, 0)
        tree = ast.Module([], [])
    blanked = "".join(map("".join, zip_longest(draft.lines, _LINE_ENDING.findall(text), fillvalue="")))
    error = None if refusal is None else (refusal.message, source.offset(refusal.line0, refusal.column))
    return Parsed(blanked, tree, damage_spans(draft, source), error, draft.lost_share > MOSTLY, source)


def damage_spans(draft: Draft, source: Source) -> tuple[Span, ...]:
    """The damage of a text's draft as spans, in order."""
    return tuple(sorted(Span(source.offset(*start), source.offset(*end)) for start, end in draft.damage))


def split_lines(text: str) -> list[str]:
    """The lines of a text without their endings."""
    return _LINE_ENDING.split(text)


def parsable(text: str) -> str:
    """The text with what ``ast.parse`` cannot even read replaced, character by character of the same UTF-8 width.

    A byte order mark becomes a form feed, which alone may stand before the first statement.
    """
    if text.startswith(BOM):
        text = "\f" + text[1:]
    if "\0" in text:
        text = text.replace("\0", "\1")  # as wrong in code and as harmless in a string
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
