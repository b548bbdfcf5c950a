"""A file of the user's as the interpreter holds it."""

from __future__ import annotations

from ..resolve.imports import LibraryName
from ..text.parse import Parsed
from ..text.source import Source
from .frames import Frame


class ModuleFile:
    """A parsed file with the names its top level binds. ``state``: ``new``, ``running`` (an import cycle sees what is bound so far) or
    ``done``.
    """

    __slots__ = ("frame", "parsed", "path", "source", "star_libraries", "state")

    def __init__(self, source: Source, parsed: Parsed) -> None:
        self.path = source.path
        self.source = source
        self.parsed = parsed
        self.frame = Frame("module", self, None)
        self.state = "new"
        self.star_libraries: list[LibraryName] = []
