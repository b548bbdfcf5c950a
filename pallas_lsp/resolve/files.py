"""The text of files: an open buffer first, then the disk, each read once until it changes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Generic, TypeVar

from ..text.source import Source, read_source

SIZE_LIMIT = 2_000_000  # bytes; a bigger file is data, not a module

_CACHED_FILES = 1024

Stamp = tuple[int, int]
Value = TypeVar("Value")


def stamp_of(path: str) -> Stamp | None:
    """What changes when the file does (time of change in ns, size in bytes); None for all but a readable, not too big, regular file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode) or status.st_size > SIZE_LIMIT:
        return None
    return status.st_mtime_ns, status.st_size


class Files:
    """Sources by path. A source is the same object until its text changes, so what is derived from it can be kept with it."""

    def __init__(self) -> None:
        self._open: dict[str, Source] = {}
        self._read: dict[str, tuple[Stamp, Source | None]] = {}

    def read(self, path: str) -> Source | None:
        """The source of ``path`` (absolute), None where there is no such file or it cannot be read as Python text."""
        if path in self._open:
            return self._open[path]
        stamp = stamp_of(path)
        if stamp is None:
            self._read.pop(path, None)
            return None
        known = self._read.get(path)
        if known is None or known[0] != stamp:
            known = (stamp, _read_or_none(path))
            _make_room(self._read)
            self._read[path] = known
        return known[1]

    def exists(self, path: str) -> bool:
        """Whether ``path`` is an open buffer or a regular file."""
        return path in self._open or os.path.isfile(path)

    def set_open(self, path: str, text: str | None) -> None:
        """Let ``text`` stand for the file ``path``; None gives the disk back its say."""
        if text is None:
            self._open.pop(path, None)
        elif path not in self._open or self._open[path].text != text:
            self._open[path] = Source(path, text)

    def is_open(self, path: str) -> bool:
        """Whether an open buffer stands for ``path``."""
        return path in self._open

    def open_paths(self) -> list[str]:
        """The paths that have an open buffer."""
        return list(self._open)

    def forget(self, path: str) -> None:
        """Read ``path`` again next time, even if its time and size are as before."""
        self._read.pop(path, None)


class Derived(Generic[Value]):
    """A value computed from a source, once per source; ``compute`` is also given the value for the text that the path had before."""

    def __init__(self, compute: Callable[[Source, Value | None], Value]) -> None:
        self._compute = compute
        self._values: dict[str, tuple[Source, Value]] = {}

    def of(self, source: Source) -> Value:
        """The value for ``source``, computed where its text is not the one last seen for its path."""
        known = self._values.get(source.path)
        if known is None or known[0] is not source:
            known = (source, self._compute(source, known[1] if known else None))
            _make_room(self._values)
            self._values[source.path] = known
        return known[1]


def _make_room(cache: dict[str, Value]) -> None:
    while len(cache) >= _CACHED_FILES:
        del cache[next(iter(cache))]


def _read_or_none(path: str) -> Source | None:
    try:
        return read_source(path)
    except (OSError, ValueError, SyntaxError):  # unreadable, or not text in the encoding it declares
        return None
