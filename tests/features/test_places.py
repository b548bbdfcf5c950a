"""Where the refs of a kernel call come from: the model that definitions, hints and the words about windows are made of."""

from __future__ import annotations

from features.analysed import analysed
from small_kernel import HEAD

from pallas_lsp.kernels.refs import RefInfo
from pallas_lsp.shapes.dims import render

KERNEL = """\
def kernel(n_ref, x_ref, *rest, scale):
    o_ref, acc_ref = rest
    o_ref[...] = x_ref[...]

"""

CALL = """\
def run(n, x):
    f = pl.pallas_call(
        functools.partial(kernel, scale=2),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(4, 2),
            in_specs=[pl.BlockSpec((8, 128), lambda i, j, n: (i, j))],
            out_specs=pl.BlockSpec((None, 8, 128), lambda i, j, n: (0, i, j)),
            scratch_shapes=[pltpu.VMEM((8, 128), jnp.float32)],
        ),
        out_shape=jax.ShapeDtypeStruct((1, 32, 256), jnp.float32),
    )
    return f(n + 0, x * 2)


run(jnp.zeros((4,), jnp.int32), jnp.zeros((32, 256), jnp.float32))
"""

TEXT = "import functools\n" + HEAD + KERNEL + CALL


def refs() -> dict[str, RefInfo]:
    analysis = analysed(TEXT)
    assert analysis.diagnostics == []
    return {ref.name: ref for ref in analysis.sites[0].refs}


def test_each_ref_knows_its_parameter_its_spec_and_what_it_shows() -> None:
    texts = {
        name: tuple(TEXT[place.span.start : place.span.end] if place else None for place in (ref.parameter, ref.spec, ref.source))
        for name, ref in refs().items()
    }
    assert texts["n_ref"][0] == "n_ref" and texts["n_ref"][2] == "n + 0"
    assert texts["x_ref"] == ("x_ref", "pl.BlockSpec((8, 128), lambda i, j, n: (i, j))", "x * 2")
    assert texts["o_ref"] == (
        "rest", "pl.BlockSpec((None, 8, 128), lambda i, j, n: (0, i, j))", "jax.ShapeDtypeStruct((1, 32, 256), jnp.float32)"
    )  # fmt: skip
    assert texts["acc_ref"] == ("rest", "pltpu.VMEM((8, 128), jnp.float32)", None)


def test_a_window_is_an_array_a_block_and_an_index_map() -> None:
    found = refs()
    window, scratch = found["o_ref"].window, found["acc_ref"].window
    assert window is not None and scratch is None
    assert (window.array, window.block, window.kinds) == ((1, 32, 256), ("squeezed", 8, 128), ("squeezed", "blocked", "blocked"))
    assert window.index is not None and [render(index) for index in window.index] == ["0", "grid[0]", "grid[1]"]
