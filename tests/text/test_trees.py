"""Going through a tree finds what Python's own way finds."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable

from jax.experimental.pallas.ops.tpu import flash_attention

from pallas_lsp.text.trees import children, walk


def test_all_nodes_are_found_each_once() -> None:
    tree = ast.parse(inspect.getsource(flash_attention) + "\nmatch x:\n    case [1, *_] | {'a': b, **c}:\n        f'{x!r:>{y}}'\n")
    assert plain(walk(tree)) == plain(ast.walk(tree))


def test_children_are_those_that_python_names() -> None:
    for node in ast.walk(ast.parse("@d(1)\ndef f(a, *b, c=2, **e) -> int:\n    return lambda: {**a, 'x': [y async for y in z if y]}\n")):
        assert sorted(map(id, children(node))) == sorted(map(id, ast.iter_child_nodes(node)))


def plain(nodes: Iterable[ast.AST]) -> list[int]:
    """The nodes without those that say how a name is used, and that Python shares."""
    return sorted(id(node) for node in nodes if not isinstance(node, ast.expr_context))
