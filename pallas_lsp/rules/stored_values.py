"""A stored value must have the shape and the dtype of what it overwrites.

Mirrors ``jax/_src/state/primitives.py``: ``_swap_abstract_eval`` and the implicit cast of ``ref_swap``.
"""

from __future__ import annotations

from ..interpreter.events import Access
from ..interpreter.refs import same_shape
from ..interpreter.values import Array
from ..shapes import dtypes
from ..shapes.avals import Aval, as_aval
from ..shapes.dims import Poly, Truth
from . import words
from .registry import Context, Finding, rule


def stored_aval(event: Access) -> Aval | None:
    """The aval of the stored value, None when it is no array or nothing of it is known."""
    value = event.value
    if isinstance(value, Array):
        return value.aval
    return as_aval(value) if isinstance(value, bool | int | float | complex | Poly) else None


@rule("store-shape-mismatch", on=Access, order=30, stage="trace")
def store_shape_mismatch(event: Access, context: Context) -> Finding | None:
    """The stored value has another shape than what is indexed."""
    if event.op == "load" or event.fault is not None:
        return None
    aval = stored_aval(event)
    if aval is None or same_shape(event.where.facts, event.shape, aval.shape) is not Truth.NO:
        return None
    facts = event.where.facts
    wanted, given = words.shape(facts.resolve_shape(event.shape)), words.shape(facts.resolve_shape(aval.shape))
    scalar = "a store does not broadcast" if aval.shape == () else "the shapes must be equal, a store does not broadcast"
    what = "a scalar" if aval.shape == () else f"a value of shape {given}"
    place = (
        f"`{words.source_text(event, words.target(event))}` has shape {wanted}"
        if event.target_node is not None
        else f"what is indexed has shape {wanted}"
    )
    return Finding(
        event.where.at(words.target(event)),
        f"{what} is stored to {words.name(event.ref)}, but {place}: {scalar}",
        words.decided(event.ref),
        f"Invalid shape for `swap`. Ref shape: {words.shape(event.ref.shape)}. Expected shape: {wanted}. Value shape: {given}.",
    )


def casts_silently(ref_dtype: str, value: Aval) -> bool:
    """Whether JAX casts the value to the ref's dtype by itself: a weak float to a float, an integer to an integer."""
    if value.dtype is None:
        return True
    both_float = dtypes.is_floating(ref_dtype) and dtypes.is_floating(value.dtype)
    return (both_float and value.weak is not False) or (dtypes.is_integer(ref_dtype) and dtypes.is_integer(value.dtype))


@rule("store-dtype-mismatch", on=Access, order=40, stage="trace")
def store_dtype_mismatch(event: Access, context: Context) -> Finding | None:
    """The stored value has another dtype than the ref."""
    aval = stored_aval(event) if event.op != "load" and event.fault is None else None
    if aval is None or aval.dtype is None or event.ref.dtype is None or aval.dtype == event.ref.dtype:
        return None
    if same_shape(event.where.facts, event.shape, aval.shape) is Truth.NO or dtypes.kind(event.ref.dtype) == "extended":
        return None
    if aval.weak is None or (event.cast and casts_silently(event.ref.dtype, aval)):
        return None
    return Finding(
        event.where.at(words.target(event)),
        f"{words.stored(event.value, aval.dtype)} stored to {words.name(event.ref)}, which has dtype {event.ref.dtype}: {_what_casts(event, aval)}",
        words.decided(event.ref),
        f"Invalid dtype for `swap`. Ref dtype: {event.ref.dtype}. Value dtype: {aval.dtype}.",
    )


def _what_casts(event: Access, aval: Aval) -> str:
    if not event.cast:
        return f"`{event.api}.store` casts nothing by itself"
    if dtypes.is_floating(aval.dtype or "") and dtypes.is_floating(event.ref.dtype or ""):
        return "a store casts only Python floats and other weakly typed values by itself"
    return "a store does not cast between them"
