"""A file of the user's as the interpreter holds it."""

from __future__ import annotations

import ast

from ..resolve.imports import LibraryName
from ..text.parse import Parsed
from ..text.source import Source
from ..text.span import Location
from ..text.units import Unit
from .frames import Frame

Place = tuple[str, Unit | None, int, int]
"""A file, a unit of its text, and a line and a column in the unit: the same in every version of the text that has the unit."""


class ModuleFile:
    """A parsed file with the names its top level binds. ``state``: ``new``, ``running`` (an import cycle sees what is bound so far) or
    ``done``. ``says_yield``: only then functions of it may be generators.
    """

    __slots__ = ("frame", "parsed", "path", "says_yield", "source", "star_libraries", "state")

    def __init__(self, source: Source, parsed: Parsed) -> None:
        self.path = source.path
        self.source = source
        self.parsed = parsed
        self.says_yield = "yield" in source.text
        self.frame = Frame("module", self, None)
        self.state = "new"
        self.star_libraries: list[LibraryName] = []

    def place(self, node: ast.AST) -> Place:
        """Where a node of the file is written."""
        return (self.path, *self.parsed.layout.place(node))

    def place_at(self, location: Location) -> tuple[Place, int]:
        """Where a location in the file is, its offset counted from the start of its unit, and how long it is."""
        layout, span = self.parsed.layout, location.span
        if not layout.units:
            return (self.path, None, 0, span.start), span.end
        index = layout.index_at(self.source.line_of(span.start))
        start = self.source.line_span(layout.starts[index]).start
        return (self.path, layout.units[index], 0, span.start - start), span.end - span.start
