"""What statements bind and need, for those who make functions of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .code import Code

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_UNFIT = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Delete, ast.ImportFrom)


def within(nodes: Sequence[ast.AST], *, into_loops: bool = True) -> Iterator[ast.AST]:
    """The nodes of statements without those in functions and classes that they define; a loop's own without ``into_loops``."""
    for node in nodes:
        yield node
        if not isinstance(node, _SCOPES) and (into_loops or not isinstance(node, _LOOPS)):
            yield from within(list(ast.iter_child_nodes(node)), into_loops=into_loops)


def is_closed(body: Sequence[ast.stmt]) -> bool:
    """Whether control neither leaves the statements nor comes back to them but at their end."""
    if any(isinstance(node, _UNFIT) for node in within(body)):
        return False
    return not any(isinstance(node, ast.Break | ast.Continue) for node in within(body, into_loops=False))


def bound_names(*nodes: ast.AST) -> set[str]:
    """The names that nodes bind in the scope that they are in."""
    found = set()
    for node in within(nodes):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
    return found


def mentions(scope: ast.AST, names: set[str]) -> Iterator[ast.AST]:
    """The places in a scope, functions in it too, where one of the names stands."""
    for node in ast.walk(scope):
        if (
            (isinstance(node, ast.Name) and node.id in names)
            or (isinstance(node, ast.arg) and node.arg in names)
            or (isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in names)
        ):
            yield node


def shares_names(function: ast.AST) -> bool:
    """Whether a function, or one in it, binds names of others."""
    return any(isinstance(node, ast.Global | ast.Nonlocal) for node in ast.walk(function))


def leaves(code: Code, body: Sequence[ast.stmt], statement: ast.stmt) -> bool:
    """Whether what the statements bind is used nowhere but in the whole ``statement`` that they belong to, or bound anew before."""
    scope, whole = code.functions(statement), code.span(statement)
    if not scope or shares_names(scope[0]):
        return False
    outside = {name: [p for p in mentions(scope[0], {name}) if not whole.covers(code.span(p))] for name in bound_names(*body)}
    return all(not places or _is_bound_anew(code, name, places, statement) for name, places in outside.items())


def _is_bound_anew(code: Code, name: str, places: Sequence[ast.AST], statement: ast.stmt) -> bool:
    """Whether the first statement behind ``statement`` that mentions a name, on its level, assigns it; and none before it does."""
    holder = code.around(statement)[0]
    level = code.level(statement)
    behind = [s for s in level if code.span(s).start > code.span(statement).start]
    first = next((s for s in behind if any(mentions(s, {name}))), None)
    if any(code.span(place).start < code.span(statement).start for place in places) or not isinstance(first, ast.Assign):
        return False
    stored = all(isinstance(getattr(place, "ctx", None), ast.Store) for place in mentions(first, {name}))
    return stored and not isinstance(holder, ast.For | ast.While)


def is_bound_before(code: Code, name: str, statement: ast.stmt) -> bool:
    """Whether the function around a statement binds a name above it, as a parameter too."""
    scope = code.functions(statement)
    start = code.span(statement).start
    return bool(scope) and any(
        code.span(place).start < start
        for place in mentions(scope[0], {name})
        if isinstance(place, ast.arg) or isinstance(getattr(place, "ctx", None), ast.Store)
    )
