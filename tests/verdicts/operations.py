"""Kernels of one operation each, over dtypes and shapes: what is said to lower is compared with JAX."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

DTYPES = ("float32", "bfloat16", "int32", "int8", "bool_")
SHAPES = ((8, 128), (1, 128), (8, 1), (2, 8, 128), (128,), (1, 1), (3, 5), (16, 256))
EXPRESSIONS = """
x + y; x * 2; x - 1.5; x / y; x // 2; x % 3; x ** 2; -x; ~x; x & y; x << 1; x > y; x == 0; abs(x); x @ y.T
jnp.where(x > 0, x, y); jnp.where(x > 0, x, 0.0); jnp.where(True, x, y); jnp.maximum(x, y); jnp.minimum(x, 0); jnp.exp(x); jnp.tanh(x); jnp.sqrt(x)
jnp.log(x); jnp.square(x); jax.nn.relu(x); jax.nn.sigmoid(x); jax.nn.silu(x); jax.nn.gelu(x); lax.rsqrt(x); jnp.sign(x); jnp.floor(x); jnp.clip(x, 0, 1)
jnp.sum(x, axis=-1, keepdims=True); jnp.sum(x, axis=0); jnp.sum(x, axis=-1); jnp.sum(x); x.sum(); x.max(); jnp.max(x, axis=-1, keepdims=True)
jnp.max(x, axis=0, keepdims=True); jnp.min(x, axis=-1); jnp.mean(x, axis=-1, keepdims=True); x.mean(); x.sum(0); jnp.max(x); jnp.sum(x, axis=(0, 1))
x.astype(jnp.float32); x.astype(jnp.bfloat16); x.astype(jnp.int32); x.astype(jnp.bool_); x.astype(jnp.int8); jnp.float32(1) * x; jnp.asarray(x)
jnp.zeros_like(x); jnp.full_like(x, 2); jnp.ones(x.shape, x.dtype); jnp.full(x.shape, 3.0, x.dtype); jnp.zeros(x.shape); jnp.empty_like(x) + x
lax.broadcasted_iota(jnp.int32, x.shape, 0); lax.broadcasted_iota(jnp.int32, x.shape, x.ndim - 1); jnp.arange(x.shape[0])
x.reshape(-1, x.shape[-1]); x.reshape(x.size); x.reshape(x.size, 1); x.reshape(1, *x.shape); jnp.squeeze(x); jnp.expand_dims(x, 0); x.ravel(); x.reshape(())
jnp.broadcast_to(x, (2, *x.shape)); jnp.broadcast_to(x[:1], x.shape); x.T; jnp.transpose(x); x.swapaxes(0, -1); jnp.concatenate([x, y]); jnp.stack([x, y])
jnp.concatenate([x, y], axis=-1); jnp.dot(x, y.T); jnp.dot(x, y.T, preferred_element_type=jnp.float32); jnp.matmul(x, y.T)
lax.dot_general(x, y, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32); lax.dot_general(x, y.T, (((1,), (0,)), ((), ())))
jnp.tile(x, (2,) * x.ndim); jnp.repeat(x, 2, axis=0); jnp.pad(x, ((0, 1),) * x.ndim); jnp.roll(x, 1, axis=0); pltpu.roll(x, 1, x.ndim - 1); jnp.var(x, axis=-1)
jax.nn.softmax(x, axis=-1); jnp.stack([x, y], axis=-1); lax.bitcast_convert_type(x, jnp.int32); pl.reciprocal(x); jnp.dot(x, y[0]); lax.iota(jnp.int32, 128)
jnp.take_along_axis(x, jnp.zeros(x.shape, jnp.int32), axis=0); x.astype(jnp.uint8); x.astype(jnp.uint32); x[..., None]; x[:, None] + x[None]; jnp.std(x)
x[0]; x[-1]; x[0, 0]; x[:1]; x[..., 0]; x[..., :1]; x[:, 0:1]; x[None]; x[:, None]; x[::2]; jnp.argmax(x, axis=-1); jnp.argmax(x, axis=0, keepdims=True)
""".replace("\n", ";").split(";")

_TEXT = """\
import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def kernel(x_ref, y_ref, o_ref):
    x, y = x_ref[...], y_ref[...]
    o_ref[...] = ({expression}).astype(o_ref.dtype)


def value(x, y):
    return {expression}


def run(x, y):
    made = jax.eval_shape(value, x, y)
    shape = made.shape or (1, 1)
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(shape, {out}))(x, y)


ARGS = [jax.ShapeDtypeStruct({shape}, jnp.{dtype})] * 2

if __name__ == "__main__":
    jax.jit(run).lower(*ARGS)
"""


def kernels() -> Iterator[str]:
    """Every expression, with one of the dtypes and shapes in turn: all pairs of these come up."""
    pairs = itertools.cycle(itertools.product(SHAPES, DTYPES))
    for expression in filter(None, map(str.strip, EXPRESSIONS)):
        for shape, dtype in itertools.islice(pairs, 5):
            yield _TEXT.format(expression=expression, shape=shape, dtype=dtype, out=f"jnp.{dtype}" if dtype != "int8" else "jnp.int32")
