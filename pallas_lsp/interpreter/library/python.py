"""Python's built-in functions."""

from __future__ import annotations

from typing import Any

from ...shapes import dims
from ...shapes.dims import Poly
from .. import host_arrays
from ..attributes import attribute
from ..classes import class_attribute
from ..machine import Machine
from ..operations import is_traced, needs_static, traced_in
from ..paths import PathEnd
from ..sequences import Filling, items_of
from ..truth import as_condition, as_dim, known_truth, truth
from ..values import (
    ABSENT,
    Array,
    BlockSpec,
    BoundMethod,
    Builtin,
    Class,
    Condition,
    DynamicSlice,
    EnumMember,
    Function,
    Instance,
    Iteration,
    Library,
    Opaque,
    PallasCall,
    Partial,
    Ref,
    ShapeDtype,
    SuperProxy,
    Transformed,
    Unknown,
    UnknownRange,
    UnknownShape,
    Value,
    ValueMethod,
)
from .registry import Call, models

_CALLABLE = (Function, Partial, BoundMethod, Builtin, Class, Library, Transformed, PallasCall, ValueMethod)
_LONGEST_RANGE = 1 << 20


@models("len")
def _len(call: Call) -> Value:
    value = call.get(0, "obj")
    if isinstance(value, list | tuple | dict | set | str | bytes | range):
        return len(value)
    if isinstance(value, UnknownShape) and value.of.key is not None:
        return dims.symbol(f"{value.of.key}.ndim", 0)
    if isinstance(value, Array | Ref) and value.shape:
        return value.shape[0] if value.shape[0] is not None else call.unknown()
    if isinstance(value, Iteration):
        return call.unknown()
    items = items_of(call.machine, value, call.node, call.frame) if isinstance(value, Instance) else None
    return len(items) if items is not None else call.unknown("the length of a sequence that is not known")


@models("range")
def _range(call: Call) -> Value:
    parts = [as_dim(arg) for arg in call.args]
    if parts and all(isinstance(part, int) for part in parts):
        try:
            result = range(*parts)  # type: ignore[arg-type]
        except ValueError:
            return call.unknown()
        return result if len(result) <= _LONGEST_RANGE else call.unknown()
    if (traced := traced_in(call.machine, call.args)) is not None:
        needs_static(call.machine, "index", traced, "`range`", call.node, call.frame)
    start, stop, step = (0, *parts, 1) if len(parts) == 1 else (*parts, 1) if len(parts) == 2 else parts if len(parts) == 3 else (None,) * 3
    return UnknownRange(start, stop, step, f"range({', '.join(dims.render(p) if p is not None else '?' for p in parts)})")


@models("object")
def _object(call: Call) -> Value:
    return Opaque(call.name, (), {})


@models("isinstance")
def _isinstance(call: Call) -> Value:
    value, wanted = call.get(0, "obj"), call.get(1, "cls")
    options = wanted if isinstance(wanted, tuple) else (wanted,)
    answers = [_is_instance(value, option) for option in options]
    if True in answers:
        return True
    if None not in answers:
        return False
    types = sorted(getattr(option, "name", "?") for option in options)
    short = "|".join(type_name.rpartition(".")[2] for type_name in types)
    if isinstance(value, Array) and not value.numpy and "?" not in types:  # JAX's arrays are all of one class
        key, of_arrays = f"truth:jax.Array is {'|'.join(types)}", not _NAMES_OF_ARRAYS.isdisjoint(short.split("|"))
        return Condition(key, (f"an array of JAX's is a {short}", f"an array of JAX's is no {short}"), of_arrays)
    name = value.key if isinstance(value, Unknown) and value.key else "a value"
    return Condition(f"isinstance:{name}:{'|'.join(types)}", (f"`{name}` is a {short}", f"`{name}` is not a {short}"), True)


_NAMES_OF_ARRAYS = frozenset({"Array", "ArrayLike", "Tensor", "Tracer", "ndarray"})
_NO_PYTHON_VALUES = frozenset({"jax.numpy.dtype", "numpy.dtype", "jax.core.Tracer", "numpy.ndarray"})
"""Classes that no number, text or container of Python's is of."""


_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int, Poly), "float": (float,), "bool": (bool,), "str": (str,),
    "tuple": (tuple,), "list": (list,), "dict": (dict,), "set": (set,), "slice": (slice,),
    "jax.Array": (Array,), "jax.numpy.ndarray": (Array,), "jax.ShapeDtypeStruct": (ShapeDtype,),
    "jax.experimental.pallas.BlockSpec": (BlockSpec,), "jax.experimental.pallas.Slice": (DynamicSlice,),
    "collections.abc.Sequence": (tuple, list, str), "typing.Sequence": (tuple, list, str),
    "collections.abc.Mapping": (dict,), "functools.partial": (Partial,),
}  # fmt: skip


def _is_instance(value: Value, option: Value) -> bool | None:
    if isinstance(value, Unknown):
        return None
    if isinstance(option, Class):
        if isinstance(value, Instance | EnumMember):
            return option in value.cls.lineage() or (None if not value.cls.complete else False)
        return False
    if isinstance(option, Library):
        if option.name in _TYPES:
            return isinstance(value, _TYPES[option.name]) if not (isinstance(value, Instance) and not value.cls.complete) else None
        if isinstance(value, Opaque) and value.name == option.name:
            return True
        if option.name in _NO_PYTHON_VALUES and isinstance(value, int | float | str | tuple | list | dict | type(None) | Poly):
            return False
        if option.name in ("jax.core.Tracer", "numpy.ndarray", "numbers.Number"):
            return False if isinstance(value, Instance) and value.cls.complete else None
        return False if isinstance(value, str | type(None)) else None
    return None


@models("getattr")
def _getattr(call: Call) -> Value:
    value, name = call.get(0, "obj"), call.get(1, "name")
    if not isinstance(name, str):
        return call.unknown()
    if len(call.args) > 2 and _has(call.machine, value, name) is False:
        return call.args[2]
    if len(call.args) > 2 and isinstance(value, Function):  # whoever sets an attribute of a function does so elsewhere
        return Unknown(f"`{name}` of a function", f"{value.name}.{name}", host=True, declared=call.args[2])
    return attribute(call.machine, value, name, call.node, call.frame)


@models("hasattr")
def _hasattr(call: Call) -> Value:
    value, name = call.get(0, "obj"), call.get(1, "name")
    known = _has(call.machine, value, name) if isinstance(name, str) else None
    if known is not None:
        return known
    label = value.key if isinstance(value, Unknown) and value.key else getattr(value, "name", "a value")
    return Condition(f"hasattr:{label}:{name}", (f"`{label}` has `{name}`", f"`{label}` has no `{name}`"), True)


def _has(machine: Machine, value: Value, name: str) -> bool | None:
    """Whether the object has the attribute; an object that was not built whole leaves it open."""
    if isinstance(value, Instance):
        if name in value.attrs or class_attribute(value.cls, name) is not None:
            return True
        return False if value.complete and value.cls.complete and class_attribute(value.cls, "__getattr__") is None else None
    if isinstance(value, Library):
        return machine.exists(f"{value.name}.{name}")
    if isinstance(value, int | float | str | tuple | list | dict | type(None)):
        return hasattr(value, name)
    return None


@models("setattr")
def _setattr(call: Call) -> Value:
    holder, name = call.get(0, "obj"), call.get(1, "name")
    if isinstance(holder, Instance):
        if isinstance(name, str):
            holder.attrs[name] = call.get(2, "value")
        else:
            holder.complete = False
    return None


@models("callable")
def _callable(call: Call) -> Value:
    value = call.get(0, "obj")
    return isinstance(value, _CALLABLE) if not isinstance(value, Unknown | Instance) else as_condition(value, call.node)


@models("type")
def _type(call: Call) -> Value:
    value = call.get(0, "obj")
    return value.cls if isinstance(value, Instance | EnumMember) else call.unknown()


@models("super")
def _super(call: Call) -> Value:
    frame = call.frame.function_frame()
    function = frame.function
    if function is None or function.owner is None or isinstance(function.node, type(None)):
        return call.unknown()
    names = [*function.node.args.posonlyargs, *function.node.args.args]
    return SuperProxy(function.owner, frame.names.get(names[0].arg)) if names else call.unknown()


@models("tuple", "list")
def _sequence(call: Call) -> Value:
    if not call.args:
        return [] if call.name == "list" else ()
    items = items_of(call.machine, call.args[0], call.node, call.frame)
    if items is None:
        value = call.args[0]
        return value if isinstance(value, UnknownShape) else call.unknown("a sequence of unknown length")
    return items if call.name == "list" else tuple(items)


@models("dict", "collections.OrderedDict")
def _dict(call: Call) -> Value:
    from ..expressions import dict_key

    result: dict[Any, Value] = {}
    if call.args:
        source = call.args[0]
        pairs = None if isinstance(source, dict) else items_of(call.machine, source, call.node, call.frame)
        if isinstance(source, dict):
            result.update(source)
        elif pairs is not None and all(
            isinstance(pair, tuple | list) and len(pair) == 2 and dict_key(pair[0]) is not ABSENT for pair in pairs
        ):
            result.update({dict_key(pair[0]): pair[1] for pair in pairs})
        else:
            return call.unknown("a dict whose keys are not all known")
    result.update(call.kwargs)
    return result if call.arguments.exact else call.unknown("a dict whose keys are not all known")


@models("set", "frozenset")
def _set(call: Call) -> Value:
    from ..expressions import dict_key

    items = items_of(call.machine, call.args[0], call.node, call.frame) if call.args else []
    keys = [dict_key(item) for item in items] if items is not None else [ABSENT]
    return call.unknown("a set whose items are not all known") if ABSENT in keys else set(keys)


@models("zip")
def _zip(call: Call) -> Value:
    columns = [items_of(call.machine, arg, call.node, call.frame) for arg in call.args]
    if any(column is None for column in columns):
        return call.unknown("a zip of sequences of unknown length")
    return Iteration(list(zip(*columns, strict=False)))


@models("enumerate")
def _enumerate(call: Call) -> Value:
    items, start = items_of(call.machine, call.get(0, "iterable"), call.node, call.frame), call.get(1, "start", 0)
    if items is None or not isinstance(start, int):
        return call.unknown("a sequence of unknown length")
    return Iteration(list(enumerate(items, start)))


@models("map")
def _map(call: Call) -> Value:
    columns = [items_of(call.machine, arg, call.node, call.frame) for arg in call.args[1:]]
    if any(column is None for column in columns):
        return call.unknown("a map over a sequence of unknown length")
    return Iteration([call.call(call.args[0], *row) for row in zip(*columns, strict=False)])


@models("filter")
def _filter(call: Call) -> Value:
    items = items_of(call.machine, call.get(1, "iterable"), call.node, call.frame)
    if items is None:
        return call.unknown("a filter over a sequence of unknown length")
    asked = [(item, item if call.args[0] is None else call.call(call.args[0], item)) for item in items]
    kept = [(item, _answer(call, said)) for item, said in asked]
    return (
        Iteration([item for item, keep in kept if keep])
        if all(keep is not None for _, keep in kept)
        else call.unknown("a filter that is not known")
    )


def _answer(call: Call, said: Value) -> bool | None:
    return truth(call.machine, said, call.node, call.frame) if is_traced(call.machine, said) else known_truth(said)


@models("reversed")
def _reversed(call: Call) -> Value:
    items = items_of(call.machine, call.get(0, "sequence"), call.node, call.frame)
    return Iteration(items[::-1]) if items is not None else call.unknown("a sequence of unknown length")


@models("iter")
def _iter(call: Call) -> Value:
    value = call.get(0, "iterable")
    if isinstance(value, Iteration):
        return value
    items = items_of(call.machine, value, call.node, call.frame)
    return Iteration(items) if items is not None else call.unknown("a sequence of unknown length")


@models("next")
def _next(call: Call) -> Value:
    value = call.get(0, "iterator")
    if isinstance(value, Iteration):
        if value.items:
            return call.machine.settle(value.items.pop(0))
        if len(call.args) > 1:
            return call.args[1]
        if call.machine.guarded:
            raise PathEnd("raise", "StopIteration")
    return call.unknown("the next item of an iterator")


@models("abs")
def _abs(call: Call) -> Value:
    value = call.get(0, "x")
    if isinstance(value, int | float):
        return abs(value)
    if isinstance(value, Array):
        call.name = "jax.numpy.abs"
        from .registry import FALLBACK

        return FALLBACK[0](call)
    return call.number([value])


@models("slice")
def _slice(call: Call) -> Value:
    return slice(*call.args) if 1 <= len(call.args) <= 3 else call.unknown()


@models("print", "warnings.warn", "logging.info", "logging.debug", "logging.warning", "id", "repr")
def _nothing(call: Call) -> Value:
    return None if call.name not in ("id", "repr") else call.unknown()


@models("numpy.ndindex")
def _ndindex(call: Call) -> Value:
    given = call.args[0] if len(call.args) == 1 and isinstance(call.args[0], tuple | list) else call.args
    sizes = [as_dim(size) for size in given]
    places = host_arrays.places(call.machine, tuple(size for size in sizes if isinstance(size, int)))
    known = places is not None and all(isinstance(size, int) for size in sizes) and not call.kwargs
    return Iteration(places) if known and places is not None else call.unknown("a sequence of unknown length")


@models("collections.defaultdict")
def _defaultdict(call: Call) -> Value:
    return Filling(call.args[0]) if len(call.args) == 1 and not call.kwargs else call.unknown("a dict whose keys are not all known")
