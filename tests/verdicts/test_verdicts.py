"""No ``lowers`` that JAX refuses and no ``fails`` that it accepts; and most programs are decided."""

from __future__ import annotations

from call.block_cases import BLOCKS
from call.function_cases import FUNCTIONS
from call.spec_cases import SPECS
from call.surrounding_cases import SURROUNDINGS
from cases.literate import CASES
from ops.copy_cases import COPIES
from ops.lowering_cases import LOWERING
from ops.traced_cases import TRACED
from random_kernels.families import ACCESSES, CALLS
from verdicts.forms import random_form
from verdicts.judging import tally_of
from verdicts.operations import kernels


def test_of_kernel_calls() -> None:
    tally = tally_of(text for _, _, text in (*SPECS, *BLOCKS, *FUNCTIONS, *SURROUNDINGS))
    assert tally.wrong == []
    assert tally.decided >= 0.8


def test_of_operations() -> None:
    tally = tally_of(text for _, _, text in (*TRACED, *LOWERING, *COPIES))
    assert tally.wrong == []
    assert tally.refused["fails"] >= 0.9 * tally.refused.total()


def test_of_literate_cases() -> None:
    tally = tally_of(case.text for case in CASES)
    assert tally.wrong == []
    assert tally.decided >= 0.7


def test_of_single_operations() -> None:
    tally = tally_of(kernels())
    assert tally.wrong == []
    assert tally.accepted["lowers"] >= 0.4 * tally.accepted.total()


def test_of_random_forms() -> None:
    tally = tally_of(random_form(seed) for seed in range(300))
    assert tally.wrong == []
    assert tally.accepted["lowers"] >= 0.85 * tally.accepted.total()


def test_of_random_kernels() -> None:
    tally = tally_of(kernel.text for seed in range(300) for family in (ACCESSES, CALLS) if (kernel := family.make(seed)).stated)
    assert tally.wrong == []
    assert tally.decided >= 0.75
