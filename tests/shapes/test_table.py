"""The registry answers whatever it is asked: an aval, UNKNOWN, or a ShapeError, never another exception."""

from __future__ import annotations

import functools
import inspect
import random

import jax
import pytest

from pallas_lsp.shapes import table
from pallas_lsp.shapes.avals import UNKNOWN, Aval, ShapeError, as_aval
from pallas_lsp.shapes.dims import symbol

n = symbol("n", 1)
ODDITIES = (
    *(UNKNOWN, None, ..., "float32", "no dtype", "ij,jk->ik", True, 0, -1, 3, 2.5, 1j, n, (), (1,), [2, 3], (n, None), ((0,), (1,))),
    *(Aval(None, None, None), Aval((), "int32", True), Aval((8, n), "float32"), Aval((None,), "bfloat16", None), Aval((2,), "dma_sem")),
    *([Aval((8,), "float32"), UNKNOWN], object(), {"axis": 0}),
)


def names() -> list[str]:
    return sorted(table.registered()[0])


@pytest.mark.parametrize("name", names())
def test_odd_arguments_raise_nothing_but_shape_errors(name: str) -> None:
    chance = random.Random(name)
    function = table.lookup(name)
    assert function is not None
    keywords = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for _ in range(40):
        args = [chance.choice(ODDITIES) for _ in range(chance.randint(0, 4))]
        kwargs = {key: chance.choice(ODDITIES) for key in keywords if chance.random() < 0.3}
        try:
            table.evaluate(name, args, kwargs)
        except ShapeError as error:
            assert str(error)


def test_operators_and_methods_of_odd_values() -> None:
    for a in ODDITIES:
        for b in ODDITIES:
            for name in table.registered()[1]:
                try:
                    table.operator(name, a, b)
                    table.method("reshape", a, (b,))
                except ShapeError as error:
                    assert str(error)


# What JAX takes only to refuse it (ufuncs), and what says nothing of shapes; lax.dot also takes the order of older versions.
IGNORED = {"out", "where", "align", "copy"}
OTHER_ORDER = {"jax.lax.dot"}


@pytest.mark.filterwarnings("ignore:jax.experimental.pallas")
@pytest.mark.parametrize("name", names())
def test_parameters_are_those_of_jax(name: str) -> None:
    """Every argument that the installed JAX takes binds, by keyword and by position: a call that JAX accepts is not given up."""
    ours, theirs = table.lookup(name), functools.reduce(lambda holder, part: getattr(holder, part, None), name.split(".")[1:], jax)
    assert ours is not None
    if theirs is None:
        pytest.skip("this JAX has no function of this name")
    try:
        wanted = inspect.signature(theirs).parameters.values()
    except (TypeError, ValueError):
        pytest.skip("JAX's signature can not be read")
    known = inspect.signature(ours).parameters
    anything = any(p.kind is p.VAR_KEYWORD for p in known.values())
    by_name = {p.name for p in wanted if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)} - IGNORED
    assert anything or by_name <= set(known)
    by_place = [p.name for p in wanted if p.kind is p.POSITIONAL_OR_KEYWORD]
    if name not in OTHER_ORDER:
        assert [p.name for p in known.values() if p.kind is p.POSITIONAL_OR_KEYWORD][: len(by_place)] == by_place


def test_calls_that_do_not_bind_are_unknown() -> None:
    assert table.evaluate("jax.numpy.sum", (), {}) is UNKNOWN
    assert table.evaluate("jax.numpy.sum", (Aval((8,), "float32"),), {"no_such_keyword": 1}) is UNKNOWN
    assert table.evaluate("jax.numpy.no_such_function", (), {}) is UNKNOWN
    assert table.lookup("jax.numpy.no_such_function") is None
    assert table.method("no_such_method", Aval((8,), "float32")) is UNKNOWN
    assert table.operator("@@", 1, 2) is UNKNOWN


def test_what_is_known_of_python_values() -> None:
    assert as_aval(True) == Aval((), "bool", False)
    assert as_aval(1) == as_aval(n) == Aval((), "int32", True)
    assert as_aval(1.0) == Aval((), "float32", True)
    assert as_aval(UNKNOWN) == as_aval("text") == Aval(None, None, None)
