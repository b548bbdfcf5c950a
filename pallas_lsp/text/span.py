"""Places in a file, in one unit: code points counted from the start of the text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The half-open range ``[start, end)`` of a text, in code points from its start."""

    start: int
    end: int

    def __contains__(self, offset: int) -> bool:
        return self.start <= offset < self.end

    def covers(self, other: Span) -> bool:
        """Whether ``other`` lies wholly inside this span."""
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: Span) -> bool:
        """Whether the two spans share at least one code point."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A span of the file ``path`` (absolute, or the name given for standard input)."""

    path: str
    span: Span


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace ``span`` of the file ``path`` by ``content``; an empty span inserts."""

    path: str
    span: Span
    content: str
