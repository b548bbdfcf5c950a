"""Methods of lists, dicts, tuples, sets, strings and iterators; of arrays and refs too, by what receives them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from string import Formatter
from typing import Any

from ...shapes import table
from ...shapes.avals import ShapeError
from .. import host_arrays
from ..events import Computed, ShapeFault
from ..expressions import dict_key
from ..frames import Frame
from ..growing import forget_length
from ..liveness import arrays_in
from ..machine import CALL, Arguments, Machine
from ..operations import is_traced, needs_static, note_operation, traced_in
from ..operators import cause_of, compare, from_shapes
from ..paths import PathEnd
from ..sequences import Filling, items_of, key_value
from ..truth import truth
from ..values import (
    ABSENT,
    SPEC_FIELDS,
    Array,
    BlockSpec,
    Instance,
    Iteration,
    ShapeDtype,
    SuperProxy,
    Unknown,
    Value,
    ValueIndexer,
    ValueMethod,
)
from .arrays import note_narrowing, shape_argument

_LONGEST_STRING = 1 << 16


def _call_method(machine: Machine, method: ValueMethod, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    handler = RECEIVERS.get(type(method.receiver))
    if handler is None:
        return Unknown(f"method `{method.name}`", host=machine.kernel is None)
    return handler(machine, method.receiver, method.name, arguments, node, frame)


def _list(machine: Machine, items: list[Value], name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    args = arguments.args
    if name in ("pop", "insert") and args and is_traced(machine, args[0]):
        needs_static(machine, "index", args[0], f"`list.{name}`", node, frame)
    if name in ("index", "count", "remove") and args and is_traced(machine, args[0]) and items and isinstance(items[0], int | float):
        truth(machine, compare(machine, ast.Eq(), items[0], args[0], node, frame), node, frame)
    if name == "append" and len(args) == 1:
        items.append(args[0])
        return None
    if name == "extend" and len(args) == 1:
        more = items_of(machine, args[0], node, frame)
        why = "a list grown by a sequence of unknown length"
        if more is not None:
            items.extend(more)
        elif not forget_length(machine, items, frame, list(items), why):
            raise PathEnd(why)
        return None
    if name == "insert" and len(args) == 2 and isinstance(args[0], int):
        items.insert(args[0], args[1])
        return None
    if name == "pop" and items and (not args or (isinstance(args[0], int) and -len(items) <= args[0] < len(items))):
        return items.pop(*args)
    if name == "reverse":
        items.reverse()
        return None
    if name == "copy":
        return list(items)
    if name == "clear":
        items.clear()
        return None
    if name in ("index", "count"):
        return Unknown(f"`list.{name}`", host=True)
    # A method that is not modelled leaves nothing known of the items.
    length = len(items) + {"insert": 1, "pop": -1, "remove": -1}.get(name, 0)
    items[:] = [Unknown(f"an item after `list.{name}`", host=True) for _ in range(length)]
    return Unknown(f"`list.{name}`", host=True)


def _dict(machine: Machine, items: dict[Any, Value], name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    args = arguments.args
    if name in ("get", "pop", "setdefault") and args:
        if (traced := traced_in(machine, args[0])) is not None:
            needs_static(machine, "key", traced, "a dict", node, frame)
        return _dict_item(machine, items, name, args)
    if name == "keys":
        return [key_value(key) for key in items]
    if name == "values":
        return [machine.settle(value) for value in items.values()]
    if name == "items":
        return [(key_value(key), machine.settle(value)) for key, value in items.items()]
    if name == "copy":
        return dict(items)
    if name == "update" and all(isinstance(arg, dict) for arg in args):
        for arg in args:
            items.update(arg)
        items.update(arguments.kwargs)
        return None
    items.clear()
    return Unknown(f"`dict.{name}`", host=True)


def _dict_item(machine: Machine, items: dict[Any, Value], name: str, args: list[Value]) -> Value:
    key = dict_key(args[0])
    if key is ABSENT:
        return Unknown("a key that is not known", host=machine.kernel is None)
    if name == "pop":
        if key in items:
            return machine.settle(items.pop(key))
        return args[1] if len(args) > 1 else Unknown("a missing key", host=True)
    default = args[1] if len(args) > 1 else None
    if name == "setdefault":
        return machine.settle(items.setdefault(key, default))
    return machine.settle(items[key]) if key in items else default


def _tuple(machine: Machine, items: tuple[Value, ...], name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    return Unknown(f"`tuple.{name}`", host=True)


def _set(machine: Machine, items: set[Value], name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if name in ("add", "remove", "discard") and arguments.args and (traced := traced_in(machine, arguments.args[0])) is not None:
        needs_static(machine, "key", traced, "a set", node, frame)
    key = dict_key(arguments.args[0]) if arguments.args else ABSENT
    if name == "add" and key is not ABSENT:
        items.add(key)
        return None
    items.clear()
    return Unknown(f"`set.{name}`", host=True)


def _number(machine: Machine, number: float, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    plain = not arguments.args and not arguments.kwargs and hasattr(number, name)  # `int.is_integer` is as old as Python 3.12
    return getattr(number, name)() if plain else Unknown(f"`{type(number).__name__}.{name}`", host=True)


def _str(machine: Machine, text: str, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if name == "format":
        _format(machine, text, arguments, node, frame)
    plain = all(isinstance(arg, str | int) for arg in arguments.args) and not arguments.kwargs
    safe = (
        "startswith",
        "endswith",
        "lower",
        "upper",
        "strip",
        "split",
        "replace",
        "lstrip",
        "rstrip",
        "isdigit",
        "removeprefix",
        "removesuffix",
    )
    if name in safe and plain and len(text) < _LONGEST_STRING:
        try:
            return getattr(text, name)(*arguments.args)
        except Exception:
            return Unknown(f"`str.{name}`", host=True)
    return Unknown(f"`str.{name}`", host=True)


def _format(machine: Machine, text: str, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """``"{:d}".format(...)``: a traced value has no format of its own."""
    try:
        fields = [(field, spec) for _, field, spec, _ in Formatter().parse(text) if field is not None]
    except ValueError:
        return
    rest = iter(arguments.args)
    for field, spec in fields:
        index = int(field) if field.isdecimal() else len(arguments.args)
        numbered = arguments.args[index] if index < len(arguments.args) else None
        value = next(rest, None) if not field else arguments.kwargs.get(field, numbered)
        if spec and is_traced(machine, value):
            needs_static(machine, "number", value, "a format", node, frame)


def _iteration(machine: Machine, value: Iteration, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if name == "__next__" and value.items:
        return value.items.pop(0)
    return Unknown(f"`{name}` of an iterator", host=machine.kernel is None)


def _array(machine: Machine, value: Array, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if name in _NUMBERS and is_traced(machine, value):
        needs_static(machine, "number", value, f"`.{name}()`", node, frame)
    if name == "reshape" and (traced := traced_in(machine, arguments.args)) is not None:
        needs_static(machine, "shape", traced, "`.reshape`", node, frame)
    args = [shape_argument(arg) for arg in arguments.args]
    kwargs = {key: shape_argument(arg) for key, arg in arguments.kwargs.items()}
    try:
        result = from_shapes(table.method(name, value.aval, args, kwargs), (value, *arrays_in(arguments.args)), node)
    except ShapeError as fault:
        machine.emit(ShapeFault(machine.where(node, frame), f".{name}", str(fault), (value, *arguments.args)))
        return Unknown("an operation that JAX refuses")
    if isinstance(result, Unknown):
        result.why, result.host = cause_of((value, *arguments.args)) or f"method `{name}` of an array", machine.kernel is None
    if isinstance(result, Array):
        result.traced = value.traced
        note_narrowing(machine, name, value, result, arguments.get(0, "axis"), node, frame)
    if arguments.exact:
        function = "jax.numpy.ravel" if name == "flatten" else f"jax.numpy.{name}"
        note_operation(machine, function, (value, *arguments.args), arguments.kwargs, result, node, frame, f".{name}")
    return host_arrays.apply(machine, name, (value, *arguments.args), arguments.kwargs, result) if value.elements is not None else result


# Methods that make Python numbers.
_NUMBERS = frozenset({"item", "tolist", "__int__", "__float__", "__index__", "__bool__"})


def _shape_dtype(machine: Machine, value: ShapeDtype, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    from ..truth import dtype_name, dtype_of
    from .specs import shape_of

    if name in ("update", "replace") and arguments.exact:
        fresh = ShapeDtype(value.shape, value.dtype, named=value.named)
        if "shape" in arguments.kwargs:
            fresh.shape = shape_of(arguments.kwargs["shape"])
        if "dtype" in arguments.kwargs:
            fresh.dtype, fresh.named = dtype_of(arguments.kwargs["dtype"]), dtype_name(arguments.kwargs["dtype"])
        return fresh
    return Unknown(f"`{name}` of a ShapeDtypeStruct", host=True)


def _block_spec(machine: Machine, value: BlockSpec, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if name == "replace" and arguments.exact:
        fields = SPEC_FIELDS[BlockSpec]
        return replace(value, **{fields[key]: arg for key, arg in arguments.kwargs.items() if key in fields})
    return Unknown(f"`{name}` of a BlockSpec", host=True)


def _instance(machine: Machine, value: Instance, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if name in ("_replace", "replace"):
        return replaced(value, arguments.kwargs)
    if name == "_asdict":
        return dict(value.attrs)
    return Unknown(f"`{name}`", host=True)


def replaced(value: Instance, changes: dict[str, Value]) -> Instance:
    """A copy of an instance with some fields changed (``dataclasses.replace``, ``_replace``)."""
    return Instance(value.cls, {**value.attrs, **changes}, value.complete)


def _super(machine: Machine, value: SuperProxy, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    return None


def _value_indexer(machine: Machine, value: ValueIndexer, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if name == "get":
        return Unknown("a gathered value", host=machine.kernel is None)
    result = Array(
        value.array.aval, (value.array, *(arg for arg in arguments.args if isinstance(arg, Array))), value.array.traced, made_by=node
    )
    if machine.kernel is not None and not machine.transformed:
        machine.emit(Computed(machine.where(node, frame), "scatter", value.array, result))
    return result


RECEIVERS: dict[type[Any], Callable[..., Value]] = {
    list: _list,
    dict: _dict,
    Filling: _dict,
    tuple: _tuple,
    set: _set,
    str: _str,
    int: _number,
    float: _number,
    Iteration: _iteration,
    Array: _array,
    ShapeDtype: _shape_dtype,
    BlockSpec: _block_spec,
    Instance: _instance,
    SuperProxy: _super,
    ValueIndexer: _value_indexer,
}
"""What answers a method call, by the receiver's type; ``copies`` and ``transforms`` add theirs."""

CALL[ValueMethod] = _call_method
