"""Attribute access, one function a kind of value."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..resolve.canonical import canonical
from ..shapes import dims, dtypes, table
from ..shapes.avals import Aval
from . import host_arrays
from .call_events import RefPassed
from .classes import class_attribute, fields_of
from .events import RefAsArray, RemovedName
from .frames import Frame
from .library_names import library
from .machine import Arguments, Machine, shape_values
from .operators import from_shapes
from .paths import PathEnd
from .truth import dtype_of, name_of_dtype
from .values import (
    ABSENT,
    SPEC_FIELDS,
    Array,
    BlockSpec,
    BoundMethod,
    Builtin,
    Class,
    Condition,
    Copy,
    Dtype,
    DynamicSlice,
    EnumMember,
    Function,
    GridSpec,
    Instance,
    Iteration,
    Library,
    ModuleValue,
    Number,
    Opaque,
    Partial,
    PartOfShape,
    Ref,
    RefIndexer,
    Scratch,
    ShapeDtype,
    ShapeOfRef,
    SuperProxy,
    Transformed,
    Unknown,
    UnknownLength,
    UnknownShape,
    Value,
    ValueIndexer,
    ValueMethod,
)

ARRAY_PROPERTIES = frozenset({"T", "mT", "real", "imag"})
REF_METHODS = frozenset({"get", "set", "swap", "addupdate", "reshape", "bitcast", "transpose"})
NUMBER_METHODS = frozenset({"bit_length", "bit_count", "is_integer", "conjugate"})
_CONTAINERS = (list, dict, tuple, set, str, bytes, slice, Iteration, range)


def attribute(machine: Machine, value: Value, name: str, node: ast.AST, frame: Frame) -> Value:
    """``value.name``."""
    handler = HANDLERS.get(type(value))
    if handler is not None:
        return handler(machine, value, name, node, frame)
    if isinstance(value, _CONTAINERS):
        return getattr(value, name) if isinstance(value, slice | range) and name in ("start", "stop", "step") else ValueMethod(value, name)
    if type(value) in (int, float, complex) and name in ("real", "imag"):
        return getattr(value, name)
    if type(value) in (int, float) and name in NUMBER_METHODS:
        return ValueMethod(value, name)
    return Unknown(f"attribute `{name}` of a {type(value).__name__}", host=machine.kernel is None)


# Methods of texts that give a text, or a truth, of nothing but their arguments.
_OF_TEXTS = frozenset(
    {"lower", "upper", "casefold", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "replace", "startswith", "endswith"}
)


def _of_text(value: Unknown, name: str, arguments: Arguments) -> Value:
    """A method of a text that is declared: what it gives is declared too."""
    if value.key is None or arguments.kwargs or not all(isinstance(arg, str) for arg in arguments.args):
        return Unknown(value.why, host=value.host)
    declared = getattr(value.declared, name)(*arguments.args)
    return Unknown(value.why, f"{value.key}.{name}({', '.join(map(repr, arguments.args))})", host=value.host, declared=declared)


# What the devices are as a rule: the kernels are for a TPU.
_OF_A_TPU = {"platform": "tpu", "device_kind": "TPU"}


def _looked_up(machine: Machine, table: Unknown, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """``table.get(key)`` of a dict that is not known: what has no default may be None, which the program then asks."""
    found = machine.call(Unknown(table.why, host=True), arguments, node, frame)
    alone = arguments.exact and len(arguments.args) == 1 and not arguments.kwargs
    return Unknown(table.why, machine.path.name(node), host=True) if alone else found


def unknown_attribute(machine: Machine, value: Unknown, name: str, node: ast.AST, frame: Frame) -> Value:
    """An attribute of an unknown value: another one, under a name made of both."""
    key = value.key if not isinstance(value, Condition) else None
    if name == "shape" and key is not None:
        return UnknownShape(value)
    if name == "ndim" and key is not None:
        return dims.symbol(f"{key}.ndim", 0)
    if name == "T" and key is None:
        return Unknown(value.why, host=value.host)
    if isinstance(value.declared, str) and name in _OF_TEXTS:
        return Builtin(name, lambda machine, arguments, node, frame: _of_text(value, name, arguments))
    if name == "get" and value.host and machine.kernel is None:
        return Builtin(name, lambda machine, arguments, node, frame: _looked_up(machine, value, arguments, node, frame))
    of_device = key is not None and key.startswith(("jax.devices()[", "jax.local_devices()["))
    declared = _OF_A_TPU.get(name, ABSENT) if of_device else ABSENT
    return Unknown(value.why, f"{key}.{name}" if key else None, host=value.host, declared=declared)


def _array(machine: Machine, value: Array, name: str, node: ast.AST, frame: Frame) -> Value:
    if name in ("shape", "ndim", "size") and value.shape is None:
        return Unknown(value.why or "the rank of this array is unknown", host=True)
    if name == "shape":
        machine.path.facts.sizes.update(dim for dim in value.shape or () if isinstance(dim, dims.Poly))
        return shape_values(value)
    if name == "ndim":
        return len(value.shape or ())
    if name == "size":
        size = dims.product(value.shape or ())
        return size if size is not None else Unknown("a dim of this shape is unknown", host=True)
    if name == "dtype":
        return _dtype_of(value, value.why or "the dtype of this array is unknown")
    if name == "at":
        return ValueIndexer(value)
    if name not in host_arrays.METHODS:
        host_arrays.forget(value)
    if name in ARRAY_PROPERTIES:
        return from_shapes(table.method(name, value.aval), (value,), node)
    if name in ("itemsize", "nbytes", "sharding", "aval", "weak_type"):
        return Unknown(f"`{name}` of an array", host=True)
    return ValueMethod(value, name)


def _dtype_of(value: Array | Ref | ShapeDtype, why: str) -> Value:
    """``value.dtype``: known, or unknown under the name that the program has for it."""
    return Dtype(value.dtype) if value.dtype is not None else Unknown(why, name_of_dtype(value), host=True)


def _ref(machine: Machine, value: Ref, name: str, node: ast.AST, frame: Frame) -> Value:
    if name == "shape" and value.shape is None and not value.transforms:
        return ShapeOfRef(value)
    if name in ("shape", "ndim", "size") and value.shape is None:
        return Unknown(value.root.why or "the rank of this ref is unknown", host=True)
    if name == "shape":
        return shape_values(value)
    if name == "ndim":
        return len(value.shape or ())
    if name == "size":
        size = dims.product(value.shape or ())
        return size if size is not None else Unknown("a dim of this ref is unknown", host=True)
    if name == "dtype":
        return _dtype_of(value, value.root.why or "the dtype of this ref is unknown")
    if name == "at":
        return RefIndexer(value)
    if name == "T":
        from .refs import transposed

        return transposed(value, None)
    if name in REF_METHODS:
        return ValueMethod(value, name)
    if name in ("memory_space", "aval", "ref", "indices", "transforms", "weak_type", "sharding", "itemsize", "nbytes"):
        return Unknown(f"`{name}` of a ref", host=True)
    if name.startswith("__"):
        machine.emit(RefPassed(machine.where(node, frame), value))
        return Unknown(f"`{name}` of a ref")
    if value.root.sure:
        machine.emit(RefAsArray(machine.where(node, frame), f".{name}", value))
    return Unknown("a ref is used as an array")


def _library(machine: Machine, value: Library, name: str, node: ast.AST, frame: Frame) -> Value:
    dotted = f"{value.name}.{name}"
    if value.name == "jax" and name in ("__version__", "__version_info__") and machine.jax_version is not None:
        return machine.jax_version if name == "__version__" else tuple(int(n) for n in machine.jax_version.split(".")[:3] if n.isdigit())
    if name == "dtype" and value.name.startswith("jax.numpy.") and (scalar := dtype_of(value)) is not None:
        return Dtype(scalar)  # NumPy's own scalar types have none
    if value.name in ("jax.experimental.pallas", "jax.experimental.pallas.tpu") and machine.exists(dotted) is False:
        if machine.guarded:
            raise PathEnd("raise")  # the program tries whether the name is there
        machine.emit(RemovedName(machine.where(node, frame), value.name, name))
    return library(canonical(dotted))


def _module(machine: Machine, value: ModuleValue, name: str, node: ast.AST, frame: Frame) -> Value:
    from .importing import module_attribute

    return module_attribute(machine, value.module, name)


def _instance(machine: Machine, value: Instance, name: str, node: ast.AST, frame: Frame) -> Value:
    if name in value.attrs:
        return machine.settle(value.attrs[name])
    found = class_attribute(value.cls, name)
    if found is not None:
        return _bound(machine, value, found, node, frame)
    if name == "__class__":
        return value.cls
    if name == "_fields" and value.cls.kind == "namedtuple":
        return tuple(fields_of(value.cls))
    if name in ("_replace", "_asdict") and value.cls.kind == "namedtuple":
        return ValueMethod(value, name)
    if name in ("replace",):
        return ValueMethod(value, name)
    getter = class_attribute(value.cls, "__getattr__")
    if isinstance(getter, Function):
        return machine.call(BoundMethod(value, getter), Arguments([name]), node, frame)
    return Unknown(f"attribute `{name}` of a `{value.cls.name}` that was not built whole", f"{value.cls.name}.{name}", host=True)


def _bound(machine: Machine, value: Instance, found: Value, node: ast.AST, frame: Frame) -> Value:
    if isinstance(found, Function):
        if found.kind == "property":
            return machine.call(BoundMethod(value, found), Arguments([]), node, frame)
        if found.kind == "staticmethod":
            return found
        return BoundMethod(value.cls if found.kind == "classmethod" else value, found)
    if isinstance(found, Transformed) and isinstance(found.func, Function):
        return Transformed(found.kind, BoundMethod(value, found.func), found.options)
    return found


def _class(machine: Machine, value: Class, name: str, node: ast.AST, frame: Frame) -> Value:
    found = class_attribute(value, name)
    if found is not None:
        return BoundMethod(value, found) if isinstance(found, Function) and found.kind == "classmethod" else found
    if name == "__name__":
        return value.name
    return Unknown(f"attribute `{name}` of class `{value.name}`", f"{value.name}.{name}", host=True)


def _enum_member(machine: Machine, value: EnumMember, name: str, node: ast.AST, frame: Frame) -> Value:
    if name in ("value", "_value_"):
        return value.value
    if name in ("name", "_name_"):
        return value.name
    found = class_attribute(value.cls, name)
    if isinstance(found, Function):
        bound = BoundMethod(value, found)
        return machine.call(bound, Arguments([]), node, frame) if found.kind == "property" else bound
    return found if found is not None else Unknown(f"attribute `{name}` of an enum member", host=True)


def _shape_dtype(machine: Machine, value: ShapeDtype, name: str, node: ast.AST, frame: Frame) -> Value:
    if name in ("shape", "ndim", "size"):
        if value.shape is None:
            return Unknown(value.why or "the shape of a ShapeDtypeStruct is unknown", host=True)
        size = dims.product(value.shape)
        return {
            "shape": shape_values(value),
            "ndim": len(value.shape),
            "size": size if size is not None else Unknown("a dim is unknown", host=True),
        }[name]
    if name == "dtype":
        return _dtype_of(value, value.why or "the dtype of a ShapeDtypeStruct is unknown")
    return ValueMethod(value, name)


def _dtype(machine: Machine, value: Dtype, name: str, node: ast.AST, frame: Frame) -> Value:
    bits = dtypes.bits(value.name)
    if name in ("name", "__name__"):
        return value.name
    if name == "dtype":
        return value
    if name == "itemsize" and bits is not None:
        return max(1, bits // 8)
    if name == "kind":
        return {"bool": "b", "signed": "i", "unsigned": "u", "float": "f", "complex": "c"}.get(dtypes.kind(value.name) or "", "V")
    why = f"`{name}` of a dtype"
    return machine.number(why, node) if name in ("itemsize", "num", "alignment") else Unknown(why, host=True)


def _block_spec(machine: Machine, value: BlockSpec, name: str, node: ast.AST, frame: Frame) -> Value:
    field = SPEC_FIELDS[BlockSpec].get(name)
    return getattr(value, field) if field is not None else ValueMethod(value, name)


def _grid_spec(machine: Machine, value: GridSpec, name: str, node: ast.AST, frame: Frame) -> Value:
    field = SPEC_FIELDS[GridSpec].get(name)
    return getattr(value, field) if field is not None else Unknown(f"`{name}` of a grid spec", host=True)


def set_attribute(holder: Value, name: str, value: Value) -> None:
    """``holder.name = value``."""
    if isinstance(holder, Instance):
        holder.attrs[name] = value
    elif isinstance(holder, BlockSpec | GridSpec) and name in SPEC_FIELDS[type(holder)]:
        setattr(holder, SPEC_FIELDS[type(holder)][name], tuple(value) if name == "block_shape" and isinstance(value, list) else value)
        if isinstance(holder, GridSpec):
            holder.nodes.pop(name, None)


def _scratch(machine: Machine, value: Scratch, name: str, node: ast.AST, frame: Frame) -> Value:
    return _shape_dtype(machine, ShapeDtype(value.shape, value.dtype, named=value.named), name, node, frame)


def _opaque(machine: Machine, value: Opaque, name: str, node: ast.AST, frame: Frame) -> Value:
    if name in value.kwargs:
        return value.kwargs[name]
    if name in ("bits", "min", "max", "eps", "tiny", "dtype") and value.name in (
        "jax.numpy.finfo",
        "jax.numpy.iinfo",
        "numpy.finfo",
        "numpy.iinfo",
    ):
        return _limits(value, name)
    return Unknown(f"`{name}` of a `{value.name.rpartition('.')[2]}`", f"{value.name}.{name}", host=True)


def _limits(value: Opaque, name: str) -> Value:
    """A field of ``finfo`` (a NumPy scalar of the dtype itself) or of ``iinfo`` (a Python number, which is weak)."""
    dtype = value.args[0].name if value.args and isinstance(value.args[0], Dtype) else None
    if name == "dtype":
        return value.args[0] if dtype else Unknown("the dtype of a finfo", host=True)
    bits = dtypes.bits(dtype) if dtype else None
    if name == "bits" and bits is not None:
        return bits
    if value.name.endswith("iinfo") and dtype and bits is not None:
        signed = dtypes.kind(dtype) == "signed"
        return -(1 << (bits - 1)) if name == "min" and signed else 0 if name == "min" else (1 << (bits - signed)) - 1
    limit = dtypes.float_limit(dtype, name)
    if limit is None or dtype is None:
        return Unknown(f"`{name}` of a finfo", host=True)
    return Array(Aval((), dtype, False), traced=False, constant=limit, numpy=True)


def _partial(machine: Machine, value: Partial, name: str, node: ast.AST, frame: Frame) -> Value:
    fields: dict[str, Value] = {"func": value.func, "args": value.args, "keywords": value.kwargs}
    return fields.get(name, Unknown(f"`{name}` of a partial", host=True))


def _function(machine: Machine, value: Function, name: str, node: ast.AST, frame: Frame) -> Value:
    if name == "__name__":
        return value.name
    return Unknown(f"`{name}` of a function", host=True)


def _transformed(machine: Machine, value: Transformed, name: str, node: ast.AST, frame: Frame) -> Value:
    return ValueMethod(value, name)


def _indexer(machine: Machine, value: RefIndexer, name: str, node: ast.AST, frame: Frame) -> Value:
    return Unknown(f"`{name}` of `.at`")


def _super(machine: Machine, value: SuperProxy, name: str, node: ast.AST, frame: Frame) -> Value:
    bases = [base for base in value.cls.bases if isinstance(base, Class)]
    for base in bases:
        found = class_attribute(base, name)
        if isinstance(found, Function):
            return BoundMethod(value.receiver, found)
    if name == "__init__" and value.cls.complete:
        return ValueMethod(value, name)
    if isinstance(value.receiver, Instance):
        value.receiver.complete = False
    return Unknown(f"`super().{name}` of a class that was not read", host=True)


def _method_holder(machine: Machine, value: Copy | ValueIndexer, name: str, node: ast.AST, frame: Frame) -> Value:
    return ValueMethod(value, name)


def _dynamic_slice(machine: Machine, value: DynamicSlice, name: str, node: ast.AST, frame: Frame) -> Value:
    return getattr(value, name) if name in ("start", "size", "stride") else Unknown(f"`{name}` of a slice", host=machine.kernel is None)


HANDLERS: dict[type[Any], Callable[..., Value]] = {
    DynamicSlice: _dynamic_slice,
    Unknown: unknown_attribute,
    UnknownLength: unknown_attribute,
    UnknownShape: unknown_attribute,
    Condition: unknown_attribute,
    Number: unknown_attribute,
    ShapeOfRef: unknown_attribute,
    PartOfShape: unknown_attribute,
    Array: _array,
    Ref: _ref,
    RefIndexer: _indexer,
    ValueIndexer: _method_holder,
    Library: _library,
    ModuleValue: _module,
    Instance: _instance,
    Class: _class,
    EnumMember: _enum_member,
    ShapeDtype: _shape_dtype,
    Dtype: _dtype,
    BlockSpec: _block_spec,
    GridSpec: _grid_spec,
    Scratch: _scratch,
    Opaque: _opaque,
    Partial: _partial,
    Function: _function,
    Transformed: _transformed,
    Copy: _method_holder,
    SuperProxy: _super,
}
