"""Python's ``operator`` module: the operators as functions."""

from __future__ import annotations

import ast

from ..frames import Frame
from ..machine import Arguments, Machine
from ..operators import binary, compare, unary
from ..subscripts import item
from ..truth import known_truth, negate, truth
from ..values import Builtin, Value
from .registry import Call, models

_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@", "and_": "&", "or_": "|",
    "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
_COMPARED: dict[str, ast.cmpop] = {
    "lt": ast.Lt(), "le": ast.LtE(), "gt": ast.Gt(), "ge": ast.GtE(), "eq": ast.Eq(), "ne": ast.NotEq(),
    "is_": ast.Is(), "is_not": ast.IsNot(),
}  # fmt: skip


@models(*(f"operator.{name}" for name in _BINARY))
def _applied(call: Call) -> Value:
    if len(call.args) != 2:
        return call.unknown()
    left, right = call.args
    return binary(call.machine, _BINARY[_short(call)], left, right, call.node, call.frame)


@models(*(f"operator.{name}" for name in _COMPARED))
def _compared(call: Call) -> Value:
    if len(call.args) != 2:
        return call.unknown()
    left, right = call.args
    return compare(call.machine, _COMPARED[_short(call)], left, right, call.node, call.frame)


def _short(call: Call) -> str:
    return call.name.rpartition(".")[2]


@models("operator.not_")
def _not(call: Call) -> Value:
    return negate(call.machine, call.get(0, "a"), call.node, call.frame)


@models("operator.truth")
def _truth(call: Call) -> Value:
    value = call.get(0, "a")
    known = known_truth(value)
    return known if known is not None else truth(call.machine, value, call.node, call.frame)


@models("operator.neg")
def _negative(call: Call) -> Value:
    return unary(call.machine, ast.USub(), call.get(0, "a"), call.node, call.frame)


@models("operator.getitem")
def _item(call: Call) -> Value:
    return _item_of(call, call.get(0, "a"), call.get(1, "b"))


@models("operator.itemgetter")
def _itemgetter(call: Call) -> Value:
    """``itemgetter(key)`` and ``itemgetter(key, other)``: the item, or a tuple of items."""
    keys = list(call.args)

    def taken(machine: Machine, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
        of = Call(machine, call.name, arguments, node, frame)
        items = tuple(_item_of(of, of.get(0, "obj"), key) for key in keys)
        return items[0] if len(items) == 1 else items

    return Builtin("itemgetter", taken) if keys and call.arguments.exact else call.unknown()


def _item_of(call: Call, value: Value, key: Value) -> Value:
    return item(call.machine, value, key, call.node, call.frame) if isinstance(call.node, ast.expr) else call.unknown()
