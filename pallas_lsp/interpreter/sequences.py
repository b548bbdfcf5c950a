"""What iterating over a value gives."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from ..shapes import dims
from . import host_arrays
from .events import RefAsArray
from .frames import Frame
from .machine import Arguments, Machine, dim_at, shape_values
from .values import Array, BoundMethod, Class, EnumMember, Instance, Iteration, PartOfShape, Ref, ShapeOfRef, Unknown, UnknownShape, Value

LONGEST = 4096


class Filling(dict[Any, Any]):
    """A ``collections.defaultdict``: ``factory`` makes what is missing."""

    def __init__(self, factory: Value) -> None:
        super().__init__()
        self.factory = factory


def items_of(machine: Machine, value: Value, node: ast.AST, frame: Frame) -> list[Value] | None:
    """The items that iterating over ``value`` gives, None when their number is not known. Consumes an iterator."""
    value = machine.settle(value)
    if isinstance(value, list | tuple):
        return [machine.settle(item) for item in value]
    if isinstance(value, range):
        return list(value) if len(value) <= LONGEST else None
    if isinstance(value, dict):
        return [key_value(key) for key in value]
    if isinstance(value, set):
        return sorted(value, key=repr)
    if isinstance(value, str):
        return list(value) if len(value) <= LONGEST else None
    if isinstance(value, Iteration):
        items, value.items = value.items, []
        return items
    if isinstance(value, Array):
        found = rows(value)
        return host_arrays.rows(machine, value, found) if found is not None and value.elements is not None else found
    if isinstance(value, Ref):
        machine.emit(RefAsArray(machine.where(node, frame), "iter", value))
        return None
    if isinstance(value, Instance):
        return _instance_items(machine, value, node, frame)
    if isinstance(value, Class) and value.kind == "enum":
        return [member for member in value.frame.names.values() if isinstance(member, EnumMember)]
    return None


def key_value(key: object) -> Value:
    """The value that a key of an interpreted dict stands for (see ``expressions.dict_key``)."""
    from .values import Dtype, Library

    if isinstance(key, tuple) and len(key) == 2 and key[0] in ("Library", "Dtype") and isinstance(key[1], str):
        return Library(key[1]) if key[0] == "Library" else Dtype(key[1])
    return key


def rows(array: Array) -> list[Value] | None:
    """The rows of an array whose first dim is a known small number."""
    shape = array.shape
    if not shape or not isinstance(shape[0], int) or shape[0] > LONGEST:
        return None
    row = replace(array.aval, shape=shape[1:])
    return [Array(row, (array,), array.traced) for _ in range(shape[0])]


def _instance_items(machine: Machine, value: Instance, node: ast.AST, frame: Frame) -> list[Value] | None:
    from .classes import class_attribute, fields_of

    if value.cls.kind == "namedtuple":
        return [value.attrs.get(name, Unknown("a field that was not given")) for name in fields_of(value.cls)]
    method = class_attribute(value.cls, "__iter__")
    if method is not None:
        return items_of(machine, machine.call(BoundMethod(value, method), Arguments([]), node, frame), node, frame)
    return None


def _learned_dims(machine: Machine, ref: Ref, count: int) -> list[Value]:
    """The dims of a ref of which the kernel's own text says how many there are."""
    known, name = machine.path.facts.of_refs, ref.root.name
    if id(ref.root) not in known:
        known[id(ref.root)] = tuple(dims.symbol(machine.path.name(f"{name}.shape[{axis}]"), 1) for axis in range(count))
        ref.root.ranks |= {count}
    return list(known[id(ref.root)])


def _unpacked_dims(value: PartOfShape, count: int) -> list[Value] | None:
    axes = value.axes(count)
    return [dim_at(value.of.key, axis) for axis in axes] if axes is not None and value.of.key is not None else None


def unpack(machine: Machine, value: Value, count: int, node: ast.AST, frame: Frame) -> list[Value] | None:
    """``count`` items of a value for a tuple target; a shape of unknown rank learns its rank here."""
    value = machine.settle(value)
    if isinstance(value, UnknownShape) and value.of.key is not None:
        machine.path.facts.learn_rank(value.of.key, count)
        array = machine.settle(value.of)
        return list(shape_values(array)) if isinstance(array, Array) else None
    if isinstance(value, ShapeOfRef):
        return _learned_dims(machine, value.ref, count)
    items = items_of(machine, value, node, frame)
    if isinstance(value, PartOfShape):
        return _unpacked_dims(value, count)
    if items is None and isinstance(value, Unknown):
        key = value.key
        return [Unknown(value.why, f"{key}[{index}]" if key else None, host=value.host) for index in range(count)]
    if items is None and isinstance(value, Array) and value.shape:
        row = replace(value.aval, shape=value.shape[1:])
        return [Array(row, (value,), value.traced) for _ in range(count)]
    return items
