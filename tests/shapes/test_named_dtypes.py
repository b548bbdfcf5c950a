"""Which dtypes keep the program's name through a shape function; that no name is wrong is held by the erasing of every call."""

from __future__ import annotations

from typing import Any

import pytest

from pallas_lsp.shapes import table
from pallas_lsp.shapes.avals import UNKNOWN, Aval, DtypeName, Named

X, Y = Aval((8, 128), None, False, "x.dtype"), Aval((8, 128), None, False, "y.dtype")
F32 = Aval((8, 128), "float32")


def named(result: Any) -> str | None:
    return result.named if result.dtype is None else result.dtype


@pytest.mark.parametrize(
    ("function", "arguments", "name"),
    [
        ("reshape", (X, (1024,)), "x.dtype"),
        ("transpose", (X,), "x.dtype"),
        ("zeros_like", (X,), "x.dtype"),
        ("zeros", ((8,), DtypeName("x.dtype")), "x.dtype"),
        ("where", (Aval((8, 128), "bool"), X, X), "x.dtype"),
        ("maximum", (X, X), "x.dtype"),
        ("max", (X,), "x.dtype"),
        ("matmul", (X, Aval((128, 8), None, False, "x.dtype")), "x.dtype"),
        ("pad", (X, ((0, 8), (0, 0))), "x.dtype"),
        ("take", (X, Aval((4,), None, False, "i.dtype"), 0), "x.dtype"),
        ("astype", (Y, DtypeName("x.dtype")), "x.dtype"),
        ("broadcast_to", (Named("x"), (8, 128)), "x.dtype"),
        ("zeros", ((8,), Named("dtype")), "dtype"),
        ("roll", (X, Named("shift")), "x.dtype"),
        ("where", (Named("mask"), Named("x"), Named("x")), "x.dtype"),
        ("where", (UNKNOWN, Named("x"), Named("y")), None),
        ("multiply", (Named("x"), Named("scale")), None),
        ("add", (X, Y), None),
        ("add", (X, 1), None),
        ("multiply", (X, 1.0), None),
        ("exp", (X,), None),
        ("sum", (X,), None),
        ("add", (X, F32), None),
        ("equal", (X, Y), "bool"),
    ],
)
def test_the_name_of_the_result(function: str, arguments: tuple[Any, ...], name: str | None) -> None:
    assert named(table.evaluate(f"jax.numpy.{function}", arguments, {})) == name


def test_the_name_goes_through_methods_operators_and_sequences() -> None:
    assert named(table.method("T", X)) == "x.dtype"
    assert named(table.method("astype", F32, (DtypeName("x.dtype"),))) == "x.dtype"
    assert named(table.operator("+", X, X)) == "x.dtype"
    assert named(table.operator("+", X, Y)) is None
    assert [named(part) for part in table.evaluate("jax.numpy.broadcast_arrays", (X, Y), {})] == ["x.dtype", "y.dtype"]
