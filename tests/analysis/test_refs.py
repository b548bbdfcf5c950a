"""What is known of a kernel's refs where the source tells no shapes: names for sizes and dtypes, and what the kernel's own use tells."""

from __future__ import annotations

from textwrap import dedent

import pytest

from pallas_lsp.analysis import analyze
from pallas_lsp.kernels.site import RefInfo
from pallas_lsp.resolve.project import Project
from pallas_lsp.settings import Settings
from pallas_lsp.shapes.dims import render
from pallas_lsp.text.source import Source

IMPORTS = """\
import dataclasses, functools, typing
import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
"""


def refs_of(text: str) -> list[str]:
    """The refs of the one kernel call of a module, in its last configuration: ``x_ref: x.dtype[8,?] vmem``."""
    analysis = analyze(Source("kernel.py", IMPORTS + dedent(text)), Project(), Settings(jax_version="0.10.2"))
    assert [finding.message for finding in analysis.diagnostics if finding.severity == "error"] == []
    return [_text(ref) for ref in analysis.sites[-1].refs]


def _text(ref: RefInfo) -> str:
    dims = "..." if ref.shape is None else ",".join(map(render, ref.shape))
    return f"{ref.name}: {ref.dtype or ref.dtype_name or '?'}[{dims}] {ref.memory_space or '?'}"


def test_a_dtype_that_is_not_known_has_the_programs_name() -> None:
    assert refs_of("""
        def kernel(n_ref, x_ref, o_ref, acc_ref):
            acc_ref[...] = x_ref[...] + x_ref[...]
            o_ref[...] = acc_ref[...].astype(o_ref.dtype)

        def run(n, x, out_dtype):
            rows, cols = x.shape
            spec = pl.BlockSpec((8, cols), lambda i, n: (i, 0))
            grid = pltpu.PrefetchScalarGridSpec(
                num_scalar_prefetch=1, grid=(rows // 8,), in_specs=[spec], out_specs=spec, scratch_shapes=[pltpu.VMEM((8, cols), x.dtype)]
            )
            return pl.pallas_call(kernel, grid_spec=grid, out_shape=jax.ShapeDtypeStruct(x.shape, out_dtype))(n, x.reshape(rows, cols))
    """) == [
        "n_ref: n.dtype[...] smem",
        "x_ref: x.dtype[8,x.shape[1]] vmem",
        "o_ref: out_dtype[8,x.shape[1]] vmem",
        "acc_ref: x.dtype[8,x.shape[1]] vmem",
    ]  # fmt: skip


def test_the_rank_of_a_block_is_known_where_its_sizes_are_numbers_that_are_not() -> None:
    assert refs_of("""
        def kernel(x_ref, o_ref, acc_ref):
            o_ref[...] = jnp.zeros_like(o_ref)

        def run(x, tiling, lanes):
            rows, cols = x.shape[-2:]
            tm, tn = tiling(rows, cols)
            assert rows % tm == 0
            batch = int(lanes / 3)
            wide = -(-cols // lanes) * lanes
            least = min(tiling(rows, cols)[0], 8)
            spec = pl.BlockSpec((batch, tm, wide), lambda i: (i, 0, 0))
            out_spec = pl.BlockSpec((None, tm, least), lambda i: (i, 0, 0))
            return pl.pallas_call(
                kernel, grid=(4,), in_specs=[spec], out_specs=out_spec, out_shape=jax.ShapeDtypeStruct((8, rows, cols), x.dtype),
                scratch_shapes=[pltpu.VMEM((tm, batch), jnp.float32)],
            )(x)
    """) == [
        "x_ref: x.dtype[int(lanes / 3),tm,-lanes·((-x.shape[-1]) // lanes)] vmem",
        "o_ref: x.dtype[tm,min(tiling(rows, cols)[0], 8)] vmem",
        "acc_ref: float32[tm,int(lanes / 3)] vmem",
    ]  # fmt: skip


def test_a_ref_in_smem_has_as_many_dims_as_it_is_indexed_with_scalars() -> None:
    assert refs_of("""
        def kernel(table_ref, lens_ref, dead_ref, mixed_ref, x_ref, o_ref):
            i = pl.program_id(0)
            unused = dead_ref[i]
            o_ref[...] = x_ref[...] + table_ref[i, 0, lens_ref[i]] + mixed_ref[0, ...]

        def run(table, lens, dead, mixed, x):
            smem = pl.BlockSpec(memory_space=pltpu.SMEM)
            grid = pltpu.PrefetchScalarGridSpec(
                num_scalar_prefetch=2, grid=(4,), in_specs=[smem, smem, pl.BlockSpec((8, 128), lambda i, *_: (i, 0))],
                out_specs=pl.BlockSpec((8, 128), lambda i, *_: (i, 0)),
            )
            out = jax.ShapeDtypeStruct((32, 128), jnp.float32)
            return pl.pallas_call(kernel, grid_spec=grid, out_shape=out)(table, lens, dead, mixed, x)
    """)[:4] == [
        "table_ref: table.dtype[?,?,?] smem", "lens_ref: lens.dtype[?] smem", "dead_ref: dead.dtype[...] smem", "mixed_ref: mixed.dtype[...] smem",
    ]  # fmt: skip


def test_a_ref_has_as_many_dims_as_the_kernel_unpacks_its_shape_into() -> None:
    assert refs_of("""
        def kernel(x_ref, y_ref, o_ref):
            rows, cols = x_ref.shape
            if y_ref.ndim == 2:
                a, b = y_ref.shape
            else:
                a, b, c = y_ref.shape
            o_ref[...] = jnp.zeros((rows, cols)) + x_ref[...]

        def run(x, y):
            return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x, y)
    """)[:2] == ["x_ref: x.dtype[?,?] vmem", "y_ref: y.dtype[...] vmem"]


def test_hover_says_why_a_shape_is_unknown() -> None:
    text = IMPORTS + dedent("""
        def kernel(mask_ref, x_ref, o_ref):
            o_ref[...] = x_ref[...]

        def run(info: MaskInfo, x):
            smem = pl.BlockSpec(memory_space=pltpu.SMEM)
            out = jax.ShapeDtypeStruct((8, 128), x.dtype)
            return pl.pallas_call(kernel, in_specs=[smem, pl.BlockSpec((8, 128), lambda: (0, 0))], out_shape=out)(info.mask, x)
    """)
    analysis = analyze(Source("kernel.py", text), Project(), Settings(jax_version="0.10.2"))
    note = analysis.notes.value_at(text.index("mask_ref"))
    assert note is not None
    assert note.text == "info.mask.dtype[?] in SMEM, shape unknown: parameter `info`, a `MaskInfo`, is not known here"


def test_an_annotation_tells_rank_sizes_and_dtype() -> None:
    assert refs_of("""
        from jaxtyping import Array, Float, Int32

        def kernel(lens_ref, x_ref, y_ref, o_ref):
            o_ref[...] = x_ref[...]

        def run(lens: Int32[Array, "b"], x: Float[Array, "b rows 128"], y: Float[Array, "*batch 128"]):
            smem = pl.BlockSpec(memory_space=pltpu.SMEM)
            out = jax.ShapeDtypeStruct(x.shape, x.dtype)
            return pl.pallas_call(kernel, in_specs=[smem, pl.BlockSpec(), pl.BlockSpec()], out_shape=out)(lens, x, y)
    """) == [
        "lens_ref: int32[lens.shape[0]] smem",
        "x_ref: x.dtype[lens.shape[0],x.shape[1],128] vmem",
        "y_ref: y.dtype[...] vmem",
        "o_ref: x.dtype[lens.shape[0],x.shape[1],128] vmem",
    ]  # fmt: skip


def test_outputs_of_unknown_shape_are_what_their_specs_say() -> None:
    kernel = "def kernel(x_ref, *out_refs):\n    out_refs[0][...] = x_ref[...]\n"
    spec = "spec = pl.BlockSpec((8, 128), lambda i: (i, 0))"
    run = "    return pl.pallas_call(kernel, grid=(4,), in_specs=[spec], out_specs={}, out_shape=outs)(x)\n"
    one = f"{spec}\n{kernel}\ndef run(x, outs):\n{run.format('spec')}"
    two = f"{spec}\n{kernel}\ndef run(x, outs):\n{run.format('[spec, pl.BlockSpec(memory_space=pl.ANY)]')}"
    assert refs_of(one)[1:] == ["out_refs[0]: outs.dtype[8,128] vmem"]
    assert refs_of(two)[1:] == ["out_refs[0]: outs[0].dtype[8,128] vmem", "out_refs[1]: outs[1].dtype[...] any"]


def test_a_call_tells_the_rank_of_what_it_gets() -> None:
    assert refs_of("""
        def kernel(a_ref, b_ref, c_ref, d_ref, e_ref, o_ref):
            o_ref[...] = jnp.zeros_like(o_ref)

        def run(a, b, c, d, e, f):
            jnp.transpose(a, (1, 0))
            jnp.pad(b, ((0, 0), (0, 8), (0, 0)))
            jnp.einsum("ij, ...j -> ij", c, d)
            jnp.pad(d, 8)
            lax.dynamic_slice(e, (0, 0), (8, 128))
            return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(a, b, c, d, e)
    """)[:5] == [
        "a_ref: a.dtype[a.shape[0],a.shape[1]] vmem",
        "b_ref: b.dtype[b.shape[0],b.shape[1],b.shape[2]] vmem",
        "c_ref: c.dtype[c.shape[0],c.shape[1]] vmem",
        "d_ref: d.dtype[...] vmem",
        "e_ref: e.dtype[e.shape[0],e.shape[1]] vmem",
    ]


TAIL = """
        from elsewhere import more

        BLOCK = pl.BlockSpec((8, 128), lambda i: (i, 0))

        def kernel(x_ref, s_ref, *rest):
            rest[-1][...] = x_ref[...]

        def run(x: jax.Array, s: jax.Array, extras):
            specs = {specs}
            out = jax.ShapeDtypeStruct((16, 128), jnp.float32)
            return pl.pallas_call(kernel, grid=(2,), in_specs=specs, out_specs=BLOCK, out_shape=out)({operands})
"""
SMEM = "pl.BlockSpec(memory_space=pltpu.SMEM)"


@pytest.mark.parametrize(
    ("specs", "operands"),
    [
        (f"[BLOCK, {SMEM}] + more()", "x, s, *extras"),
        (f"[BLOCK, {SMEM}, *more()]", "x, s, *extras"),
        (f"(BLOCK, {SMEM}, *(BLOCK for _ in extras), BLOCK)", "x, s, *extras, x"),
        (f"[BLOCK, {SMEM}, *more()]", "x, s, x"),
    ],
)
def test_what_stands_before_an_unknown_number_of_others_is_known(specs: str, operands: str) -> None:
    assert refs_of(TAIL.format(specs=specs, operands=operands))[:2] == ["x_ref: x.dtype[8,128] vmem", "s_ref: s.dtype[...] smem"]


def test_where_the_number_of_operands_is_not_known_nothing_lowers() -> None:
    text = TAIL.format(specs="[BLOCK, BLOCK, *more()]", operands="jnp.zeros((16, 128)), jnp.zeros((16, 128)), *extras")
    site = analyze(Source("kernel.py", IMPORTS + dedent(text)), Project(), Settings(jax_version="0.10.2")).sites[-1]
    assert site.verdict == "undecided"
    assert site.unknowns == ("how many operands the call has",)
