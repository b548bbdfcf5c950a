"""Python's functions that make one answer of many items: their order, the least of them, their sum, whether all are true."""

from __future__ import annotations

import functools
import math
from typing import Any

from ...shapes import dims
from ...shapes.dims import Poly
from ..operations import traced_in
from ..operators import binary
from ..sequences import items_of
from ..truth import as_condition, as_dim, known_truth, truth
from ..values import Array, Unknown, Value
from .registry import Call, models


@models("sorted")
def _sorted(call: Call) -> Value:
    items = items_of(call.machine, call.get(0, "iterable"), call.node, call.frame)
    if items is not None and "key" not in call.kwargs and all(isinstance(item, Array | int | float) for item in items):
        _compared(call, items)
    plain = (
        items is not None
        and "key" not in call.kwargs
        and (all(isinstance(i, int | float) for i in items) or all(isinstance(i, str) for i in items))
    )
    if plain and items is not None:
        return sorted(items, reverse=call.kwargs.get("reverse") is True)
    return _sorted_by_key(call, items) if items is not None and set(call.kwargs) == {"key"} else call.unknown("a sorted sequence")


def _sorted_by_key(call: Call, items: list[Value]) -> Value:
    keys: list[Any] = [call.call(call.kwargs["key"], item) for item in items]
    if not all(isinstance(key, int | float) for key in keys):
        return call.unknown("a sorted sequence")
    return [items[place] for place in sorted(range(len(items)), key=keys.__getitem__)]


def _compared(call: Call, items: list[Value]) -> None:
    """Python compares the items with one another and asks for the truth of the answer, which a traced one has not."""
    traced = traced_in(call.machine, items) if len(items) > 1 else None
    if isinstance(traced, Array):
        truth(call.machine, Array(traced.aval, (traced,)), call.node, call.frame)


@models("min", "max")
def _extremum(call: Call) -> Value:
    items = call.args if len(call.args) > 1 else items_of(call.machine, call.get(0, "iterable"), call.node, call.frame)
    if not items or "key" in call.kwargs:
        return call.unknown()
    _compared(call, items)
    if all(isinstance(item, int | float) for item in items):
        return min(items) if call.name == "min" else max(items)
    parts = [as_dim(item) for item in items]
    if any(part is None for part in parts):
        return call.number(items)
    result = parts[0]
    for part in parts[1:]:
        result = dims.minimum(result, part) if call.name == "min" else dims.maximum(result, part)
    if result is None or all(isinstance(item, int | Poly) for item in items):
        return result if result is not None else call.number(items)
    return Unknown("the extremum of numbers that are not all known", dims.render(result), result, host=True)


@models("sum", "math.prod", "numpy.prod", "jax.numpy.prod_of_ints")
def _total(call: Call) -> Value:
    if isinstance(call.get(0, "iterable"), Array):
        from .registry import FALLBACK

        return FALLBACK[0](call)
    items = items_of(call.machine, call.get(0, "iterable"), call.node, call.frame)
    if items is None or len(call.args) > 1:
        return call.unknown()
    if any(isinstance(item, Array) for item in items):
        symbol, total = ("+", 0) if call.name == "sum" else ("*", 1)
        return functools.reduce(lambda a, b: binary(call.machine, symbol, a, b, call.node, call.frame), items, total)
    if all(isinstance(item, int | float) for item in items):
        return sum(items) if call.name == "sum" else math.prod(items)
    parts = [as_dim(item) for item in items]
    result: Any = 0 if call.name == "sum" else 1
    for part in parts:
        result = dims.add(result, part) if call.name == "sum" else dims.mul(result, part)
    return result if result is not None else call.number(items)


@models("any", "all")
def _any_all(call: Call) -> Value:
    items = items_of(call.machine, call.get(0, "iterable"), call.node, call.frame)
    if items is None:
        return call.unknown()
    known = [known_truth(item) for item in items]
    wanted = call.name == "any"
    if wanted in known:
        return wanted
    undecided = [item for item, value in zip(items, known, strict=True) if value is None]
    if not undecided:
        return not wanted
    if traced_in(call.machine, undecided[0]) is not None:
        truth(call.machine, undecided[0], call.node, call.frame)
    return as_condition(undecided[0], call.node) if len(undecided) == 1 else call.unknown()
