"""Positions in a text as a client counts them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lsprotocol import types


class Text:
    """A text as a client with ``encoding`` sees it: lines end at \\n, \\r\\n and \\r, columns are counted in its units."""

    def __init__(self, text: str, encoding: str) -> None:
        self.text = text
        self.encoding = encoding
        self._starts = [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", text))]

    def _units(self, piece: str) -> int:
        codec, size = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[self.encoding]
        return len(piece.encode(codec)) // size

    def position(self, offset: int) -> types.Position:
        line = max(number for number, start in enumerate(self._starts) if start <= offset)
        return types.Position(line, self._units(self.text[self._starts[line] : offset]))

    def position_of(self, needle: str) -> types.Position:
        return self.position(self.text.index(needle))

    def offset(self, position: types.Position) -> int:
        offset = self._starts[position.line]
        while self._units(self.text[self._starts[position.line] : offset]) < position.character:
            offset += 1
        return offset

    def slice(self, place: types.Range) -> str:
        return self.text[self.offset(place.start) : self.offset(place.end)]

    def edited(self, edits: Iterable[types.TextEdit]) -> str:
        text = self.text
        placed = sorted(enumerate(edits), key=lambda item: (self.offset(item[1].range.start), item[0]))
        for _, edit in reversed(placed):  # what starts at one place is written in the order given
            text = text[: self.offset(edit.range.start)] + edit.new_text + text[self.offset(edit.range.end) :]
        return text
