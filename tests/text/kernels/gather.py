"""Rows of a table picked by prefetched indices, copied by hand with two slots in flight."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

HELP = """
Usage: gather(indices, table)

def not_a_kernel(x): this line and the next are text.
if x then y
"""


class Gather:
    """A gather of ``rows`` rows of a ``[n, 8, 128]`` table."""

    def __init__(self, rows, dtype=jnp.float32):
        self.rows = rows
        self.dtype = dtype

    def kernel(self, indices_ref, table_ref, out_ref, buffer, semaphores):
        def copy(step, slot):
            row = indices_ref[step]
            return pltpu.make_async_copy(table_ref.at[row], buffer.at[slot], semaphores.at[slot])

        copy(0, 0).start()

        @pl.loop(0, self.rows)
        def _rows(step):
            slot = step % 2

            @pl.when(step + 1 < self.rows)
            def _prefetch():
                copy(step + 1, (step + 1) % 2).start()

            copy(step, slot).wait()
            out_ref[step] = buffer[slot]

    @property
    def specs(self):
        """One grid step, the table left in HBM."""
        return pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(1,),
            in_specs=[pl.BlockSpec(memory_space=pl.ANY)],
            out_specs=pl.BlockSpec((self.rows, 8, 128), lambda i, indices: (0, 0, 0)),
            scratch_shapes=[pltpu.VMEM((2, 8, 128), self.dtype), pltpu.SemaphoreType.DMA((2,))],
        )

    def __call__(self, indices, table):
        assert indices.shape == (self.rows,), f"{indices.shape=} is not {(self.rows,)}"
        return pl.pallas_call(
            self.kernel, grid_spec=self.specs, out_shape=jax.ShapeDtypeStruct((self.rows, 8, 128), self.dtype)
        )(indices, table)


run = Gather(rows=4)
ARGS = [jax.ShapeDtypeStruct((4,), jnp.int32), jax.ShapeDtypeStruct((16, 8, 128), jnp.float32)]

if __name__ == "__main__":
    print(HELP)
    print(jax.jit(run).lower(*ARGS))
