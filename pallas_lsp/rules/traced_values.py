"""Traced values where Python needs to know them: branches, indices, numbers, NumPy, shapes, slices.

Mirrors ``jax/_src/errors.py`` (the error classes) and ``jax/_src/core.py`` (``Tracer.__bool__``, ``__index__``, ``__int__``,
``__float__``, ``__array__``).
"""

from __future__ import annotations

from ..interpreter.events import TracedBranch
from ..interpreter.operation_events import TracedAsStatic
from ..interpreter.values import Array, Value
from . import words
from .registry import Context, Finding, rule

_CONCRETE = "Abstract tracer value encountered where concrete value is expected: traced array with shape {}"


def _aval(value: Value) -> str:
    """The array as JAX's messages name it: ``int32[]``."""
    if not isinstance(value, Array):
        return "..."
    dims = "..." if value.shape is None else words.shape(value.shape).strip("()").rstrip(",").replace(" ", "")
    return f"{value.dtype or '...'}[{dims}]"


@rule("traced-bool-branch", on=TracedBranch, order=10, stage="trace")
def traced_bool_branch(event: TracedBranch, context: Context) -> Finding | None:
    """Python asks a traced value whether it is true."""
    value = event.value
    if isinstance(value, Array) and value.shape:
        instead = "`jnp.where` chooses elements"
        if all(size == 1 for size in value.shape):
            instead = "`pl.when` or `jnp.where` decide when the kernel runs"
    else:
        instead = "`pl.when` runs a block, `jnp.where` chooses a value when the kernel runs"
    return Finding(
        event.where.location,
        f"Python asks whether {words.array(value)} is true, but its value is not known while JAX traces the kernel: {instead}",
        jax_message=f"Attempted boolean conversion of traced array with shape {_aval(value)}.",
    )


@rule("traced-as-python-index", on=TracedAsStatic, order=10, stage="trace")
def traced_as_python_index(event: TracedAsStatic, context: Context) -> Finding | None:
    """A traced value is a Python index, a count or a key."""
    if event.kind == "key":
        jax = "unhashable type: 'DynamicJaxprTracer'"
    elif event.kind == "index":
        jax = f"The __index__() method was called on traced array with shape {_aval(event.value)}"
    else:
        return None
    instead = "`lax.fori_loop` takes traced bounds" if event.user == "`range`" else "a ref or an array takes traced indices"
    return Finding(
        event.where.location,
        f"{event.user} needs a Python number, but {words.array(event.value)} is not known while JAX traces the kernel: {instead}",
        jax_message=jax,
    )


@rule("traced-to-python-number", on=TracedAsStatic, order=11, stage="trace")
def traced_to_python_number(event: TracedAsStatic, context: Context) -> Finding | None:
    """A traced value is turned into a Python number."""
    if event.kind != "number":
        return None
    return Finding(
        event.where.location,
        f"{event.user} needs a number, but {words.array(event.value)} is not known while JAX traces the kernel: "
        "keep it an array, `.astype` and the functions of `jnp` work on it",
        jax_message=_CONCRETE.format(_aval(event.value)),
    )


@rule("traced-to-numpy", on=TracedAsStatic, order=12, stage="trace")
def traced_to_numpy(event: TracedAsStatic, context: Context) -> Finding | None:
    """A traced value is given to NumPy."""
    if event.kind != "numpy":
        return None
    return Finding(
        event.where.location,
        f"{event.user} needs the numbers themselves, but {words.array(event.value)} is not known while JAX traces the kernel: use `jnp`",
        jax_message=f"The numpy.ndarray conversion method __array__() was called on traced array with shape {_aval(event.value)}",
    )


@rule("traced-shape", on=TracedAsStatic, order=13, stage="trace")
def traced_shape(event: TracedAsStatic, context: Context) -> Finding | None:
    """A traced value is a shape or a size."""
    if event.kind == "shape":
        what, jax = "a shape", "Shapes must be 1D sequences of concrete values of integer type, got ..."
    elif event.kind == "size":
        what, jax = "a size", _CONCRETE.format(_aval(event.value))
    else:
        return None
    return Finding(
        event.where.location,
        f"{event.user} takes {what} that JAX knows while it traces, {words.array(event.value)} is not: use the greatest size and a mask",
        jax_message=jax,
    )


@rule("traced-value-slice-bounds", on=TracedAsStatic, order=14, stage="trace")
def traced_value_slice_bounds(event: TracedAsStatic, context: Context) -> Finding | None:
    """A value is sliced at a traced bound."""
    if event.kind != "slice":
        return None
    jax = (
        "Slice entries must be static integers."
        if not context.jax(since="0.11")
        else "Array slice indices must have static start/stop/step"
    )
    return Finding(
        event.where.location,
        f"a value is sliced at {words.array(event.value)}, which is not known while JAX traces: slice the ref with `pl.ds(start, size)`, or mask the value",
        jax_message=jax,
    )


@rule("boolean-mask-index", on=TracedAsStatic, order=15, stage="trace")
def boolean_mask_index(event: TracedAsStatic, context: Context) -> Finding | None:
    """A result's size would depend on the data: a boolean index, ``nonzero``, ``where`` of one argument."""
    if event.kind == "mask":
        what, jax = "a value is indexed by the mask {}", f"Array boolean indices must be concrete; got {_aval(event.value)}"
    elif event.kind == "nonzero":
        what, jax = f"the size of what {event.user} gives depends on {{}}", _CONCRETE.format(_aval(event.value))
    else:
        return None
    return Finding(
        event.where.location,
        f"{what.format(words.array(event.value))}, which is not known while JAX traces: `jnp.where(mask, value, other)` keeps the shape",
        jax_message=jax,
    )


@rule("unroll-needs-static-bounds", on=TracedAsStatic, order=16, stage="trace")
def unroll_needs_static_bounds(event: TracedAsStatic, context: Context) -> Finding | None:
    """A loop with a traced bound is to be unrolled."""
    if event.kind != "unroll":
        return None
    return Finding(
        event.where.location,
        f"`unroll` needs bounds that are known while JAX traces, {words.array(event.value)} is not: drop `unroll`, or give Python numbers as bounds",
        jax_message="Can only use `unroll` in `fori_loop` if the loop bounds are statically known.",
    )
