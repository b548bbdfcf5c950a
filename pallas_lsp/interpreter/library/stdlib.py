"""The standard library: functools, itertools, dataclasses, math, and what decorates functions and classes."""

from __future__ import annotations

import ast
import itertools
import math
from dataclasses import replace

from ...shapes import dims
from ...shapes.doubles import Double
from ..classes import FIELDS, fields_of
from ..frames import Frame
from ..operations import needs_static, traced_in
from ..operators import A_TEXT
from ..sequences import items_of
from ..truth import as_dim
from ..values import (
    Array,
    BlockSpec,
    Builtin,
    Class,
    EnumMember,
    Function,
    GridSpec,
    Instance,
    Iteration,
    Library,
    Opaque,
    Partial,
    Unknown,
    Value,
)
from .containers import replaced
from .registry import FALLBACK, Call, models
from .trees import leaves


@models("property", "staticmethod", "classmethod", "functools.cached_property")
def _descriptor(call: Call) -> Value:
    function = call.get(0, "fget")
    if isinstance(function, Function):
        return Function(
            function.node, function.module, function.frame, function.defaults, function.kw_defaults,
            kind="property" if call.name in ("property", "functools.cached_property") else call.name,
        )  # fmt: skip
    return function


@models("os.environ.get", "os.getenv")
def _environment(call: Call) -> Value:
    """A variable of the environment is what its reader takes for granted, or something else."""
    name, default = call.get(0, "key"), call.get(1, "default")
    if not isinstance(name, str):
        return call.unknown()
    return Unknown(f"the environment variable `{name}`", f"os.environ[{name!r}]", host=True, declared=default)


@models("collections.namedtuple")
def _namedtuple(call: Call) -> Value:
    """``namedtuple("Pair", "first second")``: the class that ``typing.NamedTuple`` would make with these fields."""
    name, fields = call.get(0, "typename"), call.get(1, "field_names")
    names = fields.replace(",", " ").split() if isinstance(fields, str) else fields
    if not isinstance(name, str) or not isinstance(names, tuple | list) or len(call.args) + len(call.kwargs) != 2:
        return call.unknown()
    if not all(isinstance(field, str) and field.isidentifier() for field in (name, *names)):
        return call.unknown()
    node = ast.parse(f"class {name}:\n    pass\n" + "".join(f"    {field}: object\n" for field in names)).body[0]
    assert isinstance(node, ast.ClassDef)
    for part in ast.walk(node):
        ast.copy_location(part, call.node)
    return Class(node, call.frame.module, Frame("class", call.frame.module, call.frame), kind="namedtuple")


@models("functools.partial")
def _partial(call: Call) -> Value:
    if not call.args or not call.arguments.exact:
        return call.unknown("a partial with unknown arguments")
    return Partial(call.args[0], tuple(call.args[1:]), dict(call.kwargs))


@models("functools.partialmethod")
def _partialmethod(call: Call) -> Value:
    return call.unknown()


@models(
    "functools.wraps",
    "functools.update_wrapper",
    "functools.lru_cache",
    "functools.cache",
    "contextlib.contextmanager",
    "functools.total_ordering",
)
def _transparent(call: Call) -> Value:
    """A decorator that does not change what the function computes, with or without arguments of its own."""
    if call.name in ("functools.lru_cache", "functools.cache") and call.args and isinstance(call.args[0], Function):
        return call.args[0]
    if call.name == "contextlib.contextmanager":
        return call.unknown("a context manager")
    return Builtin("decorator", lambda machine, arguments, node, frame: arguments.args[0] if arguments.args else None)


@models("functools.reduce")
def _reduce(call: Call) -> Value:
    items = items_of(call.machine, call.get(1, "iterable"), call.node, call.frame)
    if items is None:
        return call.unknown()
    if len(call.args) > 2:
        items = [call.args[2], *items]
    if not items:
        return call.unknown()
    result = items[0]
    for item in items[1:]:
        result = call.call(call.args[0], result, item)
    return result


@models("dataclasses.replace", "copy.replace")
def _replace(call: Call) -> Value:
    value = call.get(0, "obj")
    if isinstance(value, Instance) and call.arguments.exact:
        return replaced(value, call.kwargs)
    return call.unknown()


@models(*FIELDS)
def _field(call: Call) -> Value:
    return Opaque(call.name, (), call.kwargs)


@models("jax.tree_util.register_dataclass")
def _register_dataclass(call: Call) -> Value:
    cls, data, meta = call.get(0, "nodetype"), call.get(1, "data_fields"), call.get(2, "meta_fields")
    if isinstance(cls, Class) and isinstance(meta, tuple | list):
        cls.meta = frozenset(name for name in meta if isinstance(name, str))
    elif isinstance(cls, Class) and isinstance(data, tuple | list):
        cls.meta = frozenset(fields_of(cls)) - {name for name in data if isinstance(name, str)}
    return cls


@models("jax.tree_util.register_static")
def _register_static(call: Call) -> Value:
    cls = call.get(0, "cls")
    if isinstance(cls, Class):
        cls.meta = frozenset(fields_of(cls))
    return cls


@models("dataclasses.dataclass", "jax.tree_util.register_pytree_node_class")
def _class_decorator(call: Call) -> Value:
    if call.args and isinstance(call.args[0], Class):
        return call.args[0]
    return Opaque(call.name, (), call.kwargs)


@models("dataclasses.fields")
def _fields(call: Call) -> Value:
    value = call.get(0, "class_or_instance")
    cls = value.cls if isinstance(value, Instance) else value
    if not isinstance(cls, Class):
        return call.unknown()
    return tuple(Opaque("dataclasses.Field", (), {"name": name}) for name in fields_of(cls))


@models("dataclasses.asdict")
def _asdict(call: Call) -> Value:
    value = call.get(0, "obj")
    return dict(value.attrs) if isinstance(value, Instance) and value.complete else call.unknown()


@models("typing.cast")
def _cast(call: Call) -> Value:
    return call.get(1, "val")


@models("copy.copy", "copy.deepcopy")
def _copy(call: Call) -> Value:
    value = call.get(0, "x")
    if isinstance(value, Instance):
        return replaced(value, {})
    if isinstance(value, BlockSpec):
        return replace(value)
    if isinstance(value, GridSpec) and call.name == "copy.copy":
        return replace(value, nodes=dict(value.nodes))
    return (
        value.copy()
        if isinstance(value, list | dict) and call.name == "copy.copy"
        else value
        if isinstance(value, tuple | str | int | float)
        else call.unknown()
    )


@models("itertools.chain")
def _chain(call: Call) -> Value:
    parts = [items_of(call.machine, arg, call.node, call.frame) for arg in call.args]
    return call.unknown() if any(part is None for part in parts) else Iteration([item for part in parts for item in part or ()])


@models("itertools.product")
def _product(call: Call) -> Value:
    parts = [items_of(call.machine, arg, call.node, call.frame) for arg in call.args]
    if any(part is None for part in parts) or call.kwargs or math.prod(len(part or ()) for part in parts) > 4096:
        return call.unknown()
    return Iteration([tuple(row) for row in itertools.product(*(part or () for part in parts))])


@models("itertools.accumulate", "itertools.cycle", "itertools.repeat", "itertools.count", "itertools.islice", "itertools.groupby")
def _itertool(call: Call) -> Value:
    return call.unknown()


@models(
    "math.ceil",
    "math.floor",
    "math.sqrt",
    "math.log",
    "math.log2",
    "math.exp",
    "math.gcd",
    "math.lcm",
    "math.isqrt",
    *(f"math.{name}" for name in ("sin", "cos", "tan", "tanh", "sinh", "cosh", "atan", "atan2", "asin", "acos")),
    *(f"math.{name}" for name in ("pow", "fabs", "erf", "erfc")),
    *(f"math.{name}" for name in ("log10", "log1p", "expm1", "isnan", "isinf", "isfinite", "isclose", "comb", "factorial", "cbrt", "exp2")),
)
def _math(call: Call) -> Value:
    short = call.name.rpartition(".")[2]
    if call.name.startswith("math.") and (traced := traced_in(call.machine, call.args)) is not None:
        kind = "index" if short in ("gcd", "lcm", "isqrt", "comb", "factorial") else "number"
        needs_static(call.machine, kind, traced, f"`math.{short}`", call.node, call.frame)
    if all(isinstance(arg, int | float) for arg in call.args) and not call.kwargs:
        try:
            return getattr(math, short)(*call.args)
        except (ValueError, OverflowError, TypeError):
            return call.unknown()
    if isinstance(call.get(0, "x"), Array):
        return FALLBACK[0](call)
    return call.number(call.args)


_FLOATS = ("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh")


@models("numpy.float64", "numpy.double", *(f"numpy.{name}" for name in _FLOATS))
def _float64(call: Call) -> Value:
    """A float of NumPy's: a number for the program, and for JAX an array that is not weak."""
    number, short = call.args[0] if len(call.args) == 1 and not call.kwargs else None, call.name.rpartition(".")[2]
    if isinstance(number, int | float) and not call.machine.wide:
        try:
            return Double(getattr(math, short)(number) if short in _FLOATS else number)
        except (ValueError, OverflowError):
            return call.unknown()
    if short in ("sqrt", "log2") and not isinstance(number, Array):
        return call.number(call.args)
    return FALLBACK[0](call)


@models("divmod")
def _divmod(call: Call) -> Value:
    a, b = as_dim(call.get(0, "a")), as_dim(call.get(1, "b"))
    quotient, rest = dims.floordiv(a, b), dims.mod(a, b)
    return (quotient, rest) if quotient is not None and rest is not None else call.unknown()


@models("json.dumps")
def _dumps(call: Call) -> Value:
    """A text, where it is given what has one: numbers, texts, members of enums that are numbers or texts."""
    texts = call.kwargs.keys() <= {"indent", "sort_keys"} and all(_is_told(leaf) for leaf in leaves(call.machine, call.get(0, "obj")))
    return Unknown(A_TEXT, host=True) if texts else call.unknown()


def _is_told(value: Value) -> bool:
    if isinstance(value, EnumMember):
        return any(isinstance(base, Library) and base.name in ("enum.IntEnum", "enum.StrEnum") for base in value.cls.bases)
    return isinstance(value, bool | int | float | str | None)
