"""What is blanked, what counts as damage, and texts that Python's parser cannot take."""

from __future__ import annotations

import ast
import subprocess
import sys
import warnings

import pytest

from pallas_lsp.text.parse import Parsed, parse
from pallas_lsp.text.source import Source


def left(text: str) -> str:
    """What of a text is parsed, without the blanks."""
    return "\n".join(line.rstrip() for line in parse(text).text.split("\n") if line.strip())


def damaged_names(parsed: Parsed) -> set[str]:
    return {node.name for node in ast.walk(parsed.tree) if isinstance(node, ast.FunctionDef | ast.ClassDef) and parsed.is_damaged(node)}


AFTER = "\ndef after():\n    pass\n"


@pytest.mark.parametrize(
    ("broken", "kept"),
    [
        pytest.param("def f(x):\n    a = x[0,\n    return a\n", "def f(x):\n    0\n    return a", id="open bracket"),
        pytest.param("def f(x):\n    x.\n    return a\n", "def f(x):\n    0\n    return a", id="half an attribute"),
        pytest.param("def f(x):\n    a = 'b\n    return a\n", "def f(x):\n    0\n    return a", id="open quote"),
        pytest.param('def f(x):\n    """Say\n    return a\n', "def f(x):\n    0", id="open docstring"),
        pytest.param("def f(x):\n    g(a=1, 2)\n    return a\n", "def f(x):\n    0\n    return a", id="error that only ast sees"),
        pytest.param("def f(x):\n    if x\n        a\n    return a\n", "def f(x):\n    0\n    return a", id="lost colon"),
        pytest.param("def f(x):\n    if x:\n    return a\n", "def f(x):\n    0\n    return a", id="header without a block"),
        pytest.param("def f(x):\n    if x: a = )\n    return a\n", "def f(x):\n    0\n    return a", id="statement behind a colon"),
        pytest.param("def f(x):\n    a; b = )\n    return a\n", "def f(x):\n    0\n    return a", id="statement behind a semicolon"),
        pytest.param("def f(x):\n    a\n      b\n    return a\n", "def f(x):\n    a\n    0\n    return a", id="unexpected indent"),
        pytest.param("def f(x):\n    if x:\n        a\n      b\n", "def f(x):\n    if x:\n        a\n    0", id="dedent to no block"),
        pytest.param("def f(x):\n\tif x:\n\t\ta = )\n\telse:\n\t\tb\n", "def f(x):\n\tif x:\n\t\t0\n\telse:\n\t\tb", id="tabs"),
        pytest.param("class A:\n def f(x):\n  (\n def g(x):\n  a\n", "class A:\n def f(x):\n  0\n def g(x):\n  a", id="method"),
    ],
)  # fmt: skip
def test_the_broken_statement_alone_is_blanked(broken: str, kept: str) -> None:
    assert left(broken + AFTER) == kept + AFTER.rstrip()
    parsed = parse(broken + AFTER)
    assert damaged_names(parsed) == ({"A", "f"} if "class" in broken else {"f"})


def test_a_broken_header_takes_its_block_along() -> None:
    parsed = parse("def f(x)\n    a\n    b\n" + AFTER)
    assert [type(node) for node in parsed.tree.body] == [ast.Expr, ast.FunctionDef]
    assert damaged_names(parsed) == set()
    assert parsed.mostly_lost


@pytest.mark.parametrize("decorator", ["@jit(\n", "@jit(static=[\n    1\n", "@a\n@jit(\n", "@jit x\n@b\n", "x = (\n", "jit, static=1)\n"])
def test_a_function_below_a_broken_decorator_is_damaged(decorator: str) -> None:
    parsed = parse(decorator + "def f():\n    pass\n" + AFTER)
    assert damaged_names(parsed) == {"f"}


def test_a_function_whose_end_was_torn_off_is_damaged() -> None:
    for junk in ('"""', "x_ref.", "if x", "b = 1\n    b"):
        parsed = parse(f"def f():\n    a\n\n{junk}\n    return a\n" + AFTER)
        assert "f" in damaged_names(parsed), junk


def test_functions_around_damage_are_damaged_and_those_beside_it_are_not() -> None:
    text = "def host():\n    def kernel(x):\n        x = (\n    def helper(x):\n        pass\n" + AFTER
    assert damaged_names(parse(text)) == {"host", "kernel"}


def test_the_first_objection_is_kept_with_its_place() -> None:
    text = '"é"\ndef f(:\n    pass\n'
    error = parse(text).error
    assert error is not None
    assert (error[0], text[error[1]]) == ("invalid syntax", ":")
    assert parse("x = 1\n").error is None


def test_an_open_docstring_quote_loses_one_function() -> None:
    text = '"""Module."""\n\ndef f():\n    """\n    a\n\ndef g():\n    """Doc of g."""\n\ndef h():\n    """Doc of h."""\n'
    parsed = parse(text)
    assert [node.name for node in parsed.tree.body if isinstance(node, ast.FunctionDef)] == ["f", "g", "h"]
    assert damaged_names(parsed) == {"f"}
    assert not parsed.mostly_lost


def test_mostly_lost_when_more_than_a_third_of_the_code_is_blanked() -> None:
    kept, lost = "x = 1\n" * 10, "x = (\n"
    assert not parse(kept + lost * 4).mostly_lost
    assert parse(kept + lost * 6).mostly_lost


def test_text_in_a_string_is_no_place_to_cut() -> None:
    text = 'HELP = """\nx = (\nif y\n%magic\n"""\n\ndef f():\n    a = (\n'
    parsed = parse(text)
    assert isinstance(parsed.tree.body[0], ast.Assign)
    assert len(parsed.damaged) == 1
    assert damaged_names(parsed) == {"f"}


def test_notebook_magics_are_no_damage() -> None:
    text = "%matplotlib inline\n!pip install \\\n  jax\nx = 1\n?x\n"
    parsed = parse(text)
    assert (parsed.error, parsed.damaged) == (None, ())
    assert left(text) == "x = 1"
    assert left("y = (7\n% 2)") == "y = (7\n% 2)"
    assert [node.lineno for node in parsed.tree.body] == [4]


def test_a_byte_order_mark_keeps_its_place() -> None:
    text = "\ufeffé = x\ndef f(:\n"
    parsed = parse(text)
    source = Source("f.py", text)
    names = [node for node in ast.walk(parsed.tree) if isinstance(node, ast.Name)]
    assert [source.slice(source.span_of(name)) for name in names] == ["é", "x"]
    assert text[parsed.damaged[0].start :].startswith("def")


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("x = 1\0", id="null byte"),
        pytest.param("x = \ud800", id="lone surrogate"),
        pytest.param("x = 1\x1a", id="control character"),
        pytest.param("(" * 5000, id="open brackets"),
        pytest.param("x = " + "-" * 20_000 + "1", id="nesting past the parser"),
        pytest.param("x = a" + ".b" * 50_000, id="nesting past the tree"),
        pytest.param("x = " + "9" * 5000, id="huge integer"),
        pytest.param("\n".join(" " * depth + "if x:" for depth in range(120)), id="blocks past the tokenizer"),
        pytest.param('x = "\\N{no such name}"', id="bad escape"),
        pytest.param("x = [" + "1," * 60_000, id="huge line"),
        pytest.param("def f(\n" * 500, id="many headers"),
    ],
)
def test_what_python_cannot_take_is_blanked(statement: str) -> None:
    text = f"before = 1\n{statement}\nafter = 2\n"
    parsed = parse(text)
    assert parsed.error is not None
    assert len(parsed.text) == len(text)
    named = {node.targets[0].id for node in parsed.tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
    assert {"before", "after"} <= named


def test_strange_characters_in_strings_are_no_damage() -> None:
    parsed = parse('x = "\0", "\ud800", "\\d", "\f\x85\u2028"\n')
    assert (parsed.error, parsed.damaged) == (None, ())


def test_warnings_are_silenced_even_where_they_are_errors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse('x = "\\d", 1 is 1\n').error is None
        assert parse('x = "\\d", (\n').error is not None


def test_parso_is_imported_for_broken_text_only() -> None:
    code = "import sys; from pallas_lsp.text.parse import parse; parse({!r}); print('parso' in sys.modules)"
    for text, expected in (("x", "False\n"), ("x(", "True\n")):
        command = [sys.executable, "-c", code.format(text)]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == expected
