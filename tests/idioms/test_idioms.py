"""Python as people write it in and around kernels: no error is found, and a fault in the midst of it is."""

from __future__ import annotations

import pytest
from idioms.reading import around_body, blocks, with_a_fault, with_arguments
from random_kernels.compare import compare

BODIES, CALLS = blocks("kernels.md"), blocks("calls.md")
FAULTY = {name: faulty for name, text in CALLS.items() if (faulty := with_a_fault(text)) and "interpret" not in text.lower()}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_has_no_error(name: str) -> None:
    assert compare(around_body(BODIES[name])).outcome == "silent"


@pytest.mark.parametrize("name", BODIES)
def test_the_checker_is_still_there_at_the_end_of_a_body(name: str) -> None:
    made = compare(around_body(BODIES[name] + "out_ref[0, 0] = jnp.float32(0)\n"))
    assert made.outcome == "caught" and made.rules[0] == "store-scalar-to-vmem"


@pytest.mark.parametrize("name", CALLS)
def test_a_call_has_no_error(name: str) -> None:
    assert compare(with_arguments(CALLS[name])).outcome == "silent"


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_in_a_kernel_is_found_through_its_call(name: str) -> None:
    assert compare(with_arguments(FAULTY[name])).outcome == "caught"
