"""Blank the broken statements of a text so that ``ast`` parses the rest, every other offset unchanged.

A text is cut at the statements that start in column 0, and only pieces that do not parse on their own are repaired: an open
bracket or quote in one function cannot swallow the next, and parso, which is slow, reads only the broken piece. parso's
error recovery says which statements are broken. Each is replaced by spaces and one ``0``, a statement that does
nothing: it keeps a block from being empty, and the function around it as long as it was.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from parso.tree import NodeOrLeaf

_PLACEHOLDER = "0"
_ROUNDS = 8
_LONGEST = 100_000  # code points of a piece that parso may read: it takes about 2 µs each

_HEAD = re.compile(r"(?!(?:else|elif|except|finally)\b)[^\s#)\]},:]")
_SURE_HEAD = re.compile(r"@|(?:async\s+def|def|class|import)\s+\w|from\s+[\w.]+\s+import\b")
_DEFINITION = re.compile(r"(?:async\s+def|def|class)\b")
_DECORATED = re.compile(rf"@|{_DEFINITION.pattern}")
_MAGIC = re.compile(r"[%!?]")
_QUOTED = re.compile(r"""#.*|(?P<open>\"""|''')|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?""")

_BLOCKS = ("file_input", "suite")

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why and where (0-based line, code point column) ``ast`` refused a text; ``placed`` is False where it did not say where."""

    message: str
    line0: int = 0
    column: int = 0
    placed: bool = True


@dataclass(slots=True)
class Draft:
    """The lines of a text, without their endings, as they are being blanked.

    ``damage``: half-open ranges of (line, column) that were blanked, or that mean something else without what was.
    """

    lines: list[str]
    damage: list[tuple[Place, Place]] = field(default_factory=list)
    _lost: int = 0
    _size: int = 0

    def __post_init__(self) -> None:
        self._size = sum(map(_code_size, self.lines))

    @property
    def lost_share(self) -> float:
        """The part of the text's code that was blanked."""
        return self._lost / max(self._size, 1)

    def blank(self, first: int, last: int, column: int) -> None:
        """Replace the lines ``first`` to ``last`` by a statement that does nothing in ``column``."""
        self._mark(first, last, column)
        head = self.lines[first][:column]  # white space: tabs must stay tabs
        for line0 in range(first, last + 1):
            self._lost += _code_size(self.lines[line0])
            self.lines[line0] = " " * len(self.lines[line0])
        if column < len(self.lines[first]):
            self.lines[first] = head + _PLACEHOLDER + self.lines[first][column + 1 :]

    def _mark(self, first: int, last: int, column: int) -> None:
        """Record as damage the lines to be blanked, and what above and below means something else without them."""
        start, end = (first, column), (last, len(self.lines[last]))
        below = _next_code(self.lines, last)
        top = self.lines[first].lstrip()
        if below is not None and self._may_decorate(first, last, below, column):
            end = (below, len(self.lines[below]))
        self.damage.append((start, end))
        above = self._torn_from(first, last, column)
        if above is not None and not _DEFINITION.match(top):
            self.damage.append(((above, _indentation(self.lines[above])), start))

    def _may_decorate(self, first: int, last: int, below: int, column: int) -> bool:
        """Whether the lines are a decorator of the definition below them, or stand where one would."""
        line = self.lines[below]
        if not _DECORATED.match(line.lstrip()) or _indentation(line) != column:
            return False
        return below == last + 1 or self.lines[first].lstrip().startswith("@")

    def _torn_from(self, first: int, last: int, column: int) -> int | None:
        """Where the deeper block above that the lines may have belonged to comes closest: all from there on is in doubt.

        That may be so where some of them are deeper than their place allows, or where they follow such a block directly.
        """
        inner = next((line for line in self.lines[first : last + 1] if _is_deeper(line, column)), None)
        if inner is None:
            return first - 1 if first > 0 and _is_deeper(self.lines[first - 1], column) else None
        above = [line0 for line0 in range(first - 1, -1, -1) if _is_deeper(self.lines[line0], column)]
        as_deep = (line0 for line0 in above if _indentation(self.lines[line0]) <= _indentation(inner))
        return next(as_deep, above[0] if above else None)


def recover(draft: Draft, part: range | None = None) -> tuple[ast.Module | None, Refusal | None]:
    """Blank what is broken in ``draft``, or in the lines ``part`` of it, which others have no share in.

    Gives the tree of what is left there, None where nothing could be saved, and Python's first objection, None for mere magics.
    """
    part = part or range(len(draft.lines))
    for line0 in list(_magic_lines(draft.lines[part.start : part.stop])):
        draft.lines[part.start + line0] = " " * len(draft.lines[part.start + line0])
    outcome = _attempt(draft.lines[part.start : part.stop], part.start)
    if isinstance(outcome, ast.Module):
        return outcome, None
    refusal = outcome
    groups = _groups(draft.lines, part)
    # Mostly one is broken, and Python has just named a line of it.
    named = [group for group in groups if group[0].start <= refusal.line0 < group[-1].stop]
    for chosen in (named, groups):
        for group in chosen:
            # Lines that look like a statement of their own may belong to one above, whose bracket is open.
            if not isinstance(_attempt(draft.lines[group[0].start : group[-1].stop]), ast.Module):
                for piece in group:
                    _repair(draft, piece)
        outcome = _attempt(draft.lines[part.start : part.stop], part.start)
        if isinstance(outcome, ast.Module):
            return outcome, refusal
    return None, refusal


def begins_surely(line: str) -> bool:
    """Whether a line is taken for the start of a statement, whatever stands above it."""
    return _SURE_HEAD.match(line) is not None


def _attempt(lines: Sequence[str], first: int = 0) -> ast.Module | Refusal:
    """The tree of lines, of which the first is the line ``first`` of its text."""
    try:
        return ast.parse("\n" * first + "\n".join(lines))
    except SyntaxError as error:
        return Refusal(error.msg, max((error.lineno or 1) - 1, 0), max((error.offset or 1) - 1, 0), error.lineno is not None)
    except (ValueError, RecursionError, MemoryError) as error:
        return Refusal(str(error) or "too complex to parse", placed=False)


def _repair(draft: Draft, piece: range) -> None:
    """Blank statements of the piece until it parses on its own; pieces that do also parse together."""
    for _ in range(_ROUNDS):
        lines = draft.lines[piece.start : piece.stop]
        outcome = _attempt(lines)
        if isinstance(outcome, ast.Module):
            return
        wounds = _wounds(lines, outcome)
        if not wounds:
            break
        for first, last, column in wounds:
            draft.blank(piece.start + first, piece.start + last, column)
    draft.blank(piece.start, piece.stop - 1, 0)


# --- where a text may be cut -----------------------------------------------------------------------------------------


def _pieces(lines: Sequence[str]) -> list[range]:
    """The lines cut before every statement in column 0, decorators kept with what they decorate."""
    starts = []
    decorating = False
    for line0, line in _outside_strings(lines):
        if _HEAD.match(line):
            if not (decorating and _DECORATED.match(line)):
                starts.append(line0)
            decorating = line.startswith("@")
    if not starts or starts[0] > 0:
        starts.insert(0, 0)
    return [range(first, end) for first, end in pairwise([*starts, len(lines)])]


def _groups(lines: Sequence[str], part: range) -> list[list[range]]:
    """The pieces of the lines ``part``, those together of which only the first surely begins a statement."""
    groups: list[list[range]] = []
    for piece in _pieces(lines[part.start : part.stop]):
        moved = range(part.start + piece.start, part.start + piece.stop)
        if not groups or begins_surely(lines[moved.start]):
            groups.append([])
        groups[-1].append(moved)
    return groups


def _magic_lines(lines: Sequence[str]) -> Iterator[int]:
    """The lines that notebooks give to IPython: ``%magic``, ``!command`` and ``?help`` in column 0."""
    continued = False
    for line0, line in _outside_strings(lines):
        magic = continued or _MAGIC.match(line) is not None
        if magic:
            yield line0
        continued = magic and line.endswith("\\")


def _outside_strings(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines that do not start inside a triple-quoted string.

    A ``def``, ``class``, ``import`` or decorator in column 0 ends any string: more likely, its quote was left open.
    """
    quote = ""
    for line0, line in enumerate(lines):
        if _SURE_HEAD.match(line):
            quote = ""
        if not quote:
            yield line0, line
        quote = _open_quote(line, quote)


def _open_quote(line: str, quote: str) -> str:
    """The triple quote that is open at the line's end, empty for none, when ``quote`` is open at its start."""
    if not quote and '"""' not in line and "'''" not in line:
        return ""
    position = 0
    while True:
        if quote:
            position = line.find(quote, position)
            if position < 0:
                return quote
            position, quote = position + 3, ""
        token = _QUOTED.search(line, position)
        if token is None:
            return ""
        position, quote = token.end(), token["open"] or ""


# --- what is broken, by parso ----------------------------------------------------------------------------------------


def _wounds(lines: Sequence[str], refusal: Refusal) -> list[tuple[int, int, int]]:
    """The broken statements of a text that ``ast`` refused: first line, last line, and the column of their block.

    Where parso finds nothing wrong (``f(a=1, 2)``), the statement that Python names.
    """
    from parso.grammar import load_grammar  # slow to import, and needed only while a text is broken

    text = "\n".join(lines)
    if not refusal.placed or len(text) > _LONGEST:
        return []
    module = load_grammar().parse(text)
    broken = _error_nodes(module)
    if not broken and refusal.line0 < len(lines):
        place = (refusal.line0 + 1, _indentation(lines[refusal.line0]))
        leaf = module.get_leaf_for_position(place, include_prefixes=True)
        broken = [leaf] if leaf is not None else []
    wounds: list[tuple[int, int, int]] = []
    for node in broken:
        first, last, column = _wound(lines, node)
        if not any(map(_is_code, lines[first : last + 1])):
            continue  # an error at the end of the text
        if wounds and (first <= wounds[-1][1] or (first == _next_code(lines, wounds[-1][1]) and column == wounds[-1][2])):
            above = wounds.pop()
            first, last, column = above[0], max(last, above[1]), min(column, above[2])
        wounds.append((first, last, column))
    return wounds


def _error_nodes(module: NodeOrLeaf) -> list[NodeOrLeaf]:
    """parso's outermost error nodes and leaves, in order."""
    found, stack = [], [module]
    while stack:
        node = stack.pop()
        if node.type in ("error_node", "error_leaf"):
            found.append(node)
        else:
            stack.extend(reversed(getattr(node, "children", ())))
    return found


def _wound(lines: Sequence[str], node: NodeOrLeaf) -> tuple[int, int, int]:
    """The lines to blank for one error, and the column of the block that they are in.

    That is its whole statement, others on the same lines, and what is indented below it: its block or its arguments.
    """
    statement = node
    while statement.parent is not None and statement.parent.type not in _BLOCKS:
        statement = statement.parent
    first, last = _line_range(statement)
    siblings = statement.parent.children if statement.parent is not None else [statement]
    at = siblings.index(statement)
    for sibling in siblings[at + 1 :]:
        if _line_range(sibling)[0] > last:
            break
        last = max(last, _line_range(sibling)[1])
    for sibling in reversed(siblings[:at]):
        if _line_range(sibling)[1] < first:
            break
        first = min(first, _line_range(sibling)[0])
    last = min(last, len(lines) - 1)
    indentation = _indentation(lines[first])
    column = max(level for level in _levels(statement) if level <= indentation)
    below = _next_code(lines, last)
    while below is not None and _is_deeper(lines[below], column):
        last = below
        below = _next_code(lines, last)
    return first, last, column


def _line_range(node: NodeOrLeaf) -> tuple[int, int]:
    """A node's first and last line, 0-based; the line ending that closes a statement is part of its last line."""
    end_line, end_column = node.end_pos
    first = node.start_pos[0] - 1
    return first, max(first, end_line - 2 if end_column == 0 else end_line - 1)


def _levels(statement: NodeOrLeaf) -> list[int]:
    """The columns of the blocks around a statement, its own included."""
    levels = [0]
    block = statement.parent
    while block is not None:
        if block.type == "suite":
            levels.append(next((child.start_pos[1] for child in block.children if child.type != "newline"), 0))
        block = block.parent
    return levels


# --- lines -----------------------------------------------------------------------------------------------------------


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_code(line: str) -> bool:
    stripped = line.lstrip()
    return stripped != "" and not stripped.startswith("#")


def _is_deeper(line: str, column: int) -> bool:
    return _is_code(line) and _indentation(line) > column


def _code_size(line: str) -> int:
    """How many characters of the line are code, roughly: all that is neither indentation nor a comment of its own."""
    return len(line.strip()) if _is_code(line) else 0


def _next_code(lines: Sequence[str], line0: int) -> int | None:
    """The next line after ``line0`` that is neither blank nor a comment."""
    return next((below for below in range(line0 + 1, len(lines)) if _is_code(lines[below])), None)
