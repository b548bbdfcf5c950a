"""``value[index]`` for every kind of value but the store to a ref, which ``refs`` has."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from ..shapes import dims, indexing
from ..shapes.avals import UNKNOWN, ShapeError
from ..shapes.dims import Poly
from . import host_arrays
from .classes import class_attribute
from .events import Computed, ShapeFault, ValueIndex
from .frames import Frame
from .machine import Arguments, Machine, dim_at
from .operations import is_traced, needs_static, traced_in
from .operators import from_shapes
from .parts import check_index, check_key
from .refs import load, view
from .sequences import Filling
from .truth import as_dim
from .values import (
    ABSENT,
    Array,
    BoundMethod,
    Class,
    DynamicSlice,
    Function,
    Instance,
    Library,
    PartOfShape,
    Ref,
    RefIndexer,
    Transformed,
    Unknown,
    UnknownShape,
    Value,
    ValueIndexer,
)


def subscript(machine: Machine, value: Value, node: ast.Subscript, frame: Frame) -> Value:
    """The value of a subscript expression whose container is ``value``."""
    index = machine.evaluate(node.slice, frame)
    return item(machine, value, index, node, frame)


def item(machine: Machine, value: Value, index: Value, node: ast.expr, frame: Frame) -> Value:
    """``value[index]``; ``node`` is the subscript (or the call of ``__getitem__``)."""
    slice_node = node.slice if isinstance(node, ast.Subscript) else None
    if isinstance(value, Ref):
        return load(machine, value, index, node, frame, slice_node=slice_node)
    if isinstance(value, RefIndexer):
        return view(machine, value.ref, index, node, frame, slice_node)
    if isinstance(value, Array):
        return _array_item(machine, value, index, node, frame)
    if isinstance(value, ValueIndexer):
        _needs_static_entries(machine, index if isinstance(index, tuple) else (index,), node, frame)
        return value
    if isinstance(value, list | tuple | str | bytes | range):
        return _sequence_item(machine, value, index, node, frame)
    if isinstance(value, dict):
        from .expressions import key_in

        if (traced := traced_in(machine, index)) is not None:
            needs_static(machine, "key", traced, "a dict", node, frame)
        key = key_in(machine, value, index, node, frame)
        if isinstance(value, Filling) and key is not ABSENT and key not in value:
            value[key] = machine.call(value.factory, Arguments([]), node, frame)
        check_key(machine, value, key, node, frame)
        return (
            machine.settle(value[key])
            if key is not ABSENT and key in value
            else Unknown("a key that is not known", host=machine.kernel is None)
        )
    if isinstance(value, UnknownShape):
        return _dim_of_unknown_shape(value, index)
    if isinstance(value, Unknown):
        label = _label(index)
        key = f"{value.key}[{label}]" if value.key is not None and label is not None else None
        return Unknown(value.why, key, host=value.host)
    if isinstance(value, Instance):
        return _instance_item(machine, value, index, node, frame)
    if isinstance(value, Class) and value.kind == "enum":
        return (
            class_attribute(value, index)
            if isinstance(index, str) and class_attribute(value, index) is not None
            else Unknown("an enum member")
        )
    if isinstance(value, Class | Library | Function | Transformed):
        return value
    return Unknown(f"an item of a {type(value).__name__}", host=machine.kernel is None)


def _label(index: Value) -> str | None:
    """An index in words by which the same item is recognised, None where it has none."""
    if isinstance(index, tuple):
        parts = _labels(index)
        return None if parts is None else ", ".join(parts) + "," * (len(parts) == 1)
    if isinstance(index, slice):
        bounds = _labels((index.start, index.stop, index.step))
        return None if bounds is None else ":".join("" if bound == "None" else bound for bound in bounds).removesuffix(":")
    if index is None or isinstance(index, int | str):
        return repr(index)
    if index is Ellipsis:
        return "..."
    return dims.render(index) if isinstance(index, Poly) else None


def _labels(parts: Iterable[Value]) -> list[str] | None:
    labels = [_label(part) for part in parts]
    known = [label for label in labels if label is not None]
    return known if len(known) == len(labels) else None


def _dim_of_unknown_shape(value: UnknownShape, index: Value) -> Value:
    if isinstance(index, int) and value.of.key is not None:
        return dim_at(value.of.key, index)
    if isinstance(index, slice) and value.of.key is not None:
        return PartOfShape(value.of, index)
    return Unknown(value.why, host=True)


def _sequence_item(machine: Machine, value: Any, index: Value, node: ast.expr, frame: Frame) -> Value:
    if isinstance(index, Array):
        index = index.constant if isinstance(index.constant, int) else index
    if isinstance(index, Array | slice) and (traced := traced_in(machine, index)) is not None:
        needs_static(machine, "index", traced, f"the index of a {type(value).__name__}", node, frame)
    if isinstance(index, slice):
        parts = (index.start, index.stop, index.step)
        if not all(part is None or isinstance(part, int) for part in parts) or index.step == 0:
            return Unknown("a slice with unknown bounds", host=machine.kernel is None)
        return value[index]
    check_index(machine, value, index, node, frame)
    if not isinstance(index, int):
        return Unknown("an item at an unknown index", host=machine.kernel is None)
    if not -len(value) <= index < len(value):
        return Unknown("an item beyond the end", host=machine.kernel is None)
    return machine.settle(value[index])


def _instance_item(machine: Machine, value: Instance, index: Value, node: ast.expr, frame: Frame) -> Value:
    from .classes import fields_of

    method = class_attribute(value.cls, "__getitem__")
    if isinstance(method, Function):
        return machine.call(BoundMethod(value, method), Arguments([index]), node, frame)
    if value.cls.kind == "namedtuple":
        items = [value.attrs.get(name, Unknown("a field that was not given")) for name in fields_of(value.cls)]
        return _sequence_item(machine, tuple(items), index, node, frame)
    return Unknown(f"an item of a `{value.cls.name}`", host=True)


def _array_item(machine: Machine, value: Array, index: Value, node: ast.expr, frame: Frame) -> Value:
    entries = index if isinstance(index, tuple) else (index,)
    _needs_static_entries(machine, entries, node, frame)
    if value.numpy and (traced := traced_in(machine, entries)) is not None:
        needs_static(machine, "numpy", traced, "an index of a NumPy array", node, frame)
    machine.emit(ValueIndex(machine.where(node, frame), value, tuple(entries)))
    try:
        result = indexing.index(value.aval, tuple(key_part(entry) for entry in entries))
    except ShapeError as fault:
        machine.emit(ShapeFault(machine.where(node, frame), "[]", str(fault), (value, *entries)))
        return Unknown("an index that JAX refuses")
    used = tuple(entry for entry in entries if isinstance(entry, Array))
    item = from_shapes(result, (value, *used), node)
    if isinstance(item, Array) and all(entry is Ellipsis or (isinstance(entry, slice) and entry.step in (None, 1)) for entry in entries):
        item.through = value
    if isinstance(item, Array) and value.traced and machine.kernel is not None and not machine.transformed:
        _note_lowering(machine, value, entries, item, node, frame)
    return host_arrays.item(machine, value, tuple(entries), item) if value.elements is not None else item


def _needs_static_entries(machine: Machine, entries: tuple[Value, ...], node: ast.expr, frame: Frame) -> None:
    """Slice bounds and masks of a value's index must be known while JAX traces."""
    for entry in entries:
        if isinstance(entry, slice) and (traced := traced_in(machine, entry)) is not None:
            needs_static(machine, "slice", traced, "a slice of a value", node, frame)
        if isinstance(entry, Array) and entry.dtype == "bool" and entry.shape and is_traced(machine, entry):
            needs_static(machine, "mask", entry, "an index of a value", node, frame)


def _note_lowering(machine: Machine, value: Array, entries: tuple[Value, ...], item: Array, node: ast.AST, frame: Frame) -> None:
    """Say how the index of a value lowers: static ones are slices and squeezes, traced ones dynamic slices."""
    if any(isinstance(entry, Array) and entry.shape and entry.dtype != "bool" for entry in entries):
        kind = "gather"
    elif any(isinstance(entry, DynamicSlice) for entry in entries):
        kind = "dynamic-slice" if any(isinstance(e, DynamicSlice) and isinstance(e.start, Array) for e in entries) else "ds-slice"
    elif any(isinstance(entry, Array) and entry.shape == () and entry.traced for entry in entries):
        kind = "dynamic-slice"
    elif item.shape is not None and 0 in item.shape:
        kind = "empty"
    elif _outside(value, entries) and all(step == 1 for step in _steps(entries)):
        kind = "outside"
    elif any(step < 0 for step in _steps(entries)):
        kind = "rev"
    elif any(step > 1 for step in _steps(entries)):
        kind = "strided-slice"
    elif value.shape and item.shape is not None and len(item.shape) == entries.count(None):
        kind = "squeeze"  # a scalar first, whatever new dims it gets then
    elif entries[-1] is None and _reaches_the_end(value, entries):
        kind = "new-last-dim"
    else:
        return
    machine.emit(Computed(machine.where(node, frame), kind, value, item, entries))


def _outside(value: Array, entries: tuple[Value, ...]) -> bool:
    """Whether a number is no position of its dim. Only positions that JAX knows to be in bounds become a static slice."""
    named = [entry for entry in entries if entry is not None]
    skipped = len(value.shape or ()) - len(named) + (Ellipsis in named)
    filled = [part for entry in named for part in ([None] * skipped if entry is Ellipsis else [entry])]
    return any(
        type(entry) is int and isinstance(dim, int) and not -dim <= entry < dim
        for entry, dim in zip(filled, value.shape or (), strict=False)
    )


def _reaches_the_end(value: Array, entries: tuple[Value, ...]) -> bool:
    """Whether the last entry stands behind all dims of the value."""
    named = sum(entry is not None for entry in entries)
    return bool(value.shape) and (Ellipsis in entries or named == len(value.shape or ()))


def _steps(entries: tuple[Value, ...]) -> list[int]:
    return [entry.step for entry in entries if isinstance(entry, slice) and isinstance(entry.step, int)]


def key_part(entry: Value) -> Any:
    """An entry of an indexer as the shapes layer takes it."""
    if entry is None or entry is Ellipsis or isinstance(entry, bool | int | Poly):
        return entry
    if isinstance(entry, Array):
        return entry.aval
    if isinstance(entry, slice):
        return indexing.SliceIndex(*(bound_part(part) for part in (entry.start, entry.stop, entry.step)))
    if isinstance(entry, DynamicSlice):
        size = as_dim(entry.size)
        stride = as_dim(entry.stride)
        return indexing.DsIndex(bound_part(entry.start), size if size is not None else UNKNOWN, stride if stride is not None else UNKNOWN)
    return UNKNOWN


def bound_part(part: Value) -> Any:
    """A bound of a slice: None, a dim, or UNKNOWN."""
    if part is None:
        return None
    dim = as_dim(part)
    return dim if dim is not None and not isinstance(part, Array) else UNKNOWN
