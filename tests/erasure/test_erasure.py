"""Taking knowledge away never makes a finding: one expression of a faulty kernel is replaced by a call that nobody knows."""

from __future__ import annotations

import pytest
from erasure.erasing import erasures, new_findings
from pages.reading import page_of
from random_kernels.modules import random_kernel

from pallas_lsp.pages import rule_ids
from pallas_lsp.rules import RULES

PAGES = [rule_id for rule_id in rule_ids() if rule_id in RULES]
PARTS, KERNELS = 4, 8


@pytest.mark.parametrize("rule_id", PAGES)
def test_the_example_of_a_page(rule_id: str) -> None:
    example = page_of(rule_id).example
    assert len(erasures(example)) > 20
    assert new_findings(example, count=20) == []


@pytest.mark.parametrize("part", range(PARTS))
def test_random_faulty_kernels(part: int) -> None:
    seeds = [seed for seed in range(part * 10 * KERNELS, (part + 1) * 10 * KERNELS) if not random_kernel(seed).sound][:KERNELS]
    shown = [
        f"seed {seed}, line {erased.line}: {erased.gone!r}: {new}"
        for seed in seeds
        for erased, new in new_findings(random_kernel(seed).text, 25, seed)
    ]
    assert shown == []
