"""The activations of ``jax.nn``, each composed of the same steps as in ``jax/_src/nn/functions.py``."""

from __future__ import annotations

from typing import Any

from pallas_lsp.shapes.arguments import array, axis_of, dtype_or, known_shape, maybe_dim
from pallas_lsp.shapes.avals import Aval, ShapeError
from pallas_lsp.shapes.dims import Truth, divides, floordiv
from pallas_lsp.shapes.elementwise import INEXACT, add, divide, elementwise, inexact, logaddexp, maximum, multiply, negative, numeric
from pallas_lsp.shapes.lax_elementwise import strict
from pallas_lsp.shapes.selection import where
from pallas_lsp.shapes.table import shape_function


@shape_function("jax.nn.relu")
def relu(x: Any) -> Aval:
    return maximum(x, 0)


@shape_function("jax.nn.relu6")
def relu6(x: Any) -> Aval:
    return maximum(maximum(x, 0), 6.0)


@shape_function("jax.nn.sigmoid")
def sigmoid(x: Any) -> Aval:
    return strict("logistic", (x,), INEXACT)


@shape_function("jax.nn.silu", "jax.nn.swish")
def silu(x: Any) -> Aval:
    return multiply(x, sigmoid(x))


@shape_function("jax.nn.softplus")
def softplus(x: Any) -> Aval:
    return logaddexp(x, 0)


@shape_function("jax.nn.log_sigmoid")
def log_sigmoid(x: Any) -> Aval:
    return negative(softplus(negative(x)))


@shape_function("jax.nn.mish")
def mish(x: Any) -> Aval:
    return multiply(x, softplus(x))


@shape_function("jax.nn.soft_sign")
def soft_sign(x: Any) -> Aval:
    return divide(x, add(x, 1))


@shape_function("jax.nn.hard_sigmoid")
def hard_sigmoid(x: Any) -> Aval:
    return divide(relu6(add(x, 3.0)), 6.0)


@shape_function("jax.nn.hard_silu", "jax.nn.hard_swish")
def hard_silu(x: Any) -> Aval:
    return multiply(x, hard_sigmoid(x))


@shape_function("jax.nn.hard_tanh")
def hard_tanh(x: Any) -> Aval:
    return where(x, 1, where(x, -1, x))


@shape_function("jax.nn.leaky_relu")
def leaky_relu(x: Any, negative_slope: Any = 1e-2) -> Aval:
    return where(x, x, multiply(negative_slope, x))


@shape_function("jax.nn.elu")
def elu(x: Any, alpha: Any = 1.0) -> Aval:
    return where(x, x, multiply(alpha, inexact_like(where(x, 0.0, x))))


@shape_function("jax.nn.celu")
def celu(x: Any, alpha: Any = 1.0) -> Aval:
    return add(maximum(x, 0.0), multiply(alpha, inexact_like(divide(maximum(x, 0.0), alpha))))


@shape_function("jax.nn.selu")
def selu(x: Any) -> Aval:
    return multiply(1.0, elu(x, 1.0))


@shape_function("jax.nn.squareplus")
def squareplus(x: Any, b: Any = 4) -> Aval:
    return divide(add(x, inexact_like(add(elementwise("square", (x,), numeric), b))), 2)


def inexact_like(x: Any) -> Aval:
    """What a floating function of one argument makes of it."""
    return elementwise("a floating function", (x,), inexact)


@shape_function("jax.nn.gelu")
def gelu(x: Any, approximate: Any = True) -> Aval:
    """A weak argument meets a strong constant on one way, and a strong constructor on the other."""
    aval = inexact_like(x)
    return Aval(aval.shape, aval.dtype)


@shape_function("jax.nn.glu")
def glu(x: Any, axis: Any = -1) -> Aval:
    """Halves the axis."""
    aval = array(x)
    shape = known_shape(aval)
    at = axis_of(axis, len(shape))
    if divides(2, shape[at]) is Truth.NO:
        raise ShapeError("jax.nn.glu needs an even dimension")
    half = (*shape[:at], floordiv(shape[at], 2), *shape[at + 1 :])
    return silu(Aval(half, aval.dtype, aval.weak))


@shape_function("jax.nn.one_hot")
def one_hot(x: Any, num_classes: Any, *, dtype: Any = None, axis: Any = -1, out_sharding: Any = None) -> Aval:
    """Inserts a dimension of ``num_classes`` at ``axis``."""
    shape = known_shape(array(x))
    at = axis_of(axis, len(shape) + 1)
    made, _ = dtype_or(dtype, ("float32", False))
    return Aval((*shape[:at], maybe_dim(num_classes), *shape[at:]), made)
