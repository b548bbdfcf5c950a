"""How makers of fixes are declared and found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from ..interpreter.events import Event
from ..resolve.project import Project
from ..rules.diagnostic import Applicability, Fix
from ..text.span import Edit

Maker = Callable[[Any, Project], Iterator[Fix]]
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


def candidates(rule_id: str, event: Event, project: Project) -> Iterator[Fix]:
    """The fixes that the finding of ``rule_id`` on ``event`` may get, best first, each once. None of them has been tried."""
    if not FIXES:
        load_fixes()
    seen: set[frozenset[Edit]] = set()
    for maker in FIXES.get(rule_id, ()):
        for fix in maker(event, project):
            edits = frozenset(fix.edits)
            if edits and edits not in seen:
                seen.add(edits)
                yield fix


def make(title: str, applicability: Applicability, *edits: Iterable[Edit]) -> Fix:
    """A fix of these groups of edits; an edit that two groups share (an import) is made once."""
    return Fix(title, applicability, tuple(dict.fromkeys(edit for group in edits for edit in group)))
