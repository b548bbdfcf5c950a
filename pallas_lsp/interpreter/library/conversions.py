"""Python's functions that make numbers, texts and keys of what they are given."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...shapes.dims import Poly
from ..machine import Arguments
from ..operations import is_traced, needs_static, traced_in
from ..truth import known_truth, truth
from ..values import ABSENT, Array, Number, Ref, Unknown, Value
from .registry import Call, models


@models("int", "float", "bool", "complex", "str", "round")
def _convert(call: Call) -> Value:
    value = call.get(0, "x", 0)
    if isinstance(value, Array) and not value.traced and value.numpy and value.constant is not None:
        value = value.constant
    if isinstance(value, Poly) and call.name in ("int", "round"):
        return value
    if isinstance(value, Unknown) and isinstance(value.declared, str) and value.key is not None:
        # What stands in the environment, say: the default is converted as what stands there would be.
        declared = _convert(replace(call, arguments=Arguments([value.declared])))
        return Unknown(value.why, f"{call.name}({value.key})", host=True, declared=ABSENT if isinstance(declared, Unknown) else declared)
    if isinstance(value, Unknown) and not isinstance(value, Number) and call.name == "int" and value.poly is not None:
        return value.poly
    if isinstance(value, bool | int | float | str) and not call.kwargs and len(call.args) <= 1:
        try:
            return {"int": int, "float": float, "bool": bool, "complex": complex, "str": str, "round": round}[call.name](value)  # type: ignore[operator]
        except (ValueError, OverflowError):
            return call.unknown()
    if call.name == "bool" and known_truth(value) is not None:
        return known_truth(value)
    if call.name == "bool" and isinstance(value, Ref):
        truth(call.machine, value, call.node, call.frame)
    if call.name in ("bool", "int", "float", "complex") and traced_in(call.machine, value) is value:
        if call.name == "bool":
            truth(call.machine, value, call.node, call.frame)
        needs_static(call.machine, "number", value, f"`{call.name}`", call.node, call.frame)
    why = value.why if isinstance(value, Unknown) else f"a converted {type(value).__name__}"
    return call.machine.number(why, call.node) if call.name in ("int", "round") else Unknown(why, host=True)


_INTEGERS: dict[str, Callable[[Any], Any]] = {"bin": bin, "hex": hex, "oct": oct, "chr": chr, "operator.index": operator.index}


@models(*_INTEGERS)
def _of_integer(call: Call) -> Value:
    value = call.get(0, "x")
    if is_traced(call.machine, value):
        needs_static(call.machine, "index", value, f"`{call.name}`", call.node, call.frame)
    return _INTEGERS[call.name](value) if isinstance(value, int) and 0 <= value < 0x110000 else call.unknown()


@models("hash")
def _hash(call: Call) -> Value:
    if (traced := traced_in(call.machine, call.get(0, "x"))) is not None:
        needs_static(call.machine, "key", traced, "`hash`", call.node, call.frame)
    return call.unknown()


@models("format")
def _format(call: Call) -> Value:
    if call.get(1, "spec") and is_traced(call.machine, call.get(0, "x")):
        needs_static(call.machine, "number", call.get(0, "x"), "a format", call.node, call.frame)
    return call.unknown()
