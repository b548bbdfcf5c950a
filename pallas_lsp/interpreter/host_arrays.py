"""What NumPy computes of whole numbers on the host, followed element by element (``shapes.elements``).

A program decides by such arrays how many blocks a mask has and which dtype a table gets. Each function takes the value that the shape
table gave and hands on one that knows its elements, where all that it was computed from is known; the path's budget bounds the work.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..shapes import dtypes, elements
from ..shapes.avals import Aval
from ..shapes.dims import Shape
from ..shapes.elements import Elements
from .values import Array, Unknown, Value

if TYPE_CHECKING:
    from .machine import Machine

_BUDGET = 1 << 23
_TURN = 256  # so many steps a turn of a loop may take
_BYTES = 64  # so many booleans are as much work as one number


def elements_of(value: Value) -> Elements | int | None:
    """The elements of a host value, or the number that it is; None where they are not known."""
    if isinstance(value, bool | int):
        return int(value)
    if not isinstance(value, Array) or value.traced or value.elements is None or not value.elements.known:
        return None
    return value.elements if value.elements.shape else value.elements.flat[0]


def forget(*values: Value) -> None:
    """Something may have been written into these arrays, or into those of these containers."""
    for value in values:
        if isinstance(value, Array) and value.elements is not None:
            value.elements.memory.torn = True
        elif isinstance(value, tuple | list):
            forget(*value)
        elif isinstance(value, dict):
            forget(*value.values())


def write(machine: Machine, array: Array, index: Value, value: Value) -> None:
    """``array[index] = value``."""
    known, place, number = array.elements, index if isinstance(index, tuple) else (index,), elements_of(value)
    if known is None:
        return
    numbers = [elements_of(entry) for entry in place if not isinstance(entry, slice) and entry is not None and entry is not Ellipsis]
    if machine.path.repeated or len(numbers) != len(place) or not all(isinstance(n, int) for n in numbers) or not _fits(array, number):
        forget(array)
    else:
        known.write(tuple(n for n in numbers if isinstance(n, int)), number)  # type: ignore[arg-type]


def _fits(array: Array, number: Elements | int | None) -> bool:
    """Whether the array holds the number as it is."""
    return isinstance(number, int) and (array.dtype is None or _holds(array.dtype, [number]))


def _holds(dtype: str, numbers: Sequence[int]) -> bool:
    kind, bits = dtypes.kind(dtype), dtypes.bits(dtype)
    if kind not in ("signed", "unsigned", "bool") or bits is None:
        return False
    low, high = (0, 2) if kind == "bool" else (-(1 << (bits - 1)), 1 << (bits - 1)) if kind == "signed" else (0, 1 << bits)
    return not numbers or (low <= min(numbers) and max(numbers) < high)


def apply(machine: Machine, name: str, args: Sequence[Value], kwargs: dict[str, Value], value: Value) -> Value:
    """The value of a NumPy function, method or operator, with its elements where these are known."""
    function = _FUNCTIONS.get(name)
    if function is None or machine.kernel is not None or "out" in kwargs or "where" in kwargs:
        if name not in _READERS:
            forget(*args, *kwargs.values())
        return value
    found = function(args, kwargs)
    if name not in DECIDED and not (isinstance(value, Array) and value.dtype) and any(map(_wraps, args[1:] if name == "where" else args)):
        return value
    if isinstance(found, tuple):
        return tuple(_array(Aval(one.shape, None, False), one) for one in found)
    return _with(machine, value, found)


def _wraps(value: Value) -> bool:
    """Whether arithmetic of NumPy's on the value may not be that of whole numbers: with a dtype that is narrow, unsigned or boolean."""
    if isinstance(value, tuple | list):
        return any(map(_wraps, value))
    return isinstance(value, Array) and value.dtype is not None and (dtypes.kind(value.dtype) != "signed" or dtypes.bits(value.dtype) != 32)


def _with(machine: Machine, value: Value, found: Elements | None) -> Value:
    """The value with these elements, if it may have them."""
    if found is None or not isinstance(value, Array | Unknown):
        return value
    machine.path.computed += len(found.flat) // (_BYTES if isinstance(found.flat, bytes) else 1)
    aval = value.aval if isinstance(value, Array) else Aval(found.shape, None, False)
    held = aval.dtype is None or _holds(aval.dtype, found.flat)
    if machine.path.computed > _BUDGET or not held or not _may_be(aval.shape, found.shape):
        return value
    made = _array(Aval(found.shape, aval.dtype, aval.weak), found)
    if isinstance(value, Array):
        made.operands, made.made_by = value.operands, value.made_by
    return made


def _may_be(shape: Shape, found: tuple[int, ...]) -> bool:
    return shape is None or (len(shape) == len(found) and all(type(a) is not int or a == b for a, b in zip(shape, found, strict=True)))


def _array(aval: Aval, found: Elements) -> Array:
    number = found.flat[0] if found.shape == () else None
    constant = bool(number) if number is not None and aval.dtype == "bool" else number
    return Array(aval, traced=False, constant=constant, numpy=True, elements=found)


def _whole(value: Value) -> tuple[int, ...] | None:
    sizes = value if isinstance(value, tuple | list) else (value,)
    numbers = [elements_of(size) for size in sizes]
    return tuple(n for n in numbers if isinstance(n, int)) if all(isinstance(n, int) for n in numbers) else None


def _argument(args: Sequence[Value], kwargs: dict[str, Value], position: int, name: str, default: Value = None) -> Value:
    return args[position] if position < len(args) else kwargs.get(name, default)


def _known(value: Value) -> Elements | None:
    found = elements_of(value)
    return found if isinstance(found, Elements) else None


def _filled(number: int | None) -> Callable[..., Elements | None]:
    def make(args: Sequence[Value], kwargs: dict[str, Value]) -> Elements | None:
        shape = _whole(_argument(args, kwargs, 0, "shape"))
        value = number if number is not None else elements_of(_argument(args, kwargs, 1, "fill_value"))
        return elements.full(shape, value) if shape is not None and isinstance(value, int) else None

    return make


def _arange(args: Sequence[Value], kwargs: dict[str, Value]) -> Elements | None:
    parts = _whole(tuple(args))
    if parts is None or not 1 <= len(parts) <= 3 or set(kwargs) - {"dtype"} or 0 in parts[2:]:
        return None
    numbers = range(*parts)
    return Elements((len(numbers),), list(numbers)) if len(numbers) <= elements.LARGEST else None


def _elementwise(name: str) -> Callable[..., Elements | None]:
    def apply_each(args: Sequence[Value], kwargs: dict[str, Value]) -> Elements | None:
        operands = [found for value in args if (found := elements_of(value)) is not None]
        return elements.elementwise(name, *operands) if len(operands) == len(args) and not kwargs else None

    return apply_each


def _parts(value: Value) -> list[Elements] | None:
    parts = [_known(part) for part in value] if isinstance(value, tuple | list) else [None]
    return None if None in parts else [part for part in parts if part is not None]


def _joined(function: Callable[..., Elements | None]) -> Callable[..., Elements | None]:
    def join(args: Sequence[Value], kwargs: dict[str, Value]) -> Elements | None:
        parts, axis = _parts(_argument(args, kwargs, 0, "arrays")), _argument(args, kwargs, 1, "axis", 0)
        return function(parts, axis) if parts and type(axis) is int and set(kwargs) <= {"axis"} else None

    return join


def _broadcast_to(args: Sequence[Value], kwargs: dict[str, Value]) -> Elements | None:
    source, shape = _known(_argument(args, kwargs, 0, "array")), _whole(_argument(args, kwargs, 1, "shape"))
    flat = elements.spread(source, shape) if source is not None and shape is not None else None
    return source.view(shape, flat) if source is not None and shape is not None and flat is not None else None


def _turned(args: Sequence[Value], kwargs: dict[str, Value]) -> Elements | None:
    source, pair = _known(args[0]), _whole(tuple(args[1:]))
    rank = len(source.shape) if source is not None else 0
    if source is None or pair is None or len(pair) != 2 or kwargs or not all(-rank <= axis < rank for axis in pair):
        return None
    axes = list(range(rank))
    axes[pair[0]], axes[pair[1]] = axes[pair[1]], axes[pair[0]]
    return elements.transpose(source, axes)


def _pad(args: Sequence[Value], kwargs: dict[str, Value]) -> Elements | None:
    source, widths = _known(_argument(args, kwargs, 0, "array")), _argument(args, kwargs, 1, "pad_width")
    mode, value = _argument(args, kwargs, 2, "mode", "constant"), elements_of(kwargs.get("constant_values", 0))
    pairs = widths if isinstance(widths, tuple | list) and widths and isinstance(widths[0], tuple | list) else (widths,)
    whole = [_whole(pair) for pair in pairs]
    if source is None or mode not in ("constant", "edge") or not isinstance(value, int) or len(whole) != len(source.shape):
        return None
    sides = [(pair[0], pair[1]) for pair in whole if pair is not None and len(pair) == 2]
    return elements.pad(source, sides, value if mode == "constant" else None) if len(sides) == len(whole) else None


def _nonzero(args: Sequence[Value], kwargs: dict[str, Value]) -> tuple[Elements, ...] | None:
    source = _known(args[0]) if len(args) == 1 else None
    return elements.nonzero(source) if source is not None else None


def _array_equal(args: Sequence[Value], kwargs: dict[str, Value]) -> Elements | None:
    pair = [_known(value) for value in args]
    if len(pair) != 2 or pair[0] is None or pair[1] is None:
        return None
    return Elements((), [int(pair[0].shape == pair[1].shape and [*pair[0].flat] == [*pair[1].flat])])


def _reduction(name: str) -> Callable[..., Elements | None]:
    def reduce(args: Sequence[Value], kwargs: dict[str, Value]) -> Elements | None:
        source = _known(args[0]) if len(args) == 1 and not kwargs else None
        return elements.reduce(name, source) if source is not None else None

    return reduce


def _copied(args: Sequence[Value], kwargs: dict[str, Value]) -> Elements | None:
    source = _known(args[0]) if args else None
    return Elements(source.shape, source.flat) if source is not None else None


def item(machine: Machine, array: Array, entries: tuple[Value, ...], value: Value) -> Value:
    """``array[entries]``."""
    source, chosen = _known(array), [_entry(entry) for entry in entries]
    if source is None or machine.kernel is not None or _OPEN in chosen:
        return value
    return _with(machine, value, elements.index(source, tuple(chosen)))


_OPEN = "open"


def _entry(entry: Value) -> Any:
    """An entry of an indexer with what is known of it; ``_OPEN`` where that is not all, or where it is a mask."""
    if entry is None or entry is Ellipsis:
        return entry
    if isinstance(entry, slice):
        parts = (entry.start, entry.stop, entry.step)
        return entry if all(part is None or type(part) is int for part in parts) and entry.step != 0 else _OPEN
    found = elements_of(entry)
    masks = isinstance(entry, bool) or (isinstance(entry, Array) and entry.dtype == "bool")
    return _OPEN if found is None or masks else found


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "zeros": _filled(0), "ones": _filled(1), "full": _filled(None), "arange": _arange, "concatenate": _joined(elements.concatenate),
    "stack": _joined(elements.stack), "broadcast_to": _broadcast_to, "swapaxes": _turned, "pad": _pad, "nonzero": _nonzero,
    "array_equal": _array_equal, "astype": _copied, "copy": _copied,
    **{name: _elementwise(name) for name in ("maximum", "minimum", "logical_and", "logical_or", "logical_not", "where")},
    **{name: _elementwise(name) for name in ("+", "-", "*", "//", "%", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^")},
    **{name: _reduction(name) for name in ("any", "all", "max", "min", "sum")},
}  # fmt: skip
DECIDED = frozenset({"nonzero", "array_equal"})
"""Functions whose results nothing but elements tells."""
METHODS = frozenset(
    {"any", "all", "max", "min", "sum", "astype", "copy", "swapaxes", "reshape", "itemsize", "nbytes", "tobytes", "tolist", "item"}
)
"""What may be asked of an array itself: everything else may be a way to write into it."""
# What only looks at arrays.
_READERS = frozenset(
    {
        "shape", "ndim", "size", "prod", "mean", "argmax", "argmin", "abs", "exp", "sqrt", "tile", "repeat", "roll", "cumsum", "dot",
        "matmul", "/", "**", "<<", ">>", "@", "tobytes", "tolist", "item", "iinfo", "finfo", "dtype", "float32", "int32", "isin", "unique",
    }
)  # fmt: skip


def rows(machine: Machine, array: Array, found: list[Value]) -> list[Value]:
    """What iterating over an array gives: numbers, or views that others may write through."""
    if len(array.shape or ()) == 1:
        return [item(machine, array, (index,), row) for index, row in enumerate(found)]
    forget(array)
    return found


def places(machine: Machine, shape: tuple[int, ...]) -> list[Value] | None:
    """What ``np.ndindex`` counts through; None where what is left of the path's steps would not do for a loop over it."""
    count = 1
    for size in shape:
        count *= max(size, 0)
    left = machine.path.budget // 2 - machine.path.steps
    return list(itertools.product(*map(range, shape))) if count * _TURN <= left else None
