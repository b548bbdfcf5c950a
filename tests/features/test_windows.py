"""What hover says that the steps of a grid see; the blocks it names are those that JAX's own index map gives."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import pytest
from features.analysed import analysed
from jax.experimental import pallas as pl
from small_kernel import HEAD

from pallas_lsp.features.hover import hover


def kernel_with(spec: str, grid: str = "(4, 2)", shape: str = "(32, 256)", output: str = "pl.BlockSpec((8, 128), lambda i, j: (i, j))") -> str:
    return f"""\
{HEAD}
def kernel(x_ref, o_ref):
    pass

def run(x):
    out = jax.ShapeDtypeStruct((32, 256), jnp.float32)
    return pl.pallas_call(kernel, grid={grid}, in_specs=[{spec}], out_specs={output}, out_shape=out)(x)

run(jnp.zeros({shape}, jnp.bfloat16))
"""


def shown(text: str, needle: str) -> list[str]:
    """The lines about windows in the hover at ``needle``."""
    found = hover(analysed(text), text.index(needle))
    return re.findall(r"^- (`\w+`: .*(?:reads|writes).*)$", found.markdown, re.MULTILINE) if found else []


@pytest.mark.parametrize(
    ("spec", "shape", "words"),
    [
        ("pl.BlockSpec((8, 128), lambda i, j: (i, j))", "(32, 256)", "step (i, j) reads `x[8·i : 8·i + 8, 128·j : 128·j + 128]` of bf16[32,256]"),
        ("pl.BlockSpec((8, 256), lambda a, b: (a, 0))", "(32, 256)", "step (a, b) reads `x[8·a : 8·a + 8, :]` of bf16[32,256]"),
        ("pl.BlockSpec((None, 8, 128), lambda i, j: (j, i, 0))", "(2, 32, 256)", "step (i, j) reads `x[j, 8·i : 8·i + 8, 0 : 128]` of bf16[2,32,256]"),
        ("pl.BlockSpec((8, 128), lambda i, j: (i * 2 + j, 0))", "(64, 128)", "step (i, j) reads `x[16·i + 8·j : 16·i + 8·j + 8, :]` of bf16[64,128]"),
        ("pl.BlockSpec((pl.Element(8), 128), lambda i, j: (i * 8, j))", "(32, 256)", "step (i, j) reads `x[8·i : 8·i + 8, 128·j : 128·j + 128]` of bf16[32,256]"),
        ("pl.BlockSpec((8, 128), lambda i, j: (i // 2, 0))", "(32, 128)", "step (i, j) reads `x[8·(i // 2) : 8·(i // 2) + 8, :]` of bf16[32,128]"),
        ("pl.BlockSpec((8, 128))", "(32, 256)", "every step reads `x[0 : 8, 0 : 128]` of bf16[32,256]"),
    ],
)  # fmt: skip
def test_what_a_step_reads(spec: str, shape: str, words: str) -> None:
    text = kernel_with(spec, shape=shape)
    assert shown(text, "x_ref") == [f"`x_ref`: {words}"], "at the parameter"
    assert shown(text, spec.partition("(")[2]) == [f"`x_ref`: {words}"], "inside the spec"


def test_what_a_step_writes() -> None:
    text = kernel_with("pl.BlockSpec((8, 128), lambda i, j: (i, j))", output="pl.BlockSpec((8, 128), lambda p, q: (p, q))")
    assert shown(text, "p, q: (p") == ["`o_ref`: step (p, q) writes `[8·p : 8·p + 8, 128·q : 128·q + 128]` of the output f32[32,256]"]


def test_nothing_is_said_of_a_whole_or_of_what_is_not_known() -> None:
    assert shown(kernel_with("pl.BlockSpec((32, 256), lambda i, j: (0, 0))"), "x_ref") == []
    assert shown(kernel_with("pl.BlockSpec(memory_space=pltpu.ANY)"), "x_ref") == []
    assert shown(kernel_with("pl.BlockSpec((8, 128), some_map)"), "x_ref") == []


def test_an_index_that_is_looked_up() -> None:
    text = kernel_with("pl.BlockSpec((8, 128), lambda i, j: (i * jnp.int32(i), j))")
    assert all("?" in line for line in shown(text, "x_ref"))


def test_a_spec_that_several_operands_share_says_it_of_each() -> None:
    text = kernel_with("spec, spec").replace("x_ref, o_ref", "x_ref, y_ref, o_ref").replace(")(x)", ")(x, x + 1)")
    text = text.replace("def run(x):", "def run(x):\n    spec = pl.BlockSpec((8, 128), lambda i, j: (i, j))")
    assert [line.partition(":")[0] for line in shown(text, "8, 128), lambda i, j")] == ["`x_ref`", "`y_ref`"]


def test_jax_reads_there() -> None:
    """The block that each step gets in JAX's interpreter is what the words say."""
    x = jnp.arange(64 * 128, dtype=jnp.float32).reshape(64, 128)

    def kernel(x_ref: jax.Array, o_ref: jax.Array) -> None:
        o_ref[...] = x_ref[...]

    spec = pl.BlockSpec((8, 128), lambda i, j: (i * 2 + j, 0))
    out = pl.BlockSpec((None, None, 8, 128), lambda i, j: (i, j, 0, 0))
    shape = jax.ShapeDtypeStruct((4, 2, 8, 128), jnp.float32)
    seen = pl.pallas_call(kernel, grid=(4, 2), in_specs=[spec], out_specs=out, out_shape=shape, interpret=True)(x)
    (line,) = shown(kernel_with("pl.BlockSpec((8, 128), lambda i, j: (i * 2 + j, 0))", shape="(64, 128)"), "x_ref")
    indexed = re.search(r"`(x\[.*\])`", line)
    assert indexed is not None
    for i in range(4):
        for j in range(2):
            assert (eval(indexed[1].replace("·", "*"), {"x": x, "i": i, "j": j}) == seen[i, j]).all()
