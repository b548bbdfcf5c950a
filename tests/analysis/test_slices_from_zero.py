"""A ``pl.ds`` that starts at 0 and is too long: JAX looks at it since 0.12, before that the size is taken as it is written."""

from __future__ import annotations

import pytest
from random_kernels.compare import compare

TEXT = """
import jax, jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

def kernel(x_ref, o_ref, buffer, sem):
    {body}

def run(x):
    return pl.pallas_call(
        kernel,
        grid=(2,),
        in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
        out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32),
        scratch_shapes=[pltpu.VMEM((128, 128), jnp.float32), pltpu.SemaphoreType.DMA],
    )(x)

ARGS = [jax.ShapeDtypeStruct((256, 128), jnp.float32)]

if __name__ == "__main__":
    jax.jit(run).lower(*ARGS)
"""


@pytest.mark.parametrize(
    "body",
    [
        "pltpu.async_copy(x_ref.at[pl.ds(0, 128)], buffer.at[pl.ds(0, 256)], sem).wait()",
        "pltpu.async_copy(x_ref.at[pl.ds(pl.program_id(0), 256)], buffer.at[pl.ds(0, 256)], sem).wait()",
        "o_ref[pl.ds(0, 16)] = buffer[pl.ds(0, 16)]",
        "o_ref[pl.ds(0, 16)] = buffer[pl.ds(0, 8)]",
        "o_ref[...] = buffer[pl.ds(0, 256)][:8]",
        "o_ref[...] = buffer[pl.ds(0, 256, stride=2)][:8]",
    ],
)
def test_its_size_is_what_is_written(body: str) -> None:
    assert compare(TEXT.format(body=body)).is_agreement
