"""A tiled matrix product with a float32 accumulator, and the reference it is compared with."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

TILE = 128


def _accumulate(x_ref, y_ref, acc_ref):
    acc_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)


def matmul_kernel(x_ref, y_ref, o_ref, acc_ref):
    @pl.when(pl.program_id(2) == 0)
    def _():
        acc_ref[...] = jnp.zeros_like(acc_ref)

    _accumulate(x_ref, y_ref, acc_ref)

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _():
        o_ref[...] = acc_ref[...].astype(o_ref.dtype)


def tile(rows, columns, index_map):
    return pl.BlockSpec((rows, columns), index_map)


def run(x: jax.Array, y: jax.Array) -> jax.Array:
    """``x @ y`` for shapes that are multiples of 128."""
    (m, k), (_, n) = x.shape, y.shape
    if m % TILE or n % TILE or k % TILE:
        raise ValueError(
            f"shapes {x.shape} and {y.shape} are no multiples of {TILE}"
        )
    try:
        params = pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary"))
    except AttributeError:
        params = None
    else:
        assert params is not None, "the compiler’s choice"
    return pl.pallas_call(
        matmul_kernel,
        grid=(m // TILE, n // TILE, k // TILE),
        in_specs=[tile(TILE, TILE, lambda i, j, k: (i, k)), tile(TILE, TILE, lambda i, j, k: (k, j))],
        out_specs=tile(TILE, TILE, lambda i, j, k: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        scratch_shapes=[pltpu.VMEM((TILE, TILE), jnp.float32)],
        compiler_params=params,
    )(x, y)


def reference(x, y):
    return jnp.dot(x, y, preferred_element_type=jnp.float32).astype(x.dtype)


ARGS = [jax.ShapeDtypeStruct((256, 128), jnp.bfloat16), jax.ShapeDtypeStruct((128, 256), jnp.bfloat16)]
