"""What ``inspect`` says would have to be known: the program's own names, each once, first what most refs hang on."""

from __future__ import annotations

from textwrap import dedent

import pytest

from pallas_lsp.analysis import analyze
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings
from pallas_lsp.text.source import Source

HEAD = """
import jax, jax.numpy as jnp, dataclasses
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from elsewhere import MaskInfo, make, sizes

def kernel(*refs):
    refs[-1][...] = jnp.zeros_like(refs[-1])

WHOLE = pl.BlockSpec(memory_space=pltpu.ANY)
"""


def unknowns_of(host: str) -> list[tuple[str, ...]]:
    """The unknowns of each kernel call, each list once."""
    text = HEAD + dedent(host)
    sites = analyze(Source("kernel.py", text), Project(), Settings(jax_version="0.10.2")).sites
    return list(dict.fromkeys(site.unknowns for site in sites))


@pytest.mark.parametrize(
    ("host", "causes"),
    [
        # Sizes and dtypes of several refs that come from one parameter are one cause.
        (
            """
            def run(q, k, block):
                b, s, d = q.shape
                spec = pl.BlockSpec((1, block, d), lambda i, j: (i, j, 0))
                return pl.pallas_call(kernel, grid=(b, s // block), in_specs=[spec, spec], out_specs=spec,
                                      out_shape=jax.ShapeDtypeStruct(q.shape, q.dtype))(q, k)
            """,
            ["the value of `block`", "the shape and dtype of `q`", "the dtype of `k`"],
        ),
        # What is computed from a parameter hangs on the parameter.
        (
            """
            def run(lengths):
                ends = jnp.cumsum(lengths) * 2
                return pl.pallas_call(kernel, in_specs=[WHOLE], out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(jnp.where(ends > 0, ends, 0))
            """,
            ["the shape and dtype of `lengths`"],
        ),
        # The fields of one object are told together, with its class.
        (
            """
            def run(info: MaskInfo):
                return pl.pallas_call(kernel, in_specs=[WHOLE] * 2, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(info.rows, info.columns)
            """,
            ["the shapes and dtypes in `info` (`.rows`, `.columns`)"],
        ),
        # What another package makes is named by the function that makes it.
        (
            """
            def run(x: jax.Array):
                return pl.pallas_call(kernel, in_specs=[WHOLE], out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(make(x))
            """,
            ["the shape and dtype of `refs[0]` (the result of `make`)"],
        ),
        # A block whose rank is not known is no fault of the operand's.
        (
            """
            def run(x: jax.Array):
                b, s = x.shape
                return pl.pallas_call(kernel, grid=(1,), in_specs=[pl.BlockSpec(sizes(), lambda i: (0, 0))],
                                      out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(x.astype(jnp.float32))
            """,
            ["the shape of `refs[0]` (the result of `sizes`)"],
        ),
        # The same expression computed twice is told once.
        (
            """
            def run(x, n: int):
                spec = pl.BlockSpec((8 * (n ** 3), 128 * (n ** 3)), lambda i: (0, 0))
                return pl.pallas_call(kernel, grid=(1,), in_specs=[spec], out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(x)
            """,
            ["the value of `n`", "the dtype of `x`"],
        ),
    ],
)
def test_the_causes(host: str, causes: list[str]) -> None:
    assert [list(unknowns) for unknowns in unknowns_of(host)] == [causes]
