"""A text cut at its top-level statements: what an edit changes, and what it leaves as it was.

A unit keeps its identity from one version of a text to the next for as long as nothing in it changes, so that what was
found out about it can be kept with it; where it stands may change.
"""

from __future__ import annotations

import ast
import itertools
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from .source import Source
from .span import Span


@dataclass(eq=False, slots=True, weakref_slot=True)
class Unit:
    """The lines from the start of a top-level statement, its decorators included, to the start of the next one on another line.

    ``number``: another one for every unit.
    """

    text: str = field(repr=False)
    number: int = field(default_factory=itertools.count().__next__)


@dataclass(frozen=True, slots=True)
class Layout:
    """The units of a text in order, the line (0-based) where each starts, and its statements. What stands above the first is part of it."""

    units: Sequence[Unit]
    starts: Sequence[int]
    bodies: Sequence[Sequence[ast.stmt]]

    def index_at(self, line0: int) -> int:
        """The number of the unit that the line is in."""
        return max(bisect_right(self.starts, line0) - 1, 0)

    def place(self, node: ast.AST) -> tuple[Unit | None, int, int]:
        """Where a node of the tree is written, seen from its unit: the unit, and the line and column in it.

        It is the same in every version of the text that has the unit.
        """
        line0, column = getattr(node, "lineno", 1) - 1, getattr(node, "col_offset", 0)
        if not self.units:
            return None, line0, column
        index = bisect_right(self.starts, line0) - 1
        return self.units[index], line0 - self.starts[index], column

    def touching(self, spans: Sequence[Span], source: Source) -> set[int]:
        """The numbers of the units that the spans lie in."""
        found: set[int] = set()
        for span in spans:
            found.update(range(self.index_at(source.line_of(span.start)), self.index_at(source.line_of(span.end)) + 1))
        return found


def lay_out(body: Sequence[ast.stmt], source: Source, part: range) -> Layout:
    """The layout of the lines ``part`` of a text, whose statements are ``body``."""
    starts: list[int] = []
    bodies: list[list[ast.stmt]] = []
    last = -1
    for statement in body:
        first = min([statement.lineno, *(decorator.lineno for decorator in getattr(statement, "decorator_list", ()))]) - 1
        if first > last:
            starts.append(first)
            bodies.append([])
        bodies[-1].append(statement)
        last = max(last, (statement.end_lineno or statement.lineno) - 1)
    if starts:
        starts[0] = part.start
    ends = [source.line_span(line0).start if line0 < source.line_count else len(source.text) for line0 in [*starts, part.stop]]
    return Layout([Unit(source.text[start:end]) for start, end in itertools.pairwise(ends)], starts, bodies)
