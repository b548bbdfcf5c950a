"""Which top-level statements of a file rest on which others, read off their words: at worst too many."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

from ..resolve.imports import is_known_library
from ..text.trees import walk
from ..text.units import Layout, Unit
from .importing import may_matter

_WORD = re.compile(r"[^\W\d]\w*")
_ALL = frozenset({"*", "__all__"})
"""Names that change what other names are."""


_WORDS: WeakKeyDictionary[Unit, frozenset[str]] = WeakKeyDictionary()


def words(unit: Unit) -> frozenset[str]:
    """All words of a unit, those of its comments and strings among them."""
    if unit not in _WORDS:
        _WORDS[unit] = frozenset(_WORD.findall(unit.text))
    return _WORDS[unit]


def void_units(before: Layout, after: Layout, others: Sequence[Layout] = ()) -> set[Unit] | None:
    """The units of either text that changed, and all that reach one that did, in ``others`` (files that go with it) too.

    None where that may be all of them. A name stands for all things of the name, in whichever file.
    """
    old, new = set(before.units), set(after.units)
    void, names = set[Unit](), set[str]()
    for layout, kept in ((before, new), (after, old)):
        if not set(layout.units) <= kept:
            program = _Program([layout, *others])
            for unit, body in zip(layout.units, layout.bodies, strict=True):
                if unit not in kept:
                    void.add(unit)
                    names |= program.touched(body)
    program, size = _Program([after, *others]), -1
    while size != len(void) and names.isdisjoint(_ALL):
        size = len(void)
        for unit, body in program.units():
            if unit not in void and not names.isdisjoint(words(unit)):
                void.add(unit)
                defining = [statement for statement in body if not isinstance(statement, ast.Import | ast.ImportFrom)]
                names |= _taken(body, names) | program.touched(defining)
    return void if names.isdisjoint(_ALL) else None


class _Program:
    """The names that the units of some files bind, and those whose values running a unit may change."""

    def __init__(self, layouts: Sequence[Layout]) -> None:
        self._layouts = layouts

    def units(self) -> Iterator[tuple[Unit, Sequence[ast.stmt]]]:
        """All units with their statements."""
        for layout in self._layouts:
            yield from zip(layout.units, layout.bodies, strict=True)

    @cached_property
    def _libraries(self) -> dict[str, bool]:
        """The names imported from elsewhere, with whether they are of a library that keeps nothing of what it is given."""
        found: dict[str, bool] = {}
        for statement in (statement for _, body in self.units() for statement in body):
            if isinstance(statement, ast.Import | ast.ImportFrom):
                for alias in statement.names:
                    module = alias.name if isinstance(statement, ast.Import) else statement.module or ""
                    is_known = not getattr(statement, "level", 0) and (is_known_library(module) or not may_matter(module))
                    name = alias.asname or alias.name.partition(".")[0]
                    found[name] = is_known and found.get(name, True)
            elif isinstance(statement, ast.Assign) and found.get(_root(statement.value)) and not isinstance(statement.value, ast.Call):
                found |= {target.id: True for target in statement.targets if isinstance(target, ast.Name)}  # partial = functools.partial
        return found

    @cached_property
    def _binding(self) -> dict[str, list[Unit]]:
        found: dict[str, list[Unit]] = {}
        for unit, body in self.units():
            for name in _bindings(unit, body).made:
                if not self._libraries.get(name):
                    found.setdefault(name, []).append(unit)
        return found

    def touched(self, body: Sequence[ast.stmt]) -> set[str]:
        """The names that these statements bind, and those whose objects they may change while the module is imported.

        A method may change its object, and a function of these files what it is given and what it names as something that changes. What
        one of another file does, anything may show.
        """
        found = bound(body)
        executed = [part for statement in body for part in _executed(statement)]
        doings = _doings(executed)
        found |= doings.changed & self._binding.keys()
        called = {*doings.called, *(_root(decorator) for statement in body for decorator in getattr(statement, "decorator_list", ()))}
        if any(not self._libraries.get(name, True) and name not in self._binding for name in (*called, *doings.asked)):
            return {"*"}
        own = (called | doings.asked - self._fixed) & self._binding.keys()
        return found | self._changed_by(own) | (doings.given & self._binding.keys() - self._fixed if own else set())

    def _changed_by(self, functions: Iterable[str]) -> set[str]:
        """The names whose objects these functions, or those that they reach, may change."""
        reached, waiting, found = set[str](), list(functions), set[str]()
        while waiting:
            name = waiting.pop()
            if name in reached:
                continue
            reached.add(name)
            for unit in self._binding[name]:
                doings = self._doings_of(unit)
                found |= doings.changed
                found |= doings.given - self._fixed if any(callee in self._binding for callee in doings.called) else set()
                waiting += [word for word in words(unit) if word in self._binding]
        return found & self._binding.keys()

    @cached_property
    def _fixed(self) -> set[str]:
        """The names of functions, classes and literals, whose objects stay as they are."""
        return set(self._binding).difference(*(_bindings(unit, body).open for unit, body in self.units()))

    def _doings_of(self, unit: Unit) -> _Doings:
        if unit not in _DOINGS:
            _DOINGS[unit] = _doings(self._bodies[unit])
        return _DOINGS[unit]

    @cached_property
    def _bodies(self) -> dict[Unit, Sequence[ast.stmt]]:
        return dict(self.units())


@dataclass(frozen=True, slots=True)
class _Bindings:
    """The names that a unit binds without importing them (``made``), and those that are no functions, classes or literals (``open``)."""

    made: frozenset[str]
    open: frozenset[str]


_BINDINGS: WeakKeyDictionary[Unit, _Bindings] = WeakKeyDictionary()


def _bindings(unit: Unit, body: Sequence[ast.stmt]) -> _Bindings:
    if unit not in _BINDINGS:
        defining = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        made = bound(statement for statement in body if not isinstance(statement, ast.Import | ast.ImportFrom))
        unsure = bound(part for part in body if not isinstance(part, defining) and not _is_literal(part))
        _BINDINGS[unit] = _Bindings(frozenset(made), frozenset(unsure))
    return _BINDINGS[unit]


@dataclass(frozen=True, slots=True)
class _Doings:
    """By the names that expressions start with: what is changed, called, asked for a method, and given to a call."""

    changed: frozenset[str]
    called: frozenset[str]
    asked: frozenset[str]
    given: frozenset[str]


_DOINGS: WeakKeyDictionary[Unit, _Doings] = WeakKeyDictionary()


def _doings(body: Iterable[ast.AST]) -> _Doings:
    changed, called, asked, given = set[str](), set[str](), set[str](), set[str]()
    for node in (node for part in body for node in walk(part)):
        if isinstance(node, ast.Call):
            for kind in (changed, asked) if isinstance(node.func, ast.Attribute) else (called,):
                kind.add(_root(node.func))
            given.update(map(_root, (*node.args, *(keyword.value for keyword in node.keywords))))
        elif isinstance(node, ast.AugAssign):
            changed.add(_root(node.target))
        elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changed.add(_root(node))
        elif isinstance(node, ast.Global):
            changed.update(node.names)
    return _Doings(frozenset(changed), frozenset(called), frozenset(asked), frozenset(given))


def bound(body: Iterable[ast.stmt]) -> set[str]:
    """The names that statements bind, a star for those of a star import; what nested functions bind may be among them."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(statement.name)
            continue
        for node in walk(statement):
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


def _is_literal(statement: ast.stmt) -> bool:
    """Whether a statement gives names a value that is written out and cannot change."""
    parts = walk(statement.value) if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None else None
    kinds = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.expr_context)
    return parts is not None and all(isinstance(part, kinds) for part in parts)


def _root(node: ast.AST) -> str:
    """The name that an expression of attributes, subscripts and calls starts with, empty for none."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
