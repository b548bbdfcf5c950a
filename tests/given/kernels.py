"""A module whose operands no call in it describes, as a text that the tests write to a file."""

OPS = '''
import functools
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

ROWS = 16


def _scale_kernel(x_ref, *refs, causal):
    scale_ref, o_ref = refs if len(refs) > 1 else (None, *refs)
    x = x_ref[...]
    if causal:
        x = jnp.where(x > 0, x, 0)
    o_ref[...] = x if scale_ref is None else x * scale_ref[...]


@functools.partial(jax.jit, static_argnames=("causal", "block"))
def scale(x, factor=None, *, causal=False, block=8):
    rows, columns = x.shape
    row_block = pl.BlockSpec((block, columns), lambda i: (i, 0))
    operands = [x] if factor is None else [x, factor]
    specs = [row_block] if factor is None else [row_block, pl.BlockSpec((1, columns), lambda i: (0, 0))]
    return pl.pallas_call(
        functools.partial(_scale_kernel, causal=causal),
        grid=(rows // block,),
        in_specs=specs,
        out_specs=row_block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
    )(*operands)


def pair(operands):
    return scale(operands["x"], operands["factor"])


def _total_kernel(x_ref, o_ref):
    o_ref[0, 0] = jnp.sum(x_ref[...])


def total(x, in_smem):
    spec = pl.BlockSpec(memory_space=pltpu.SMEM if in_smem else pltpu.VMEM)
    return pl.pallas_call(_total_kernel, out_specs=spec, out_shape=jax.ShapeDtypeStruct((1, 1), x.dtype))(x)
'''
