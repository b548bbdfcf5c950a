"""What is completed, where, and that JAX takes it."""

from __future__ import annotations

import pytest
from features.analysed import PATH, edited
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from referee import lower
from small_kernel import HEAD

from pallas_lsp.features.completion import Completion, completions
from pallas_lsp.pages import rule_ids
from pallas_lsp.text.source import Source

HERE = "|"


def offered(text: str, **options: object) -> list[Completion]:
    """What is offered at the bar in ``text``."""
    offset = text.index(HERE)
    return completions(Source(PATH, text.replace(HERE, "", 1)), offset, **options)  # type: ignore[arg-type]


def labels(text: str) -> list[str]:
    return [found.label for found in offered(text)]


def taken(text: str, label: str) -> str:
    """``text`` once the one that is called ``label`` has been taken."""
    (found,) = [found for found in offered(text) if found.label == label]
    return edited(text.replace(HERE, "", 1), (found.edit, *found.more))


SPEC = "spec = pl.BlockSpec((8, 128), lambda i: (i, 0), memory_space="


@pytest.mark.parametrize(
    ("typed", "after"),
    [("|)", "pltpu.SMEM)"), ("|", "pltpu.SMEM"), ("pltpu.|)", "pltpu.SMEM)"), ("pltpu.V|MEM)", "pltpu.SMEM)"), (" S|)", " pltpu.SMEM)")],
)
def test_a_memory_space_takes_the_place_of_what_was_begun(typed: str, after: str) -> None:
    assert taken(HEAD + SPEC + typed, "pltpu.SMEM") == HEAD + SPEC + after


def test_memory_spaces_are_spelled_as_the_file_imports_them() -> None:
    assert labels(HEAD + SPEC + HERE) == ["pltpu.VMEM", "pltpu.SMEM", "pl.ANY", "pltpu.HBM", "pltpu.SEMAPHORE"]
    imports = "import jax.experimental.pallas as P\nfrom jax.experimental.pallas.tpu import SMEM\nfrom jax.experimental.pallas import tpu as T\n"
    assert labels(imports + SPEC + HERE) == ["T.VMEM", "SMEM", "P.ANY", "T.HBM", "T.SEMAPHORE"]


def test_the_import_is_added_where_it_is_missing() -> None:
    head = "from jax.experimental import pallas as pl\n"
    assert taken(head + "x = 1\n" + SPEC + HERE, "pltpu.VMEM") == (
        head + "from jax.experimental.pallas import tpu as pltpu\nx = 1\n" + SPEC + "pltpu.VMEM"
    )
    assert taken(head + SPEC + HERE, "pl.ANY") == head + SPEC + "pl.ANY"


def test_jax_takes_every_memory_space_that_is_offered() -> None:
    for name in labels(HEAD + SPEC + HERE):
        space = eval(name, {"pl": pl, "pltpu": pltpu})
        assert pl.BlockSpec(memory_space=space).memory_space is space


CALL = "params = pltpu.CompilerParams(dimension_semantics="


@pytest.mark.parametrize(
    ("typed", "after"),
    [
        ('("|"', '("parallel"'), ("('pa|'", "('parallel'"), ('("arbitrary", "|', '("arbitrary", "parallel'), ("(|)", '("parallel")'),
        ('["arbitrary", |]', '["arbitrary", "parallel"]'), ("(pltpu.PARALLEL, \n    '|'", "(pltpu.PARALLEL, \n    'parallel'"),
    ],
)  # fmt: skip
def test_a_dimension_semantic_gets_the_quotes_that_are_missing(typed: str, after: str) -> None:
    assert taken(HEAD + CALL + typed, "parallel") == HEAD + CALL + after


def test_jax_lowers_every_dimension_semantic_that_is_offered() -> None:
    names = labels(HEAD + CALL + f'("{HERE}"')
    assert set(names) == {semantic.value for semantic in pltpu.GridDimensionSemantics}

    for name in set(names) - {"subcore_parallel"}:  # which a SparseCore has
        assert lower(HEAD + LOWERED.replace("SEMANTIC", name)).ok


LOWERED = """\
def kernel(x_ref, o_ref):
    o_ref[...] = x_ref[...]

spec = pl.BlockSpec((8, 128), lambda i: (i, 0))

def run(x):
    params = pltpu.CompilerParams(dimension_semantics=("SEMANTIC",))
    return pl.pallas_call(kernel, grid=(2,), in_specs=[spec], out_specs=spec, out_shape=x, compiler_params=params)(x)

ARGS = [jax.ShapeDtypeStruct((16, 128), jnp.float32)]
"""

COMMENT = "x = 1  # pallas: "


@pytest.mark.parametrize("comment", ["ignore[|", "ignore[|]", "ignore-file[|]", "ignore [ |", "ignore[store-sc|alar", "ignore[ref-index-bounds, |]"])
def test_rules_in_comments(comment: str) -> None:
    found = offered(HEAD + COMMENT + comment)
    named = {rule for rule in rule_ids() if rule in comment}
    assert {entry.label for entry in found} == set(rule_ids()) - named
    assert all(entry.detail for entry in found)
    after = taken(HEAD + COMMENT + comment, "store-scalar-to-vmem")
    assert after.removesuffix("]").endswith(comment.partition("|")[0].removesuffix("store-sc") + "store-scalar-to-vmem")


def test_rules_that_are_likely_come_first() -> None:
    found = offered(COMMENT + "ignore[|]", likely={"top-k", "ref-index-bounds"})
    assert [entry.label for entry in found][:3] == ["ref-index-bounds", "top-k", rule_ids()[0]]


@pytest.mark.parametrize(
    "text",
    [
        "x = |", "memory_space|", "memory_space=pltpu.VMEM, |", 'dimension_semantics=("parallel",), |', "# ignore[|", "# pallas: ignore|",
        "# pallas: ignore[a]|", "my_memory_space=|", "", '"parallel|"', "# pallas: ignore[\n|", "dimension_semantics=|",
    ],
)  # fmt: skip
def test_nothing_elsewhere(text: str) -> None:
    assert offered(text + ("" if HERE in text else HERE)) == []
