"""Edits that break a text the way typing does, and which of its functions they hit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import strategies as st
from text.samples import KERNELS

from pallas_lsp.text.source import Source

INSERTED = [
    *"([{)]}\"'", '"""', "'''", "#", ":", "\\", "\n", " ", "\t", "=", ",", "@", "\0", "\x01", "\ufeff", "\ud800", "é", "0", "x y", "?",
]  # fmt: skip
HALF_TYPED = [
    "x = x_ref[", "y = dot(a, ", "if x", "for i in ", "x_ref.", "@pl.when(", "return (", "with a:", "o_ref[...] = ", "lambda x", '"""',
    "x = {", "else:", "try:", "x = f'{a", "%timeit f(x)", "!ls",
]  # fmt: skip


@dataclass(frozen=True)
class Broken:
    """A kernel's text ``before`` an edit and ``after`` it; ``at`` is where they start to differ."""

    before: str
    after: str
    at: int


@st.composite
def broken(draw: st.DrawFn) -> Broken:
    """One of the sample kernels after one edit. Not every edit breaks it."""
    before = draw(st.sampled_from(list(KERNELS.values())))
    lines = before.split("\n")
    row = draw(st.integers(0, len(lines) - 1))
    kind = draw(st.sampled_from(["delete", "insert", "cut line", "drop line", "drop colon", "half typed"]))
    at = draw(st.integers(0, len(before) - 1))
    if kind == "delete":
        return Broken(before, before[:at] + before[at + 1 :], at)
    if kind == "insert":
        return Broken(before, before[:at] + draw(st.sampled_from(INSERTED)) + before[at:], at)
    if kind == "drop colon":
        at = draw(st.sampled_from([at for at in range(len(before)) if before.startswith(":\n", at)]))
        return Broken(before, before[:at] + before[at + 1 :], at)
    line = lines[row]
    at = sum(len(above) + 1 for above in lines[:row])
    if kind == "cut line":
        kept = draw(st.integers(0, len(line)))
        at += kept
        lines[row] = line[:kept]
    elif kind == "drop line":
        del lines[row]
    else:
        lines.insert(row, line[: len(line) - len(line.lstrip())] + draw(st.sampled_from(HALF_TYPED)))
    return Broken(before, "\n".join(lines), at)


def definitions(tree: ast.AST, outer: str = "") -> Iterator[tuple[str, ast.stmt]]:
    """The functions and classes of a tree under their dotted names."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield outer + node.name, node
            yield from definitions(node, f"{outer}{node.name}.")
        else:
            yield from definitions(node, outer)


def covers(source: Source, node: ast.stmt, at: int) -> bool:
    """Whether an edit at the offset is one inside a function or class, its decorators included: not one that ends before it."""
    signs = [source.span_of(decorator).start - 1 for decorator in getattr(node, "decorator_list", ())]
    return min([source.span_of(node).start, *signs]) < at < source.span_of(node).end
