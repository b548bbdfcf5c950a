"""Which top-level statements of a file rest on which others, read off their words: at worst too many."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache

from ..text.units import Layout, Unit

_WORD = re.compile(r"[^\W\d]\w*")
_ALL = frozenset({"*", "__all__"})
"""Names that change what other names are."""


@lru_cache(maxsize=8192)
def words(unit: Unit) -> frozenset[str]:
    """All words of a unit, those of its comments and strings among them."""
    return frozenset(_WORD.findall(unit.text))


def void_units(before: Layout, after: Layout, others: Iterable[Layout] = ()) -> set[Unit] | None:
    """The units of either text that changed, and all that reach one that did, in ``others`` (files that go with it) too.

    None where that may be all of them. A name stands for all things of the name, in whichever file.
    """
    old, new = set(before.units), set(after.units)
    void, names = set[Unit](), set[str]()
    for layout, kept in ((before, new), (after, old)):
        module = _Module(layout)
        for unit, body in zip(layout.units, layout.bodies, strict=True):
            if unit not in kept:
                void.add(unit)
                names |= module.touched(body)
    if not names.isdisjoint(_ALL):
        return None
    modules = [(layout, _Module(layout)) for layout in (after, *others)] if names else []
    size = -1
    while size != len(void):
        size = len(void)
        for layout, module in modules:
            for unit, body in zip(layout.units, layout.bodies, strict=True):
                if unit not in void and not names.isdisjoint(words(unit)):
                    void.add(unit)
                    defining = [statement for statement in body if not isinstance(statement, ast.Import | ast.ImportFrom)]
                    names |= _taken(body, names) | module.touched(defining)
    return void


class _Module:
    """The names that the units of a text bind, and those whose values running a unit may change."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    @cached_property
    def _binding(self) -> dict[str, list[Unit]]:
        found: dict[str, list[Unit]] = {}
        for unit, body in zip(self._layout.units, self._layout.bodies, strict=True):
            for name in bound(statement for statement in body if not isinstance(statement, ast.Import | ast.ImportFrom)):
                found.setdefault(name, []).append(unit)
        return found

    def touched(self, body: Sequence[ast.stmt]) -> set[str]:
        """The names that these statements bind, and those whose objects they may change while the module is imported.

        A method may change its object. What a function of the module is given, it may change, and all that it reaches.
        """
        found = bound(body)
        for node in (part for statement in body for executed in _executed(statement) for part in ast.walk(executed)):
            if isinstance(node, ast.Call | ast.Attribute | ast.Subscript | ast.AugAssign):
                target = node.func if isinstance(node, ast.Call) else node.target if isinstance(node, ast.AugAssign) else node
                found |= self._changed_by(node, target)
        for decorator in (d for statement in body for d in getattr(statement, "decorator_list", ())):
            if _root(decorator) in self._binding:
                found |= self._reached(_names(decorator))
        return found

    def _changed_by(self, node: ast.AST, target: ast.AST) -> set[str]:
        root = _root(target)
        if root not in self._binding:
            return set()
        if isinstance(node, ast.Call) and isinstance(target, ast.Name):
            return self._reached(_names(node))
        changes = isinstance(node, ast.Call | ast.AugAssign) or isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        return {root} if changes else set()

    def _reached(self, names: Iterable[str]) -> set[str]:
        reached, waiting = set[str](), [name for name in names if name in self._binding]
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += [word for unit in self._binding[name] for word in words(unit) if word in self._binding]
        return reached


def bound(body: Iterable[ast.stmt]) -> set[str]:
    """The names that statements bind, a star for those of a star import; what nested functions bind may be among them."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(statement.name)
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.alias):
                found.add(node.asname or node.name.partition(".")[0])
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                found.add(node.id)
            elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name:
                found.add(node.name)
    return found


def _taken(body: Sequence[ast.stmt], names: set[str]) -> set[str]:
    """What import statements bind of these names, or of modules of these names."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            module = set(_WORD.findall(getattr(statement, "module", None) or ""))
            taken = [alias for alias in statement.names if not names.isdisjoint(module.union(_WORD.findall(alias.name)))]
            found.update(alias.asname or alias.name.partition(".")[0] for alias in taken)
    return found


def _executed(statement: ast.stmt) -> Iterator[ast.AST]:
    """What of a statement runs when its module is imported: of a function its decorators and defaults only."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from (*statement.decorator_list, *statement.args.defaults, *filter(None, statement.args.kw_defaults))
    elif isinstance(statement, ast.ClassDef):
        yield from (*statement.decorator_list, *statement.bases, *statement.keywords)
        for part in statement.body:
            yield from _executed(part)
    else:
        yield statement


def _root(node: ast.AST) -> str:
    """The name that an expression of attributes, subscripts and calls starts with, empty for none."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
