"""Arguments that come and go, and the layout that stays."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text.samples import KERNELS

from pallas_lsp.text.edits import apply, insert_keyword, remove_argument, replace_argument
from pallas_lsp.text.source import Source


def first_call(text: str) -> tuple[Source, ast.Call]:
    return Source("f.py", text), next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", "f(k=v)"),
        ("f( )", "f(k=v )"),
        ("f(  # why\n)", "f(k=v  # why\n)"),
        ("(f) ()", "(f) (k=v)"),
        ("f(a)", "f(a, k=v)"),
        ("f(a, b=(1),)", "f(a, b=(1), k=v,)"),
        ("f(a, )", "f(a, k=v, )"),
        ("f(*a, **b)", "f(*a, **b, k=v)"),
        ("f(x for x in y)", "f((x for x in y), k=v)"),
        ("f((x for x in y))", "f((x for x in y), k=v)"),
        ("f(((a)))", "f(((a)), k=v)"),
        ("f(lambda: (\n    a\n))", "f(lambda: (\n    a\n), k=v)"),
        ("f(\n    a, b\n)", "f(\n    a, b, k=v\n)"),
        ("f(a, b,  # why\n)", "f(a, b, k=v,  # why\n)"),
        ("f(\n    a\n)", "f(\n    a,\n    k=v\n)"),
        ("f(\n    a,\n)", "f(\n    a,\n    k=v,\n)"),
        ("f(\n\ta,\r\n)", "f(\n\ta,\n\tk=v,\r\n)"),
        ("f(\r\n    a,\r\n)", "f(\r\n    a,\r\n    k=v,\r\n)"),
        ("f(a,\n  b)", "f(a,\n  b,\n  k=v)"),
        ("f(a,\n  b)  # why", "f(a,\n  b,\n  k=v)  # why"),
        ("f(\n    a,\n    b,  # why (\n    # last\n)", "f(\n    a,\n    b,  # why (\n    k=v,\n    # last\n)"),
        ("f(\n    a,\n    b  # why,\n)", "f(\n    a,\n    b,  # why,\n    k=v\n)"),
        ("f(\n    a,\n    [\n        b,\n    ],\n)", "f(\n    a,\n    [\n        b,\n    ],\n    k=v,\n)"),
        ("f('é',\n  'é')", "f('é',\n  'é',\n  k=v)"),
    ],
)
def test_a_keyword_is_added_in_the_calls_own_layout(before: str, after: str) -> None:
    source, call = first_call(before)
    assert apply(before, [insert_keyword(source, call, "k", "v")]) == after


def test_a_keyword_that_is_there_is_refused() -> None:
    with pytest.raises(ValueError, match="keyword k already"):
        insert_keyword(*first_call("f(k=1)"), "k", "2")


def test_a_value_is_replaced_and_its_keyword_stays() -> None:
    text = "f(a + b, k = (1, 2))"
    source, call = first_call(text)
    assert apply(text, [replace_argument(source, call.args[0], "c"), replace_argument(source, call.keywords[0], "3")]) == "f(c, k = 3)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(x)", "f()"),
        ("f(x,)", "f()"),
        ("f(\n    x,  # why\n)", "f()"),
        ("f(x, b)", "f(b)"),
        ("f(a, x)", "f(a)"),
        ("f(a, x,)", "f(a,)"),
        ("f(a, x, b)", "f(a, b)"),
        ("f(a, ((x)), b)", "f(a, b)"),
        ("f((x), b)", "f(b)"),
        ("f(a, k=x)", "f(a)"),
        ("f(a, *x, **b)", "f(a, **b)"),
        ("f(a,\n  x)", "f(a)"),
        ("f(x,\n  b)", "f(b)"),
        ("f(a,  # of a\n  x)", "f(a,  # of a\n  )"),
        ("f(x,  # of x\n  b)", "f(  # of x\n  b)"),
        ("f(\n    a,\n    x,\n    b,\n)", "f(\n    a,\n    b,\n)"),
        ("f(\n    x,  # of x\n    b\n)", "f(\n    b\n)"),
        ("f(\n    a,  # of a\n    x  # of x\n)", "f(\n    a,  # of a\n)"),
        ("f(\n    a,\n    [\n        x,\n    ],\n    b,\n)", "f(\n    a,\n    b,\n)"),
        ("f(\n    a, x, b,\n    c,\n)", "f(\n    a, b,\n    c,\n)"),
        ("f(\n    a,\n    x, b,\n)", "f(\n    a,\n    b,\n)"),
        ("f(\r\n    a,\r\n    x,\r\n)", "f(\r\n    a,\r\n)"),
    ],
)
def test_an_argument_goes_with_its_comma_and_its_lines(before: str, after: str) -> None:
    source, call = first_call(before)
    argument = next(each for each in [*call.args, *call.keywords] if "x" in {getattr(node, "id", "") for node in ast.walk(each)})
    assert apply(before, [remove_argument(source, call, argument)]) == after


@st.composite
def calls(draw: st.DrawFn) -> str:
    """A call of up to four arguments in some layout: parentheses, comments, line breaks, a trailing comma."""
    values = ["a", "(b)", "( (c) )", "'),#'", "[1, 2]", "(1,\n2)", "g(d, e)", "é", "lambda: (1)", "x if y else z", "-1"]
    gap = st.sampled_from(["", " ", "\n", "\n    ", "  # note, ( x\n    ", "\r\n"])
    arguments = draw(st.lists(st.sampled_from(values), max_size=2)) + ["*r"] * draw(st.booleans())
    arguments += [f"k{index}={value}" for index, value in enumerate(draw(st.lists(st.sampled_from(values), max_size=2)))]
    written = [f"{draw(gap)}{argument}{draw(gap)}" for argument in arguments]
    comma = f",{draw(gap)}" if written and draw(st.booleans()) else ""
    return f"h(f({','.join(written)}{comma}{draw(gap)}), 1)\n"


def inner(text: str) -> ast.Call:
    statement = ast.parse(text).body[0]
    assert isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
    call = statement.value.args[0]
    assert isinstance(call, ast.Call)
    return call


@given(calls(), st.data())
def test_whatever_the_layout_the_edited_call_has_the_arguments_wanted(text: str, data: st.DataObject) -> None:
    source, call = Source("f.py", text), inner(text)
    edited = inner(apply(text, [insert_keyword(source, call, "new", "w[0]")]))
    wanted = [*map(ast.dump, [*call.args, *call.keywords]), ast.dump(ast.parse("f(new=w[0])").body[0].value.keywords[0])]  # type: ignore[attr-defined]
    assert [ast.dump(each) for each in [*edited.args, *edited.keywords]] == wanted
    arguments = [*call.args, *call.keywords]
    if arguments:
        gone = data.draw(st.sampled_from(arguments))
        edited = inner(apply(text, [remove_argument(source, call, gone)]))
        assert [ast.dump(each) for each in [*edited.args, *edited.keywords]] == [ast.dump(each) for each in arguments if each is not gone]


@pytest.mark.parametrize("name", KERNELS)
def test_every_call_of_a_kernel_takes_a_keyword_and_loses_each_argument(name: str) -> None:
    text = KERNELS[name]
    source = Source(f"{name}.py", text)
    tree = ast.parse(text)
    for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
        if isinstance(call.func, ast.Constant) or "{" in source.line_text(call.lineno - 1):
            continue  # inside f-strings Python 3.11 misplaces nodes
        assert len(list(ast.walk(ast.parse(apply(text, [insert_keyword(source, call, "new", "w")]))))) == len(list(ast.walk(tree))) + 3
        for argument in [*call.args, *call.keywords]:
            ast.parse(apply(text, [remove_argument(source, call, argument)]))


def test_the_layout_of_a_real_call() -> None:
    text = textwrap.dedent(
        """\
        call = pl.pallas_call(
            kernel,
            grid=(4,),  # blocks
            in_specs=[
                pl.BlockSpec((8, 128), lambda i: (i, 0)),
            ],
            out_shape=shape,
        )(x)
        """
    )
    source = Source("f.py", text)
    found = {ast.unparse(node.func): node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)}
    call, spec = found["pl.pallas_call"], found["pl.BlockSpec"]
    edits = [
        insert_keyword(source, spec, "memory_space", "pltpu.SMEM"),
        insert_keyword(source, call, "interpret", "True"),
        remove_argument(source, call, call.keywords[0]),
    ]
    assert apply(text, edits) == textwrap.dedent(
        """\
        call = pl.pallas_call(
            kernel,
            in_specs=[
                pl.BlockSpec((8, 128), lambda i: (i, 0), memory_space=pltpu.SMEM),
            ],
            out_shape=shape,
            interpret=True,
        )(x)
        """
    )
