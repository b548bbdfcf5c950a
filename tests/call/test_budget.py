"""The table of VMEM: numbers where sizes are numbers, else a formula that gives these numbers."""

from __future__ import annotations

import pytest

from pallas_lsp.analysis import analyze
from pallas_lsp.kernels.budget import Budget
from pallas_lsp.kernels.site import KernelSite
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings
from pallas_lsp.shapes import dims
from pallas_lsp.shapes.poly import symbols_of

PATH = "/project/kernel.py"
TEXT = """\
import jax, jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def kernel(*refs):
    q_ref, o_ref, acc_ref = refs
    o_ref[...] = q_ref[...]


def attend(q, bq=128, {options}):
    n, d = q.shape
    rows = pl.BlockSpec((bq, d), lambda i: (i, 0))
    return pl.pallas_call(
        kernel, grid=(n // bq,), in_specs=[rows], out_specs=rows, out_shape=jax.ShapeDtypeStruct((n, d), jnp.float32),
        scratch_shapes=[pltpu.VMEM((bq, 3), jnp.float32)], compiler_params=pltpu.CompilerParams({parameters}),
    )(q)


def test():
    attend(jnp.zeros((1024, 128), jnp.float32))
"""


def sites(options: str = "*", parameters: str = "") -> list[KernelSite]:
    project = Project(overlay={PATH: TEXT.format(options=options if options != "*" else "unused=None", parameters=parameters)})
    source = project.read(PATH)
    assert source is not None
    return analyze(source, project, Settings(jax_version="0.10.2")).sites


def budget(concrete: bool) -> Budget:
    found = [site.budget for site in sites() if site.budget is not None and (site.budget.total == 5 * 64 << 10 if concrete else "bq" in site.budget.blocks)]
    assert found and found[0] is not None
    return found[0]


def test_numbers() -> None:
    found = budget(concrete=True)
    assert [(part.name, part.padded, part.buffers, part.size) for part in found.parts] == [
        ("q_ref", (128, 128), 2, 2 * 64 << 10), ("o_ref", (128, 128), 2, 2 * 64 << 10), ("acc_ref", (128, 128), 1, 64 << 10)
    ]  # fmt: skip
    assert found.total == 5 * 64 << 10
    lost = found.parts[2].lost
    assert lost is not None and abs(lost - 125 / 128) < 1e-9
    assert found.formula is None


def test_a_ref_without_dims_takes_a_row_of_lanes() -> None:
    project = Project(overlay={PATH: TEXT.format(options="unused=None", parameters="").replace("(bq, 3)", "()")})
    source = project.read(PATH)
    assert source is not None
    found = [site.budget for site in analyze(source, project, Settings(jax_version="0.10.2")).sites]
    assert found[0] is not None and found[0].parts[2].size == 512


def test_a_formula_gives_the_numbers() -> None:
    symbolic = budget(concrete=False)
    assert symbolic.formula is not None and not isinstance(symbolic.formula, int)
    sizes = dict.fromkeys(symbols_of(symbolic.formula), 128)
    assert dims.substitute(symbolic.formula, dict(sizes)) == budget(concrete=True).total
    assert symbolic.blocks == ("bq",)


def test_the_largest_block_that_fits_fits_and_the_next_does_not() -> None:
    symbolic = budget(concrete=False)
    assert symbolic.formula is not None and not isinstance(symbolic.formula, int)
    limits, others = dict(symbolic.limits), dict(symbolic.sizes)
    assert {fit.chip for fit in symbolic.fits} == set(limits)
    for fit in symbolic.fits:
        assert fit.most is not None
        for size, fits in ((fit.most, True), (2 * fit.most, False)):
            values = {symbol: others.get(symbol.name, size) for symbol in symbols_of(symbolic.formula)}
            needed = dims.substitute(symbolic.formula, dict(values))
            assert isinstance(needed, int) and (needed <= limits[fit.chip]) == fits


@pytest.mark.parametrize(("given", "limit"), [("", 16 << 20), ("vmem_limit_bytes=1 << 20", 1 << 20), ("vmem_limit_bytes=1 << 40", 128 << 20)])
def test_the_limit_is_the_one_that_the_call_sets(given: str, limit: int) -> None:
    found = [site.budget for site in sites(parameters=given) if site.budget is not None]
    assert all(dict(one.limits)["v5e"] == limit for one in found) and found
