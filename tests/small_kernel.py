"""A small kernel that stores a scalar to VMEM, in pieces from which tests make their texts."""

HEAD = """\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

"""

KERNEL = """\

def kernel(x_ref, o_ref):
    o_ref[0, 0] = jnp.sum(x_ref[...])

"""

CALL = """\

def run(x):
    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32),
        in_specs=[pl.BlockSpec((8, 128), lambda: (0, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda: (0, 0)),
    )(x)


run(jnp.zeros((8, 128), jnp.float32))
"""

BAD = HEAD + KERNEL + CALL
GOOD = BAD.replace("o_ref[0, 0] = jnp.sum(x_ref[...])", "o_ref[...] = x_ref[...]")
