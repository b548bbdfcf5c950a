"""Calls of reductions and of cumulative functions."""

from __future__ import annotations

from typing import Any

from shapes.against_jax import Call, call
from shapes.random_arguments import DTYPES, FLOATS, INTEGERS, Draw, array, axes, axis, calls_of, matching, operand, pick, shape, sometimes

REDUCTIONS = ["amax", "amin", "max", "min", "nanmax", "nanmin", "nanprod", "nansum", "prod", "sum", "mean", "nanmean", "var", "std"]
REDUCTION_METHODS = ["max", "min", "prod", "sum", "mean", "var", "std"]


def keepdims(draw: Draw) -> dict[str, Any]:
    return {"keepdims": sometimes(draw, 2)} if sometimes(draw, 2) else {}


def mask(draw: Draw, dims: tuple[int, ...]) -> dict[str, Any]:
    return {"where": array(draw, matching(draw, dims), ("bool",)), "initial": 0} if sometimes(draw, 6) else {}


@calls_of(*(f"jax.numpy.{name}" for name in REDUCTIONS), *(f".{name}" for name in REDUCTION_METHODS))
def reduction(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), axes(draw, len(dims)), **keepdims(draw))


@calls_of("jax.numpy.ptp", ".ptp", "jax.numpy.count_nonzero", "jax.numpy.all", "jax.numpy.any", ".all", ".any")
def other_reduction(draw: Draw) -> Call:
    dims = shape(draw)
    return call(array(draw, dims, pick(draw, (DTYPES, FLOATS))), axis=axes(draw, len(dims)), **keepdims(draw))


@calls_of("jax.numpy.linalg.norm")
def norm(draw: Draw) -> Call:
    dims = shape(draw, 1, 2)
    return call(array(draw, dims), axis=None if sometimes(draw, 2) else axis(draw, len(dims)), **keepdims(draw))


@calls_of("jax.numpy.argmax", "jax.numpy.argmin", ".argmax", ".argmin")
def argmax(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), None if sometimes(draw) else axis(draw, len(dims)), **keepdims(draw))


@calls_of("jax.lax.argmax", "jax.lax.argmin")
def lax_argmax(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims), pick(draw, range(len(dims))), pick(draw, ("int32", "int16", "uint32")))


@calls_of(*(f"jax.lax.reduce_{name}" for name in ["sum", "prod", "max", "min", "and", "or", "xor"]))
def lax_reduction(draw: Draw) -> Call:
    dims = shape(draw, 1)
    kept = [i for i in range(len(dims)) if not sometimes(draw, 2)]
    return call(array(draw, dims, INTEGERS if sometimes(draw, 2) else DTYPES), tuple(kept))


@calls_of("jax.numpy.cumsum", "jax.numpy.cumprod", ".cumsum", ".cumprod")
def cumulative(draw: Draw) -> Call:
    dims = shape(draw)
    options = {"dtype": pick(draw, DTYPES)} if sometimes(draw) else {}
    return call(array(draw, dims), None if sometimes(draw) else axis(draw, len(dims)), **options)


@calls_of(*(f"jax.lax.{name}" for name in ["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"]))
def lax_cumulative(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(array(draw, dims, FLOATS if sometimes(draw, 2) else DTYPES), axis(draw, len(dims)))


@calls_of("jax.numpy.cumulative_sum", "jax.numpy.cumulative_prod")
def cumulative_sum(draw: Draw) -> Call:
    dims = shape(draw, 1)
    options = {"axis": axis(draw, len(dims))} if len(dims) > 1 and not sometimes(draw, 10) else {}
    return call(array(draw, dims), **options, include_initial=sometimes(draw, 2))


@calls_of("jax.numpy.diff")
def diff(draw: Draw) -> Call:
    dims = shape(draw, 0 if sometimes(draw, 10) else 1)
    return call(array(draw, dims), axis=axis(draw, len(dims)))


@calls_of("jax.nn.logsumexp", "jax.scipy.special.logsumexp")
def logsumexp(draw: Draw) -> Call:
    dims = shape(draw)
    return call(array(draw, dims), axes(draw, len(dims)), **keepdims(draw))


@calls_of("jax.nn.softmax", "jax.nn.log_softmax", "jax.nn.standardize")
def softmax(draw: Draw) -> Call:
    dims = shape(draw, 1)
    return call(operand(draw, dims, FLOATS if sometimes(draw, 2) else DTYPES), axis(draw, len(dims)))
