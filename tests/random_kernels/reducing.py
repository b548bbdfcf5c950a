"""A smaller kernel that shows the same: parts are taken out of its tree as long as the test still holds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator


def reduced(text: str, holds: Callable[[str], bool], tries: int = 1500) -> str:
    """The smallest text found for which ``holds``; ``text`` itself in ``ast.unparse``'s layout where nothing can go."""
    smallest = ast.unparse(ast.parse(text)) + "\n"
    if not holds(smallest):
        return text
    progress = True
    while progress and tries > 0:
        progress = False
        k = 0
        while tries > 0:
            candidate = next_candidate(smallest, k)
            if candidate is None:
                break
            tries -= 1
            if len(candidate) < len(smallest) and holds(candidate):
                smallest, progress = candidate, True
            else:
                k += 1
    return smallest


def next_candidate(text: str, k: int) -> str | None:
    """The text after its ``k``-th possible edit, None when there are fewer."""
    tree = ast.parse(text)
    for number, edit in enumerate(edits(tree)):
        if number == k:
            edit()
            return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return None


def edits(tree: ast.Module) -> Iterator[Callable[[], None]]:
    """Every way to take one part out, big parts first; what the file says of its arguments (``ARGS`` and all below) stays."""
    kept = next(
        (k for k, node in enumerate(tree.body) if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ARGS"), len(tree.body)
    )
    nodes = [tree, *(node for statement in tree.body[:kept] for node in ast.walk(statement))]
    for node in nodes:
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                for k, statement in enumerate(block[:kept] if node is tree else block):
                    yield _replace_in(block, k, [] if len(block) > 1 or name == "orelse" else [ast.Pass()])
                    for inner in ("body", "orelse"):
                        if isinstance(statement, ast.If | ast.For | ast.With | ast.FunctionDef) and getattr(statement, inner, None):
                            yield _replace_in(block, k, getattr(statement, inner))
    for node in nodes[1:]:
        for name, value in ast.iter_fields(node):
            if name in ("keywords", "decorator_list") and isinstance(value, list):
                yield from (_replace_in(value, k, []) for k in range(len(value)))
            elif isinstance(value, ast.BinOp | ast.UnaryOp):
                yield from (
                    _set(node, name, operand)
                    for operand in (getattr(value, "left", value), getattr(value, "right", value))
                    if operand is not value
                )
            if isinstance(value, ast.Call) and isinstance(node, ast.Assign | ast.BinOp | ast.Call | ast.Attribute):
                yield from (_set(node, name, arg) for arg in value.args if not isinstance(arg, ast.Starred))


def _replace_in(items: list[ast.AST], k: int, new: list[ast.AST]) -> Callable[[], None]:
    def edit() -> None:
        items[k : k + 1] = new

    return edit


def _set(node: ast.AST, name: str, value: ast.AST) -> Callable[[], None]:
    def edit() -> None:
        setattr(node, name, value)

    return edit
