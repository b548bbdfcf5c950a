"""The names that the top level of a file binds, read from its tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Exports:
    """``bindings``: name → the statements of the top level that bind it, in order. ``stars``: its star imports.

    ``public``: the literal value of ``__all__``, None where there is none or it is computed.
    """

    bindings: dict[str, tuple[ast.stmt, ...]]
    stars: tuple[ast.ImportFrom, ...]
    public: frozenset[str] | None

    def is_public(self, name: str) -> bool:
        """Whether a star import of the file would take ``name``, given that the file binds it."""
        return name in self.public if self.public is not None else not name.startswith("_")


def exports_of(tree: ast.Module) -> Exports:
    """What the top level of ``tree`` binds, including the branches of ``if``, ``try``, ``with`` and loops."""
    bindings: dict[str, list[ast.stmt]] = {}
    stars: list[ast.ImportFrom] = []
    for statement in top_level(tree.body):
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            stars.append(statement)
        for name in _bound_by(statement):
            bindings.setdefault(name, []).append(statement)
    frozen = {name: tuple(statements) for name, statements in bindings.items()}
    return Exports(frozen, tuple(stars), _literal_all(frozen.get("__all__", ())))


def top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when the file does: ``body`` and the blocks nested in it, but no function or class body."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for block in _blocks(statement):
            yield from top_level(block)


def import_statements(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import statement under ``body``, inside functions and classes too, in the order of the text."""
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        for block in _blocks(statement):
            yield from import_statements(block)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        children = getattr(statement, field, None)
        if not children:
            continue
        if field in ("handlers", "cases"):
            yield from (child.body for child in children)
        else:
            yield children


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
        case ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name for alias in aliases if alias.name != "*")
        case ast.Assign(targets=targets):
            for target in targets:
                yield from _target_names(target)
        case ast.AnnAssign(target=target, value=value) if value is not None:
            yield from _target_names(target)
        case ast.AugAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target):
            yield from _target_names(target)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                if item.optional_vars is not None:
                    yield from _target_names(item.optional_vars)
        case _:
            pass


def _target_names(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                yield from _target_names(element)
        case ast.Starred(value=value):
            yield from _target_names(value)
        case _:
            pass


def _literal_all(statements: tuple[ast.stmt, ...]) -> frozenset[str] | None:
    match statements:
        case (ast.Assign(value=ast.List(elts=elements) | ast.Tuple(elts=elements)),):
            names = [element.value for element in elements if isinstance(element, ast.Constant) and isinstance(element.value, str)]
            return frozenset(names) if len(names) == len(elements) else None
        case _:
            return None
