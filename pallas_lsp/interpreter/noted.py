"""What names were seen to be while a document was interpreted, for hover and hints."""

from __future__ import annotations

from collections.abc import Iterable

from .moves import Moves
from .telling import is_other, told
from .values import ABSENT, Library, Value

LineAndColumn = tuple[int, int]


class Noted:
    """The values at places, a line (from 1) and a column each; ``varied``: the places where other runs had another value."""

    __slots__ = ("values", "varied")

    def __init__(self) -> None:
        self.values: dict[LineAndColumn, Value] = {}
        self.varied: set[LineAndColumn] = set()

    def add(self, place: LineAndColumn, value: Value) -> None:
        """Keep a value: the first that is known, for the program's own calls run first, until one tells more."""
        known = self.values.get(place, ABSENT)
        if known is value:
            return
        if type(value) is not Library and told(value) > told(known):
            self.values[place] = value
        elif is_other(value, known):
            self.varied.add(place)


def merged(runs: Iterable[tuple[Noted, Moves | None]]) -> Noted:
    """What several runs noted, the first ones first, each where its text is now."""
    found = Noted()
    for noted, moves in runs:
        for place, value in noted.values.items():
            if moves is None:
                found.add(place, value)
            else:
                found.add(moves.place(place), moves.value(value))
        found.varied.update(noted.varied if moves is None else map(moves.place, noted.varied))
    return found
