"""Forms of operations that the TensorCore lowering does not know: gathers, float iotas, empty arrays, strided slices, random bits.

Mirrors ``jax/_src/pallas/mosaic/lowering.py``: ``_gather_lowering_rule``, ``_iota_lowering_rule``, ``_pad_lowering_rule``,
``_prng_random_bits_lowering_rule``, ``_prng_seed_lowering_rule``, ``random_bits_lowering``, ``random_wrap_lowering``.
"""

from __future__ import annotations

from ..data.operations import MISSING
from ..interpreter.events import Access, Computed
from ..interpreter.operation_events import Operation
from ..interpreter.truth import dtype_of
from ..interpreter.values import Array, Value
from ..shapes import dtypes
from . import lowered, words
from .memory_spaces import happens
from .primitives import UNIMPLEMENTED, reason, refused
from .registry import Context, Finding, rule

_RANDOM = "jax.random."
_TPU = "jax.experimental.pallas.tpu."
_TAKE_ALONG = "Only take_along_axis-like gathers supported"


_TAKES = frozenset({"jax.numpy.take", "jax.numpy.take_along_axis"})


@rule("gather-form", on=Operation, also=(Computed,), order=40, stage="lower", functions=refused("gather", also=_TAKES))
def gather_form(event: Operation | Computed, context: Context) -> Finding | None:
    """Elements are gathered in another way than ``jnp.take_along_axis`` does along one of the last two dims."""
    if not lowered.is_used(event.result, event.where, context):
        return None
    if isinstance(event, Computed):
        if event.kind != "gather" or _is_one_row(event.source, event.indices):
            return None
        what, jax = "a value is indexed by an array", _TAKE_ALONG
    else:
        found = _gather(event, context)
        if found is None:
            return None
        what, jax = f"{lowered.name(event)} {found[0]}", found[1]
    return Finding(
        event.where.location,
        f"{what}: the TPU lowering gathers as `jnp.take_along_axis` does only, a product with a one-hot matrix does it too",
        jax_message=jax,
    )


def _is_one_row(source: Array, indices: tuple[Value, ...]) -> bool:
    """Whether a vector is indexed by a vector, which lowers; unknown ranks may be that."""
    index = indices[0] if len(indices) == 1 else None
    return source.shape is None or (len(source.shape) == 1 and isinstance(index, Array) and (index.shape is None or len(index.shape) == 1))


def _gather(event: Operation, context: Context) -> tuple[str, str] | None:
    if event.function == "jax.numpy.take":
        return _take(event)
    if event.function == "jax.numpy.take_along_axis":
        return _take_along(event)
    return ("gathers elements", _TAKE_ALONG) if (reason(event, context) or "") == "gather" else None


def _take(event: Operation) -> tuple[str, str] | None:
    source, index, axis, mode = event.get(0, "a"), event.get(1, "indices"), event.get(2, "axis"), event.kwargs.get("mode")
    if not isinstance(source, Array) or source.shape is None:
        return None
    if mode == "clip":
        return 'with `mode="clip"` gathers elements', "Unsupported gather"
    rank = 1 if axis is None else len(source.shape)
    ranks = {int: 0}.get(type(index), len(index.shape) if isinstance(index, Array) and index.shape is not None else None)
    return None if ranks is None or (rank == 1 and ranks == 1) else ("gathers elements", _TAKE_ALONG)


def _take_along(event: Operation) -> tuple[str, str] | None:
    source, axis, mode = event.get(0, "arr"), event.get(2, "axis", -1), event.get(3, "mode")
    if not isinstance(source, Array) or source.shape is None:
        return None
    if mode == "clip":
        return 'with `mode="clip"` is no gather of that form', "Unsupported gather"
    rank = len(source.shape)
    if isinstance(axis, int) and not isinstance(axis, bool) and rank > 2 and axis % rank < rank - 2 and _sizes_above_one(source):
        return "along a leading dim", "Only gathers along the two minormost dimensions supported on TC"
    if type(axis) is int and any(_has_one_beside(value, axis) for value in (source, event.get(1, "indices"))):
        return "with a dim of size 1 beside the one that it goes along", _TAKE_ALONG
    return None


def _has_one_beside(value: Value, axis: int) -> bool:
    """Whether a dim other than ``axis`` has size 1, which makes the gather one of another form."""
    shape = value.shape if isinstance(value, Array) else None
    return bool(shape) and any(size == 1 for position, size in enumerate(shape or ()) if position != axis % len(shape or ()))


def _sizes_above_one(source: Array) -> bool:
    return all(isinstance(size, int) and size > 1 for size in source.shape or ())


_IOTA = {"jax.lax.iota": (0, "dtype"), "jax.lax.broadcasted_iota": (0, "dtype"), "jax.numpy.arange": (3, "dtype")}
_SPACED = frozenset({"jax.numpy.linspace", "jax.numpy.logspace", "jax.numpy.geomspace"})


@rule("iota-float", on=Operation, order=41, stage="lower", functions=refused("iota", also={*_IOTA, *_SPACED}))
def iota_float(event: Operation, context: Context) -> Finding | None:
    """A row of float numbers is counted up."""
    if not _counts_in_floats(event, context) or not lowered.is_used(event.result, event.where, context):
        return None
    return Finding(
        event.where.location,
        f"{lowered.name(event)} counts in floats: the TPU lowering counts in integers, `.astype` the result",
        jax_message="Pallas encountered an internal verification error. ... 'tpu.iota' op result #0 must be vector of integer or index values",
    )


def _counts_in_floats(event: Operation, context: Context) -> bool:
    if event.function in _IOTA:
        result = event.result
        return isinstance(result, Array) and result.dtype is not None and dtypes.is_floating(result.dtype)
    if event.function in _SPACED:
        count = event.get(2, "num", 50)
        return isinstance(count, int) and count > 1
    return reason(event, context) == "iota"


_SLICES = frozenset({"jax.numpy.roll", "jax.lax.associative_scan", "jax.numpy.pad", "jax.numpy.delete"})


@rule("zero-size-intermediate", on=Operation, also=(Computed, Access), order=42, stage="lower", functions=refused("empty", also=_SLICES))
def zero_size_intermediate(event: Operation | Computed | Access, context: Context) -> Finding | None:
    """An array without elements is made on the way."""
    if isinstance(event, Access):
        return _reads_nothing(event, context)
    if not lowered.is_used(event.result, event.where, context):
        return None
    if isinstance(event, Computed):
        if event.kind != "empty":
            return None
        what = f"this slice of {words.array(event.source)} is empty"
    elif (made := _makes_empty(event, context)) is not None:
        what = f"{lowered.name(event)} {made}"
    else:
        return None
    return _empty(event, what)


def _empty(event: Operation | Computed | Access, what: str) -> Finding:
    return Finding(
        event.where.location,
        f"{what}: the TPU lowering has no arrays without elements",
        jax_message="Invalid type: error: ...: vector types must have positive constant sizes but got ...",
    )


def _reads_nothing(event: Access, context: Context) -> Finding | None:
    """A ref whose block has a dim of 0, or an empty slice of one, is read or written as a vector."""
    if event.fault is not None or 0 not in (event.shape or ()) or event.ref.root.space != "vmem" or not happens(event, context):
        return None
    return _empty(event, f"{words.name(event.ref)} is {'read' if event.op == 'load' else 'written'} as an array of shape {words.shape(event.shape)}")


def _makes_empty(event: Operation, context: Context) -> str | None:
    if event.function == "jax.numpy.roll":
        return "by the whole size, or by 0, makes an empty slice" if _rolls_nothing(event) else None
    if event.function == "jax.lax.associative_scan":
        source, axis = event.get(1, "elems"), event.kwargs.get("axis", 0)
        known = isinstance(source, Array) and source.shape and isinstance(axis, int) and -len(source.shape) <= axis < len(source.shape)
        size = source.shape[axis] if known else None
        return "makes empty slices on its way" if isinstance(size, int) and size > 1 else None
    if event.function == "jax.numpy.pad":
        sided = event.get(2, "mode") == "edge" and 0 in _numbers(event.get(1, "pad_width"))
        return 'with `mode="edge"` repeats an edge 0 times on some side, which makes an empty slice' if sided else None
    if event.function == "jax.numpy.delete":
        return "makes an empty slice" if event.get(1, "obj") == 0 and isinstance(event.get(1, "obj"), int) else None
    return "makes an empty slice" if reason(event, context) == "empty" else None


def _numbers(value: Value) -> list[int]:
    if isinstance(value, tuple | list):
        return [number for part in value for number in _numbers(part)]
    return [value] if type(value) is int else []


def _rolls_nothing(event: Operation) -> bool:
    source, shift, axis = event.get(0, "a"), event.get(1, "shift"), event.get(2, "axis")
    if not isinstance(source, Array) or not source.shape or type(shift) is not int or not all(isinstance(s, int) for s in source.shape):
        return False
    sizes = [size for size in source.shape if isinstance(size, int)]
    total = 1
    for size in sizes if axis is None else [sizes[axis]] if isinstance(axis, int) and -len(sizes) <= axis < len(sizes) else [0]:
        total *= size
    return total > 0 and shift % total == 0


@rule("strided-value-slice", on=Computed, order=43, stage="lower")
def strided_value_slice(event: Computed, context: Context) -> Finding | None:
    """A value is sliced with a step."""
    if event.kind != "strided-slice" or not lowered.is_used(event.result, event.where, context):
        return None
    return Finding(
        event.where.location,
        f"a step in a slice of {words.array(event.source)}: values have steps of 1 in the TPU lowering, `ref[pl.ds(start, size, stride)]` loads with another",
        jax_message="Pallas encountered an internal verification error. ... 'vector.extract_strided_slice' op expected strides to be confined to [1, 2)",
    )


@rule("interior-padding", on=Operation, order=44, stage="lower", functions={"jax.lax.pad"})
def interior_padding(event: Operation, context: Context) -> Finding | None:
    """``lax.pad`` puts something between the elements."""
    config = event.get(2, "padding_config")
    inner = [entry for entry in config if isinstance(entry, tuple | list) and len(entry) == 3] if isinstance(config, tuple | list) else []
    if not any(isinstance(entry[2], int) and entry[2] > 0 for entry in inner) or not lowered.is_used(event.result, event.where, context):
        return None
    return Finding(
        event.where.location,
        "`lax.pad` puts something between the elements, which has no TPU lowering: store the rows apart into a ref",
        jax_message="Not implemented: interior padding",
    )


_GENERATORS = frozenset(_TPU + name for name in ("prng_random_bits", "stateful_bits", "stateful_uniform", "stateful_normal"))


def _is_random(function: str) -> bool:
    return function in _GENERATORS or function in (f"{_TPU}prng_seed", f"{_TPU}to_pallas_key") or function.startswith(_RANDOM)


@rule("prng-form", on=Operation, order=45, stage="lower", functions=_is_random)
def prng_form(event: Operation, context: Context) -> Finding | None:
    """Random numbers are asked for in a way that is not lowered."""
    seed = event.function == f"{_TPU}prng_seed"
    found = _seed_fault(event) if seed else _random_fault(event, context)
    if found is None or not (seed or lowered.is_used(event.result, event.where, context)):
        return None
    return Finding(event.where.location, f"{lowered.name(event)} {found[0]}", jax_message=found[1])


def _seed_fault(event: Operation) -> tuple[str, str] | None:
    for value in event.args:
        vector = isinstance(value, Array) and value.shape
        fractional = isinstance(value, float) or (isinstance(value, Array) and value.dtype is not None and dtypes.is_floating(value.dtype))
        if vector or fractional:
            return f"is given {words.array(value)}: seeds are scalar integers", "All seed data must be scalar integers. Got ..."
    return None


def _random_fault(event: Operation, context: Context) -> tuple[str, str] | None:
    if event.function in _GENERATORS:
        shape = event.get(0, "shape")
        if isinstance(shape, tuple | list) and len(shape) < 2:
            return "makes a vector: the generator makes arrays of rank 2 and more", "random_bits only supports rank>=2 outputs."
        return None
    if event.function == f"{_TPU}to_pallas_key":
        return (
            "makes a key in the kernel: make it outside and pass it in SMEM, or seed with `pltpu.prng_seed`",
            "wrap_key_data not support for Pallas PRNG keys. Use wrap_pallas_seed instead.",
        )
    return _jax_random_fault(event, context) if event.function.startswith(_RANDOM) else None


def _jax_random_fault(event: Operation, context: Context) -> tuple[str, str] | None:
    kind, _, primitive = (reason(event, context) or "").partition(" ")
    if event.function == f"{_RANDOM}split":  # the table has no functions of keys
        kind, primitive = "primitive", "random_split"
    if kind == "primitive" and primitive in ("random_split", "rng_bit_generator"):
        instead = "`jax.random.fold_in` makes another key" if primitive == "random_split" else "use a threefry key"
        return f"needs the primitive `{primitive}`, which has no TPU lowering: {instead}", UNIMPLEMENTED.format(primitive)
    key = event.get(0, "key")
    if isinstance(key, Array) and key.dtype in ("key<rbg>", "key<urbg>") and event.function not in (f"{_RANDOM}key", f"{_RANDOM}fold_in"):
        return "uses an rbg key, whose generator has no TPU lowering: use the default keys", UNIMPLEMENTED.format("rng_bit_generator")
    if event.function in (f"{_RANDOM}bits", f"{_RANDOM}uniform", f"{_RANDOM}normal", f"{_RANDOM}gumbel", f"{_RANDOM}exponential"):
        dtype = event.get(2, "dtype", MISSING)
        named = dtype_of(dtype) if dtype is not MISSING else None
        if named is not None and dtypes.bits(named) != 32:
            return f"makes {named}: the generator makes 32 bits, cast the result", "Only 32-bit PRNG supported."
    return None


@rule("power-integer-exponent", on=Operation, order=62, stage="lower", functions={"jax.numpy.power", "jax.numpy.pow"})
def power_integer_exponent(event: Operation, context: Context) -> Finding | None:
    """A vector of floats is raised to an integer array of another shape."""
    if not lowered.is_used(event.result, event.where, context):
        return None
    base, exponent, result = event.get(0, "x1"), event.get(1, "x2"), event.result
    if not isinstance(base, Array) or not isinstance(exponent, Array) or not isinstance(result, Array) or exponent.numpy:
        return None
    if not dtypes.is_floating(base.dtype) or dtypes.kind(exponent.dtype) not in ("signed", "unsigned"):
        return None
    shapes = exponent.shape, result.shape
    if not result.shape or not all(isinstance(size, int) for shape in shapes for size in (shape or ())) or None in shapes or shapes[0] == shapes[1]:
        return None
    return Finding(
        event.where.location,
        f"{words.array(base)} to the power of {words.array(exponent)}: the TPU lowering makes floats of integer exponents only where they have "
        f"the shape of the result, `.astype({base.dtype})` of the exponent does it before",
        jax_message="Pallas encountered an internal verification error. ... 'arith.sitofp' op requires the same shape for all operands and results",
    )
