"""Going through a tree of Python's, where the order does not count."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# More than half of a program's nodes. Below a name is how it is used (`Load` …), which the name itself says too.
_LEAVES = frozenset({ast.Name, ast.Constant, ast.Load, ast.Store, ast.Del})


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all nodes below it, in any order; how a name is used may be left out.

    `ast.walk` asks every node for each of its fields by name, which takes three times as long; on a large file that shows.
    """
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        if type(node) not in _LEAVES:
            pending += children(node)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node, in any order."""
    found: list[ast.AST] = []
    for value in node.__dict__.values():
        if isinstance(value, ast.AST):
            found.append(value)
        elif type(value) is list:
            found += [part for part in value if isinstance(part, ast.AST)]
    return found
