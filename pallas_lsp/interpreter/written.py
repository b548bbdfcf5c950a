"""What is asked of the program's nodes again and again; the answer is kept with the node, and goes with it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from ..text.trees import children, walk

Answer = TypeVar("Answer")


def kept_with_node(function: Callable[[ast.AST], Answer]) -> Callable[[ast.AST], Answer]:
    """Let ``function`` work out its answer once for each node. It is no node and no list: those are parts of the tree."""
    name = f"_{function.__name__}_"

    @wraps(function)
    def kept(node: ast.AST) -> Answer:
        held = node.__dict__
        if name not in held:
            held[name] = function(node)
        answer: Answer = held[name]
        return answer

    return kept


@kept_with_node
def written(node: ast.AST) -> str:
    """The expression as Python would write it."""
    return ast.unparse(node)


@kept_with_node
def names_in(node: ast.AST) -> frozenset[str]:
    """All names and attributes that the node's text has."""
    parts = [part.__dict__ for part in walk(node)]
    return frozenset([part["attr"] for part in parts if "attr" in part] + [part["id"] for part in parts if "id" in part])


@kept_with_node
def free_names(node: ast.AST) -> tuple[str, ...]:
    """The names that a function reads (its own locals among them, which its enclosing frames do not have), sorted."""
    return tuple(sorted({n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}))


@kept_with_node
def assigned_names(node: ast.AST) -> frozenset[str]:
    """The names that a loop's statements bind in their own scope."""
    return frozenset(n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


@kept_with_node
def is_generator(node: ast.AST) -> bool:
    """Whether the function itself (not one nested in it) yields."""
    pending: list[ast.AST] = list(getattr(node, "body", ()))
    while pending:
        current = pending.pop()
        if isinstance(current, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            pending += children(current)
    return False
