"""What a pipeline does in other steps than the first is judged where there are others, as JAX lowers it."""

from __future__ import annotations

import pytest
from checker import findings
from referee import lower

TEXT = """
import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

def kernel(x_hbm, o_hbm, s_ref):
    def body(x_ref, o_ref):
        def again():
            s_ref[...] = x_ref[...]

        o_ref[...] = x_ref[...]
        k = pl.program_id(AXIS)
        STEP

    spec = pl.BlockSpec((8, 128), lambda i, k: (i, 0))
    pltpu.emit_pipeline(body, grid=GRID, in_specs=[spec], out_specs=spec)(x_hbm, o_hbm)

def run(x):
    hbm = pl.BlockSpec(memory_space=pl.ANY)
    out = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return pl.pallas_call(kernel, in_specs=[hbm], out_specs=hbm, out_shape=out, scratch_shapes=[pltpu.SMEM((8, 128), jnp.float32)])(x)

ARGS = [jax.ShapeDtypeStruct((16, 128), jnp.float32)]

if __name__ == "__main__":
    jax.jit(run).lower(*ARGS)
"""


@pytest.mark.parametrize("grid, axis", [("(2, 1)", 1), ("(2, 2)", 1), ("(2, 1)", 0), ("(1, 1)", 0)])
@pytest.mark.parametrize("step", ["lax.cond(k == 0, lambda: None, again)", "pl.when(k > 0)(again)", "pl.when(k == pl.num_programs(AXIS))(again)"])
def test_steps(grid: str, axis: int, step: str) -> None:
    text = TEXT.replace("STEP", step).replace("AXIS", str(axis)).replace("GRID", grid)
    errors = [finding.rule for finding in findings(text) if finding.severity == "error"]
    assert errors == ([] if lower(text).ok else ["store-vector-to-smem"])
