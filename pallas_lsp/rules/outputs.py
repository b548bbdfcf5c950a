"""``out_shape`` and ``input_output_aliases``.

Mirrors ``jax/_src/pallas/core.py`` (``_convert_out_shape_to_aval``) and ``jax/_src/pallas/pallas_call.py`` (``_pallas_call``).
"""

from __future__ import annotations

from ..interpreter.call_events import Aliased, SignatureFault
from ..interpreter.events import Access, CallFault
from ..interpreter.values import ABSENT, Array, Scratch, ShapeDtype, Value
from ..shapes.avals import Aval, as_aval
from ..shapes.dims import Truth
from . import places, signatures, words
from .diagnostic import Related
from .registry import Context, Finding, rule


@rule("out-shape-invalid-type", on=CallFault, also=(SignatureFault,), order=60, stage="trace")
def out_shape_invalid_type(event: CallFault | SignatureFault, context: Context) -> Finding | None:
    """A leaf of ``out_shape`` has no shape and dtype."""
    if isinstance(event, SignatureFault):
        return signatures.finding(event, context) if event.function == "jax.ShapeDtypeStruct" else None
    if event.kind == "struct-shape":
        what = f"the shape of this ShapeDtypeStruct is {words.kind_of(event.detail)}: it is a tuple"
        return Finding(event.where.location, what, jax_message=f"'{type(event.detail).__name__}' object is not iterable")
    if event.kind != "out-shape":
        return None
    python = {"Function": "function", "Iteration": "generator", "BlockSpec": "jax._src.pallas.core.BlockSpec"}.get(type(event.detail).__name__, type(event.detail).__name__)
    return Finding(
        event.where.location,
        f"`out_shape` has {words.kind_of(event.detail)} where an output is described: that is `jax.ShapeDtypeStruct(shape, dtype)`",
        jax_message=f"Invalid out_shape type: <class '{python}'>",
    )


@rule("out-shape-64bit-dtype", on=Access, order=1, stage="trace")
def out_shape_64bit_dtype(event: Access, context: Context) -> Finding | None:
    """Something is stored to a ref whose 64-bit dtype JAX keeps."""
    root = event.ref.root
    if event.op not in ("store", "swap") or root.wide is None or event.fault is not None or event.transforms:
        return None
    what = "output" if root.role == "output" else "scratch buffer"
    narrow = {"float64": "float32", "int64": "int32", "uint64": "uint32", "complex128": "complex64"}[root.wide]
    return Finding(
        places.of_argument(root.typed, 1, "dtype") if root.typed is not None else event.where.location,
        f"{what} {words.name(event.ref)} has dtype {root.wide}, but the values stored to it have 32 bits: `jnp.{narrow}` is the dtype that "
        "JAX computes in",
        (Related(event.where.at(words.target(event)), "the store"),),
        f"Invalid dtype for `swap`. Ref dtype: {root.wide}. Value dtype: {narrow}. ",
    )


@rule("alias-not-mapping", on=CallFault, order=70, stage="trace")
def alias_not_mapping(event: CallFault, context: Context) -> Finding | None:
    """``input_output_aliases`` is no dict."""
    if event.kind != "aliases":
        return None
    python = "NoneType" if event.detail is None else type(event.detail).__name__
    return Finding(
        event.where.location,
        f"`input_output_aliases` is {words.kind_of(event.detail)}: it is a dict from operand numbers to output numbers",
        jax_message=f"'{python}' object has no attribute 'items'",
    )


@rule("alias-index-range", on=Aliased, order=10, stage="trace")
def alias_index_range(event: Aliased, context: Context) -> Finding | None:
    """An alias names an operand or output that the call does not have."""
    for kind, index, count in (("input", event.input, event.inputs), ("output", event.output, event.outputs)):
        if count is None or (isinstance(index, int) and 0 <= index < count):
            continue
        noun = "operand" if kind == "input" else "output"
        among = ", prefetched ones too," if kind == "input" else ""
        return Finding(
            event.where.location,
            f"alias {event.input}: {event.output} names {noun} {index}, but the call has {words.count(count, noun)}{among} counted from 0",
            jax_message=f"input_output_aliases contains the mapping '{event.input}:{event.output}' with {kind} index {index} outside the "
            f"range [0, {count})",
        )
    return None


@rule("alias-aval-mismatch", on=Aliased, order=11, stage="trace")
def alias_aval_mismatch(event: Aliased, context: Context) -> Finding | None:
    """An operand and the output that it is aliased to differ in shape or dtype."""
    source, result = _aval(event.source), _aval(event.result)
    if source is None or result is None:
        return None
    dtypes_differ = source.dtype is not None and result.dtype is not None and source.dtype != result.dtype
    if not dtypes_differ and not _shapes_differ(event, source, result):
        return None
    return Finding(
        event.where.location,
        f"operand {event.input} is {words.array(source)}, but output {event.output}, which is aliased to it, is {words.array(result)}",
        jax_message=f"input_output_aliases contains the mapping '{event.input}:{event.output}' referring to input[{event.input}] with abstract "
        f"value {words.array(source)} and to output with a different abstract value {words.array(result)}.",
    )


def _aval(value: Value) -> Aval | None:
    if value is ABSENT:
        return None
    if isinstance(value, ShapeDtype | Scratch):
        return Aval(value.shape, (value.wide if value.wide is not None else value.dtype), False)
    return value.aval if isinstance(value, Array) else as_aval(value)


def _shapes_differ(event: Aliased, a: Aval, b: Aval) -> bool:
    if a.shape is None or b.shape is None:
        return False
    if len(a.shape) != len(b.shape):
        return True
    return any(event.where.facts.same(x, y) is Truth.NO for x, y in zip(a.shape, b.shape, strict=True))


@rule("alias-duplicate-output", on=Aliased, order=20, stage="run")
def alias_duplicate_output(event: Aliased, context: Context) -> Finding | None:
    """Two operands are aliased to one output."""
    if event.earlier is None:
        return None
    return Finding(
        event.where.location,
        f"operands {event.earlier} and {event.input} are both aliased to output {event.output}: one buffer cannot hold both",
    )
