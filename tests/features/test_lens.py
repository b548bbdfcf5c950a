"""The line above a kernel call."""

from __future__ import annotations

import pytest
from features.analysed import analysed
from small_kernel import BAD, HEAD

from pallas_lsp.features.lens import Lens, lenses

KERNEL = """\
def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2.0

def run(x):
    spec = pl.BlockSpec((8, 128), lambda i, j: (i, j))
    return pl.pallas_call(kernel, grid=(4, 8), in_specs=[spec], out_specs=spec, out_shape=jax.ShapeDtypeStruct((32, 1024), jnp.float32))(x)

"""
CALL = "run(jnp.zeros((32, 1024), jnp.float32))\n"


def shown(text: str, target: str | None = None) -> Lens:
    (lens,) = lenses(analysed(text), target)
    return lens


def test_a_kernel_that_lowers() -> None:
    lens = shown(HEAD + KERNEL + CALL)
    assert (HEAD + KERNEL)[lens.span.start :].startswith("pl.pallas_call(kernel")
    assert lens.faults == ()
    grid, vmem, verdict = lens.title.split(" · ")
    assert (grid, vmem, verdict) == ("grid 4×8", "VMEM 16 KiB", "lowers as it is called")


def test_a_target_says_how_much_there_is() -> None:
    assert "VMEM 16 KiB of 16 MiB (v5e)" in shown(HEAD + KERNEL + CALL, "v5e").title
    assert "VMEM 16 KiB of 32 MiB (v6e)" in shown(HEAD + KERNEL + CALL, "v6e").title
    limited = KERNEL.replace("grid=(4, 8)", "grid=(4, 8), compiler_params=pltpu.CompilerParams(vmem_limit_bytes=64 * 2**20)")
    assert "VMEM 16 KiB of 64 MiB (v5e)" in shown(HEAD + limited + CALL, "v5e").title
    assert "VMEM 16 KiB of 16 MiB (v4)" in shown(HEAD + limited + CALL, "v4").title, "there is no more"


def test_errors_are_counted_and_can_be_gone_to() -> None:
    text = BAD.replace("    o_ref[0, 0]", "    o_ref[1, 1] = jnp.sum(x_ref[...])\n    o_ref[0, 0]")
    lens = shown(text)
    assert lens.title.endswith(" · 2 errors")
    assert [text[place.span.start : place.span.end] for place in lens.faults] == ["o_ref[1, 1]", "o_ref[0, 0]"]
    assert shown(BAD).title.endswith(" · 1 error")


def test_an_error_in_a_spec_is_one_of_the_call() -> None:
    lens = shown(HEAD + KERNEL.replace("lambda i, j: (i, j)", "lambda i: (i, 0)") + CALL)
    assert lens.title.endswith("1 error") and len(lens.faults) == 1


def test_an_error_of_another_kernel_is_not() -> None:
    other = BAD[len(HEAD) :].replace("kernel", "other").replace("run", "run2")
    good, bad = lenses(analysed(HEAD + KERNEL + CALL + other))
    assert good.title.endswith("lowers as it is called") and bad.title.endswith("1 error")


def test_what_would_have_to_be_known_is_named() -> None:
    title = shown(HEAD + KERNEL).title
    assert title == "grid 4×8 · undecided: the dtype of `x`"


def test_a_grid_that_is_computed() -> None:
    title = shown(HEAD + KERNEL.replace("grid=(4, 8)", "grid=(x.shape[0] // 8, 8)")).title
    assert title.startswith("grid (x.shape[0] // 8, 8) · ")


def test_a_call_without_a_grid_says_nothing_of_one() -> None:
    assert not shown(BAD).title.startswith("grid")


def test_two_configurations_share_what_they_agree_on() -> None:
    text = KERNEL.replace("def run(x):", "def run(x, n=4):").replace("grid=(4, 8)", "grid=(n, 8)")
    assert shown(HEAD + text).title.startswith("grid 4×8")
    assert shown(HEAD + text + CALL + CALL.replace(")\n", ", n=2)\n")).title.startswith("grid (n, 8)")


@pytest.mark.parametrize("text", ["x = 1\n", HEAD, HEAD + "def kernel(x_ref):\n    pass\n"])
def test_nothing_without_a_call(text: str) -> None:
    assert lenses(analysed(text)) == []


def test_a_call_in_another_file_has_its_lens_there() -> None:
    kernels = HEAD + "def kernel(x_ref, o_ref):\n    o_ref[...] = x_ref[...]\n"
    text = HEAD + "from kernels import kernel\n" + KERNEL.partition("\n\n")[2]
    assert len(lenses(analysed(text, kernels=kernels))) == 1
    calling = analysed(kernels + "x = 1  # pallas\n", ops=HEAD + "from kernel import kernel\n" + KERNEL.partition("\n\n")[2])
    assert [site.location.path for site in calling.uses] == ["/project/ops.py"] and lenses(calling) == []
