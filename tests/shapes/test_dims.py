"""Symbolic dims against the integers: whatever the symbols stand for, the algebra says what Python's integers say."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pallas_lsp.shapes import dims
from pallas_lsp.shapes.dims import Dim, MaybeDim, Symbol, Truth, symbol

many = settings(max_examples=250)

SYMBOLS = (Symbol("n", 1), Symbol("m", 1), Symbol("k", 0), Symbol("x", None))

BINARY: dict[str, tuple[Callable[[MaybeDim, MaybeDim], MaybeDim], Callable[[int, int], int]]] = {
    "+": (dims.add, lambda a, b: a + b),
    "-": (dims.sub, lambda a, b: a - b),
    "*": (dims.mul, lambda a, b: a * b),
    "//": (dims.floordiv, lambda a, b: a // b),
    "%": (dims.mod, lambda a, b: a % b),
    "min": (dims.minimum, min),
    "max": (dims.maximum, max),
    "cdiv": (dims.cdiv, lambda a, b: -(-a // b)),
}

Tree = int | Symbol | tuple[str, "Tree", "Tree"]  # type: ignore[misc]

leaves = st.one_of(st.integers(-3, 9), st.sampled_from((2, 4, 8, 128)), st.sampled_from(SYMBOLS))
trees: st.SearchStrategy[Tree] = st.recursive(leaves, lambda sub: st.tuples(st.sampled_from(sorted(BINARY)), sub, sub), max_leaves=7)
values = st.fixed_dictionaries({s: st.integers(-9 if s.least is None else s.least, 12) for s in SYMBOLS})


def symbolic(tree: Tree) -> MaybeDim:
    if isinstance(tree, int):
        return tree
    if isinstance(tree, Symbol):
        return symbol(tree.name, tree.least)
    op, a, b = tree
    return BINARY[op][0](symbolic(a), symbolic(b))


def concrete(tree: Tree, env: dict[Symbol, int]) -> int | None:
    """The value, or None where it divides by zero, or rounds a division by a negative number up."""
    if isinstance(tree, int):
        return tree
    if isinstance(tree, Symbol):
        return env[tree]
    op, left, right = tree
    a, b = concrete(left, env), concrete(right, env)
    if a is None or b is None or (op in ("//", "%") and b == 0) or (op == "cdiv" and b <= 0):
        return None
    return BINARY[op][1](a, b)


def known(d: MaybeDim) -> Dim:
    assume(d is not None)
    assert d is not None
    return d


@many
@given(trees, values)
def test_arithmetic_agrees_with_the_integers(tree: Tree, env: dict[Symbol, int]) -> None:
    expected = concrete(tree, env)
    assume(expected is not None)
    assert dims.substitute(known(symbolic(tree)), env) == expected


@many
@given(trees, trees, st.lists(values, min_size=1, max_size=8))
def test_comparisons_never_contradict_the_integers(left: Tree, right: Tree, envs: list[dict[Symbol, int]]) -> None:
    a, b = known(symbolic(left)), known(symbolic(right))
    for env in envs:
        x, y = concrete(left, env), concrete(right, env)
        if x is None or y is None:
            continue
        for answer, holds in ((dims.equal(a, b), x == y), (dims.less(a, b), x < y), (dims.less_equal(a, b), x <= y)):
            assert answer is Truth.MAYBE or (answer is Truth.YES) == holds
        divides = dims.divides(b, a)
        assert divides is Truth.MAYBE or (divides is Truth.YES) == (x % y == 0 if y else x == 0)


@many
@given(st.integers(-50, 50), st.integers(-50, 50))
def test_comparisons_of_integers_are_decided(a: int, b: int) -> None:
    assert dims.equal(a, b) is dims.truth(a == b)
    assert dims.less(a, b) is dims.truth(a < b)
    assert dims.less_equal(a, b) is dims.truth(a <= b)
    assert dims.divides(b, a) is dims.truth(a % b == 0 if b else a == 0)


@many
@given(trees, trees)
def test_sums_and_products_do_not_depend_on_the_order(left: Tree, right: Tree) -> None:
    a, b = symbolic(left), symbolic(right)
    assert dims.add(a, b) == dims.add(b, a)
    assert dims.mul(a, b) == dims.mul(b, a)
    assert dims.minimum(a, b) == dims.minimum(b, a)
    assert dims.sub(dims.add(a, b), b) == a or dims.add(a, b) is None


n, m, x = symbol("n", 1), symbol("m", 1), symbol("x")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (n * m // m, n),
        (dims.cdiv(n * m, m), n),
        (dims.cdiv(4 * n, 8), dims.cdiv(n, 2)),
        (-(-n // 128), dims.cdiv(n, 128)),
        (-(-n // m), dims.cdiv(n, m)),
        (8 * n // 4, 2 * n),
        ((8 * n + 4 * m) % 4, 0),
        (n // 4 // 8, n // 32),
        (n * x // (m * x), n // m),
        (n * (m + 1) // (m + 1), n),
        ((n * m + n) % (m + 1), 0),
        (dims.minimum(n, n), n),
        (dims.minimum(n, n + 1), n),
        (dims.maximum(dims.maximum(n, x), n), dims.maximum(x, n)),
        (n % m % m, n % m),
        ((n + 256) % 128, n % 128),
        (dims.mul(None, 0), 0),
        (dims.add(None, 0), None),
        (dims.floordiv(n, 0), None),
        (dims.power(n, 2), n * n),
        (dims.power(n, m), None),
    ],
)
def test_normal_form(made: MaybeDim, expected: MaybeDim) -> None:
    assert made == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (dims.equal(n + (-n) % 128, dims.cdiv(n, 128) * 128), Truth.YES),
        (dims.equal(n, 0), Truth.NO),
        (dims.equal(n, n + 1), Truth.NO),
        (dims.equal(2 * n, 3), Truth.NO),
        (dims.equal(n, m), Truth.MAYBE),
        (dims.equal(n, None), Truth.MAYBE),
        (dims.less(n % m, m), Truth.YES),
        (dims.less_equal(dims.minimum(n, x), x), Truth.YES),
        (dims.less_equal(n // m * m, n), Truth.YES),
        (dims.less_equal(n, n * m), Truth.YES),
        (dims.less_equal(n // 128, n), Truth.YES),
        (dims.less_equal(1, dims.cdiv(n, m)), Truth.YES),
        (dims.less(x, 0), Truth.MAYBE),
        (dims.divides(4, 8 * n), Truth.YES),
        (dims.divides(4, 8 * n + 2), Truth.NO),
        (dims.divides(n, n * m), Truth.YES),
        (dims.divides(n, m), Truth.MAYBE),
        (dims.divides(None, m), Truth.MAYBE),
        (dims.divides(None, 0), Truth.YES),
        (dims.and_(Truth.YES, Truth.MAYBE), Truth.MAYBE),
        (dims.and_(Truth.NO, Truth.MAYBE), Truth.NO),
        (dims.or_(Truth.YES, Truth.MAYBE), Truth.YES),
        (dims.or_(Truth.NO, Truth.NO), Truth.NO),
    ],
)
def test_comparison_decides(answer: Truth, expected: Truth) -> None:
    assert answer is expected


@pytest.mark.parametrize(
    ("d", "words"),
    [
        (4 * n, "4·n"),
        (n // 128, "n // 128"),
        (dims.cdiv(n, 128), "cdiv(n, 128)"),
        (dims.cdiv(n, m), "cdiv(n, m)"),
        (dims.cdiv(n, m) * m - n, "m·cdiv(n, m) - n"),
        (2 * (n // 4) + 1, "2·(n // 4) + 1"),
        ((n + 1) % m, "(n + 1) % m"),
        (dims.minimum(n, m), "min(m, n)"),
        (x - n, "x - n"),
        (-n, "-n"),
        (n * n, "n**2"),
        (7, "7"),
        (None, "?"),
    ],
)
def test_words(d: MaybeDim, words: str) -> None:
    assert dims.render(d) == words


def test_a_truth_has_no_bool() -> None:
    with pytest.raises(TypeError):
        bool(Truth.YES)


def test_a_division_by_zero_leaves_the_dimension_as_it_was() -> None:
    d = n // m
    assert isinstance(d, dims.Poly)
    assert dims.substitute(d, {Symbol("m", 1): 0}) == d
