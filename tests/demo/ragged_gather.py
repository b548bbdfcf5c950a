"""Gathers blocks of rows from a table, in an order that is known before the kernel starts, and scales each by its length."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

ROWS = 8
LANES = 128


def gather_kernel(block_ids_ref, lengths_ref, table_ref, out_ref):
    i = pl.program_id(0)
    lengths = lengths_ref[...]
    length = lengths[i]
    row = jax.lax.broadcasted_iota(jnp.int32, (ROWS, LANES), 0)
    scale = 1.0 / jnp.maximum(length, 1).astype(jnp.float32)
    out_ref[...] = jnp.where(row < length, table_ref[...] * scale, 0.0)


def gather_blocks(block_ids, lengths, table):
    (num_blocks,) = lengths.shape
    return pl.pallas_call(
        gather_kernel,
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=2,
            grid=(num_blocks,),
            in_specs=[pl.BlockSpec((ROWS, LANES), lambda i, block_ids, lengths: (block_ids[i], 0))],
            out_specs=pl.BlockSpec((ROWS, LANES), lambda i, block_ids, lengths: (i, 0)),
        ),
        out_shape=jax.ShapeDtypeStruct((num_blocks * ROWS, LANES), table.dtype),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
    )(block_ids, lengths, table)


run = gather_blocks
ARGS = [
    jax.ShapeDtypeStruct((16,), jnp.int32),
    jax.ShapeDtypeStruct((16,), jnp.int32),
    jax.ShapeDtypeStruct((4096, LANES), jnp.float32),
]
