"""Expressions of the program in words."""

from __future__ import annotations

import ast
from functools import lru_cache


@lru_cache(maxsize=8192)
def written(node: ast.AST) -> str:
    """The expression as Python would write it; asked for again and again while loops and paths pass the same place."""
    return ast.unparse(node)
