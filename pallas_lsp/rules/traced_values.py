"""Traced values where Python needs to know them: branches, indices, numbers, NumPy, shapes, slices.

Mirrors ``jax/_src/errors.py`` (the error classes) and ``jax/_src/core.py`` (``Tracer.__bool__``, ``__index__``, ``__int__``,
``__float__``, ``__array__``).
"""

from __future__ import annotations

import ast
import re

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
    value, node = event.value, event.where.node
    instead = _instead(event, is_vector=isinstance(value, Array) and bool(value.shape) and any(size != 1 for size in value.shape or ()))
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    what = f"Python's `{called}` decides by {words.array(value)}" if called else f"Python asks whether `{words.source_text(event, node)}` is true"
    described = "its value" if called else words.array(value)
    return Finding(
        event.where.location,
        f"{what}, but {described} is not known while JAX traces the kernel: {instead}",
        jax_message=f"Attempted boolean conversion of traced array with shape {_aval(value)}.",
    )


_BY_CALL = {"min": "`jnp.minimum` takes traced values", "max": "`jnp.maximum` takes traced values", "bool": "compare it, arrays hold truth values too"}
_BY_WORD = {
    "while": "`lax.while_loop` repeats what it traces once", "assert": "`pl.debug_check` looks when the kernel runs",
    "not": "`jnp.logical_not` works on arrays", "and": "`&` of comparisons works on arrays", "or": "`|` of comparisons works on arrays",
}  # fmt: skip
_BEFORE = re.compile(r"\b(if|elif|while|assert|and|or)[\s(]*$")
_BEHIND = re.compile(r"[\s)]*(and|or)\b")


def _instead(event: TracedBranch, *, is_vector: bool) -> str:
    """What to write, by the word that asks."""
    node, source = event.where.node, event.where.module.source
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _BY_CALL:
        return _BY_CALL[node.func.id]
    span = source.span_of(node)
    line = source.line_span(source.line_of(span.start)).start
    before = _BEFORE.search(source.text, line, span.start)
    word = before[1] if before is not None else None
    if word in ("if", "elif") and is_vector:
        return "`jnp.where` chooses elements"
    if word in ("if", "elif") and not source.text[line : before.start() if before is not None else line].strip():
        return "`pl.when` runs a block, `jnp.where` chooses a value when the kernel runs"
    if word in ("if", "elif"):
        return "`jnp.where` chooses a value when the kernel runs"
    behind = _BEHIND.match(source.text, span.end)
    word = "not" if isinstance(node, ast.UnaryOp) else word or (behind[1] if behind is not None else None)
    other = "`jnp.where` chooses elements" if is_vector else "`pl.when` and `jnp.where` decide when the kernel runs"
    return _BY_WORD.get(word or "", other)


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
