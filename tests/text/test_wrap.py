"""An expression wrapped in text is wrapped in the tree, and nothing else changes."""

from __future__ import annotations

import ast
import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text.samples import KERNELS

from pallas_lsp.text.edits import apply, wrap
from pallas_lsp.text.source import Source

# prefix, suffix, and the expression that they make of `_`
WRAPPERS = [
    ("", ".astype(d)", "_.astype(d)"),
    ("", "[None]", "_[None]"),
    ("jnp.sum(", ", axis=0)", "jnp.sum(_, axis=0)"),
    ("(-", ")", "-_"),
    ("[", "]", "[_]"),
]


def expression(text: str, name: str) -> ast.expr:
    """The first expression of a text that is written like ``name``."""
    source = Source("f.py", text)
    return next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.expr) and source.slice(source.span_of(node)) == name)


@pytest.mark.parametrize(
    ("text", "name", "after"),
    [
        ("y = x", "x", "y = x.astype(d)"),
        ("y = a + b", "a + b", "y = (a + b).astype(d)"),
        ("y = (a + b)", "a + b", "y = (a + b).astype(d)"),
        ("y = f(a + b)", "a + b", "y = f((a + b).astype(d))"),
        ("y = f (a + b)", "a + b", "y = f ((a + b).astype(d))"),
        ("y = f[0](a + b)", "a + b", "y = f[0]((a + b).astype(d))"),
        ("return (\n    a + b\n)", "a + b", "return (\n    a + b\n).astype(d)"),
        ("return(a + b)", "a + b", "return(a + b).astype(d)"),
        ("y = x if (a)else b", "a", "y = x if (a).astype(d)else b"),
        ("y = -x", "-x", "y = (-x).astype(d)"),
        ("y = 1", "1", "y = (1).astype(d)"),
        ("y = True", "True", "y = True.astype(d)"),
        ("y = a, b", "a, b", "y = (a, b).astype(d)"),
        ("y = (a), b", "(a), b", "y = ((a), b).astype(d)"),
        ("y = (a), (b)", "(a), (b)", "y = ((a), (b)).astype(d)"),
        ("y = (a, b)", "(a, b)", "y = (a, b).astype(d)"),
        ("y = ((a), b)", "((a), b)", "y = ((a), b).astype(d)"),
        ("y = ()", "()", "y = ().astype(d)"),
        ("y = 'a' 'b'", "'a' 'b'", "y = 'a' 'b'.astype(d)"),
        ("y = f(x for x in z)", "(x for x in z)", "y = f((x for x in z).astype(d))"),
        ("y = (x for x in z)", "(x for x in z)", "y = ((x for x in z).astype(d))"),
        ("y = a if b else c", "a if b else c", "y = (a if b else c).astype(d)"),
        ("y = f(z := 1)", "z := 1", "y = f((z := 1).astype(d))"),
    ],
)
def test_a_suffix_gets_the_whole_expression(text: str, name: str, after: str) -> None:
    source = Source("f.py", text)
    assert apply(text, wrap(source, expression(text, name), "", ".astype(d)")) == after


@pytest.mark.parametrize(
    ("text", "name", "after"),
    [
        ("y = a + b", "a + b", "y = f(a + b, 1)"),
        ("y = a, b", "a, b", "y = f((a, b), 1)"),
        ("return(a + b)", "a + b", "return f((a + b), 1)"),
        ("y = lambda: a", "lambda: a", "y = f(lambda: a, 1)"),
        ("y = x if[a]else b", "[a]", "y = x if f([a], 1)else b"),
    ],
)
def test_an_argument_needs_no_parentheses(text: str, name: str, after: str) -> None:
    assert apply(text, wrap(Source("f.py", text), expression(text, name), "f(", ", 1)")) == after


def test_a_later_argument_needs_none_either() -> None:
    text = "y = a + b"
    assert apply(text, wrap(Source("f.py", text), expression(text, "a + b"), "jnp.where(m, ", ", 0)")) == "y = jnp.where(m, a + b, 0)"


def candidates(tree: ast.AST) -> list[ast.expr]:
    """The expressions of a tree that stand for a value, but not those in f-strings, which Python 3.11 misplaces."""
    inside = {id(part) for string in ast.walk(tree) if isinstance(string, ast.JoinedStr) for part in ast.walk(string) if part is not string}
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr) and not isinstance(node, ast.Slice | ast.Starred) and id(node) not in inside
        if isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    ]


class Wrapping(ast.NodeTransformer):
    """Put one node into the place of ``_`` in an expression."""

    def __init__(self, target: ast.expr, around: str) -> None:
        self.target, self.around = target, around

    def visit(self, node: ast.AST) -> ast.AST:
        if node is not self.target:
            return self.generic_visit(node)
        target, around = self.target, ast.parse(self.around, mode="eval").body

        class Filling(ast.NodeTransformer):
            def visit_Name(self, name: ast.Name) -> ast.expr:
                return target if name.id == "_" else name

        return Filling().visit(around)


def check(text: str, index: int, prefix: str, suffix: str, around: str) -> None:
    tree = ast.parse(text)
    chosen = candidates(tree)[index % len(candidates(tree))]
    edited = apply(text, wrap(Source("f.py", text), chosen, prefix, suffix))
    expected = Wrapping(chosen, around).visit(copy.copy(tree))
    assert ast.dump(ast.parse(edited)) == ast.dump(expected), edited


@settings(max_examples=60)
@given(st.sampled_from(list(KERNELS.values())), st.integers(0, 2000), st.sampled_from(WRAPPERS))
def test_wrapping_any_expression_of_a_kernel(text: str, index: int, wrapper: tuple[str, str, str]) -> None:
    check(text, index, *wrapper)


ATOMS = [
    "a", "(a)", "1", "'s'", "f(a)", "f((a), b)", "a.b", "x[0]", "x[a, (b)]", "[a]", "()", "(a,)", "(a), b", "(yield)", "[*a]", "{**a}",
    "...", "1j", "b''",
]  # fmt: skip
FORMS = [
    "({})", "( {}\n )", "f({})", "-({})", "({}) + a", "a*({})", "({})if({})else({})", "lambda: ({})", "f(({}) for a in({}))", "[{}]",
    "not({})", "(a := {})", "({})**a", "f_(({}),)", "x[{}]", "a<({})",
]  # fmt: skip


@st.composite
def expressions(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(ATOMS))
    for form in draw(st.lists(st.sampled_from(FORMS), max_size=3)):
        text = form.replace("{}", text)
    return draw(st.sampled_from(["y = ({})\n", "def g():\n    return({})\n", "z[({})] = a\n", "assert({}),({})\n"])).replace("{}", text)


@settings(max_examples=300)
@pytest.mark.filterwarnings("ignore")
@given(expressions(), st.integers(0, 200), st.sampled_from(WRAPPERS))
def test_wrapping_any_expression(text: str, index: int, wrapper: tuple[str, str, str]) -> None:
    try:
        ast.parse(text)
    except SyntaxError:
        return
    check(text, index, *wrapper)
