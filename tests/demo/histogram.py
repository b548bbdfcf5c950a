"""Counts how many tokens each expert of a mixture gets, block by block."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

NUM_EXPERTS = 64
BLOCK = 256


def histogram_kernel(expert_ids_ref, counts_ref, total_ref):
    @pl.when(pl.program_id(0) == 0)
    def _init():
        counts_ref[...] = jnp.zeros((1, NUM_EXPERTS), jnp.int32)
        total_ref[0] = 0

    ids = expert_ids_ref[...]
    experts = jax.lax.broadcasted_iota(jnp.int32, (BLOCK, NUM_EXPERTS), 1)
    hits = jnp.where(ids == experts, 1, 0)
    counts_ref[...] += jnp.sum(hits, axis=0, keepdims=True)
    total_ref[0] += jnp.sum(hits)


def histogram(expert_ids):
    (tokens,) = expert_ids.shape
    counts, total = pl.pallas_call(
        histogram_kernel,
        grid=(tokens // BLOCK,),
        in_specs=[pl.BlockSpec((BLOCK, 1), lambda i: (i, 0))],
        out_specs=[
            pl.BlockSpec(memory_space=pltpu.SMEM),
            pl.BlockSpec(memory_space=pltpu.SMEM),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((1, NUM_EXPERTS), jnp.int32),
            jax.ShapeDtypeStruct((1,), jnp.int32),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
    )(expert_ids[:, None])
    return counts[0], total[0]


run = histogram
ARGS = [jax.ShapeDtypeStruct((8192,), jnp.int32)]
