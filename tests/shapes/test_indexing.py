"""Indexing of array values and of refs against JAX: random keys, known and with knowledge taken away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.experimental import pallas as pl
from shapes.against_jax import Call, Refused, agrees, from_jax, fully_known, jax_answer, to_jax, with_values
from shapes.erasing import Eraser
from shapes.random_arguments import Draw, array, matching, number, pick, shape, sometimes

from pallas_lsp.shapes.avals import UNKNOWN, Aval, ShapeError
from pallas_lsp.shapes.dims import Shape, symbol
from pallas_lsp.shapes.indexing import DsIndex, SliceIndex, index, ref_index

SIZES = (1, 2, 4, 8)


def bound(draw: Draw) -> Any:
    return None if sometimes(draw, 3) else number(draw, -9, 9)


def item(draw: Draw, arrays: tuple[int, ...], size: int) -> Any:
    what = pick(draw, ("int", "slice", "slice", "full", "scalar", "ds", "array", "array"))
    if what == "int":
        return number(draw, -size, size - 1)
    if what == "slice":
        return SliceIndex(bound(draw), bound(draw), pick(draw, (None, None, 1, 2, 3)))
    if what == "full":
        return SliceIndex()
    if what == "ds":
        return DsIndex(number(draw, 0, 2) if sometimes(draw, 2) else array(draw, (), ("int32",)), number(draw, 1, 4))
    return array(draw, () if what == "scalar" else matching(draw, arrays), ("int32", "uint8"))


def key(draw: Draw, dims: tuple[int, ...], newaxis: bool) -> tuple[Any, ...]:
    arrays = shape(draw, 1, 2)
    short = sometimes(draw, 2)
    items = [item(draw, arrays, d) for d in (dims[number(draw, 0, len(dims)) :] if short else dims)]
    if short and sometimes(draw, 2):
        items.insert(number(draw, 0, len(items)), ...)
    for extra in (..., *((None, None) if newaxis else ())):
        if sometimes(draw, 6):
            items.insert(number(draw, 0, len(items)), extra)
    if sometimes(draw, 15):
        items.append(0)
    if newaxis and sometimes(draw, 6) and items and isinstance(items[0], SliceIndex):
        items[0] = SliceIndex(None, bound(draw), -1)
    return tuple(items)


@st.composite
def value_calls(draw: Draw) -> Call:
    dims = shape(draw, 0, 3, SIZES)
    return Call((array(draw, dims, ("float32", "int32")), *key(draw, dims, newaxis=True)))


@st.composite
def ref_calls(draw: Draw) -> Call:
    dims = shape(draw, 0, 3, SIZES)
    return Call((dims, *key(draw, dims, newaxis=False)))


def claim_of(function: Callable[..., Any], made: Call) -> Any:
    try:
        return function(made.args[0], made.args[1:])
    except ShapeError as error:
        return error


def check(function: Callable[..., Any], made: Call, answer: Any, seed: int) -> Any:
    """Our claim, compared with JAX's answer and repeated with less knowledge."""
    claim = claim_of(function, made)
    if isinstance(answer, Refused):
        return claim
    assert not isinstance(claim, ShapeError), f"JAX gives {answer}"
    assert agrees(claim, answer), f"JAX gives {answer}, we claim {claim}"
    for shift in range(3):
        eraser = Eraser(seed + shift)
        first = eraser.aval(made.args[0]) if isinstance(made.args[0], Aval) else tuple(eraser.dim(d) for d in made.args[0])
        erased = Call((first, *(eraser.value(one) for one in made.args[1:])))
        weaker = claim_of(function, erased)
        assert not isinstance(weaker, ShapeError), f"JAX gives {answer} for {erased}"
        assert agrees(with_values(weaker, eraser.env), answer), f"JAX gives {answer}, we claim {weaker} for {erased}"
    return claim


def test_indexing_of_values() -> None:
    accepted, known, refused = 0, 0, 0

    @settings(max_examples=400)
    @given(value_calls(), st.integers(0, 2**32))
    def agree(made: Call, seed: int) -> None:
        nonlocal accepted, known, refused
        answer = jax_answer(lambda x, *items: x[items], made)
        claim = check(index, made, answer, seed)
        accepted += not isinstance(answer, Refused)
        refused += isinstance(answer, Refused) and isinstance(claim, ShapeError)
        known += not isinstance(answer, Refused) and fully_known(claim)

    agree()
    assert accepted > 200 and known > 0.9 * accepted
    assert refused > 20


def ref_value(dims: Shape, items: tuple[Any, ...]) -> Aval:
    return Aval(ref_index(dims, items), "float32")


def kernel_answer(made: Call) -> Any:
    """The shape of ``ref[key]`` in a kernel, by JAX; `Refused` where tracing raises."""
    dims, *items = made.args
    answer: list[Any] = []

    def kernel(ref: Any, out: Any) -> None:
        arrays = (jnp.zeros(one.shape, one.dtype) for one in _arrays(items))
        answer.append(from_jax(ref[to_jax(tuple(items), arrays)]))

    try:
        jax.eval_shape(pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32)), jnp.zeros(dims))
    except Exception as error:
        return Refused(error)
    return answer[0]


def _arrays(items: list[Any]) -> list[Aval]:
    found = []
    for one in items:
        found += [one] if isinstance(one, Aval) else [one.start] if isinstance(one, DsIndex) and isinstance(one.start, Aval) else []
    return found


def test_indexing_of_refs() -> None:
    accepted, known, refused = 0, 0, 0

    @settings(max_examples=250)
    @given(ref_calls(), st.integers(0, 2**32))
    def agree(made: Call, seed: int) -> None:
        nonlocal accepted, known, refused
        answer = kernel_answer(made)
        claim = check(ref_value, made, answer, seed)
        accepted += not isinstance(answer, Refused)
        refused += isinstance(answer, Refused) and isinstance(claim, ShapeError)
        known += not isinstance(answer, Refused) and fully_known(claim)

    agree()
    assert accepted > 100 and known > 0.9 * accepted
    assert refused > 10


n, m = symbol("n", 1), symbol("m", 1)


@pytest.mark.parametrize(
    ("dims", "items", "expected"),
    [
        ((n, 128), (0,), (128,)),
        ((n, 128), (DsIndex(m, 8), 0), (8,)),
        ((n, 128), (DsIndex(Aval((), "int32"), m),), (m, 128)),
        ((n, 128), (SliceIndex(), SliceIndex(None, 64)), (n, 64)),
        ((n, 128), (SliceIndex(1),), (n - 1, 128)),
        ((n, 128), (SliceIndex(Aval((), "int32")),), (None, 128)),
        ((n, 128), (..., 0), (n,)),
        ((n, 128), (None,), (n, 128)),
        ((n, 128), (UNKNOWN,), None),
        (None, (0,), None),
        ((8, 4, 128), (Aval((3,), "int32"), SliceIndex(), 0), (3, 4)),
        ((8, 4, 128), (SliceIndex(), Aval((3,), "int32"), 0), (8, 3)),
    ],
)
def test_indexing_of_refs_with_symbols(dims: Shape, items: tuple[Any, ...], expected: Shape) -> None:
    assert ref_index(dims, items) == expected


@pytest.mark.parametrize(
    ("items", "rule"),
    [
        ((0, 0, 0), "too-many-indices"),
        ((..., ...), "multiple-ellipsis"),
        ((SliceIndex(None, None, -1),), "slice-step-not-positive"),
        ((DsIndex(4, 8),), "slice-out-of-bounds"),
        ((None, 0), "unsupported-index-type"),
    ],
)
def test_refused_indices_of_refs_name_their_rule(items: tuple[Any, ...], rule: str) -> None:
    assert isinstance(kernel_answer(Call(((8, 128), *items))), Refused)
    with pytest.raises(ShapeError) as caught:
        ref_index((8, 128), items)
    assert caught.value.rule == rule


def test_masks_make_an_unknown_shape() -> None:
    assert index(Aval((8, 128), "float32"), (Aval((8, 128), "bool"),)) == Aval(None, "float32")
