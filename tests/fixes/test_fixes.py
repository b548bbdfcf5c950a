"""Every fix: what the first one writes, that nothing is found after any, and that JAX then lowers the program it refused."""

from __future__ import annotations

import pytest
from fixes import call_cases, copy_cases, operation_cases, ref_cases, space_cases, traced_cases, value_cases
from fixes.kernels import analysed, fixed, fixes
from referee import Verdict, compile_many, libtpu_installed, lower

from pallas_lsp.rules import RULES

SAFE = [*space_cases.SAFE, *value_cases.SAFE, *ref_cases.SAFE, *operation_cases.SAFE, *traced_cases.SAFE, *call_cases.SAFE]
UNSAFE = [*space_cases.UNSAFE, *value_cases.UNSAFE, *ref_cases.UNSAFE, *operation_cases.UNSAFE, *traced_cases.UNSAFE, *call_cases.UNSAFE, *copy_cases.UNSAFE]
CHIPS = operation_cases.CHIPS
CASES = [*((case, "safe") for case in SAFE), *((case, "unsafe") for case in UNSAFE)]
NAMES = [f"{rule}: {what}" for (rule, what, _, _), _ in CASES]


def added(before: str, after: str) -> list[str]:
    """The lines of ``after`` that ``before`` does not have."""
    old = set(before.splitlines())
    return [line.strip() for line in after.splitlines() if line not in old]


@pytest.mark.parametrize(("case", "applicability"), CASES, ids=NAMES)
def test_what_the_first_fix_writes(case: tuple[str, str, str, list[str]], applicability: str) -> None:
    rule, _, text, lines = case
    first = fixes(text, rule, CHIPS.get(rule))[0]
    assert added(text, fixed(text, first)) == [line.strip() for line in lines]
    assert first.applicability == applicability


@pytest.mark.parametrize(("case", "applicability"), CASES, ids=NAMES)
def test_jax_lowers_what_every_fix_writes(case: tuple[str, str, str, list[str]], applicability: str) -> None:
    rule, _, text, _ = case
    if RULES[rule].stage in ("trace", "lower"):
        assert not lower(text).ok
    for fix in fixes(text, rule, CHIPS.get(rule)):
        assert [d for d in analysed(fixed(text, fix), CHIPS.get(rule)).diagnostics if d.severity != "info"] == [], fix.title
        assert lower(fixed(text, fix)) == Verdict(ok=True), fix.title


@pytest.mark.libtpu
@pytest.mark.skipif(not libtpu_installed(), reason="needs libtpu")
def test_the_tpu_compiler_takes_what_safe_fixes_write() -> None:
    texts = [fixed(text, fix) for rule, _, text, _ in SAFE for fix in fixes(text, rule, CHIPS.get(rule)) if fix.applicability == "safe"]
    refused = [(verdict.message, text) for text, verdict in zip(texts, compile_many(texts), strict=True) if not verdict.ok]
    assert refused == []


@pytest.mark.parametrize("body", copy_cases.NOT_FIXED)
def test_copies_of_which_no_step_can_be_added(body: str) -> None:
    assert fixes(copy_cases.copy(f"{body}\npltpu.sync_copy(buffer, o_ref)"), "dma-semaphore") == []
