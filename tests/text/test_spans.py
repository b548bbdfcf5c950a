"""Where nodes are written: Python's byte columns become offsets."""

from __future__ import annotations

import ast
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text.samples import KERNELS

from pallas_lsp.text.parse import parse
from pallas_lsp.text.source import Source
from pallas_lsp.text.span import Span

NAMES = ["x", "é", "变量", "𝒙", "naïve_ref"]
STRINGS = ["a", "é", "漢", "🜁", "\f", "\x85", "\u2028", "\t"]
SPACE = st.sampled_from([" ", "  ", "\t", " \f "])


@st.composite
def assignments(draw: st.DrawFn) -> str:
    """Lines such as ``é = [ "漢", x ]; x = é # 🜁`` under any line ending, perhaps behind a byte order mark."""
    lines = []
    for _ in range(draw(st.integers(1, 5))):
        items = draw(st.lists(st.sampled_from(NAMES) | st.text(st.sampled_from(STRINGS)).map('"{}"'.format), min_size=1, max_size=4))
        space = draw(SPACE)
        line = f"{draw(st.sampled_from(NAMES))} ={space}[{space}{f',{space}'.join(items)}{space}]"
        lines.append(line + draw(st.sampled_from(["", "; x = é", "  # 🜁 漢"])))
    return draw(st.sampled_from(["", "\ufeff"])) + draw(st.sampled_from(["\n", "\r\n", "\r"])).join(lines)


@given(assignments())
def test_a_nodes_span_holds_its_text(text: str) -> None:
    source, tree = Source("f.py", text), parse(text).tree
    assert tree.body
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            # Python folds an identifier to its normal form (NFKC), so compare what the text means.
            assert ast.parse(source.slice(source.span_of(node)), mode="eval").body.id == node.id  # type: ignore[attr-defined]
        elif isinstance(node, ast.Constant):
            assert source.slice(source.span_of(node)) == f'"{node.value}"'
        elif isinstance(node, ast.List):
            written = source.slice(source.span_of(node))
            assert (written[0], written[-1]) == ("[", "]")
    assert source.span_of(tree) == Span(0, len(text))


@pytest.mark.parametrize("name", KERNELS)
def test_spans_are_those_of_ast_get_source_segment(name: str) -> None:
    text = KERNELS[name]
    source = Source("f.py", text)
    for node in ast.walk(ast.parse(text)):
        segment = ast.get_source_segment(text, node)
        if segment is not None and "lineno" in node._attributes:
            assert source.slice(source.span_of(node)) == segment


def test_a_node_without_a_place_spans_its_children() -> None:
    text = "def f(a, b: int = 1): return [c for c in a if c]\nwith a as é, b: pass\n"
    source, tree = Source("f.py", text), ast.parse(text)
    spans = {type(node): source.slice(source.span_of(node)) for node in ast.walk(tree) if type(node) in (ast.arguments, ast.comprehension)}
    assert spans == {ast.arguments: "a, b: int = 1", ast.comprehension: "c in a if c"}
    items = [source.slice(source.span_of(node)) for node in ast.walk(tree) if isinstance(node, ast.withitem)]
    assert items == ["a as é", "b"]
    with pytest.raises(ValueError, match="Load has no place"):
        source.span_of(ast.Load())


def test_a_misplaced_node_is_clamped_to_the_text() -> None:
    source = Source("f.py", "ab\nc")
    outside = ast.Name("x", lineno=1, col_offset=9, end_lineno=1, end_col_offset=12)
    below = ast.Name("x", lineno=7, col_offset=0, end_lineno=7, end_col_offset=1)
    assert source.span_of(outside) == Span(4, 4)
    assert source.span_of(below) == Span(4, 4)


@pytest.mark.parametrize("comment", ["# plain", "# 漢"])
def test_all_spans_of_a_long_file_cost_milliseconds(comment: str) -> None:
    text = f"x_ref[0, 1] = x_ref[1, 0] + 1  {comment}\n" * 2600
    nodes = [node for node in ast.walk(ast.parse(text)) if "lineno" in node._attributes]
    source = Source("f.py", text)
    source.span_of(nodes[0])  # build the index
    started = time.process_time()
    for node in nodes:
        source.span_of(node)
    assert (time.process_time() - started) / len(nodes) < 10e-6  # about 1 µs
