"""The tiling rules on random blocks: they speak exactly where JAX refuses a block of an array."""

from __future__ import annotations

from call.block_cases import block
from checker import findings
from hypothesis import example, given, settings
from hypothesis import strategies as st
from referee import lower

DTYPES = ("f32", "bf16", "f16", "i32", "i16", "i8", "i4", "u8", "bool")
LEADING = (1, 2, 3, 5)
ROWS = (1, 2, 4, 7, 8, 12, 16, 24, 32, 100)
COLUMNS = (1, 2, 64, 100, 128, 130, 200, 256, 384, 512)
LONG = (1, 64, 100, 128, 256, 384, 512, 1000, 1024, 1536, 2048, 3072, 4096)
Case = tuple[str, list[int], list[int | None]]


@st.composite
def blocks(draw: st.DrawFn) -> Case:
    """A dtype, an array and a block of it, in which one of the last two dims may be squeezed."""
    rank = draw(st.integers(1, 4))
    choices = [LONG] if rank == 1 else [*[LEADING] * (rank - 2), ROWS, COLUMNS]
    sizes: list[int | None] = [draw(st.sampled_from(choice)) for choice in choices]
    array = [
        draw(st.sampled_from((size, size, 2 * size, 3 * size, size + 1, max(size // 2, 1), draw(st.sampled_from(choice)))))
        for size, choice in zip((size for size in sizes if size is not None), choices, strict=True)
    ]
    squeezed = draw(st.sampled_from((None, None, None, *range(rank))))
    if squeezed is not None and rank > 1:
        sizes[squeezed] = None
    return draw(st.sampled_from(DTYPES)), array, sizes


@settings(max_examples=100)
@given(blocks(), st.sampled_from(("", "pltpu.VMEM", "pltpu.SMEM")))
@example(("bf16", [512], [128]), "")
@example(("f32", [16, 100], [8, 100]), "")
@example(("i8", [1, 128], [None, 128]), "")
def test_the_rules_speak_where_jax_refuses(case: Case, space: str) -> None:
    dtype, array, sizes = case
    shape = f"({', '.join(map(str, sizes))},)"
    index = f"({', '.join(['i', *['0'] * (len(sizes) - 1)])},)"
    text = block(shape, index, x=f"{dtype}[{','.join(map(str, array))}]", space=space)
    verdict = lower(text)
    errors = {finding.rule for finding in findings(text) if finding.severity == "error"}
    assert bool(errors) == (not verdict.ok), (errors, verdict, text)
    assert errors <= {"block-tiling-1d", "block-tiling-2d", "block-rank-zero"}, (errors, verdict)
