"""Lines of source with a place in them underlined, lined up whatever characters they hold."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator

from ..text.span import Location
from .places import Places

_TAB = 4
_MOST_LINES = 6  # of one place; a longer one shows where it begins and ends


def excerpt(location: Location, places: Places, mark: Callable[[str], str], frame: Callable[[str], str], around: int = 0) -> Iterator[str]:
    """The lines of ``location``, each with its number, and under each the part that belongs to it.

    ``around``: how many lines to show above and below. ``mark`` and ``frame`` colour the underline and what is not source.
    """
    lines = places.lines(location, around)
    if not lines:
        return
    start, end = places.start(location), places.end(location)
    width = len(str(lines[-1].row))
    blank = frame(" " * width + " |")
    yield blank
    for row, text in lines:
        if start.row + _MOST_LINES // 2 <= row < end.row and end.row - start.row >= _MOST_LINES:
            if row == start.row + _MOST_LINES // 2:
                yield f"{blank} ..."
            continue
        shown, columns = _laid_out(text)
        yield f"{frame(f'{row:{width}} |')} {shown}".rstrip()
        if start.row <= row <= end.row:
            first = start.column - 1 if row == start.row else len(text) - len(text.lstrip())
            last = end.column - 1 if row == end.row else len(text.rstrip())
            left, right = columns[min(first, len(text))], columns[min(max(last, first), len(text))]
            if right > left or row == start.row == end.row:
                yield f"{blank} {' ' * left}{mark('^' * max(right - left, 1))}"
    yield blank


def _laid_out(text: str) -> tuple[str, list[int]]:
    """A line as a terminal shows it, and the column of the screen at which each character, and the end, stands.

    Tabs become spaces; what would move the cursor or colour the screen becomes a replacement character.
    """
    shown, columns, column = [], [], 0
    for char in text:
        columns.append(column)
        if char == "\t":
            char = " " * (_TAB - column % _TAB)
            column += len(char)
        elif unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") or unicodedata.bidirectional(char) in _REORDERING:
            char = "\ufffd"
            column += 1
        else:
            column += _width(char)
        shown.append(char)
    return "".join(shown), [*columns, column]


_REORDERING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def _width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
