"""What `pltpu.get_tpu_info()` is taken to say is what JAX says of every chip."""

from __future__ import annotations

import importlib

import jax.numpy as jnp
import pytest
from checker import analysis_of

DTYPES = ("float32", "bfloat16", "int32", "int16", "int8", "float8_e5m2")
TEXT = """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

def kernel(o_ref, a_ref, b_ref):
    o_ref[...] = jnp.zeros_like(o_ref)

info = pltpu.get_tpu_info()
pl.pallas_call(
    kernel,
    out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32),
    scratch_shapes=[pltpu.VMEM((info.num_sublanes, info.num_lanes), jnp.float32), pltpu.VMEM((info.get_sublane_tiling(jnp.DTYPE), 128), jnp.float32)],
)()
"""


@pytest.mark.parametrize("dtype", DTYPES)
def test_facts_of_all_chips(dtype: str) -> None:
    try:
        module = importlib.import_module("jax._src.tpu_info")  # since JAX 0.12
    except ImportError:
        module = importlib.import_module("jax._src.pallas.mosaic.tpu_info")
    chips = [module.get_tpu_info_for_chip(chip, 1) for chip in module.ChipVersion if chip.name in ("TPU_V4", "TPU_V5E", "TPU_V5P", "TPU_V6E", "TPU_7X")]
    assert len(chips) == 5
    (site,) = analysis_of(TEXT.replace("DTYPE", dtype)).sites
    whole, tiling = (ref.shape for ref in site.refs[1:])
    assert {(chip.num_sublanes, chip.num_lanes) for chip in chips} == {whole}
    rows = {chip.get_sublane_tiling(jnp.dtype(dtype)) for chip in chips}
    assert tiling is not None
    if len(rows) == 1:
        assert {tiling[0]} == rows
    else:
        assert not isinstance(tiling[0], int)
