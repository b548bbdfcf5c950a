"""What `pltpu.get_tpu_info()` is taken to say is what JAX says of every chip: of the one that is stated, or of each on a path of its own."""

from __future__ import annotations

import importlib
from typing import Any

import jax.numpy as jnp
import pytest
from checker import analysis_of

from pallas_lsp.analysis import Analysis
from pallas_lsp.data.chips import load_chips

DTYPES = ("float32", "bfloat16", "int32", "int16", "int8", "float8_e5m2")
NAMES = {"v4": "TPU_V4", "v5e": "TPU_V5E", "v5p": "TPU_V5P", "v6e": "TPU_V6E", "tpu7x": "TPU_7X"}
TEXT = """
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

def kernel(o_ref, a_ref, b_ref):
    o_ref[...] = jnp.zeros_like(o_ref)

def run():
    info = pltpu.get_tpu_info()
    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32),
        scratch_shapes=[pltpu.VMEM((info.num_sublanes, info.num_lanes), jnp.float32), pltpu.VMEM((ROWS, COLUMNS), jnp.float32)],
    )()
"""


def jax_says(chip: str) -> Any:
    """The ``TpuInfo`` of a chip."""
    try:
        module = importlib.import_module("jax._src.tpu_info")  # since JAX 0.12
    except ImportError:
        module = importlib.import_module("jax._src.pallas.mosaic.tpu_info")
    return module.get_tpu_info_for_chip(module.ChipVersion[NAMES[chip]], 1)


def sizes(analysis: Analysis) -> set[tuple[object, ...]]:
    """The shapes of the second scratch buffer; the first has that which all chips share."""
    assert {site.refs[1].shape for site in analysis.sites} == {(jax_says("v5e").num_sublanes, jax_says("v5e").num_lanes)}
    return {site.refs[2].shape or () for site in analysis.sites}


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_kind_of_chip_is_a_path(dtype: str) -> None:
    text = TEXT.replace("ROWS", f"info.get_sublane_tiling(jnp.{dtype})").replace("COLUMNS", "info.mxu_column_size")
    said = {(info.get_sublane_tiling(jnp.dtype(dtype)), info.mxu_column_size) for info in map(jax_says, NAMES)}
    assert sizes(analysis_of(text)) == said
    backwards = TEXT.replace("ROWS", "info.mxu_column_size").replace("COLUMNS", f"info.get_sublane_tiling(jnp.{dtype})")
    assert sizes(analysis_of(backwards)) == {(columns, rows) for rows, columns in said}


def test_each_generation_and_each_size_of_vmem_is_a_path() -> None:
    text = TEXT.replace("ROWS", "info.generation").replace("COLUMNS", "info.vmem_capacity_bytes // 2**20")
    assert sizes(analysis_of(text)) == {(info.generation, info.vmem_capacity_bytes // 2**20) for info in map(jax_says, NAMES)}
    text = TEXT.replace("ROWS", "info.vmem_capacity_bytes // 2**20").replace("COLUMNS", "info.smem_capacity_bytes // 2**10")
    assert sizes(analysis_of(text)) == {(info.vmem_capacity_bytes // 2**20, info.smem_capacity_bytes // 2**10) for info in map(jax_says, NAMES)}


@pytest.mark.parametrize("chip", NAMES)
def test_the_facts_of_the_target(chip: str) -> None:
    assert set(NAMES) == set(load_chips())
    info = jax_says(chip)
    for dtype in DTYPES:
        text = TEXT.replace("ROWS", f"info.get_sublane_tiling(jnp.{dtype})").replace("COLUMNS", "info.mxu_column_size")
        assert sizes(analysis_of(text, chip)) == {(info.get_sublane_tiling(jnp.dtype(dtype)), info.mxu_column_size)}
    text = TEXT.replace("ROWS", "info.generation").replace("COLUMNS", "info.vmem_capacity_bytes // 2**20 + info.smem_capacity_bytes // 2**20")
    assert sizes(analysis_of(text, chip)) == {(info.generation, info.vmem_capacity_bytes // 2**20 + info.smem_capacity_bytes // 2**20)}
