"""JAX's own kernels while someone types in them: the checker never raises, and says nothing of what is half typed."""

from __future__ import annotations

import pytest
from broken_text.edits import complaints, edits, sources


@pytest.mark.parametrize("part", range(4))
def test_an_edit_of_a_kernel_is_no_finding(part: int) -> None:
    assert [text for edit in edits(sources(), seed=part, count=30) for text in complaints(edit)] == []
