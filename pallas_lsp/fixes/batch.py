"""Which fixes can be made at once."""

from __future__ import annotations

from collections.abc import Iterable

from ..rules.diagnostic import Fix
from ..text.span import Edit


def together(fixes: Iterable[Fix]) -> list[Fix]:
    """As many of the fixes, first come first served, as can be made in one go: edits of different fixes do not touch each other.

    An edit that two fixes share (a BlockSpec moved for both) is made once.
    """
    chosen: list[Fix] = []
    edits: set[Edit] = set()
    for fix in fixes:
        if not any(_touch(new, made) for new in fix.edits if new not in edits for made in edits):
            chosen.append(fix)
            edits.update(fix.edits)
    return chosen


def edits_of(fixes: Iterable[Fix]) -> tuple[Edit, ...]:
    """The edits of all the fixes, each once."""
    return tuple(dict.fromkeys(edit for fix in fixes for edit in fix.edits))


def _touch(one: Edit, other: Edit) -> bool:
    return one.path == other.path and one.span.start <= other.span.end and other.span.start <= one.span.end
