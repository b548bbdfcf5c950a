"""Array functions: every name of the shape table, and what is said when a ref is given where an array belongs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...data import operations
from ...shapes import dtypes, table
from ...shapes.avals import UNKNOWN, Aval, DtypeName, Named, ShapeError
from ...shapes.dims import Poly
from .. import host_arrays
from ..events import Computed, RefAsArray, ShapeFault, UnmodelledCall
from ..frames import Frame
from ..liveness import arrays_in
from ..machine import Machine
from ..operations import is_traced, needs_static, traced_in
from ..operators import cause_of, from_shapes
from ..paths import PathEnd
from ..truth import as_dim, dtype_name, dtype_of, name_of_dtype
from ..values import (
    Array,
    BoundMethod,
    Copy,
    Dtype,
    Function,
    Instance,
    Library,
    Opaque,
    Partial,
    Ref,
    RefIndexer,
    ShapeDtype,
    Transformed,
    Unknown,
    Value,
    ValueMethod,
)
from .ranks import learn_ranks
from .registry import FALLBACK, PALLAS, TPU, Call, models

_TRACING = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.", "jax.random.", "jax.image.")
_NUMERIC = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.")
# Functions that read only the shape and dtype of what they are given: a ref will do, and its contents are not used.
_SHAPE_ONLY = frozenset(
    {"zeros_like", "ones_like", "full_like", "empty_like", "shape", "ndim", "size", "result_type", "promote_types", "dtype", "issubdtype"}
)
# Functions whose plain number arguments are sizes, so that an unknown number of the host is a symbolic dim.
_SIZES = frozenset({"arange", "zeros", "ones", "empty", "eye", "tri", "iota", "broadcasted_iota", "cdiv", "next_power_of_2", "align_to"})


# Python's functions that reach what they are not given.
_SEES_ALL = frozenset({"eval", "exec", "locals", "globals", "vars"})

_RUNS = (Function, Partial, BoundMethod, ValueMethod, Transformed, Instance, Copy)


def _may_run(values: list[Value]) -> bool:
    """Whether a function that is given these values may run something of the program's with them."""
    return any(_may_run(list(value)) if isinstance(value, tuple | list) else isinstance(value, _RUNS) for value in values)


def array_function(call: Call) -> Value:
    """A call of a library function without a model of its own."""
    short = call.name.rpartition(".")[2]
    numpy = call.name.startswith("numpy.") and not (short in _DELEGATING and is_traced(call.machine, call.get(0, "a")))
    name = f"jax.numpy.{call.name[6:]}" if call.name.startswith("numpy.") else call.name
    if any(name.startswith(root) for root in _NUMERIC) and short not in _SHAPE_ONLY and _complains_of_ref(call, short):
        return Unknown("a ref is used as an array")
    if call.machine.kernel is not None:
        _needs_static_arguments(call, short, numpy)
    function = table.lookup(name)
    if function is None and numpy and call.arguments.exact and short in host_arrays.DECIDED:
        return host_arrays.apply(call.machine, short, call.args, call.kwargs, call.unknown())
    if function is None or not name.startswith(_NUMERIC):
        host_arrays.forget(*call.args, *call.kwargs.values())
    learn_ranks(call)
    if function is None and short[:1].isupper():
        return Opaque(call.name, tuple(call.args), call.kwargs)  # a library's class: what it was made with may matter
    if function is None or not call.arguments.exact:
        call.machine.emit(UnmodelledCall(call.machine.where(call.node, call.frame), call.name, tuple(call.args)))
        call.machine.blind += call.name in _SEES_ALL or _may_run([*call.args, *call.kwargs.values()])
        if operations.gives_array(name) and call.arguments.exact:
            return Array(Aval(None, None, None), arrays_in([*call.args, *call.kwargs.values()]), made_by=call.node, why=call.result)
        return call.unknown(call.result)
    elementwise = function.__module__.endswith(("elementwise", ".activations", ".selection", ".casting"))
    arguments = [_argument(call, value, short, elementwise) for value in call.args]
    keywords = {key: _argument(call, value, short, False) for key, value in call.kwargs.items()}
    try:
        result = table.evaluate(name, arguments, keywords)
    except ShapeError as fault:
        call.machine.emit(ShapeFault(call.machine.where(call.node, call.frame), call.name, str(fault), tuple(call.args)))
        return Unknown("an operation that JAX refuses")
    used = call.args[1:] if short in _SHAPE_ONLY else call.args  # what `full_like` fills with is used
    operands = arrays_in([*used, *call.kwargs.values()])
    value = from_shapes(result, operands, call.node)
    if isinstance(value, Array) and not operands and not call.name.startswith((*_TRACING, "numpy.", f"{TPU}.")):
        # Arithmetic on sizes: a number, for no operand is an array.
        value = call.machine.number(cause_of(call.args) or call.result, call.node)
    if isinstance(value, Unknown) and not value.host:
        value.why, value.host = cause_of(_leaves_of(call)) or call.result, call.machine.kernel is None
    if isinstance(value, Array):
        if value.aval.is_open:
            value.why = cause_of(_leaves_of(call)) or call.result
        value.numpy = value.numpy and numpy  # JAX's functions make JAX's arrays of NumPy's
        _finish(call, value, short, numpy)
        if call.args and isinstance(call.args[0], Array):
            note_narrowing(call.machine, short, call.args[0], value, call.get(1, "axis"), call.node, call.frame)
    return host_arrays.apply(call.machine, short, call.args, call.kwargs, value) if numpy else value


def _leaves_of(call: Call) -> Iterator[Value]:
    """The arguments of a call, and the items of those that are sequences."""
    for value in (*call.args, *call.kwargs.values()):
        yield from value if isinstance(value, tuple | list) else (value,)


# NumPy functions that ask their operands for a plain array (others call the operand's own method, which a traced array has).
_CONVERTING = frozenset(
    {
        "array", "asarray", "ascontiguousarray", "float32", "float64", "int32", "int64", "exp", "exp2", "log", "log2", "log10", "log1p",
        "sqrt", "cbrt", "square", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan2", "abs", "absolute", "sign", "floor", "ceil",
        "rint", "trunc", "add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "mod", "remainder", "power", "maximum",
        "minimum", "fmax", "fmin", "isnan", "isinf", "isfinite", "logical_and", "logical_or", "logical_not", "equal", "not_equal",
        "less", "less_equal", "greater", "greater_equal", "where", "broadcast_to", "arange", "clip",
        "ravel", "isclose", "allclose",
    }
)  # fmt: skip
# NumPy functions that call the operand's own method, so that a traced array gives a traced one.
_DELEGATING = frozenset(
    {
        "reshape", "transpose", "squeeze", "swapaxes", "repeat", "sum", "prod", "max", "min", "amax", "amin", "mean", "std", "var", "any",
        "all", "argmax", "argmin", "cumsum", "cumprod", "round", "around",
    }
)  # fmt: skip
_NUMPY_MADE = frozenset({"zeros", "ones", "empty", "full"})  # of a shape
# Where a function takes a shape or a size: its position and name.
_SHAPES = {
    "zeros": (0, "shape"), "ones": (0, "shape"), "full": (0, "shape"), "empty": (0, "shape"), "broadcast_to": (1, "shape"),
    "reshape": (1, "shape"), "broadcasted_iota": (1, "shape"), "tile": (1, "reps"), "broadcast_in_dim": (1, "shape"),
}  # fmt: skip
_COUNTS = {
    "iota": (1, "size"),
    "linspace": (2, "num"),
    "eye": (0, "N"),
    "identity": (0, "n"),
    "tri": (0, "N"),
    "one_hot": (1, "num_classes"),
    "split": (1, "indices_or_sections"),
    "expand_dims": (1, "axis"),
}
# Functions whose result's size depends on the data, unless a size is given.
_DATA_DEPENDENT = frozenset({"nonzero", "argwhere", "flatnonzero", "unique"})


def _needs_static_arguments(call: Call, short: str, numpy: bool) -> None:
    """End the path where a traced value stands for a NumPy array, a shape, a size or an axis."""
    if numpy:
        made = call.args[:1] if short in _NUMPY_MADE else call.args if short in _CONVERTING else []
        traced, kind = traced_in(call.machine, made), "shape" if short in _NUMPY_MADE else "numpy"
        what = f"`np.{short}`"
    else:
        traced, kind, what = _traced_size(call, short)
    if traced is not None:
        needs_static(call.machine, kind, traced, what, call.node, call.frame)


def _traced_size(call: Call, short: str) -> tuple[Value | None, str, str]:
    what = f"`{short}`"
    if short in _SHAPES:
        return traced_in(call.machine, call.get(*_SHAPES[short])), "shape", what
    if short == "arange":
        return traced_in(call.machine, [*call.args, *(call.kwargs.get(name) for name in ("start", "stop", "step"))]), "size", what
    if short in _COUNTS:
        return traced_in(call.machine, call.get(*_COUNTS[short])), "size", what
    if short == "repeat" and call.name.startswith("jax.numpy.") and call.kwargs.get("total_repeat_length") is None and len(call.args) < 4:
        return traced_in(call.machine, call.get(1, "repeats")), "size", what
    sized = call.kwargs.get("size") is not None or (short == "where" and (len(call.args) != 1 or call.kwargs))
    if (short in _DATA_DEPENDENT or short == "where") and call.name.startswith("jax.numpy.") and not sized:
        return traced_in(call.machine, call.get(0, "a")), "nonzero", what
    if call.name.startswith("jax.numpy.") and "axis" in call.kwargs:
        return traced_in(call.machine, call.kwargs["axis"]), "size", f"the axis of {what}"
    return None, "", ""


_MAKES = frozenset({"array", "asarray"})
# NumPy's scalar types that are JAX's dtypes too.
_NUMPY_SCALARS = frozenset({"float32", "float16", "int32", "int16", "int8", "uint32", "uint16", "uint8"})
# NumPy's functions whose results have the dtype of what they are given, where that is one.
_KEEPS_DTYPE = frozenset(
    {"swapaxes", "transpose", "moveaxis", "broadcast_to", "reshape", "pad", "concatenate", "stack", "expand_dims", "squeeze"}
)
_GIVES_BOOLEANS = frozenset({"logical_and", "logical_or", "logical_not", "any", "all", "array_equal", "equal", "not_equal", "isin"})
# Functions that reduce in the dtype of their operand, among them those that look for its largest element first.
_EXTREMA = frozenset(
    {
        *("max", "min", "amax", "amin", "nanmax", "nanmin", "ptp", "reduce_max", "reduce_min", "reduce_sum", "nanmean"),
        *("softmax", "log_softmax", "logsumexp", "logmeanexp"),
    }
)
# Functions that sum floats of 16 bits in float32, but no narrower ones.
_SUMS = frozenset({"sum", "nansum", "mean", "average", "std", "var", "norm", "standardize"})
_ALONG_THE_LAST = frozenset({"softmax", "log_softmax", "standardize"})  # where no axis is named


def note_narrowing(machine: Machine, short: str, source: Array, result: Array, axis: Value, node: ast.AST, frame: Frame) -> None:
    """Say that a scalar was taken out of a vector: by a squeeze, or by an extremum or a sum over everything (with ``keepdims`` too)."""
    axis = -1 if axis is None and short in _ALONG_THE_LAST else axis
    if machine.kernel is None or machine.transformed or not source.shape or result.shape is None:
        return
    if short == "squeeze" and result.shape == ():  # a reshape to no dims is lowered otherwise
        machine.emit(Computed(machine.where(node, frame), "squeeze", source, result))
    elif short in _EXTREMA | _SUMS and _covers(axis, len(source.shape)):
        machine.emit(Computed(machine.where(node, frame), "extremum" if short in _EXTREMA else "sum", source, result))


def _finish(call: Call, value: Array, short: str, numpy: bool) -> None:
    """What the shape table does not know of a result: whether it is traced, and the number it holds."""
    if numpy:
        # NumPy computes at once, and its 64-bit results are not JAX's dtypes.
        explicit = next((dtype_of(v) for k, v in call.kwargs.items() if k == "dtype"), short if short in _NUMPY_SCALARS else None)
        if short in _KEEPS_DTYPE and "dtype" not in call.kwargs:
            kept = {array.dtype for array in arrays_in(call.args)}
            explicit = kept.pop() if len(kept) == 1 else None
        explicit = "bool" if short in _GIVES_BOOLEANS else explicit
        value.aval, value.traced, value.numpy = Aval(value.aval.shape, explicit, False), False, True
    elif call.name.startswith(_TRACING):
        # Under a trace JAX's own functions give traced values even of plain numbers; a function of Pallas's may be plain arithmetic.
        value.traced = value.traced or call.machine.kernel is not None or bool(call.machine.in_jit)
    if not value.shape and call.args and isinstance(call.args[0], int | float | bool) and (short in _MAKES or dtypes.canonical(short)):
        value.constant = call.args[0]


def _argument(call: Call, value: Value, short: str, elementwise: bool) -> Any:
    if isinstance(value, Unknown):
        if value.poly is not None and short in _SIZES:
            return value.poly
        if elementwise and value.host and call.machine.kernel is not None and not (value.key or "").endswith(".dtype"):
            return Aval((), None, None)
    return shape_argument(value)


def shape_argument(value: Value) -> Any:
    """A value as the shape table takes it."""
    if isinstance(value, Array):
        return value.aval
    if isinstance(value, Ref | ShapeDtype):
        return Aval(value.shape, value.dtype, False, value.named)
    if isinstance(value, Dtype | Library):
        name = dtype_of(value)
        return name if name is not None else UNKNOWN
    if isinstance(value, bool | int | float | complex | str | Poly) or value is None or value is Ellipsis:
        return value
    if isinstance(value, tuple | list):
        return type(value)(_part(part) for part in value)
    if isinstance(value, slice):
        return value
    name = dtype_name(value)
    if name is None:
        return UNKNOWN
    return DtypeName(name) if name.endswith(".dtype") else Named(name)


def _part(value: Value) -> Any:
    """An entry of a tuple argument: shapes hold sizes, so an unknown number is a symbolic dim."""
    if isinstance(value, Unknown):
        dim = as_dim(value)
        return dim if dim is not None else UNKNOWN
    return shape_argument(value)


def _complains_of_ref(call: Call, short: str) -> bool:
    for value in (*call.args, *call.kwargs.values()):
        if isinstance(value, Ref | RefIndexer):
            ref = value.ref if isinstance(value, RefIndexer) else value
            call.machine.emit(RefAsArray(call.machine.where(call.node, call.frame), f"{call.name}()", ref))
            return True
    return False


def _covers(axis: Value, rank: int) -> bool:
    """Whether a reduction over ``axis`` leaves no dim out."""
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    return axis is None or {a % rank for a in axes if isinstance(a, int)} == set(range(rank))


@models(f"{TPU}.to_pallas_key")
def _pallas_key(call: Call) -> Value:
    key = call.get(0, "key")
    shape, operands, why = (key.shape, (key,), key.why) if isinstance(key, Array) else (None, (), cause_of((key,)))
    return Array(Aval(shape, "key<pl>", False), operands, why=why)


@models("jax.numpy.finfo", "jax.numpy.iinfo", "numpy.finfo", "numpy.iinfo")
def _limits(call: Call) -> Value:
    name = dtype_of(call.get(0, "dtype"))
    fractions = call.name.endswith("finfo")
    if dtypes.kind(name) in (("bool", "signed", "unsigned") if fractions else ("bool", "float", "complex")):
        if call.machine.guarded:
            raise PathEnd("raise", "ValueError")
        what = ("float", "`jnp.iinfo` has those of integers") if fractions else ("integer", "`jnp.finfo` has those of floats")
        reason = f"{name} is no {what[0]}, of which these are the limits: {what[1]}"
        call.machine.emit(ShapeFault(call.machine.where(call.node, call.frame), call.name, reason, ()))
        return Unknown("limits that there are not")
    return Opaque(call.name, (Dtype(name) if name else call.get(0, "dtype"),), {})


@models("jax.numpy.dtype", "numpy.dtype", "jax.dtypes.canonicalize_dtype")
def _dtype(call: Call) -> Value:
    name = dtype_of(call.get(0, "dtype"))
    return Dtype(name) if name is not None else call.unknown()


@models("jax.dtypes.itemsize_bits", f"{PALLAS}.dtype_bitwidth", f"{TPU}.itemsize_bits")
def _itemsize_bits(call: Call) -> Value:
    name = dtype_of(call.get(0, "dtype"))
    bits = dtypes.bits(name) if name is not None else None
    return bits if bits is not None else call.number([])


@models(
    "jax.device_put",
    "jax.block_until_ready",
    "jax.lax.optimization_barrier",
    "jax.ad_checkpoint.checkpoint_name",
    "jax.lax.pvary",
    "jax.lax.pcast",
    "jax.reshard",
    "jax.lax.stop_gradient",
)
def _same(call: Call) -> Value:
    """The same array, but a new one: ``x is f(x)`` must not be decided."""
    value = call.get(0, "x")
    return (
        Array(value.aval, (value,), value.traced, made_by=call.node, space=value.space)
        if isinstance(value, Array)
        else call.unknown()
        if not isinstance(value, tuple | list)
        else value
    )


@models(f"{TPU}.with_memory_space_constraint")
def _constrained(call: Call) -> Value:
    from .specs import space_of

    value, space = call.get(0, "x"), space_of(call.get(1, "memory_space"))
    if isinstance(value, Array):
        return Array(value.aval, (value,), value.traced, made_by=call.node, space=space)
    return Unknown(value.why if isinstance(value, Unknown) else "a constrained operand", host=True)


@models("jax.typeof")
def _typeof(call: Call) -> Value:
    value = call.get(0, "x")
    known = isinstance(value, Array | Ref | ShapeDtype)
    return ShapeDtype(value.shape, value.dtype, named=name_of_dtype(value)) if known else call.unknown()


FALLBACK.append(array_function)
