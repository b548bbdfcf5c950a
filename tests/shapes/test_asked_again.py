"""What a shape function answered is kept, and given again only to what it cannot tell apart."""

from __future__ import annotations

import pytest

from pallas_lsp.shapes import table
from pallas_lsp.shapes.avals import Aval, ShapeError
from pallas_lsp.shapes.dims import symbol

VECTOR = Aval((8, 128), "bfloat16")


@pytest.mark.parametrize("values", [(1, 1.0, True), (0, False, 0.0), (True, 1)])
def test_numbers_that_are_equal_have_their_own_dtypes(values: tuple[int | float | bool, ...]) -> None:
    dtypes = [table.evaluate("jax.numpy.full", ((8,), value), {}).dtype for value in values]
    assert dtypes == [{int: "int32", float: "float32", bool: "bool"}[type(value)] for value in values]


def test_keywords_and_positions_count() -> None:
    assert table.evaluate("jax.numpy.sum", (VECTOR,), {"axis": 0}).shape == (128,)
    assert table.evaluate("jax.numpy.sum", (VECTOR,), {"axis": 1}).shape == (8,)
    assert table.evaluate("jax.numpy.sum", (VECTOR, 1), {}).shape == (8,)
    assert table.evaluate("jax.numpy.sum", (VECTOR,), {"axis": 0, "keepdims": True}).shape == (1, 128)


def test_the_same_question_has_the_same_answer_and_is_worked_out_once() -> None:
    one, other = Aval((symbol("m"), 128), "float32"), Aval((symbol("m"), 128), "float32")
    assert table.operator("+", one, 2.5) is table.operator("+", other, 2.5)


def test_lists_which_cannot_be_kept_are_asked_each_time() -> None:
    for _ in range(2):
        assert table.evaluate("jax.numpy.stack", ([VECTOR, VECTOR],), {}).shape == (2, 8, 128)


def test_what_jax_refuses_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(ShapeError):
            table.operator("+", VECTOR, Aval((7,), "float32"))
