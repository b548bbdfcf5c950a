"""Texts nest deeper than Python's own programs, and calls do not cost more where they reach the end of a piece of its stack."""

from __future__ import annotations

import resource
import sys

import pytest

from pallas_lsp.depth import deep


def nested(depth: int, calls: int = 1) -> int:
    """Call a function so many times, so many frames further down."""
    if depth:
        return nested(depth - 1, calls)
    return sum(leaf(0) for _ in range(calls))


def leaf(number: int) -> int:
    """What is called again and again; the numbers are there so that its frame is as large as others are."""
    one = two = three = four = number
    return one + two + three + four


def test_calls_may_nest_deeper_than_python_lets_them() -> None:
    depth, limit = 4 * sys.getrecursionlimit(), sys.getrecursionlimit()
    with pytest.raises(RecursionError):
        nested(depth)
    assert deep(nested)(depth) == 0
    assert sys.getrecursionlimit() == limit


@pytest.mark.skipif(sys.platform != "linux", reason="counts pages as Linux does")
def test_no_depth_makes_python_ask_the_system_for_memory_at_each_call() -> None:
    def pages(depth: int) -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        nested(depth, calls=1000)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    assert max(map(pages, range(200))) > 500  # without room some depth does
    assert deep(lambda: max(map(pages, range(200))))() < 500
