"""Parsing a text again after an edit: only the top-level statements around the edit are read, the tree of the rest is kept."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .comments import differ_in_comments_only
from .parse import MOSTLY, Parsed, damage_spans, parsable, parse, split_lines
from .recovery import Draft, Refusal, begins_surely, recover
from .shift import common
from .source import Source
from .span import Span
from .units import Layout, Unit, lay_out


def reparse(before: Parsed, text: str) -> Parsed:
    """As ``parse(text)``, but the units that ``text`` has in common with ``before``, or that differ in comments only, are the same objects.

    Their statements are shared too, unless they stand on other lines now. Nothing of ``before`` is changed. What Python objects to is told
    of the part that was read, so its words and place may differ from those of ``parse``.
    """
    text = parsable(text)
    if text == before.source.text:
        return before
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _reparsed(before, Source("", text))
    return found if found is not None else parse(text)


@dataclass(frozen=True, slots=True)
class _Part:
    """What is read again: the units ``first`` to ``last`` (excluded) of the old text, and its lines in the new one."""

    first: int
    last: int
    lines: range

    def slice(self, source: Source) -> str:
        """The text of the lines."""
        return source.text[_start(source, self.lines.start) : _start(source, self.lines.stop)]


def _reparsed(before: Parsed, source: Source) -> Parsed | None:
    """The text parsed in part; None where that is not possible, or not worth it."""
    layout = before.layout
    shift = source.line_count - before.source.line_count
    part = _changed(before, source, shift)
    if part is None or len(layout.units) < 2:
        return None
    tree = _tree_of(part.slice(source), part.lines.start)
    draft: Draft | None = None
    refusal: Refusal | None = None
    if tree is None:
        part = _between_definitions(part, layout, source, shift)
        draft = Draft(split_lines(source.text))
        tree, refusal = recover(draft, part.lines)
    below = _below(part, layout, source, shift)
    if tree is None or below is None:
        return None
    read = lay_out(tree.body, source, part.lines)
    if (part.first == 0 or part.last == len(layout.units)) and not read.units:
        return None  # nothing is left to which what stands above or below could belong
    damaged = damage_spans(draft, source) if draft is not None else ()
    return _joined(before, source, part, (read, below), damaged, refusal, draft is not None and draft.lost_share > MOSTLY, draft)


def _joined(
    before: Parsed,
    source: Source,
    part: _Part,
    layouts: tuple[Layout, Layout],
    damaged: tuple[Span, ...],
    refusal: Refusal | None,
    mostly_lost: bool,
    draft: Draft | None,
) -> Parsed:
    old, (read, below) = before.layout, layouts
    hurt = old.touching(before.damaged, before.source)
    units = [*old.units[: part.first], *_kept(old, hurt, part, read), *old.units[part.last :]]
    starts = [*old.starts[: part.first], *read.starts, *below.starts]
    bodies = [*old.bodies[: part.first], *read.bodies, *below.bodies]
    moved = len(units) - len(old.units)
    now_hurt = Layout(units, starts, bodies).touching(damaged, source)
    for index in {*now_hurt, *(i if i < part.first else i + moved for i in hurt if not part.first <= i < part.last)}:
        units[index] = Unit(units[index].text)  # a function that is damaged, or no longer is, is another one
    text = source.text
    if draft is not None:
        text = text[: _start(source, part.lines.start)] + _blanked(draft, source, part.lines) + text[_start(source, part.lines.stop) :]
    tree = ast.Module([statement for body in bodies for statement in body], [])
    error = None if refusal is None else (refusal.message, source.offset(refusal.line0, refusal.column))
    return Parsed(text, tree, damaged, error, mostly_lost, source, Layout(units, starts, bodies))


def _kept(old: Layout, hurt: set[int], part: _Part, read: Layout) -> Iterator[Unit]:
    """The units that were read: the old ones where they are the same program."""
    spare: dict[str, list[Unit]] = {}
    for index in range(part.first, part.last):
        if index not in hurt:
            spare.setdefault(old.units[index].text, []).append(old.units[index])
    for number, unit in enumerate(read.units):
        index = part.first + number
        if spare.get(unit.text):
            yield spare[unit.text].pop(0)
        elif index < part.last and index not in hurt and old.starts[index] == read.starts[number]:
            lines = split_lines(old.units[index].text), split_lines(unit.text)
            bodies = old.bodies[index], read.bodies[number]
            yield old.units[index] if differ_in_comments_only(*lines, bodies, read.starts[number]) else unit
        else:
            yield unit


def _changed(before: Parsed, source: Source, shift: int) -> _Part | None:
    """The part that the edit lies in, with what may belong to it: the unit above, and all that was damaged."""
    old, layout = before.source, before.layout
    head, tail = common(old.text, source.text)
    first_line, last_line = max(old.line_of(head) - 1, 0), old.line_of(len(old.text) - tail)
    for span in before.damaged:
        first_line, last_line = min(first_line, max(old.line_of(span.start) - 1, 0)), max(last_line, old.line_of(span.end) + 1)
    first, last = layout.index_at(first_line), layout.index_at(last_line) + 1
    start = layout.starts[first] if layout.starts else 0
    if last >= len(layout.units):
        return _Part(first, len(layout.units), range(start, source.line_count))
    below = layout.starts[last] + shift
    aligned = _start(source, below) - len(source.text) == _start(old, layout.starts[last]) - len(old.text)
    return _Part(first, last, range(start, below)) if aligned and below > start else None


def _between_definitions(part: _Part, layout: Layout, source: Source, shift: int) -> _Part:
    """The part with what stands around it as far as the next lines that end any open string."""

    def is_sure(index: int, shift: int) -> bool:
        return begins_surely(source.line_text(layout.starts[index] + shift))

    first = next((index for index in range(part.first, 0, -1) if is_sure(index, 0)), 0)
    last = next((index for index in range(part.last, len(layout.units)) if is_sure(index, shift)), len(layout.units))
    stop = layout.starts[last] + shift if last < len(layout.units) else source.line_count
    return _Part(first, last, range(layout.starts[first], stop))


def _below(part: _Part, layout: Layout, source: Source, shift: int) -> Layout | None:
    """The units below the part where they stand now; their statements are parsed again if that is on other lines."""
    units, starts = layout.units[part.last :], layout.starts[part.last :]
    if not shift or not units:
        return Layout(units, starts, layout.bodies[part.last :])
    lines = range(part.lines.stop, source.line_count)
    tree = _tree_of(source.text[_start(source, lines.start) :], lines.start)
    found = lay_out(tree.body, source, lines) if tree is not None else None
    return found if found is not None and list(found.starts) == [start + shift for start in starts] else None


def _tree_of(text: str, first: int) -> ast.Module | None:
    try:
        return ast.parse("\n" * first + text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _blanked(draft: Draft, source: Source, lines: Sequence[int]) -> str:
    pieces: list[str] = []
    for line0 in lines:
        line = source.line_span(line0)
        pieces += [draft.lines[line0], source.text[line.end : _start(source, line0 + 1)]]
    return "".join(pieces)


def _start(source: Source, line0: int) -> int:
    return source.line_span(line0).start if line0 < source.line_count else len(source.text)
