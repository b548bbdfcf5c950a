"""The elements of NumPy arrays are what NumPy computes, or not known."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pallas_lsp.shapes import elements
from pallas_lsp.shapes.elements import Elements

RUNS = 60
OPERATORS: dict[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "//": np.floor_divide, "%": np.remainder, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal, "maximum": np.maximum, "minimum": np.minimum,
    "logical_and": np.logical_and, "logical_or": np.logical_or,
}  # fmt: skip


def of(array: Any) -> Elements:
    """The elements of an array of NumPy's."""
    flat = array.ravel().tolist()
    return Elements(array.shape, bytes(flat) if array.dtype == bool else flat)


def same(ours: Elements | None, numpys: Any) -> None:
    assert ours is not None
    assert (ours.shape, [*map(int, ours.flat)]) == (numpys.shape, numpys.ravel().astype(int).tolist())


def shape(draw: random.Random, rank: int | None = None) -> tuple[int, ...]:
    return tuple(draw.choice((1, 2, 3, 5)) for _ in range(draw.randint(1, 3) if rank is None else rank))


def made(draw: random.Random, of_shape: tuple[int, ...], boolean: bool | None = None) -> Any:
    numbers = np.array([draw.randint(-4, 9) for _ in range(int(np.prod(of_shape)))]).reshape(of_shape)
    return numbers > 2 if (draw.random() < 0.3 if boolean is None else boolean) else numbers


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name: str) -> None:
    for seed in range(RUNS):
        draw = random.Random(f"{name} {seed}")
        whole = shape(draw)
        sides = [made(draw, tuple(draw.choice((1, size)) for size in whole)[draw.choice((0, 0, 1)) :], boolean=False) for _ in range(2)]
        if name in ("//", "%"):
            sides[1] = np.where(sides[1] == 0, 3, sides[1])
        same(elements.elementwise(name, *map(of, sides)), OPERATORS[name](*sides))
        same(elements.elementwise(name, of(sides[0]), 3), OPERATORS[name](sides[0], 3))


@pytest.mark.parametrize(("name", "function"), [("&", np.bitwise_and), ("|", np.bitwise_or), ("^", np.bitwise_xor)])
def test_masks_together(name: str, function: Callable[..., Any]) -> None:
    for seed in range(RUNS):
        draw = random.Random(f"{name} {seed}")
        whole = shape(draw)
        sides = [made(draw, whole, boolean=True), made(draw, whole)]
        same(elements.elementwise(name, *map(of, sides)), function(*sides))


def test_masks_of_positions() -> None:
    """A column of numbers compared with a row of them, sorted or not."""
    for seed in range(RUNS):
        draw = random.Random(seed)
        column, row = made(draw, (draw.randint(1, 9), 1), False), made(draw, (1, draw.randint(1, 9)), False)
        row = np.sort(row) if draw.random() < 0.7 else row
        for name in ("<", "<=", ">", ">="):
            same(elements.elementwise(name, of(column), of(row)), OPERATORS[name](column, row))


def test_where_and_reductions() -> None:
    for seed in range(RUNS):
        draw = random.Random(seed)
        array, mask = made(draw, shape(draw, 2)), made(draw, (1,), boolean=True)
        same(elements.elementwise("where", of(mask), of(array), 7), np.where(mask, array, 7))
        for name in ("any", "all", "max", "min", "sum"):
            same(elements.reduce(name, of(array)), np.asarray(getattr(array, name)()))


def entry(draw: random.Random, size: int) -> Any:
    start, stop, step = draw.randint(-size - 1, size), draw.randint(-size - 1, size + 1), draw.choice((None, 1, 2, -1))
    return draw.choice((slice(start, stop, step), slice(None), draw.randint(-size, size - 1), slice(None, stop)))


def test_indexing() -> None:
    for seed in range(4 * RUNS):
        draw = random.Random(seed)
        array = made(draw, shape(draw))
        count = draw.randint(0, array.ndim)
        first, rest = array.shape[:count], array.shape[count:]
        entries = [entry(draw, size) for size in first]
        if draw.random() < 0.4:
            entries += [Ellipsis, *(entry(draw, size) for size in rest[draw.randint(0, len(rest)) :])]
        if draw.random() < 0.4:
            entries.insert(draw.randint(0, len(entries)), None)
        if array.ndim == 1 and draw.random() < 0.3:
            entries = [made(draw, (4,), False) % array.shape[0]]
        ours = elements.index(of(array), tuple(of(part) if isinstance(part, np.ndarray) else part for part in entries))
        same(ours, np.asarray(array[tuple(entries)]))


def test_what_is_outside_is_not_known() -> None:
    assert elements.index(of(np.arange(3)), (3,)) is None
    assert elements.index(of(np.arange(3)), (0, 0)) is None
    assert elements.elementwise("//", of(np.arange(3)), 0) is None
    assert elements.elementwise("+", of(np.arange(3)), of(np.arange(2))) is None
    assert elements.elementwise("*", of(np.array([1 << 30])), 4) is None
    assert elements.full((1 << 11, 1 << 11), 0) is None


def test_joining() -> None:
    for seed in range(RUNS):
        draw = random.Random(seed)
        whole = shape(draw)
        parts = [made(draw, whole) for _ in range(3)]
        axis = draw.randint(-len(whole), len(whole) - 1)
        same(elements.concatenate([*map(of, parts)], axis), np.concatenate(parts, axis))
        same(elements.stack([*map(of, parts)], axis), np.stack(parts, axis))
        axes = draw.sample(range(len(whole)), len(whole))
        same(elements.transpose(of(parts[0]), axes), np.transpose(parts[0], axes))


def test_padding() -> None:
    for seed in range(RUNS):
        draw = random.Random(seed)
        array = made(draw, shape(draw), boolean=False)
        widths = [(draw.randint(0, 2), draw.randint(0, 2)) for _ in array.shape]
        same(elements.pad(of(array), widths, 4), np.pad(array, widths, constant_values=4))
        same(elements.pad(of(array), widths, None), np.pad(array, widths, mode="edge"))


def test_places_of_what_is_not_zero() -> None:
    for seed in range(RUNS):
        array = made(random.Random(seed), shape(random.Random(seed)))
        found = elements.nonzero(of(array))
        for ours, numpys in zip(found, np.nonzero(array), strict=True):
            same(ours, numpys)


def test_writing_to_what_has_views_tears_both() -> None:
    array = of(np.arange(4))
    array.write((1,), 7)
    same(array, np.array([0, 7, 2, 3]))
    part = elements.index(array, (slice(1, 3),))
    assert part is not None
    part.write((0,), 9)
    assert not part.known and not array.known
