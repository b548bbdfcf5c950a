"""Replacing one expression of a module by a call that nobody knows, and what the checker then finds."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass

from random_kernels.compare import errors_of

from pallas_lsp.text.source import Source

_IMPORT = "from elsewhere import opaque\n"


@dataclass(frozen=True)
class Found:
    """An error on a line of the text before the erasure."""

    line: int
    rule: str


@dataclass(frozen=True)
class Erased:
    """``text`` after ``gone`` was replaced; findings in it are one line further down."""

    text: str
    gone: str
    line: int


def erasures(text: str) -> list[Erased]:
    """Every way to take one piece of knowledge out: a number, dtype, shape, spec, memory space, function or any other expression."""
    source = Source("kernel.py", text)
    made = []
    for node in _erasable(ast.parse(text)):
        span = source.span_of(node)
        erased = text[: span.start] + "opaque()" + text[span.end :]
        made.append(Erased(_IMPORT + erased, source.slice(span), source.line_of(span.start) + 1))
    return made


def _erasable(tree: ast.AST) -> Iterator[ast.expr]:
    """The expressions that are read, those within f-strings and the tests of host conditions left out.

    An unknown condition lets both branches happen, so that the branch that was not taken may rightly be reported.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.JoinedStr):
            continue
        if isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del) and not isinstance(node, ast.Slice | ast.Starred):
            yield node
        yield from _erasable(node)


def found(text: str, shift: int = 0) -> set[Found]:
    """The errors that hold without conditions."""
    return {Found(error.line - shift, error.rule) for error in errors_of(text) if "(when " not in error.message}


def new_findings(text: str, count: int | None = None, seed: int = 0) -> list[tuple[Erased, set[Found]]]:
    """The erasures after which the checker finds what it did not find before; ``count`` of them at random, None for all."""
    before = found(text)
    choices = erasures(text)
    if count is not None and count < len(choices):
        choices = random.Random(seed).sample(choices, count)
    after = ((erased, found(erased.text, shift=1) - before) for erased in choices)
    return [(erased, new) for erased, new in after if new]
