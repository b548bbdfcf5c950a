"""Offsets of findings as the rows and columns that people and other tools count."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from ..text.source import Source
from ..text.span import Location


class Position(NamedTuple):
    """A place in a file: row and column from 1, the column in characters (code points)."""

    row: int
    column: int


class Line(NamedTuple):
    """A line of a file, without its end, and its row from 1."""

    row: int
    text: str


class Places:
    """Answers where locations are, in the texts that were analysed.

    ``read`` gives the text of a path, or None where it can no longer be read: such a place is row 1, column 1 and has no lines.
    """

    def __init__(self, read: Callable[[str], Source | None]) -> None:
        self._read = read

    def start(self, location: Location) -> Position:
        """Where the location begins."""
        return self._position(location.path, location.span.start)

    def end(self, location: Location) -> Position:
        """Where the location ends: the first column after it."""
        return self._position(location.path, location.span.end)

    def lines(self, location: Location, around: int = 0) -> list[Line]:
        """The lines that the location touches, and ``around`` more on each side."""
        source = self._read(location.path)
        if source is None:
            return []
        first, last = self.start(location).row, self.end(location).row
        rows = range(max(first - around, 1), min(last + around, source.line_count) + 1)
        return [Line(row, source.line_text(row - 1)) for row in rows]

    def _position(self, path: str, offset: int) -> Position:
        source = self._read(path)
        if source is None:
            return Position(1, 1)
        line, column = source.position(offset)
        return Position(line + 1, column + 1)


def display(path: str) -> str:
    """``path`` as people read it: from the current folder where it lies below it."""
    if not os.path.isabs(path):
        return path
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir + os.sep) else relative
