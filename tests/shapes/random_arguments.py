"""The pieces that random calls are made of: arrays, numbers, shapes, axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st
from shapes.against_jax import Call

from pallas_lsp.shapes.avals import Aval

Draw = Callable[[st.SearchStrategy[Any]], Any]
Maker = Callable[[Draw], Call]
T = TypeVar("T")

DTYPES = ("float32", "bfloat16", "float16", "int32", "int16", "int8", "uint8", "uint32", "bool")
FLOATS = ("float32", "bfloat16", "float16")
INTEGERS = ("int32", "int16", "int8", "uint8", "uint32")
SIZES = (1, 2, 3, 4, 8)

#: name → how to draw the arguments of one call
CALLS: dict[str, Maker] = {}


def calls_of(*names: str) -> Callable[[Maker], Maker]:
    """Register the decorated function as the maker of calls of these names."""

    def register(maker: Maker) -> Maker:
        for name in names:
            assert name not in CALLS, name
            CALLS[name] = maker
        return maker

    return register


def pick(draw: Draw, options: Sequence[T]) -> T:
    return draw(st.sampled_from(options))  # type: ignore[no-any-return]


def number(draw: Draw, low: int, high: int) -> int:
    return draw(st.integers(low, high))  # type: ignore[no-any-return]


def sometimes(draw: Draw, chances: int = 4) -> bool:
    """True once in so many times."""
    return bool(number(draw, 1, chances) == 1)


def shape(draw: Draw, low: int = 0, high: int = 3, sizes: Sequence[int] = SIZES) -> tuple[int, ...]:
    return tuple(pick(draw, sizes) for _ in range(number(draw, low, high)))


def array(draw: Draw, dims: tuple[int, ...] | None = None, dtypes: Sequence[str] = DTYPES) -> Aval:
    dtype = pick(draw, dtypes)
    weak = dtype in ("int32", "float32", "bool") and sometimes(draw)
    return Aval(shape(draw) if dims is None else dims, dtype, weak)


def scalar(draw: Draw) -> Any:
    return pick(draw, (True, 2, -1, 0, 1.5, 0.0))


def operand(draw: Draw, dims: tuple[int, ...] | None = None, dtypes: Sequence[str] = DTYPES) -> Any:
    """An array, or now and then a Python number."""
    return scalar(draw) if sometimes(draw, 6) else array(draw, dims, dtypes)


def matching(draw: Draw, dims: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts with ``dims``; now and then one that does not."""
    cut = dims[number(draw, 0, len(dims)) if sometimes(draw) else 0 :]
    return tuple(1 if sometimes(draw) else pick(draw, SIZES) if sometimes(draw, 10) else d for d in cut)


def axis(draw: Draw, rank: int) -> int:
    """An axis in range; now and then one that is not."""
    return number(draw, -rank - 1, rank) if sometimes(draw, 10) or not rank else number(draw, -rank, rank - 1)


def axes(draw: Draw, rank: int) -> Any:
    """None, an axis, or a tuple of axes."""
    if sometimes(draw):
        return None
    if sometimes(draw, 2):
        return axis(draw, rank)
    return tuple(axis(draw, rank) for _ in range(number(draw, 0, min(rank, 2))))
