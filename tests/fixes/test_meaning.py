"""A safe fix computes what the program plainly means: the numbers before and after are the same, up to rounding."""

from __future__ import annotations

import numpy as np
import pytest
from fixes import operation_cases, traced_cases
from fixes.kernels import fixed, fixes
from fixes.meaning import SEEDS, executed, interpreted

from pallas_lsp.rules import RULES

_ONLY_ON_TPU = {
    "roll-args",
    "kernel-returns-value",
    "masked-load",
    "masked-store-not-32-bit",
    "debug-print-form",
    "ref-index-bounds",
    "jnp-empty",
}
"""What the text before means neither Python nor the interpreter of kernels can tell."""

LOWERED = [case for case in operation_cases.SAFE if case[0] not in _ONLY_ON_TPU]
_WRONG_TYPES = {"loop-carry-mismatch"}
TRACED = [case for case in traced_cases.SAFE if case[0] not in _WRONG_TYPES]


def _same(before: list[np.ndarray], after: list[np.ndarray], text: str) -> None:
    digits = 2e-2 if "bfloat16" in text else 1e-5
    for old, new in zip(before, after, strict=True):
        np.testing.assert_allclose(new, old, rtol=digits, atol=digits * np.max(np.abs(old), initial=1.0, where=np.isfinite(old)))


@pytest.mark.parametrize("case", LOWERED, ids=[f"{rule}: {what}" for rule, what, _, _ in LOWERED])
def test_operations_compute_the_same(case: tuple[str, str, str, list[str]]) -> None:
    rule, _, text, _ = case
    assert RULES[rule].stage != "trace"
    before = interpreted(text, SEEDS[:1])
    assert any(np.any(old != 0) for old in before)
    for fix in fixes(text, rule, operation_cases.CHIPS.get(rule)):
        if fix.applicability == "safe":
            _same(before, interpreted(fixed(text, fix), SEEDS[:1]), text)


@pytest.mark.parametrize("case", TRACED, ids=[f"{rule}: {what}" for rule, what, _, _ in TRACED])
def test_what_python_would_have_done_is_done(case: tuple[str, str, str, list[str]]) -> None:
    rule, _, text, _ = case
    before = executed(text)
    assert any(np.any(old != 0) for old in before)
    for fix in fixes(text, rule):
        if fix.applicability == "safe":
            _same(before, interpreted(fixed(text, fix)), text)
