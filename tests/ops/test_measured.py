"""The checker on several hundred measured expressions: it refuses nothing that JAX or the compiler takes, and most of what they refuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import jax
import pytest
from checker import findings
from ops.measured import Measured, measured
from referee import lower

COMPILED = "0.10.2"  # the version that the compiler was asked about
VERSIONS = [COMPILED, "0.12.0.1"]
SAMPLE = 17  # one of so many, for every day
ASKED_AGAIN = 37
BY_JAX, BY_COMPILER = 0.9, 0.7
ABOUT_SIZE = {"block-padding-waste"}


def severities(cell: Measured, version: str, target: str | None) -> set[str]:
    """How severe the findings in the cell's module are."""
    return {finding.severity for finding in findings(cell.module, target, version) if finding.rule not in ABOUT_SIZE}


def compare(cells: Iterable[Measured], version: str, target: str | None = None) -> tuple[list[Measured], Counter[str]]:
    """What is refused wrongly, and how often each verdict was met and (``caught``) said."""
    wrong, counts = [], Counter[str]()
    for cell in cells:
        said = severities(cell, version, target)
        refused = "c" if target is None else "c5"
        counts[cell.verdict] += 1
        if cell.verdict in "tl":
            counts["caught by JAX"] += "error" in said
        elif "error" in said or ("warning" in said and cell.verdict not in refused and version == COMPILED):
            wrong.append(cell)
        elif cell.verdict in refused:
            counts["caught by the compiler"] += "warning" in said
    return wrong, counts


def judge(cells: Iterable[Measured], version: str, target: str | None = None) -> None:
    """Compare, and demand what this module promises."""
    wrong, counts = compare(cells, version, target)
    assert not wrong
    assert counts["caught by JAX"] >= BY_JAX * (counts["t"] + counts["l"])
    refused = counts["c"] + (counts["5"] if target is not None else 0)
    assert counts["caught by the compiler"] >= BY_COMPILER * refused


@pytest.mark.parametrize("version", VERSIONS)
def test_a_sample(version: str) -> None:
    judge(measured(version)[::SAMPLE], version)


@pytest.mark.corpus
@pytest.mark.parametrize(("version", "target"), [*((version, None) for version in VERSIONS), (COMPILED, "v5e")])
def test_all(version: str, target: str | None) -> None:
    judge(measured(version), version, target)


@pytest.mark.skipif(jax.__version__ not in VERSIONS, reason="nothing was measured with this JAX")
def test_jax_still_says_so() -> None:
    for cell in measured(jax.__version__)[::ASKED_AGAIN]:
        verdict = lower(cell.module)
        assert ("+" if verdict.ok else "t" if verdict.stage == "trace" else "l") == {"c": "+", "5": "+"}.get(cell.verdict, cell.verdict), cell


def test_every_verdict_is_met() -> None:
    assert {cell.verdict for cell in measured(COMPILED)} == set("+tlc5")
