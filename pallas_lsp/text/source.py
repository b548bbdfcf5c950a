"""A file's text and its one line index: every conversion between ways of counting columns happens here.

Offsets and columns are code points. ``ast`` counts a line's columns in UTF-8 bytes, an editor in units of the
encoding it agreed on, jedi and parso in code points. Lines end at ``\\n``, ``\\r\\n`` and ``\\r`` and nowhere else, as in
Python and in the Language Server Protocol; ``str.splitlines`` breaks at form feeds and at U+2028 too.
"""

from __future__ import annotations

import ast
import re
import tokenize
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

from .span import Span

Encoding = Literal["utf-8", "utf-16", "utf-32"]

BOM = "\ufeff"

_LINE_ENDING = re.compile(r"\r\n|\n|\r")
_WIDE = re.compile(r"[^\x00-\x7f][^\r\n]*")


@dataclass(frozen=True)
class Source:
    """The text of the file ``path``, a byte order mark and its line endings included.

    ``encoding`` names the codec that turns ``text`` back into the file's bytes; it is None where some bytes could not
    be decoded, so that the text must not be written back.
    """

    path: str
    text: str = field(repr=False)
    encoding: str | None = field(default="utf-8", compare=False)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line starts; a text has one line more than line endings."""
        if "\r" in self.text:
            return [0, *(match.end() for match in _LINE_ENDING.finditer(self.text))]
        lengths = map(len, self.text.split("\n")[:-1])
        return list(accumulate(map((1).__add__, lengths), initial=0))

    @cached_property
    def _wide_lines(self) -> frozenset[int]:
        """The lines with a character outside ASCII; in all others the ways of counting agree."""
        if self.text.isascii():
            return frozenset()
        return frozenset(self.line_of(match.start()) for match in _WIDE.finditer(self.text))

    @cached_property
    def _columns(self) -> dict[tuple[int, Encoding], list[int]]:
        return {}

    def _unit_columns(self, line0: int, encoding: Encoding) -> list[int]:
        """For each code point of a wide line, the column in ``encoding`` units where it starts, then the line's length."""
        key = (line0, encoding)
        if key not in self._columns:
            widths = map(_utf8_width if encoding == "utf-8" else _utf16_width, self.line_text(line0))
            self._columns[key] = list(accumulate(widths, initial=0))
        return self._columns[key]

    @property
    def line_count(self) -> int:
        """How many lines the text has; a text that ends in a line ending has an empty last line."""
        return len(self._starts)

    @cached_property
    def newline(self) -> str:
        """The text's first line ending, ``\\n`` where it has none: what an edit that adds a line should write."""
        match = _LINE_ENDING.search(self.text)
        return match.group() if match else "\n"

    def line_of(self, offset: int) -> int:
        """The 0-based line that holds the code point at ``offset``."""
        return max(bisect_right(self._starts, offset) - 1, 0)

    def line_span(self, line0: int) -> Span:
        """The line without its ending; a line past the text is the empty span at the text's end."""
        if line0 >= self.line_count:
            return Span(len(self.text), len(self.text))
        line0 = max(line0, 0)
        start = self._starts[line0]
        if line0 + 1 == self.line_count:
            return Span(start, len(self.text))
        end = self._starts[line0 + 1]
        return Span(start, end - 2 if self.text[max(end - 2, start) : end] == "\r\n" else end - 1)

    def line_text(self, line0: int) -> str:
        """The line's characters without its ending."""
        return self.slice(self.line_span(line0))

    def slice(self, span: Span) -> str:
        """The characters of ``span``."""
        return self.text[span.start : span.end]

    def offset(self, line0: int, column: int) -> int:
        """The offset of a 0-based line and code point column, clamped to the line and to the text."""
        if line0 < 0:
            return 0
        line = self.line_span(line0)
        return line.start + min(max(column, 0), line.end - line.start)

    def position(self, offset: int) -> tuple[int, int]:
        """The 0-based line and code point column of ``offset``; an offset inside a line ending is at the line's end."""
        offset = min(max(offset, 0), len(self.text))
        line0 = self.line_of(offset)
        line = self.line_span(line0)
        return line0, min(offset, line.end) - line.start

    def position_in(self, offset: int, encoding: Encoding) -> tuple[int, int]:
        """The 0-based line and column of ``offset``, the column in units of ``encoding``."""
        line0, column = self.position(offset)
        if encoding == "utf-32" or line0 not in self._wide_lines:
            return line0, column
        return line0, self._unit_columns(line0, encoding)[column]

    def offset_from(self, line0: int, character: int, encoding: Encoding) -> int:
        """The offset of a 0-based line and a column in units of ``encoding``, clamped to the line and to the text.

        A column in the middle of a character (between the halves of a surrogate pair) is at its start.
        """
        if encoding == "utf-32" or line0 not in self._wide_lines:
            return self.offset(line0, character)
        return self.offset(line0, bisect_right(self._unit_columns(line0, encoding), max(character, 0)) - 1)

    def span_of(self, node: ast.AST) -> Span:
        """Where ``node`` of this text's tree is written.

        A module is the whole text; a node that ``ast`` gives no place (``arguments``, ``comprehension``, ``withitem``, ...)
        spans its children. Raises ValueError for one that has neither (an operator, an empty ``arguments``).
        """
        place: Any = node  # the stubs give positions to the node classes that always have them, not to ast.AST
        try:
            if self._wide_lines:
                start = self._ast_offset(place.lineno - 1, place.col_offset)
                end = self._ast_offset(place.end_lineno - 1, place.end_col_offset)
            else:
                starts = self._starts
                start = starts[place.lineno - 1] + place.col_offset
                end = starts[place.end_lineno - 1] + place.end_col_offset
        except AttributeError:
            return self._span_of_children(node)
        # Python 3.11 misplaces some nodes inside f-strings, even past the end of the text.
        except IndexError:
            return Span(len(self.text), len(self.text))
        return Span(start, end) if start <= end <= len(self.text) else self._clamped(start, end)

    def _ast_offset(self, line0: int, byte_column: int) -> int:
        start = self._starts[line0]
        if line0 not in self._wide_lines:
            return start + byte_column
        if line0 == 0 and self.text.startswith(BOM):
            byte_column += 2  # the parser was given a one-byte form feed in the place of the mark's three
        return start + bisect_right(self._unit_columns(line0, "utf-8"), byte_column) - 1

    def _span_of_children(self, node: ast.AST) -> Span:
        if isinstance(node, ast.Module):
            return Span(0, len(self.text))
        spans = [self.span_of(child) for child in ast.walk(node) if "lineno" in child._attributes]
        if not spans:
            raise ValueError(f"{type(node).__name__} has no place in the text")
        return Span(min(span.start for span in spans), max(span.end for span in spans))

    def _clamped(self, start: int, end: int) -> Span:
        start = min(start, len(self.text))
        return Span(start, max(start, min(end, len(self.text))))


def _utf8_width(char: str) -> int:
    return 1 if char < "\x80" else 2 if char < "\u0800" else 3 if char <= "\uffff" else 4


def _utf16_width(char: str) -> int:
    return 1 if char <= "\uffff" else 2


def read_source(path: str | Path) -> Source:
    """Read a Python file as Python would: by its byte order mark or coding cookie (PEP 263), else as UTF-8.

    Undecodable bytes become U+FFFD and line endings stay as they are. Raises OSError where the file cannot be read.
    """
    data = Path(path).read_bytes()
    try:
        encoding, _ = tokenize.detect_encoding(iter(data.splitlines(keepends=True)).__next__)
        # The mark stays in the text, so that offsets count it and encoding the text gives the file back.
        encoding = encoding.removesuffix("-sig")
        return Source(str(path), data.decode(encoding), encoding)
    # An unknown codec is a SyntaxError or a LookupError, bytes that do not fit theirs a UnicodeError.
    except (SyntaxError, LookupError, UnicodeError):
        return Source(str(path), data.decode("utf-8", "replace"), None)
