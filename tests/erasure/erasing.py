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


def _erasable(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that are read, and whose loss is no other program.

    Left out are f-strings, calls for their effect (``specs.append``, ``next(refs)``), and the tests of conditions: an unknown condition lets
    both branches happen, so that the one that was not taken may rightly be reported.
    """
    for child in ast.iter_child_nodes(node):
        if (
            isinstance(child, ast.JoinedStr)
            or (isinstance(node, ast.If | ast.IfExp) and child is node.test)
            or _is_call_of(child, "when", "cond", "next")
        ):
            continue
        if isinstance(node, ast.Expr) and isinstance(child, ast.Call):
            for argument in child.args:
                yield from _erasable(ast.List([argument], ast.Load()))
            continue
        if (
            isinstance(child, ast.expr)
            and not isinstance(getattr(child, "ctx", None), ast.Store | ast.Del)
            and not isinstance(child, ast.Slice | ast.Starred)
        ):
            yield child
        yield from _erasable(child)


def _is_call_of(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in names


def found(text: str, shift: int = 0) -> set[Found]:
    """The errors that hold without conditions."""
    return {Found(error.line - shift, error.rule) for error in errors_of(text) if "(when " not in error.message}


def new_findings(text: str, count: int | None = None, seed: int = 0) -> list[tuple[Erased, set[Found]]]:
    """The erasures after which the checker finds something on a line that had no error before; ``count`` of them at random, None for all.

    On a line that is wrong anyway, another rule may take over: JAX would raise one error or the other, whatever the value was.
    """
    before = found(text)
    wrong = {finding.line for finding in before}
    choices = erasures(text)
    if count is not None and count < len(choices):
        choices = random.Random(seed).sample(choices, count)
    after = ((erased, {finding for finding in found(erased.text, shift=1) if finding.line not in wrong}) for erased in choices)
    return [(erased, new) for erased, new in after if new]
