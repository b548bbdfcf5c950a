"""A call of a shape function and the same call of JAX, and when the two answers agree.

A call's arguments are those of a shape function: Avals for arrays, Python constants, dtype names, nested tuples and lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

from pallas_lsp.shapes.avals import UNKNOWN, Aval, as_aval
from pallas_lsp.shapes.dims import Poly, Symbol, substitute
from pallas_lsp.shapes.dtypes import canonical
from pallas_lsp.shapes.indexing import DsIndex, SliceIndex
from pallas_lsp.shapes.queries import FloatInfo, IntegerInfo


@dataclass(frozen=True)
class Call:
    """Arguments of one call."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)


class Refused:
    """JAX raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __repr__(self) -> str:
        return f"Refused({type(self.error).__name__}: {str(self.error)[:200]})"


def call(*args: Any, **kwargs: Any) -> Call:
    return Call(args, kwargs)


def jax_answer(function: Callable[..., Any], made: Call) -> Any:
    """What JAX returns when it traces the call, in the terms of shape functions; `Refused` where it raises."""
    arrays = [leaf for leaf in leaves((made.args, dict(made.kwargs))) if isinstance(leaf, Aval)]
    answer: list[Any] = []

    def traced(*tracers: Any) -> None:
        queue = iter(tracers)
        args, kwargs = to_jax((made.args, dict(made.kwargs)), queue)
        answer.append(from_jax(function(*args, **kwargs)))

    try:
        jax.eval_shape(traced, *(struct(aval) for aval in arrays))
    except Exception as error:
        return Refused(error)
    return answer[0]


def in_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of static arguments, called inside a Pallas kernel with a grid."""

    def traced(*args: Any, **kwargs: Any) -> Any:
        answer: list[Any] = []

        def kernel(out: Any) -> None:
            answer.append(from_jax(function(*args, **kwargs)))
            out[...] = jnp.zeros(out.shape, out.dtype)

        pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32), grid=(2, 3))()
        return answer[0]

    return traced


def on_axis(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of static arguments, called where the axis ``x`` is mapped."""

    def traced(*args: Any, **kwargs: Any) -> Any:
        answer: list[Any] = []

        def mapped(_: Any) -> Any:
            answer.append(from_jax(function(*args, **kwargs)))
            return 0

        jax.vmap(mapped, axis_name="x")(jnp.zeros(2))
        return answer[0]

    return traced


def struct(aval: Aval) -> jax.ShapeDtypeStruct:
    assert aval.dtype is not None and aval.shape is not None and aval.weak is not None
    dtype = jax.random.key(0).dtype if aval.dtype == "key<fry>" else jnp.dtype(aval.dtype)
    return jax.ShapeDtypeStruct(aval.shape, dtype, weak_type=aval.weak)


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        yield from leaves(list(value.values()))
    elif isinstance(value, SliceIndex | DsIndex):
        yield from leaves([getattr(value, name) for name in value.__slots__])
    else:
        yield value


def to_jax(value: Any, tracers: Iterator[Any]) -> Any:
    if isinstance(value, Aval):
        return next(tracers)
    if isinstance(value, tuple | list):
        return type(value)(to_jax(item, tracers) for item in value)
    if isinstance(value, dict):
        return {key: to_jax(item, tracers) for key, item in value.items()}
    if isinstance(value, SliceIndex):
        return slice(*(to_jax(bound, tracers) for bound in (value.start, value.stop, value.step)))
    if isinstance(value, DsIndex):
        return jax.ds(*(to_jax(bound, tracers) for bound in (value.start, value.size)), value.stride)
    if isinstance(value, str) and value.startswith("jax.numpy."):
        return getattr(jnp, value.rpartition(".")[2])
    if isinstance(value, str) and canonical(value) == value:
        return jnp.dtype(value)
    return value


def from_jax(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(from_jax(item) for item in value) if type(value) in (tuple, list) else tuple(from_jax(item) for item in value)
    if isinstance(value, jnp.dtype):
        return value.name
    if value is None or isinstance(value, bool | int | float | str | Aval):
        return value
    if hasattr(value, "bits") and hasattr(value, "max"):  # finfo, iinfo
        return (value.dtype.name, value.bits, from_jax(value.min), from_jax(value.max))
    if isinstance(value, type) and issubclass(value, jnp.generic):
        return canonical(jnp.dtype(value).name)
    aval = jax.typeof(value)
    return Aval(aval.shape, aval.dtype.name, aval.weak_type)


def agrees(ours: Any, theirs: Any) -> bool:
    """Whether every part of our answer that is known is JAX's."""
    if ours is UNKNOWN:
        return True
    if isinstance(ours, FloatInfo | IntegerInfo):
        ours = (ours.dtype, ours.bits, ours.min, ours.max)
    if isinstance(ours, Aval):
        theirs = as_aval(theirs)
        return (
            (ours.shape is None or (len(ours.shape) == len(theirs.shape or ()) and all(map(_dim_agrees, ours.shape, theirs.shape or ()))))
            and ours.dtype in (None, theirs.dtype)
            and ours.weak in (None, theirs.weak)
        )
    if isinstance(ours, tuple | list) and isinstance(theirs, tuple | list):
        return len(ours) == len(theirs) and all(map(agrees, ours, theirs))
    return type(ours) is type(theirs) and bool(ours == theirs)


def _dim_agrees(ours: Any, theirs: int) -> bool:
    return ours is None or ours == theirs


def fully_known(ours: Any) -> bool:
    """Whether nothing of an answer is left open."""
    if isinstance(ours, tuple | list):
        return all(map(fully_known, ours))
    if isinstance(ours, Aval):
        return ours.shape is not None and None not in ours.shape and ours.dtype is not None and ours.weak is not None
    return ours is not UNKNOWN


def with_values(value: Any, env: Mapping[Symbol, int]) -> Any:
    """An answer with its symbols, and the names of dtypes, replaced by their values."""
    if isinstance(value, tuple | list):
        return type(value)(with_values(item, env) for item in value)
    if isinstance(value, Poly):
        return substitute(value, env)
    if isinstance(value, Aval):
        shape = with_values(value.shape, env) if value.shape is not None else None
        return Aval(shape, dtype_called(value.named) if value.named is not None else value.dtype, value.weak)
    return value


def dtype_called(name: str) -> str:
    """The dtype that an eraser's name stands for."""
    return name.split(".")[1]
