"""Broadcasting of known and symbolic shapes against ``jnp.broadcast_shapes``."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes.against_jax import with_values
from shapes.erasing import Eraser

from pallas_lsp.shapes.avals import ShapeError
from pallas_lsp.shapes.broadcasting import best_known, broadcast, broadcast_lax, broadcast_to, same_shape
from pallas_lsp.shapes.dims import Shape, symbol

n, m, x = symbol("n", 2), symbol("m", 1), symbol("x")
dims = st.sampled_from((0, 1, 1, 2, 3))
shapes = st.lists(st.lists(dims, max_size=3).map(tuple), min_size=1, max_size=3)


@settings(max_examples=300)
@given(shapes, st.integers(0, 2**32))
def test_broadcast_agrees_with_jax(known: list[tuple[int, ...]], seed: int) -> None:
    try:
        expected = jnp.broadcast_shapes(*known)
    except ValueError:
        with pytest.raises(ShapeError):
            broadcast(*known)
        return
    assert broadcast(*known) == expected
    eraser = Eraser(seed)
    weaker = with_values(broadcast(*(tuple(None if d == 3 else eraser.dim(d) for d in shape) for shape in known)), eraser.env)
    assert len(weaker) == len(expected)
    assert all(d in (None, wanted) for d, wanted in zip(weaker, expected, strict=True))


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        (((n,), (n,)), (n,)),
        (((n, 1), (8,)), (n, 8)),
        (((n,), (m,)), (n,)),  # n is at least 2, so m is 1 or n
        (((x,), (m,)), (None,)),
        (((x,), (8,)), (8,)),
        (((None,), (8,)), (8,)),
        (((None,), (1,)), (None,)),
        ((None, (8,)), None),
    ],
)
def test_broadcast_of_symbols(operands: tuple[Shape, ...], expected: Shape) -> None:
    assert broadcast(*operands) == expected


@pytest.mark.parametrize("operands", [((8, 128), (8, 64)), ((n,), (n + 1,)), ((2 * n,), (7,))])
def test_broadcast_refuses_what_certainly_differs(operands: tuple[Shape, ...]) -> None:
    with pytest.raises(ShapeError):
        broadcast(*operands)


def test_lax_wants_one_rank_or_scalars() -> None:
    assert broadcast_lax((8, 1), (), (8, n)) == (8, n)
    assert broadcast_lax((8, n), None) == (8, n)
    assert broadcast_lax((1, x), None) == (None, None)
    with pytest.raises(ShapeError):
        broadcast_lax((8,), (1, 8))


def test_broadcast_to_checks_the_target() -> None:
    assert broadcast_to((1, n), (8, 4, n)) == (8, 4, n)
    assert broadcast_to(None, (8,)) == (8,)
    for wrong in ((2, 3), (1, 1, 1, 1)):
        with pytest.raises(ShapeError):
            broadcast_to(wrong, (4, 8, 3))


def test_one_shape_of_all() -> None:
    assert same_shape("f", [(None, n), (8, None), None]) == (8, n)
    assert same_shape("f", [(2, 8), (3, 8)], free=0) == (2, 8)
    assert best_known((None, n, 8)) == 8
    with pytest.raises(ShapeError, match="f needs arrays of one shape"):
        same_shape("f", [(2, 8), (3, 8)])
