"""Where things of an earlier text of a file are in a later one that still has the units they lie in."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

from ..shapes.dims import Poly
from ..text.span import Location, Span
from .modules import ModuleFile
from .values import Ref, Value

Data = TypeVar("Data")


class Moves:
    """From the file as ``old`` has it to how ``new`` has it."""

    def __init__(self, old: ModuleFile, new: ModuleFile) -> None:
        self._path, self._old, self._layout = old.path, old.source, old.parsed.layout
        layout = new.parsed.layout
        starts = dict(zip(layout.units, layout.starts, strict=True))
        now = [starts.get(unit, first) for unit, first in zip(self._layout.units, self._layout.starts, strict=True)]
        self._lines = [start - first for start, first in zip(now, self._layout.starts, strict=True)]
        before = [old.source.line_span(first).start for first in self._layout.starts]
        self._offsets = [new.source.line_span(start).start - offset for start, offset in zip(now, before, strict=True)]
        self._roots: dict[int, Ref] = {}

    def place(self, place: tuple[int, int]) -> tuple[int, int]:
        """A line (from 1) and a column."""
        line = place[0] + self._lines[self._layout.index_at(place[0] - 1)] if self._lines else place[0]
        return line, place[1]

    def location(self, location: Location) -> Location:
        """A location, which may be in another file."""
        if location.path != self._path or not self._offsets:
            return location
        shift = self._offsets[self._layout.index_at(self._old.line_of(location.span.start))]
        return Location(location.path, Span(location.span.start + shift, location.span.end + shift)) if shift else location

    def data(self, value: Data) -> Data:
        """Plain data with all locations in it moved: those in tuples and in dataclasses of it too."""
        moved: object = value
        if isinstance(value, Location):
            moved = self.location(value)
        elif isinstance(value, tuple):
            moved = tuple(self.data(part) for part in value)
        elif is_dataclass(value) and not isinstance(value, Poly | type):
            held = {field.name: getattr(value, field.name) for field in fields(value)}
            changed = {name: now for name, part in held.items() if (now := self.data(part)) is not part and now != part}
            moved = replace(value, **changed) if changed else value
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
