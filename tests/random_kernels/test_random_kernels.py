"""Random kernels: no error where JAX lowers one, and the error of the right rule where JAX refuses one over an access."""

from __future__ import annotations

import functools

from random_kernels.judging import Tally, judge

KERNELS = 300


@functools.cache
def tally() -> Tally:
    return judge(range(KERNELS))


def shown(*outcomes: str) -> str:
    return "\n\n".join(
        f"seed {seed}: {made.outcome}; JAX, line {made.verdict.line}: {made.verdict.message[:200]}\nfound: {made.errors}\n{made.text}"
        for seed, made in tally().disagreements
        if made.outcome in outcomes
    )


def test_no_error_in_a_kernel_that_jax_lowers() -> None:
    assert shown("false alarm") == ""


def test_what_jax_refuses_is_reported_on_its_line() -> None:
    assert tally().recall >= 0.97, shown("missed", "wrong rule")


def test_the_kernels_are_worth_comparing() -> None:
    outcomes = tally().outcomes
    assert outcomes["silent"] >= 0.4 * KERNELS
    assert tally().refused.total() >= 0.3 * KERNELS
    assert len(tally().refused) >= 20
    assert outcomes["other family"] <= 0.1 * KERNELS
