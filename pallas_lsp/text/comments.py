"""Whether an edit changed nothing but comments and the white space at the ends of lines."""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set

from .trees import children


def differ_in_comments_only(
    old: Sequence[str], new: Sequence[str], bodies: tuple[Sequence[ast.stmt], Sequence[ast.stmt]], first: int
) -> bool:
    """Whether two texts, as lines, that stand at the same place are the same program with every node at the same position.

    ``bodies``: their statements; ``first``: the line (0-based) that both start on. A line may differ behind a ``#``; one in a string
    makes another string, which the trees show.
    """
    if len(old) != len(new):
        return False
    changed = {first + 1 + at: pair for at, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]}
    return all(_code(a) == _code(b) for a, b in changed.values()) and _same(*bodies, changed.keys())


def _code(line: str) -> str:
    """What certainly is no comment of a line."""
    return line.split("#", 1)[0].rstrip()


def _same(old: Sequence[ast.AST], new: Sequence[ast.AST], lines: Set[int]) -> bool:
    return len(old) == len(new) and all(_same_node(a, b, lines) for a, b in zip(old, new, strict=True))


def _same_node(old: ast.AST, new: ast.AST, lines: Set[int]) -> bool:
    """Whether two trees stand at the same place and are equal as far as they are on these lines (from 1)."""
    if type(old) is not type(new) or _plain(old) != _plain(new):
        return False
    return lines.isdisjoint(_lines_of(old)) or _same(children(old), children(new), lines)


def _lines_of(node: ast.AST) -> range:
    """The lines that a node is on; all there can be for one that has no place of its own."""
    last = getattr(node, "end_lineno", None)
    if last is None:
        return range(1 << 30)
    return range(min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))]), last + 1)  # type: ignore[attr-defined]


def _plain(node: ast.AST) -> dict[str, object]:
    told = {name: getattr(node, name, None) for name in (*node._fields, *node._attributes)}
    return {name: value for name, value in told.items() if not isinstance(value, ast.AST | list)}
