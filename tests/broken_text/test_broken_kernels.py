"""JAX's own kernels while someone types in them: the checker never raises, and says nothing of what is half typed."""

from __future__ import annotations

import pytest
from broken_text.edits import complaints, edits, sources

SMALL = 25_000  # bytes: the bigger kernels cost a third of a second each time


@pytest.mark.parametrize("part", range(4))
def test_an_edit_of_a_kernel_is_no_finding(part: int) -> None:
    assert [text for edit in edits(sources(SMALL), seed=part, count=30) for text in complaints(edit)] == []


def test_an_edit_of_a_big_kernel_is_no_finding() -> None:
    assert [text for edit in edits(sources(), seed=4, count=12) for text in complaints(edit)] == []
