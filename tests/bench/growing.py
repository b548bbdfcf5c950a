"""Programs of any size."""

from __future__ import annotations

_HEAD = """import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
"""


def copies(count: int) -> str:
    """A file with so many kernels, each with a call of its own."""
    return _HEAD + "".join(_COPY.replace("NUMBER", str(number)) for number in range(count))


def flags(count: int) -> str:
    """A kernel whose call depends on so many conditions that nothing tells."""
    names = [f"flag{number}" for number in range(count)]
    steps = "".join(f"    if {name}:\n        size += 128\n" for name in names)
    return _HEAD + _FLAGS.replace("NAMES", ", ".join(names)).replace("    STEPS\n", steps)


_COPY = """

def kernelNUMBER(x_ref, y_ref, o_ref, acc_ref):
    @pl.when(pl.program_id(0) == 0)
    def start():
        acc_ref[...] = jnp.zeros_like(acc_ref)

    acc_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)
    o_ref[...] = acc_ref[...].astype(o_ref.dtype)


def callNUMBER(x, y):
    m, k = x.shape
    return pl.pallas_call(
        kernelNUMBER,
        grid=(k // 128,),
        in_specs=[pl.BlockSpec((m, 128), lambda i: (0, i)), pl.BlockSpec((128, 128), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((m, 128), lambda i: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((m, 128), x.dtype),
        scratch_shapes=[pltpu.VMEM((m, 128), jnp.float32)],
    )(x, y)
"""

_FLAGS = """

def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2.0


def call(x, NAMES):
    size = 128
    STEPS
    return pl.pallas_call(
        kernel,
        grid=(4,),
        in_specs=[pl.BlockSpec((8, size), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((8, size), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct((32, size), x.dtype),
    )(x)
"""
