"""Where things of an earlier text of a file are in a later one that still has the units they lie in."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from typing import TypeVar

from ..shapes.dims import Poly
from ..text.span import Location, Span
from .modules import ModuleFile
from .values import Ref, Value

Data = TypeVar("Data")


_PARTS: dict[type, tuple[str, ...]] = {Poly: ()}


def _parts(kind: type) -> tuple[str, ...]:
    """The names of the fields of plain data in which there may be locations."""
    if kind not in _PARTS:
        _PARTS[kind] = tuple(part.name for part in fields(kind)) if is_dataclass(kind) else ()
    return _PARTS[kind]


class Moves:
    """From the file as ``old`` has it to how ``new`` has it."""

    def __init__(self, old: ModuleFile, new: ModuleFile) -> None:
        self._path, self._old, self._new = old.path, old, new
        self._roots: dict[int, Ref] = {}
        self._locations: dict[Location, Location] = {}

    @cached_property
    def _lines(self) -> list[int]:
        """By how many lines each unit of the old text has moved."""
        layout, new = self._old.parsed.layout, self._new.parsed.layout
        starts = dict(zip(new.units, new.starts, strict=True))
        return [starts.get(unit, first) - first for unit, first in zip(layout.units, layout.starts, strict=True)]

    def place(self, place: tuple[int, int]) -> tuple[int, int]:
        """A line (from 1) and a column."""
        line = place[0] + self._shift(place[0] - 1)
        return line, place[1]

    def location(self, location: Location) -> Location:
        """A location, which may be in another file. What stands on a line before a comment stays there while the comment changes."""
        if location.path != self._path:
            return location
        known = self._locations.get(location)
        if known is None:
            start, end = location.span.start, location.span.end
            shift = self._shift(self._old.source.line_of(start))
            known = self._locations[location] = Location(location.path, Span(self._offset(start, shift), self._offset(end, shift)))
        return known

    def _shift(self, line0: int) -> int:
        return self._lines[self._old.parsed.layout.index_at(line0)] if self._lines else 0

    def _offset(self, offset: int, shift: int) -> int:
        old, new = self._old.source, self._new.source
        line0 = old.line_of(offset)
        return new.line_span(line0 + shift).start + offset - old.line_span(line0).start

    def data(self, value: Data) -> Data:
        """Plain data with all locations in it moved: those in tuples and in dataclasses of it too."""
        moved: object = value
        if isinstance(value, Location):
            moved = self.location(value)
        elif isinstance(value, tuple):
            moved = tuple(map(self.data, value))
        elif names := _parts(type(moved)):
            parts = [(name, getattr(value, name)) for name in names]
            changed = {name: now for name, part in parts if (now := self.data(part)) is not part and now != part}
            moved = replace(value, **changed) if changed else value  # type: ignore[type-var]  # it has fields
        return moved  # type: ignore[return-value]  # of the type of ``value``

    def value(self, value: Value) -> Value:
        """A noted value: a ref says where it was decided."""
        if not isinstance(value, Ref) or (value.root.decided_at is None and value.root.given_at is None):
            return value
        if id(value) not in self._roots:
            decided, given = value.root.decided_at, value.root.given_at
            decided, given = decided and self.location(decided), given and self.location(given)
            self._roots[id(value)] = replace(value, root=replace(value.root, decided_at=decided, given_at=given))
        return self._roots[id(value)]
