"""Random kernels: no error where JAX lowers one, and the error of the right rule where JAX refuses one."""

from __future__ import annotations

import functools

import pytest
from random_kernels.families import ACCESSES, CALLS, MESHES, OPERATIONS, Family
from random_kernels.judging import Tally, judge

KERNELS = {ACCESSES: 300, CALLS: 300, OPERATIONS: 240, MESHES: 160}
each_family = pytest.mark.parametrize("family", [ACCESSES, CALLS, OPERATIONS, MESHES], ids=lambda family: family.name)


@functools.cache
def tally(family: Family) -> Tally:
    return judge(range(KERNELS[family]), family)


def shown(family: Family, *outcomes: str) -> str:
    return "\n\n".join(
        f"seed {seed}: {made.outcome}; JAX, line {made.verdict.line}: {made.verdict.message[:200]}\nfound: {made.errors}\n{made.text}"
        for seed, made in tally(family).disagreements
        if made.outcome in outcomes
    )


@each_family
def test_no_error_in_a_kernel_that_jax_lowers(family: Family) -> None:
    assert shown(family, "false alarm") == ""


@each_family
def test_what_jax_refuses_is_reported_on_its_line(family: Family) -> None:
    assert tally(family).recall >= family.needed, shown(family, "missed", "wrong rule")


@each_family
def test_the_kernels_are_worth_comparing(family: Family) -> None:
    outcomes = tally(family).outcomes
    assert outcomes["silent"] >= 0.3 * KERNELS[family]
    assert tally(family).refused.total() >= 0.2 * KERNELS[family]
    assert len(tally(family).refused) >= 12
    assert outcomes["other family"] <= 0.1 * KERNELS[family]
