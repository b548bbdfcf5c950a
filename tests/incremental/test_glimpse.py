"""What is told of an edit before all of it is interpreted stands in the end, or is one of the last findings where it is now."""

from __future__ import annotations

import random

import pytest
from incremental.comparing import Edited
from incremental.test_incremental import CALLER, CHANGES, HELPERS, KERNELS, edits

from pallas_lsp.rules.diagnostic import Diagnostic
from pallas_lsp.text.shift import Shift
from pallas_lsp.text.span import Span

FLAGS = """
def flag_kernel(x_ref, o_ref, *, causal):
    o_ref[0, 0] = 1.0
    if causal:
        o_ref[0, 1] = 2.0
    o_ref[...] = x_ref[...]

def flag(x, causal):
    kernel = functools.partial(flag_kernel, causal=causal)
    return pl.pallas_call(kernel, grid=(4,), in_specs=[SPEC], out_specs=SPEC, out_shape=jax.ShapeDtypeStruct((32, TILE), x.dtype))(x)
"""


def with_flags() -> Edited:
    text = KERNELS.replace("import jax\n", "import functools\nimport jax\n", 1) + FLAGS
    document = Edited("/p/kernels.py", text, {"/p/pyproject.toml": "", "/p/helpers.py": HELPERS})
    assert written(document, document.remembered().diagnostics) == ["o_ref[0, 0]", "o_ref[0, 1]"]
    assert not document.early, "nothing was edited"
    return document


def written(document: Edited, found: list[Diagnostic]) -> list[str]:
    return [document.text[one.location.span.start : one.location.span.end].partition(" =")[0] for one in found]


def test_a_new_finding_that_rests_on_no_condition_is_told_early() -> None:
    document = with_flags()
    document.write(document.text.replace("    if causal:\n", "    o_ref[1, 1] = 3.0\n    if causal:\n"))
    found = document.remembered().diagnostics
    (early,) = document.early
    assert written(document, early) == written(document, found) == ["o_ref[0, 0]", "o_ref[1, 1]", "o_ref[0, 1]"]
    assert "when" in early[2].message and early[2].related[0].location == found[2].related[0].location


def test_a_finding_that_is_mended_is_gone_at_once() -> None:
    document = with_flags()
    document.write(document.text.replace("o_ref[0, 0] = 1.0", "o_ref[0:1, 0:1] = jnp.ones((1, 1), o_ref.dtype)"))
    assert written(document, document.remembered().diagnostics) == ["o_ref[0, 1]"]
    assert [written(document, early) for early in document.early] == [["o_ref[0, 1]"]]
    document.write(document.text.replace("o_ref[0, 1] = 2.0", "o_ref[0:1, 0:1] = jnp.ones((1, 1), o_ref.dtype)"))
    assert not document.remembered().diagnostics
    assert document.early == [[]]


def test_a_finding_that_another_line_mends_is_gone_at_once() -> None:
    document = with_flags()
    document.write(document.text.replace("    kernel = functools", "    SPEC = pl.BlockSpec(memory_space=pltpu.SMEM)\n    kernel = functools"))
    assert not [found for found in document.remembered().diagnostics if found.rule == "store-scalar-to-vmem"]
    (early,) = document.early
    assert written(document, [found for found in early if found.rule == "store-scalar-to-vmem"]) == ["o_ref[0, 1]"], "it rests on a condition"


def test_nothing_is_told_of_a_function_that_is_half_written_and_a_comment_silences_at_once() -> None:
    document = with_flags()
    whole = document.text
    document.write(whole.replace("o_ref[0, 0] = 1.0", "o_ref[0, 0] = (1.0"))
    assert not document.remembered().diagnostics
    assert document.early == [[]]
    document.write(whole)
    document.remembered()
    document.write(whole.replace("o_ref[0, 0] = 1.0", "o_ref[0, 0] = 5.0  # pallas: ignore[store-scalar-to-vmem]"))
    assert written(document, document.remembered().diagnostics) == ["o_ref[0, 1]"]
    assert [written(document, early) for early in document.early] == [["o_ref[0, 1]"]]


def test_nothing_is_told_early_where_the_edit_is_no_part_of_a_run() -> None:
    document = with_flags()
    document.write(document.text + "\n\ndef other(x):\n    return x\n")
    document.remembered()
    document.write(document.text.replace("o_ref[0, 0] = 1.0", "o_ref[0, 0] = 1.0  # one"))
    document.remembered()
    assert not document.early


@pytest.mark.parametrize("seed", range(4))
def test_what_is_told_early_stands(seed: int) -> None:
    draw = random.Random(seed)
    files = {"/p/pyproject.toml": "", "/p/helpers.py": HELPERS, "/p/caller.py": CALLER}
    document = Edited("/p/kernels.py", KERNELS.replace("import jax\n", "import functools\nimport jax\n", 1) + FLAGS, files)
    before, last = document.text, document.remembered().diagnostics
    told = 0
    for number in range(14):
        before_text, after_text = draw.choice(CHANGES)
        changed = document.text.replace(before_text, after_text, 1)
        document.write(changed if draw.random() < 0.6 else next(edits(document.text, seed=100 * seed + number, count=1)))
        shift, found = Shift(before, document.text), document.remembered().diagnostics
        kept = {(one.rule, one.message, shift.span(one.location.span)) for one in last}
        for early in document.early:
            told += len(early)
            for one in early:
                assert one in found or (one.rule, one.message, one.location.span) in kept, document.text
        before, last = document.text, found
    assert told


def test_a_shift_moves_what_the_edit_does_not_touch() -> None:
    shift = Shift("ab cd ef", "ab xyz ef")
    assert [shift.span(Span(*at)) for at in ((0, 2), (3, 5), (2, 4), (6, 8))] == [Span(0, 2), None, None, Span(7, 9)]
    assert Shift("ab", "ab").span(Span(0, 2)) == Span(0, 2)
    assert Shift("ab cd", "ab! cd").span(Span(0, 2)) is None, "what is typed at its end may belong to it"
    assert Shift("ab cd", "ab + 1 cd").span(Span(0, 2)) == Span(0, 2)
