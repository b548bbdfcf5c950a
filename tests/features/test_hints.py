"""What stands beside parameters and names: shapes, dtypes and memory spaces where all runs agree."""

from __future__ import annotations

from features.analysed import analysed
from small_kernel import HEAD

from pallas_lsp.features.hints import hints
from pallas_lsp.text.span import Span


def shown(text: str, *, refs: bool = True, values: bool = False, within: Span | None = None) -> list[str]:
    """The lines that have a hint, with their hints in angle brackets."""
    found = hints(analysed(HEAD + text), within or Span(0, len(HEAD + text)), refs=refs, values=values)
    for hint in reversed(found):
        text = text[: hint.offset - len(HEAD)] + f"<{hint.label}>" + text[hint.offset - len(HEAD) :]
    return [line.strip() for line in text.splitlines() if "<" in line]


KERNEL = """\
def kernel(n_ref, x_ref, o_ref, acc_ref):
    total = x_ref[...] + 1
    _ = total * 2
    total *= 2
    view = acc_ref.at[0]
    o_ref[...] = jax.lax.fori_loop(0, 2, lambda i, y: y + 1, total)

def run(n, x):
    grid_spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1,
        grid=(4,),
        in_specs=[pl.BlockSpec((8, 128), lambda i, n: (i, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i, n: (i, 0)),
        scratch_shapes=[pltpu.VMEM((2, 8, 128), jnp.bfloat16)],
    )
    out = jax.ShapeDtypeStruct((32, 128), jnp.float32)
    return pl.pallas_call(kernel, grid_spec=grid_spec, out_shape=out)(n, x)

"""

CALL = "run(jnp.zeros((4,), jnp.int32), jnp.zeros((32, 128), jnp.float32))\n"


def test_a_kernels_parameters_and_its_views() -> None:
    parameters, view = shown(KERNEL + CALL)
    assert parameters == (
        "def kernel(n_ref<: i32[4] smem>, x_ref<: f32[8,128] vmem>, o_ref<: f32[8,128] vmem>, acc_ref<: bf16[2,8,128] vmem>):"
    )
    assert view == "view<: bf16[8,128] vmem> = acc_ref.at[0]"


def test_a_window_tells_what_it_is_a_window_of() -> None:
    found = {hint.label: hint.detail for hint in hints(analysed(HEAD + KERNEL + CALL), Span(0, 10_000))}
    assert found[": f32[8,128] vmem"][1:] == ("a window of f32[32,128]",)
    assert len(found[": bf16[2,8,128] vmem"]) == 1


def test_values_are_told_in_functions_that_have_refs_and_only_when_asked_for() -> None:
    assert shown(KERNEL + CALL, refs=False) == []
    assert shown(KERNEL + CALL, refs=False, values=True) == ["total<: f32[8,128]> = x_ref[...] + 1"]


def test_only_the_part_that_is_asked_for() -> None:
    start = len(HEAD) + KERNEL.index("view")
    assert shown(KERNEL + CALL, within=Span(start, start + 10)) == ["view<: bf16[8,128] vmem> = acc_ref.at[0]"]


def test_what_is_not_known_is_not_told() -> None:
    (parameters, _) = shown(KERNEL)
    assert parameters == "def kernel(n_ref<: smem>, x_ref<: x.dtype[8,128] vmem>, o_ref<: f32[8,128] vmem>, acc_ref<: bf16[2,8,128] vmem>):"
    assert shown("def kernel(x_ref, o_ref):\n    o_ref[...] = x_ref[...]\n") == []


TWO_SIZES = """\
def helper(ref):
    return ref[...]

def kernel(x_ref, o_ref):
    o_ref[...] = helper(x_ref)

def run(x):
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

"""


def test_two_calls_share_what_they_agree_on() -> None:
    one, two = "run(jnp.zeros((8, 128), jnp.float32))\n", "run(jnp.zeros((16, 128), jnp.float32))\n"
    assert shown(TWO_SIZES + one) == [
        "def helper(ref<: f32[8,128] vmem>):", "def kernel(x_ref<: f32[8,128] vmem>, o_ref<: f32[8,128] vmem>):"
    ]  # fmt: skip
    assert shown(TWO_SIZES + one + two) == ["def kernel(x_ref<: f32[?,128] vmem>, o_ref<: f32[?,128] vmem>):"]
    assert shown(TWO_SIZES + one + two.replace("16, 128", "4, 16, 128")) == ["def kernel(x_ref<: f32[?...] vmem>, o_ref<: f32[?...] vmem>):"]


def test_refs_that_come_together() -> None:
    text = KERNEL.replace("x_ref, o_ref, acc_ref):", "*refs):\n    x_ref, o_ref, acc_ref = refs")
    parameters, unpacked, _ = shown(text + CALL)
    assert parameters == "def kernel(n_ref<: i32[4] smem>, *refs<: 3 refs>):"
    assert unpacked == "x_ref<: f32[8,128] vmem>, o_ref<: f32[8,128] vmem>, acc_ref<: bf16[2,8,128] vmem> = refs"
    (detail,) = [hint.detail for hint in hints(analysed(HEAD + text + CALL), Span(0, 10_000)) if hint.label == ": 3 refs"]
    assert detail == ("x_ref: f32[8,128] vmem", "o_ref: f32[8,128] vmem", "acc_ref: bf16[2,8,128] vmem")


def test_a_kernel_in_a_broken_text_keeps_its_hints() -> None:
    assert shown(KERNEL + CALL + "x = (\n") == shown(KERNEL + CALL)


def test_a_kernel_that_is_called_in_another_file() -> None:
    ops = HEAD + "from kernel import kernel\n" + KERNEL.partition("def run")[1] + KERNEL.partition("def run")[2] + CALL
    text = "# pallas\n" + KERNEL.partition("def run")[0]
    found = hints(analysed(text, ops=ops), Span(0, len(text)))
    assert [hint.label for hint in found][:2] == [": i32[4] smem", ": f32[8,128] vmem"]


def test_long_formulas_are_told_on_demand() -> None:
    text = KERNEL.replace("(8, 128), lambda i, n: (i, 0)", "(x.shape[0] // n.shape[0] // 16, 128), lambda i, n: (i, 0)")
    found = {hint.label: hint.detail for hint in hints(analysed(HEAD + text), Span(0, 10_000))}
    assert found[": f32[…,128] vmem"] == ("o_ref: f32[x.shape[0] // (16·n.shape[0]),128] vmem", "a window of f32[32,128]")


def test_a_hint_with_many_formulas_is_shortened_until_it_fits() -> None:
    sizes = ", ".join(f"queries.shape[{axis}]" for axis in range(4))
    text = "def kernel(x_ref, o_ref):\n    pass\n\ndef run(queries):\n"
    text += f"    spec = pl.BlockSpec(({sizes}), lambda i: (0, 0, 0, i))\n"
    text += "    return pl.pallas_call(kernel, grid=(2,), in_specs=[spec], out_specs=spec, out_shape=jax.ShapeDtypeStruct(queries.shape, queries.dtype))(queries)\n"
    labels = {hint.label: hint.detail for hint in hints(analysed(HEAD + text), Span(0, 10_000))}
    assert labels.keys() == {": queries.dtype[…,…,…,…] vmem"}
    assert "queries.shape[3]" in labels[": queries.dtype[…,…,…,…] vmem"][0]
