"""Dtypes of which only the program's own name is known, such as ``q.dtype``: where a function's result has one of them.

A shape function never sees the name. What it does to a dtype is found by trying it on dtypes that JAX treats differently: where the result
has the operand's dtype whatever that is, it has the operand's name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import Any

from pallas_lsp.shapes.avals import UNKNOWN, Aval, DtypeName, Named
from pallas_lsp.shapes.errors import ShapeError

# An integer that sums widen, a float that many functions compute in 32 bits, and a bool: no two of them promote alike.
_SAMPLES = ("int8", "bfloat16", "bool", "float32")
_MOST_NAMES = len(_SAMPLES) - 1
# How parameters that want a dtype are called.
_DTYPES = ("dtype", "element_type")

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]


def with_names(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any) -> Any:
    """``result``, which ``function`` gave for these arguments, with a name for each dtype in it that is one of the arguments'.

    Only a dtype that is unknown gets one.
    """
    if not _lacks_a_dtype(result):
        return result
    for as_array in (True, False):  # what has a name may be an axis, too
        read = _read(function, args, kwargs, as_array)
        if read is None:
            return result
        names: dict[str, None] = {}
        _collect(read[0], names)
        _collect(read[1].values(), names)
        found = _found(function, read, tuple(names), len(_avals(result))) if 0 < len(names) <= _MOST_NAMES else []
        if any(found):
            return _named(result, iter(found))
    return result


@cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def _read(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], as_array: bool) -> Arguments | None:
    """The arguments with what only has a name read as the dtype that a parameter wants, and elsewhere as an array or as unknown."""

    def read(value: Any, wants_dtype: bool) -> Any:
        if not isinstance(value, Named):
            return value
        if wants_dtype:
            return DtypeName(value.name)
        return Aval(None, None, None, f"{value.name}.dtype") if as_array else UNKNOWN

    if not any(isinstance(value, Named) for value in (*args, *kwargs.values())):
        return (args, kwargs) if as_array else None
    bound = _signature(function).bind(*args, **kwargs)
    bound.arguments.update({name: read(value, name.endswith(_DTYPES)) for name, value in bound.arguments.items()})
    return bound.args, bound.kwargs


def _found(function: Callable[..., Any], arguments: Arguments, names: tuple[str, ...], count: int) -> list[str | None]:
    """The name of the dtype of each of the ``count`` arrays in a result."""
    candidates = [set(names) for _ in range(count)]
    answered = 0
    for samples in permutations(_SAMPLES, len(names)):
        dtypes = dict(zip(names, samples, strict=True))
        try:
            args, kwargs = _with_dtypes(arguments[0], dtypes), {name: _with_dtypes(arg, dtypes) for name, arg in arguments[1].items()}
            made = _avals(function(*args, **kwargs))
        except ShapeError:
            continue  # the program runs, so it is none of these
        except Exception:
            return [None] * count
        if len(made) != count:
            return [None] * count
        answered += 1
        for still, aval in zip(candidates, made, strict=True):
            still.intersection_update([name for name, dtype in dtypes.items() if dtype == aval.dtype])
        if not any(candidates):
            break
    return [next(iter(still)) if len(still) == 1 and answered > 1 else None for still in candidates]


def _avals(value: Any) -> list[Aval]:
    if isinstance(value, Aval):
        return [value]
    return [aval for part in value for aval in _avals(part)] if isinstance(value, tuple | list) else []


def _lacks_a_dtype(result: Any) -> bool:
    if isinstance(result, Aval):
        return result.dtype is None and result.named is None
    return isinstance(result, tuple | list) and any(map(_lacks_a_dtype, result))


def _collect(values: Iterable[Any], names: dict[str, None]) -> None:
    """Add the names among the values, in order."""
    for value in values:
        if isinstance(value, Aval):
            if value.dtype is None and value.named is not None:
                names[value.named] = None
        elif isinstance(value, tuple | list):
            _collect(value, names)
        elif isinstance(value, DtypeName):
            names[value.name] = None


def _with_dtypes(value: Any, dtypes: Mapping[str, str]) -> Any:
    """The arguments with a dtype in place of each name."""
    if isinstance(value, Aval):
        return Aval(value.shape, dtypes[value.named], value.weak) if value.dtype is None and value.named is not None else value
    if isinstance(value, DtypeName):
        return dtypes[value.name]
    if isinstance(value, tuple | list):
        return type(value)(_with_dtypes(part, dtypes) for part in value)
    return value


def _named(result: Any, names: Iterator[str | None]) -> Any:
    if isinstance(result, Aval):
        name = next(names)
        return replace(result, named=name) if result.dtype is None and result.named is None and name is not None else result
    return type(result)(_named(part, names) for part in result) if isinstance(result, tuple | list) else result
