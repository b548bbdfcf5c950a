"""NumPy arrays whose elements are known: whole numbers and booleans, as programs compute masks and block tables of on the host.

Mirrors NumPy where it needs no more than whole numbers that fit into 32 bits; everything else gives None: not known.
"""

from __future__ import annotations

import itertools
import math
import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

LARGEST = 1 << 20
"""The most elements that an array may have to be followed."""
_LIMIT = 1 << 31


@dataclass(slots=True)
class Memory:
    """What an array and its views share. ``shared``: there are several; ``torn``: something was written through one of them."""

    shared: bool = False
    torn: bool = False


@dataclass(slots=True)
class Elements:
    """The elements of an array in order, its last dim fastest; booleans are 0 and 1, in ``bytes`` as a rule, which is quick."""

    shape: tuple[int, ...]
    flat: Sequence[int]
    memory: Memory = field(default_factory=Memory)

    @property
    def known(self) -> bool:
        """Whether nothing was written that is not in here."""
        return not self.memory.torn

    def view(self, shape: tuple[int, ...], flat: Sequence[int]) -> Elements:
        """Elements that share their memory with these."""
        self.memory.shared = True
        return Elements(shape, flat, self.memory)

    def write(self, index: tuple[int, ...], value: int) -> None:
        """Put a number at a place; where views of the array exist, nothing is known of it from then on."""
        if self.memory.shared or len(index) != len(self.shape) or not all(-n <= i < n for i, n in zip(index, self.shape, strict=True)):
            self.memory.torn = True
            return
        place = sum(i % n * step for i, n, step in zip(index, self.shape, _strides(self.shape), strict=True))
        self.flat = [*self.flat[:place], value, *self.flat[place + 1 :]]


Operand = Elements | int


def _strides(shape: tuple[int, ...]) -> list[int]:
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def full(shape: tuple[int, ...], value: int) -> Elements | None:
    """``np.full`` and its like."""
    count = math.prod(shape)
    return Elements(shape, bytes([value]) * count if value in (0, 1) else [value] * count) if 0 <= count <= LARGEST else None


def spread(value: Operand, shape: tuple[int, ...]) -> Sequence[int] | None:
    """The elements of ``value`` broadcast to ``shape``; None where it does not fit or grows too large."""
    if math.prod(shape) > LARGEST:
        return None
    if isinstance(value, Elements) and value.shape == shape:
        return value.flat
    if isinstance(value, int):
        return [int(value)] * math.prod(shape)
    own = (1,) * (len(shape) - len(value.shape)) + value.shape
    if len(own) != len(shape) or any(a not in (1, b) for a, b in zip(own, shape, strict=True)):
        return None
    flat, block = value.flat, 1
    for size, wanted in zip(reversed(own), reversed(shape), strict=True):
        if size != wanted:
            parts = (flat[start : start + block] for start in range(0, len(flat), block))
            flat = [element for part in parts for element in [*part] * wanted]
        block *= wanted
    return flat


def _broadcast(operands: Sequence[Operand]) -> tuple[int, ...] | None:
    """The shape that the operands broadcast to."""
    shapes = [value.shape for value in operands if isinstance(value, Elements)]
    rank = max(map(len, shapes), default=0)
    result = []
    for sizes in zip(*((1,) * (rank - len(shape)) + shape for shape in shapes), strict=True):
        wide = set(sizes) - {1}
        if len(wide) > 1:
            return None
        result.append(wide.pop() if wide else 1)
    return tuple(result)


_OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "maximum": max, "minimum": min,
    "logical_and": lambda a, b: bool(a and b), "logical_or": lambda a, b: bool(a or b), "logical_not": operator.not_,
    "where": lambda condition, a, b: a if condition else b,
}  # fmt: skip


_BOOLEAN = frozenset({"<", "<=", ">", ">=", "==", "!=", "logical_and", "logical_or", "logical_not"})
# Of a number and a sorted row: where the answer changes, and which it is before.
_ALONG: dict[str, tuple[Callable[[Sequence[int], int], int], bool]] = {
    ">=": (bisect_right, True), ">": (bisect_left, True), "<=": (bisect_left, False), "<": (bisect_right, False),
}  # fmt: skip


def elementwise(name: str, *operands: Operand) -> Elements | None:
    """An operator's symbol, or the name of a NumPy function, applied to each element."""
    shape, function = _broadcast(operands), _OPERATORS.get(name)
    if shape is None or function is None or math.prod(shape) > LARGEST:
        return None
    if (made := _by_rows(name, operands)) is not None:
        return Elements(shape, made)
    columns = [spread(value, shape) or () for value in operands]
    if name in ("&", "|") and all(isinstance(column, bytes) for column in columns):
        left, right = (int.from_bytes(bytes(column)) for column in columns)
        return Elements(shape, int(function(left, right)).to_bytes(len(columns[0])))
    try:
        return Elements(shape, bytes(map(function, *columns))) if name in _BOOLEAN else _small(shape, map(function, *columns))
    except (ZeroDivisionError, TypeError):  # or another number of operands
        return None


def _by_rows(name: str, operands: Sequence[Operand]) -> bytes | None:
    """A column compared with a sorted row, as masks are made: each row of the answer is in two parts."""
    if name not in _ALONG or len(operands) != 2:
        return None
    column, row = operands
    if not isinstance(column, Elements) or not isinstance(row, Elements) or column.shape[1:] != (1,) or row.shape[:-1] != (1,):
        return None
    numbers, (cut, before) = [*row.flat], _ALONG[name]
    if numbers != sorted(numbers):
        return None
    first, second = (bytes([value]) * len(numbers) for value in (before, not before))
    return b"".join(first[:place] + second[place:] for place in (cut(numbers, value) for value in column.flat))


def _small(shape: tuple[int, ...], flat: Iterable[int]) -> Elements | None:
    made = list(flat)
    return Elements(shape, made) if not made or (min(made) >= -_LIMIT and max(made) < _LIMIT) else None


def index(source: Elements, entries: tuple[Any, ...]) -> Elements | None:
    """``source[entries]``, of whole numbers, slices, ``None``, ``...``, and one row of whole numbers."""
    named = sum(entry is not None and entry is not Ellipsis for entry in entries)
    gap = [slice(None)] * (len(source.shape) - named)
    if entries.count(Ellipsis) == 0:
        entries = (*entries, Ellipsis)
    if entries.count(Ellipsis) != 1 or named > len(source.shape) or sum(isinstance(entry, Elements) for entry in entries) > 1:
        return None
    places, shape, axis, copied = [0], list[int](), 0, False
    for entry in itertools.chain.from_iterable(gap if entry is Ellipsis else [entry] for entry in entries):
        if entry is None:
            shape.append(1)
            continue
        size, step = source.shape[axis], math.prod(source.shape[axis + 1 :])
        axis += 1
        if isinstance(entry, slice):
            chosen: Sequence[int] = range(*entry.indices(size))
        else:
            chosen = entry.flat if isinstance(entry, Elements) else [entry]
            copied = copied or isinstance(entry, Elements)
            if not all(-size <= place < size for place in chosen) or (isinstance(entry, Elements) and len(entry.shape) != 1):
                return None
        if not isinstance(entry, int):
            shape.append(len(chosen))
        if len(places) * len(chosen) > LARGEST:
            return None
        places = [start + place % size * step for start in places for place in chosen]
    flat = [source.flat[place] for place in places]
    return Elements(tuple(shape), flat) if copied else source.view(tuple(shape), flat)


def transpose(source: Elements, axes: Sequence[int]) -> Elements:
    """A view with the dims in another order."""
    shape = tuple(source.shape[axis] for axis in axes)
    steps = [_strides(source.shape)[axis] for axis in axes]
    places = [0]
    for size, step in zip(shape, steps, strict=True):
        places = [start + place * step for start in places for place in range(size)]
    return source.view(shape, [source.flat[place] for place in places])


def concatenate(parts: Sequence[Elements], axis: int) -> Elements | None:
    """``np.concatenate``; None where the parts do not fit together."""
    rank = len(parts[0].shape) if parts else 0
    if not -rank <= axis < rank:
        return None
    axis %= rank
    rests = {(*part.shape[:axis], *part.shape[axis + 1 :]) if len(part.shape) == rank else None for part in parts}
    if len(rests) != 1 or None in rests or sum(len(part.flat) for part in parts) > LARGEST:
        return None
    rows = [(part.flat, math.prod(part.shape[axis:])) for part in parts]
    before = math.prod(parts[0].shape[:axis])
    flat = [element for row in range(before) for part, width in rows for element in part[row * width : (row + 1) * width]]
    return Elements((*parts[0].shape[:axis], sum(part.shape[axis] for part in parts), *parts[0].shape[axis + 1 :]), flat)


def stack(parts: Sequence[Elements], axis: int) -> Elements | None:
    """``np.stack``."""
    rank = len(parts[0].shape) + 1 if parts else 0
    if not -rank <= axis < rank:
        return None
    axis %= rank
    longer = [Elements((*part.shape[:axis], 1, *part.shape[axis:]), part.flat) for part in parts if len(part.shape) == rank - 1]
    return concatenate(longer, axis) if len(longer) == len(parts) else None


def pad(source: Elements, widths: Sequence[tuple[int, int]], value: int | None) -> Elements | None:
    """``np.pad`` with a number, or with the edges (None)."""
    if len(widths) != len(source.shape) or any(width < 0 for pair in widths for width in pair):
        return None
    made: Elements | None = source
    for axis, (before, after) in enumerate(widths):
        if made is None or (value is None and not made.shape[axis] and before + after):
            return None
        edges: list[Elements] = []
        for width, place in ((before, 0), (after, -1)):
            shape = (*made.shape[:axis], width, *made.shape[axis + 1 :])
            edge = index(made, (*[slice(None)] * axis, [place][0], None)) if value is None and width else None
            flat = spread(edge, shape) if edge is not None else [value or 0] * math.prod(shape)
            if flat is None:
                return None
            edges.append(Elements(shape, flat))
        made = concatenate([edges[0], made, edges[1]], axis)
    return Elements(made.shape, list(made.flat)) if made is not None else None


def nonzero(source: Elements) -> tuple[Elements, ...]:
    """``np.nonzero``: a row of places a dim."""
    places = [place for place, element in enumerate(source.flat) if element]
    steps = _strides(source.shape)
    return tuple(Elements((len(places),), [p // step % size for p in places]) for size, step in zip(source.shape, steps, strict=True))


_REDUCTIONS: dict[str, Callable[[Sequence[int]], int]] = {
    "any": lambda flat: 1 in flat if isinstance(flat, bytes) else any(flat),
    "all": lambda flat: 0 not in flat,
    "max": max, "min": min, "sum": sum,
}  # fmt: skip


def reduce(name: str, source: Elements) -> Elements | None:
    """A reduction of all elements to one."""
    if name not in _REDUCTIONS or (not source.flat and name in ("max", "min")):
        return None
    return _small((), [int(_REDUCTIONS[name](source.flat))])
