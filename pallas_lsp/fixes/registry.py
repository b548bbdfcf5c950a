"""How makers of fixes are declared and found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from ..interpreter.events import Event
from ..resolve.project import Project
from ..rules.diagnostic import Applicability, Fix
from ..text.span import Edit, Span

Candidate = Fix | tuple[Fix, ...]
"""A fix, or several of which the first that helps is enough."""

Maker = Callable[[Any, Project], Iterator[Candidate]]
FIXES: dict[str, list[Maker]] = {}
_Function = TypeVar("_Function", bound=Maker)


def fixes(*rule_ids: str) -> Callable[[_Function], _Function]:
    """Register the decorated generator ``(event, project) -> fixes`` for findings of these rules; what it yields first is its best."""

    def register(function: _Function) -> _Function:
        for rule_id in rule_ids:
            FIXES.setdefault(rule_id, []).append(function)
        return function

    return register


def load_fixes() -> None:
    """Import every family of this package."""
    package = importlib.import_module(__package__ or "")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{__package__}.{module.name}")


def candidates(rule_id: str, event: Event, project: Project) -> Iterator[tuple[Fix, ...]]:
    """The fixes that the finding of ``rule_id`` on ``event`` may get, best first: of each group the first that helps.

    None of them has been tried.
    """
    if not FIXES:
        load_fixes()
    for maker in FIXES.get(rule_id, ()):
        for candidate in maker(event, project):
            yield (candidate,) if isinstance(candidate, Fix) else candidate


def make(title: str, applicability: Applicability, *edits: Iterable[Edit]) -> Fix:
    """A fix of these groups of edits; an edit that two groups share (an import) is made once."""
    return Fix(title, applicability, tuple(dict.fromkeys(edit for group in edits for edit in group)))


def enclosed(inner: Iterable[Edit], outer: Iterable[Edit], around: Span) -> tuple[Edit, ...]:
    """Both groups of edits in one: what ``outer`` writes around the expression ``around`` encloses what ``inner`` writes there."""
    edits = list(inner)
    for edit in outer:
        same = next((known for known in edits if (known.path, known.span) == (edit.path, edit.span)), None)
        if same is None:
            edits.append(edit)
        elif edit.span == Span(around.start, around.start):
            edits[edits.index(same)] = replace(edit, content=edit.content + same.content)
        elif edit != same:
            edits[edits.index(same)] = replace(edit, content=same.content + edit.content)
    return tuple(edits)


def joined(inner: Fix, outer: Fix, around: Span) -> Fix:
    """Both fixes in one, ``outer`` around ``inner``."""
    applicability: Applicability = "safe" if inner.applicability == outer.applicability == "safe" else "unsafe"
    title = f"{inner.title}, and {outer.title[:1].lower()}{outer.title[1:]}"
    return Fix(title, applicability, enclosed(inner.edits, outer.edits, around))
